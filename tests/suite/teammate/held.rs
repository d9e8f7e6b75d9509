//! A provider that asks everybody to wait (SPEC §9.5), and a server that is down.

use std::time::Duration;

use pitcrew::clock;
use pitcrew::mailbox::Kind;
use pitcrew::model::Gate;
use pitcrew::request::RequestStatus;
use serde_json::{Value, json};

use super::played::Played;
use super::{complete, says};
use crate::support::DEADLINE;

fn held_by_another(lead: &Played, time: Duration) {
    let gate = Gate::new(&lead.workspace, "script:another", "bob");
    gate.close(time, "too many requests").unwrap();
}

fn fails(status: u16) -> Value {
    json!({"error": {"status": status, "retry_after": 0.001}})
}

#[test]
fn what_another_met_holds_it_back_before_it_claims() {
    // A busy machine may need longer than the first of them to look.
    let times = [2, 10, 50].map(Duration::from_secs);
    let looked_in_time = times.into_iter().any(|time| {
        let lead = Played::new(&json!([complete(), says("made")]));
        let began = clock::instant();
        held_by_another(&lead, time);
        let id = lead.task("Work");
        let _alice = lead.start(&[]);
        lead.wait_for_status("idle");
        let task = lead.on_board(&id);
        let shown = lead.bed.lead(&["status"]).expect_code(0).stdout;
        let status = lead.bed.lead(&["status", "--json"]).expect_code(0).json();
        let in_time = began.elapsed() < time;
        if in_time {
            assert_eq!(task["status"], "pending");
            for part in ["all agents of script wait until", "too many requests"] {
                assert!(shown.contains(part), "{shown}");
            }
            assert_eq!(status["held"][0]["by"], "bob", "{status}");
        }
        lead.wait_for_task(&id, "completed");
        assert!(began.elapsed() >= time);
        assert_eq!(lead.on_board(&id)["attempts"], 1);
        in_time
    });
    assert!(looked_in_time);
}

#[test]
fn a_stop_while_all_are_held_back_needs_no_model() {
    let lead = Played::new(&json!([says("farewell of its own")]));
    held_by_another(&lead, Duration::from_mins(10));
    let alice = lead.start(&[]);
    lead.wait_for_status("idle");
    lead.ask_to_stop(false);
    let _done = alice.wait(DEADLINE).expect_code(0);
    assert_eq!(lead.calls(), 0);
    assert_eq!(lead.member()["status"], "stopped");
    assert!(!lead.mail_of(&Kind::Result).is_empty());
}

#[test]
fn a_server_that_is_down_costs_the_task_no_attempt() {
    let mut replies = vec![fails(500); 8];
    replies.extend([complete(), says("made")]);
    let lead = Played::new(&json!(replies));
    let first = lead.task("First");
    let second = lead.task("Second");
    let _alice = lead.start(&[]);
    let idle = lead.letter(&Kind::IdleNotification, 1);
    assert_eq!(idle.meta("reason"), Some("error"));
    let report = lead.letter(&Kind::ErrorReport, 1);
    assert!(
        report.content.contains("tried 8 times"),
        "{}",
        report.content
    );
    for id in [first, second] {
        let task = lead.on_board(&id);
        assert_eq!(
            (&task["status"], &task["attempts"]),
            (&json!("pending"), &json!(0)),
            "{task:#}"
        );
    }
}

#[test]
fn a_wrap_up_that_the_server_puts_off_is_skipped() {
    let lead = Played::new(&json!([
        says("made it"),
        {"error": {"status": 429, "retry_after": 600}},
        says("never said"),
    ]));
    let alice = lead.start(&[]);
    lead.wait_for_status("idle");
    lead.send(Kind::Message, "Go on.");
    assert_eq!(lead.letter(&Kind::Result, 1).content, "made it");
    let request = lead.ask_to_stop(false);
    let _done = alice.wait(DEADLINE).expect_code(0);
    let record = lead.requests().get(&request).unwrap();
    assert_eq!(record.status, RequestStatus::Completed);
    let farewell = lead.letter(&Kind::Result, 2);
    assert_eq!(farewell.summary.as_deref(), Some("farewell"));
    assert_eq!(farewell.content, "made it");
}
