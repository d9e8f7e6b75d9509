//! Every way of getting stuck without a person: the run ends, says why, and says so by its status and code (SPEC §14).

use serde_json::{Value, json};

use super::scripts::*;
use crate::support::{Bed, Done};

/// The run ended incomplete, with this many calls of the lead.
#[track_caller]
fn incomplete(bed: &Bed, done: Done, calls: u64) -> Done {
    let done = done.expect_code(1);
    let result = done.json();
    assert_eq!(result["status"], "incomplete", "{result:#}");
    assert_eq!(result["usage"]["agents"]["lead"]["calls"], calls);
    assert!(done.stderr.contains("still open"), "{}", done.stderr);
    bed.assert_no_process_left();
    done
}

#[test]
fn with_nobody_to_take_the_tasks_the_lead_is_asked_once_more() {
    let bed = Bed::git();
    let lead = vec![
        tasks(2),
        json!({"text": "Somebody should do these."}),
        json!({"when": "still open", "text": "I know nobody."}),
        json!({"text": "never said"}),
    ];
    let done = run(&bed, &script_of(lead, vec![]), &["--yes"]);
    let done = incomplete(&bed, done, 3);
    assert_eq!(done.json()["result"], "I know nobody.");
    assert_eq!(statuses(&bed), ["pending", "pending"]);
}

#[test]
fn a_task_for_somebody_who_is_not_there_is_not_waited_for() {
    let bed = Bed::git();
    let assigned = named(
        "create_task",
        json!({"subject": "For zoe", "assignee": "zoe"}),
        "t1",
    );
    let lead = vec![
        turn(vec![proposal(&["ann"]), assigned]),
        turn(vec![spawn("ann", None)]),
        json!({"text": "zoe may come."}),
        json!({"when": "still open", "text": "zoe did not come."}),
    ];
    let script = script_of(lead, vec![json!({"text": "I am ready."})]);
    let done = run(&bed, &script, &["--yes"]).expect_code(1);
    assert_eq!(done.json()["status"], "incomplete");
    assert_eq!(done.json()["result"], "zoe did not come.");
    assert_eq!(bed.tasks()[0]["attempts"], 0);
    assert_eq!(member(&bed, "ann")["status"], "stopped");
    bed.assert_no_process_left();
}

#[test]
fn a_task_that_nobody_gets_done_is_tried_as_often_as_allowed() {
    let bed = Bed::git();
    let lead = vec![
        turn(vec![proposal(&["ann"])]),
        tasks(1),
        turn(vec![spawn("ann", Some("t1"))]),
    ];
    let gives_up = (0..6).map(|_| json!({"text": "I cannot."})).collect();
    let done = run(&bed, &script_of(lead, gives_up), &["--yes"]).expect_code(1);
    assert_eq!(done.json()["status"], "incomplete");
    assert_eq!(bed.tasks()[0]["attempts"], 3);
    assert_eq!(bed.tasks()[0]["result"], "I cannot.");
    bed.assert_no_process_left();
}

#[test]
fn a_task_whose_plan_nobody_can_approve_is_offered_to_nobody_in_that_run() {
    let bed = Bed::git();
    let planned = |name| {
        let mut start = spawn(name, None);
        start["input"]["require_plan"] = json!(true);
        start
    };
    let lead = vec![
        turn(vec![proposal(&["ann", "bob"])]),
        turn(vec![planned("ann"), planned("bob")]),
        tasks(1),
        json!({"text": "They plan."}),
    ];
    let plan = |title: &str| {
        turn(vec![tool(
            "submit_plan",
            json!({"title": title, "steps": ["look"]}),
        )])
    };
    let others = vec![
        json!({"when": "Do your tasks", "text": "I am ready."}),
        plan("first"),
        plan("second"),
        json!({"text": "Then not."}),
    ];
    let model = bed.script(&script_of(lead, others));
    // The person agrees to the team, and is gone.
    let done = bed.lead_fed(&["--model", &model], "go\ny\n").expect_code(1);
    let task = bed.tasks()[0].clone();
    assert_eq!(
        (&task["status"], &task["attempts"]),
        (&json!("pending"), &json!(1))
    );
    let why = task["notOffered"].as_str().unwrap();
    assert!(why.contains("nobody can answer plans"), "{why}");
    assert!(
        done.stdout.contains("not offered again in this run"),
        "{}",
        done.stdout
    );
    let listed = bed.lead(&["task", "list", "--json"]).expect_code(0).json();
    assert!(
        listed[0]["blockedReason"]
            .as_str()
            .unwrap()
            .contains("lead task release"),
        "{listed:#}"
    );
    let plans = bed.lead(&["plan", "list", "--json"]).expect_code(0).json();
    assert_eq!(plans.as_array().unwrap().len(), 1, "{plans:#}");
    bed.assert_no_process_left();
    // Another run offers it again.
    let lead = vec![
        turn(vec![proposal(&["cas"])]),
        turn(vec![spawn("cas", None)]),
        json!({"text": "cas is there."}),
    ];
    let mut cas = vec![json!({"text": "I am ready."})];
    cas.extend(workers(1));
    let script = json!({"agents": {"lead": lead, "cas": cas}});
    let done = run(&bed, &script, &["--yes"]).expect_code(0);
    assert_eq!(done.json()["status"], "completed");
    assert_eq!(bed.tasks()[0].get("notOffered"), None::<&Value>);
    bed.assert_no_process_left();
}

#[test]
fn a_teammate_that_hangs_in_its_call_ends_with_the_time() {
    let bed = Bed::git();
    bed.write(".team/team.json", r#"{"shutdownSecs": 2}"#);
    let lead = ann_with_a_task();
    let hangs = vec![json!({"text": "never", "delay_ms": 600_000})];
    let done = run(&bed, &script_of(lead, hangs), &["--yes", "--max-time", "2"]);
    assert_eq!(done.expect_code(3).json()["status"], "limit");
    assert_eq!(statuses(&bed), ["pending"]);
    bed.assert_no_process_left();
}
