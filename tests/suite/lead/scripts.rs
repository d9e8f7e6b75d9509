//! Scripts of leads and teammates, and what is seen of their runs.
#![expect(
    clippy::needless_pass_by_value,
    reason = "what json! makes is handed on"
)]

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Bed, DEADLINE, Done, wait_until};

/// How long a whole run may take; generous, since many tests run side by side.
pub(crate) const RUN: Duration = Duration::from_mins(3);

pub(crate) fn tool(name: &str, input: Value) -> Value {
    json!({"name": name, "input": input})
}

pub(crate) fn named(name: &str, input: Value, label: &str) -> Value {
    json!({"name": name, "input": input, "as": label})
}

pub(crate) fn turn(tools: Vec<Value>) -> Value {
    json!({ "tools": tools })
}

pub(crate) fn proposal(names: &[&str]) -> Value {
    let members: Vec<Value> = names
        .iter()
        .map(|name| json!({"name": name, "role": "coder"}))
        .collect();
    tool(
        "propose_team",
        json!({"members": members, "rationale": "many hands"}),
    )
}

pub(crate) fn spawn(name: &str, task: Option<&str>) -> Value {
    let mut input = json!({"name": name, "role": "coder", "prompt": "Do your tasks."});
    if let Some(task) = task {
        input["task_id"] = json!(format!("${{{task}}}"));
    }
    tool("spawn_teammate", input)
}

/// `count` tasks named `t1`…
pub(crate) fn tasks(count: usize) -> Value {
    let made = (1..=count)
        .map(|n| {
            named(
                "create_task",
                json!({"subject": format!("Task {n}"), "description": "write the file"}),
                &format!("t{n}"),
            )
        })
        .collect();
    turn(made)
}

/// The replies of a lead that proposes ann, makes one task, and starts her with it.
pub(crate) fn ann_with_a_task() -> Vec<Value> {
    vec![
        turn(vec![proposal(&["ann"])]),
        tasks(1),
        turn(vec![spawn("ann", Some("t1"))]),
        json!({"text": "ann is at work."}),
    ]
}

/// The same, with a task that has that worktree.
pub(crate) fn ann_in_worktree(worktree: &str) -> Vec<Value> {
    let make = named(
        "create_task",
        json!({"subject": "Docs", "worktree": worktree}),
        "t",
    );
    vec![
        turn(vec![proposal(&["ann"])]),
        turn(vec![make, spawn("ann", Some("t"))]),
        json!({"text": "ann is at work."}),
    ]
}

/// What a teammate does with each of `count` tasks: a file, done, a word.
pub(crate) fn workers(count: usize) -> Vec<Value> {
    (0..count)
        .flat_map(|_| {
            [
                turn(vec![
                    tool(
                        "write_file",
                        json!({"path": "out/${task}.txt", "content": "done\n"}),
                    ),
                    tool("complete_task", json!({"task_id": "${task}"})),
                ]),
                json!({"text": "That one is done."}),
            ]
        })
        .collect()
}

pub(crate) fn goal<'a>(model: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["-p", "go", "--output-format", "json", "--model", model];
    args.extend(more);
    args
}

pub(crate) fn statuses(bed: &Bed) -> Vec<String> {
    bed.tasks()
        .iter()
        .map(|task| task["status"].as_str().unwrap_or_default().to_owned())
        .collect()
}

pub(crate) fn count(bed: &Bed, status: &str) -> usize {
    statuses(bed).iter().filter(|one| *one == status).count()
}

pub(crate) fn member(bed: &Bed, name: &str) -> Value {
    bed.json(&format!(".team/state/members/{name}.json"))
        .unwrap_or(Value::Null)
}

pub(crate) fn alive(bed: &Bed) -> Vec<Value> {
    let done = bed.lead(&["team", "list", "--json"]).expect_code(0);
    let members = done.json();
    let members = members.as_array().cloned().unwrap_or_default();
    members
        .into_iter()
        .filter(|member| member["alive"] == json!(true))
        .collect()
}

#[track_caller]
pub(crate) fn wait_for_status(bed: &Bed, name: &str, status: &str) {
    wait_until(&format!("{name} is {status}"), DEADLINE, || {
        (member(bed, name)["status"] == status).then_some(())
    });
}

#[track_caller]
pub(crate) fn wait_until_all_are_gone(bed: &Bed) {
    wait_until("no teammate is alive", DEADLINE, || {
        alive(bed).is_empty().then_some(())
    });
}

pub(crate) fn script_of(lead: Vec<Value>, others: Vec<Value>) -> Value {
    json!({"agents": {"lead": lead, "*": others}})
}

#[track_caller]
pub(crate) fn run(bed: &Bed, script: &Value, more: &[&str]) -> Done {
    let model = bed.script(script);
    bed.start_lead(&goal(&model, more)).wait(RUN)
}
