//! Proof before "completed": the verify command's outcome stays with the task, and whoever may cut it can.

use serde_json::{Value, json};

use crate::lead::scripts::*;
use crate::support::{Bed, DEADLINE, wait_until};

/// One task with that verify command, given to ann, who plays `ann`.
fn bed_with(verify: &str, ann: Vec<Value>) -> (Bed, String) {
    let bed = Bed::git();
    let task = json!({"subject": "docs", "verify": verify});
    let lead = vec![
        turn(vec![proposal(&["ann"]), named("create_task", task, "t1")]),
        turn(vec![spawn("ann", Some("t1"))]),
        json!({"text": "ann is at work."}),
    ];
    let model = bed.script(&script_of(lead, ann));
    (bed, model)
}

fn complete() -> Value {
    turn(vec![tool(
        "complete_task",
        json!({"task_id": "${task}", "result": "written"}),
    )])
}

#[test]
fn a_failed_run_stays_with_the_task_until_one_succeeds() {
    let verify = "echo looked; test -e docs.md || { touch seen; exit 3; }";
    let wait = turn(vec![tool(
        "bash",
        json!({"command": "until [ -e go ]; do sleep 0.02; done; touch docs.md"}),
    )]);
    let (bed, model) = bed_with(
        verify,
        vec![complete(), wait, complete(), json!({"text": "Done."})],
    );
    let lead = bed.start_lead(&goal(&model, &["--yes"]));
    let failed = wait_until("the failed run is noted", DEADLINE, || {
        let task = bed.tasks().pop()?;
        (task["verified"]["passed"] == false).then_some(task)
    });
    assert_eq!(failed["status"], "in_progress");
    assert_eq!(failed["verified"]["how"], "ended with status 3");
    assert_eq!(failed["verified"]["output"], "looked");
    let id = failed["id"].as_str().unwrap();
    let shown = bed.lead(&["task", "show", id]).expect_code(0).stdout;
    assert!(shown.contains("no: `echo looked"), "{shown}");
    assert!(shown.contains("verify said:\nlooked"), "{shown}");
    bed.write("go", "");
    let result = lead.wait(RUN).expect_code(0).json();
    let task = &result["tasks"][0];
    assert_eq!(task["status"], "completed");
    assert_eq!(task["verified"]["passed"], true);
    assert_eq!(task["verified"]["command"], verify);
    let shown = bed.lead(&["task", "show", id]).expect_code(0).stdout;
    assert!(shown.contains("yes: `echo looked"), "{shown}");
    let journal = bed.read(".tasks/.journal.jsonl");
    assert!(journal.contains(r#""verified":{"old":false,"new":true}"#));
    bed.assert_no_process_left();
}

/// A lead whose ann verifies for five minutes, which has begun.
fn verifying() -> (Bed, crate::support::Running) {
    let (bed, model) = bed_with("touch begun; sleep 300", vec![complete()]);
    bed.write(".team/team.json", r#"{"shutdownSecs": 1}"#);
    let mut lead = bed.start_lead(&["--yes", "--model", &model]);
    lead.line("go");
    bed.wait_for("begun");
    (bed, lead)
}

#[test]
fn an_interrupt_cuts_it_and_says_nothing_of_the_work() {
    let (bed, mut lead) = verifying();
    lead.line("/team interrupt ann");
    wait_until("the call is cut", DEADLINE, || {
        bed.read(".team/state/transcripts/ann.jsonl")
            .contains("verify was interrupted")
            .then_some(())
    });
    let task = bed.tasks().pop().unwrap();
    assert_eq!(task["verified"], Value::Null);
    assert_ne!(task["status"], "completed");
    drop(lead.wait(RUN));
    bed.assert_no_process_left();
}

#[test]
fn a_shutdown_cuts_it_and_gives_the_task_back() {
    let (bed, mut lead) = verifying();
    lead.line("/team stop ann");
    wait_for_status(&bed, "ann", "stopped");
    let task = bed.tasks().pop().unwrap();
    assert_eq!(
        (&task["status"], &task["owner"]),
        (&json!("pending"), &Value::Null)
    );
    drop(lead.wait(RUN));
    bed.assert_no_process_left();
}

#[test]
fn an_untrusted_workspace_runs_nothing_and_a_trusted_one_decides() {
    for (trust, wanted, ran) in [
        (&[][..], "completed", false),
        (&["--trust"][..], "pending", true),
    ] {
        let (bed, model) = bed_with(" ", vec![complete(), json!({"text": "Done."})]);
        bed.write(".team/team.json", r#"{"verify": "touch ran; false"}"#);
        let mut args = goal(&model, &["--yes"]);
        args.extend(trust);
        let done = bed.lead(&args);
        let task = bed.tasks().pop().unwrap();
        assert_eq!(task["status"], wanted, "{}", done.stderr);
        assert_eq!(bed.root().join("ran").exists(), ran);
    }
}

#[test]
fn the_person_adds_one_and_needs_none() {
    let bed = Bed::new();
    let add = ["task", "add", "docs", "--verify", "touch ran; false"];
    let id = bed.lead(&add).expect_code(0).stdout;
    let id = id.trim();
    assert_eq!(bed.tasks()[0]["verify"], "touch ran; false");
    drop(bed.lead(&["task", "complete", id]).expect_code(0));
    assert_eq!(bed.tasks()[0]["status"], "completed");
    assert!(!bed.root().join("ran").exists());
}

#[test]
fn somebody_elses_use_of_the_key_is_kept() {
    let bed = Bed::new();
    bed.write(
        ".tasks/task_0000000a.json",
        r#"{"id": "task_0000000a", "subject": "x", "description": "", "status": "pending", "owner": null,
            "blockedBy": [], "worktree": null, "verified": "by hand"}"#,
    );
    let update = ["task", "update", "task_0000000a", "--subject", "y"];
    drop(bed.lead(&update).expect_code(0));
    let task = &bed.tasks()[0];
    assert_eq!(
        (&task["subject"], &task["verified"]),
        (&json!("y"), &json!("by hand"))
    );
}
