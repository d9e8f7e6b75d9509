//! How a run ends besides well.

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::scripts::*;
use crate::support::{Bed, DEADLINE, wait_until};

#[test]
fn a_second_lead_is_refused_and_names_the_first() {
    let bed = Bed::git();
    let model = bed.script(&script_of(
        vec![json!({"text": "hi", "delay_ms": 600_000})],
        vec![],
    ));
    let first = bed.start_lead(&goal(&model, &[]));
    wait_until("the first lead lives", DEADLINE, || {
        (bed.json(".team/state/session.json")?["status"] == "working").then_some(())
    });
    let pid = first.pid().to_string();
    bed.lead(&goal(&model, &[])).expect_usage_error(&pid);
    first.signal(Signal::SIGTERM);
    let done = first.wait(RUN).expect_code(143);
    assert_eq!(done.json()["status"], "interrupted");
    bed.assert_no_process_left();
}

#[test]
fn a_signal_ends_the_whole_team() {
    for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGINT, 130)] {
        let bed = Bed::git();
        let lead = ann_with_a_task();
        let works = vec![json!({"text": "slow", "delay_ms": 600_000})];
        let model = bed.script(&script_of(lead, works));
        let running = bed.start_lead(&goal(&model, &["--yes"]));
        wait_for_status(&bed, "ann", "working");
        running.signal(signal);
        wait_until("it leaves", DEADLINE, || {
            (bed.json(".team/state/session.json")?["status"] == "leaving").then_some(())
        });
        // Everything at once.
        running.signal(signal);
        let result = running.wait(RUN).expect_code(code).json();
        assert_eq!(result["status"], "interrupted");
        assert_eq!(statuses(&bed), ["pending"]);
        bed.assert_no_process_left();
    }
}

#[test]
fn a_limit_ends_the_run_with_its_own_code() {
    let bed = Bed::git();
    let lead = (0..10)
        .map(|n| {
            turn(vec![tool(
                "read_file",
                json!({"path": "README.md", "offset": n}),
            )])
        })
        .collect();
    let done = run(&bed, &script_of(lead, vec![]), &["--max-turns", "3"]).expect_code(3);
    assert_eq!(done.json()["status"], "limit");
    bed.assert_no_process_left();
}

#[test]
fn the_limit_on_time_ends_what_runs_while_a_person_is_there_too() {
    let slow = json!({"text": "slow", "delay_ms": 600_000});
    let sleeps = turn(vec![tool("bash", json!({"command": "sleep 600"}))]);
    for (lead, ann) in [(slow.clone(), sleeps.clone()), (sleeps, slow)] {
        // A busy machine may need longer than the first of them until both are at it.
        let ended = [3, 20, 100]
            .iter()
            .any(|secs| ended_at_work(&lead, &ann, *secs));
        assert!(ended, "they never came to work in time");
    }
}

/// Whether the limit met the lead in its last reply and ann in hers, which it must have ended then.
fn ended_at_work(lead: &Value, ann: &Value, secs: u64) -> bool {
    let bed = Bed::git();
    bed.write(".team/team.json", r#"{"shutdownSecs": 2}"#);
    let lead = vec![
        turn(vec![proposal(&["ann"])]),
        tasks(1),
        turn(vec![spawn("ann", Some("t1"))]),
        turn(vec![tool("bash", json!({"command": "touch started"}))]),
        lead.clone(),
    ];
    let model = bed.script(&script_of(lead, vec![ann.clone()]));
    let secs = secs.to_string();
    let mut lead = bed.start_lead(&["--model", &model, "--yes", "--max-time", &secs]);
    lead.line("go");
    lead.wait_for(" seconds is reached", RUN);
    let transcript = bed.root().join(".team/state/transcripts/ann.jsonl");
    let has_begun =
        std::fs::read_to_string(transcript).is_ok_and(|all| all.contains("[Assignment]"));
    if !has_begun || !bed.root().join("started").exists() {
        return false;
    }
    // With a wrap-up round, or without if the machine is too busy for it.
    wait_until("ann has ended", DEADLINE, || {
        let status = &member(&bed, "ann")["status"];
        (status == "stopped" || status == "failed").then_some(())
    });
    lead.wait_for("interrupted", DEADLINE);
    lead.line("/exit");
    drop(lead.wait(DEADLINE).expect_code(3));
    assert_eq!(statuses(&bed), ["pending"]);
    bed.assert_no_process_left();
    true
}

#[test]
fn a_run_that_ends_incomplete_says_why() {
    let bed = Bed::git();
    let lead = vec![
        tasks(2),
        turn(vec![proposal(&["ann"])]),
        json!({"text": "Nobody agrees."}),
    ];
    let done = run(&bed, &script_of(lead, vec![]), &[]).expect_code(1);
    for part in [
        "2 tasks are still open",
        "give --yes to accept teams and plans",
    ] {
        assert!(
            done.stderr.contains(part),
            "{part:?} not in {}",
            done.stderr
        );
    }
    assert!(
        !done.stderr.contains("the team has stopped"),
        "{}",
        done.stderr
    );
}

#[test]
fn what_the_lead_itself_had_claimed_is_free_when_it_has_left() {
    let claims = [
        tasks(1),
        turn(vec![tool("claim_task", json!({"task_id": "${t1}"}))]),
        json!({"text": "later"}),
        json!({"text": "not now"}),
    ];
    let script = script_of(claims.to_vec(), vec![]);
    let given_back = |bed: &Bed| {
        let task = &bed.tasks()[0];
        assert_eq!(
            (&task["status"], &task["owner"], &task["attempts"]),
            (&json!("pending"), &json!(null), &json!(0)),
        );
        assert_eq!(task["workVersion"], 2, "claimed and given back");
        bed.assert_no_process_left();
    };

    let bed = Bed::git();
    let done = run(&bed, &script, &["--yes"]).expect_code(1);
    assert_eq!(done.json()["tasks"][0]["status"], "pending");
    given_back(&bed);

    let bed = Bed::git();
    let mut lead = bed.start_lead(&["--model", &bed.script(&script), "--yes"]);
    lead.line("go");
    lead.line("/exit");
    drop(lead.wait(RUN));
    given_back(&bed);
}
