//! Whichever way a teammate comes to a task with a worktree, its first call already runs there (real processes).

use std::path::Path;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::lead::scripts::*;
use crate::support::facts::send;
use crate::support::{Bed, DEADLINE, wait_until};

/// Notes where it runs, in a file of the directory that it runs in.
const NOTE: &str = "pwd > where; git branch --show-current >> where";

fn with_worktree() -> Value {
    named(
        "create_task",
        json!({"subject": "Config", "description": "x", "worktree": "w"}),
        "t",
    )
}

fn bash(command: &str) -> Value {
    tool("bash", json!({ "command": command }))
}

/// ann's replies that begin with `first` and then end the task.
fn ann(mut first: Vec<Value>) -> Vec<Value> {
    let complete = tool(
        "complete_task",
        json!({"task_id": "${task}", "result": "ok"}),
    );
    first.extend([turn(vec![complete]), json!({"text": "Done."})]);
    first
}

/// The work was done on the worktree's branch in its directory, and nothing of it in the workspace.
#[track_caller]
fn assert_done_there(bed: &Bed) {
    let place = bed.root().join(".worktrees/w");
    let wanted = format!("{}\nwt/w\n", place.display());
    assert_eq!(bed.read(".worktrees/w/where"), wanted);
    assert!(
        !bed.root().join("where").exists(),
        "it ran in the workspace"
    );
    assert_eq!(statuses(bed), ["completed"]);
    bed.assert_no_process_left();
}

#[test]
fn claimed_by_its_own_call() {
    let bed = Bed::git();
    let lead = vec![
        turn(vec![proposal(&["ann"]), with_worktree()]),
        turn(vec![spawn("ann", None)]),
        json!({"text": "Started."}),
    ];
    let claim = tool("claim_task", json!({"task_id": "${t}"}));
    let others = ann(vec![turn(vec![claim, bash(NOTE)])]);
    drop(run(&bed, &script_of(lead, others), &["--yes"]).expect_code(0));
    assert_done_there(&bed);
}

#[test]
fn claimed_by_itself_when_it_waits_idle() {
    let bed = Bed::git();
    let lead = vec![
        turn(vec![proposal(&["ann"])]),
        turn(vec![spawn("ann", None)]),
        json!({"when": "result from ann", "tools": [with_worktree()]}),
        json!({"text": "Waiting."}),
        json!({"text": "Noted."}),
    ];
    let others = ann(vec![json!({"text": "Ready."}), turn(vec![bash(NOTE)])]);
    drop(run(&bed, &script_of(lead, others), &["--yes"]).expect_code(0));
    assert_done_there(&bed);
}

#[test]
fn given_as_its_first_task() {
    let bed = Bed::git();
    let lead = ann_in_worktree("w");
    let others = ann(vec![turn(vec![bash(NOTE)])]);
    drop(run(&bed, &script_of(lead, others), &["--yes"]).expect_code(0));
    assert_done_there(&bed);
}

#[test]
fn taken_up_again_after_it_was_killed() {
    let bed = Bed::git();
    let lead = ann_in_worktree("w");
    let others = ann(vec![
        turn(vec![bash("touch begun; sleep 300")]),
        turn(vec![bash(NOTE)]),
    ]);
    let model = bed.script(&script_of(lead, others));
    let running = bed.start_lead(&goal(&model, &["--yes"]));
    wait_until("ann has begun", DEADLINE, || {
        is_there(&bed, ".worktrees/w/begun").then_some(())
    });
    let pid = member(&bed, "ann")["pid"].as_i64().unwrap();
    send(pid.try_into().unwrap(), Signal::SIGKILL);
    drop(running.wait(RUN).expect_code(0));
    assert_done_there(&bed);
}

fn is_there(bed: &Bed, name: &str) -> bool {
    Path::new(&bed.root()).join(name).exists()
}
