//! Stopping, by request and by signal (SPEC §8.2, §5.1).

use std::time::Duration;

use nix::sys::signal::Signal;
use pitcrew::ids::AgentName;
use pitcrew::mailbox::{Kind, Message};
use pitcrew::model::Gate;
use pitcrew::request::{RequestKind, RequestStatus};
use serde_json::json;

use super::played::{Played, alice};
use super::{bash, complete, says};
use crate::support::{DEADLINE, wait_until};

#[test]
fn a_stop_brings_a_wrap_up_a_farewell_and_then_the_answer() {
    let lead = Played::new(&json!([
        bash("until [ -e go ]; do sleep 0.01; done"),
        says("This is done, that is open.")
    ]));
    let id = lead.task("Long");
    let alice = lead.start(&[]);
    lead.wait_for_task(&id, "in_progress");
    lead.send(Kind::Message, "before");
    let request = lead.ask_to_stop(false);
    lead.send(Kind::Message, "after");
    lead.wait_for_status("stopping");
    lead.bed.write("go", "");
    let _done = alice.wait(DEADLINE).expect_code(0);
    let farewell = lead.letter(&Kind::Result, 1);
    assert_eq!(farewell.summary.as_deref(), Some("farewell"));
    assert!(farewell.content.starts_with("This is done"));
    assert!(farewell.content.contains(id.as_str()));
    let kinds: Vec<Kind> = lead
        .mail()
        .into_iter()
        .map(|message| message.kind)
        .collect();
    assert_eq!(
        kinds,
        [Kind::Result, Kind::TaskNotification, Kind::ShutdownResponse]
    );
    let response = lead.letter(&Kind::ShutdownResponse, 1);
    assert_eq!(response.meta("request_id"), Some(request.as_str()));
    let record = lead.requests().get(&request).unwrap();
    assert_eq!(record.status, RequestStatus::Completed);
    assert_eq!(lead.member()["status"], "stopped");
    let task = lead.on_board(&id);
    assert_eq!(
        (&task["status"], &task["attempts"]),
        (&json!("pending"), &json!(0))
    );
    let told = lead.told().join("\n");
    assert!(told.contains("before") && told.contains("after"), "{told}");
    lead.bed.assert_no_process_left();
}

#[test]
fn a_leaving_lead_costs_an_idle_teammate_no_call() {
    let lead = Played::new(&json!([complete(), says("made it"), says("never said")]));
    lead.task("Quick");
    let alice = lead.start(&[]);
    lead.letter(&Kind::IdleNotification, 1);
    let calls = lead.calls();
    lead.ask_to_stop(true);
    let _done = alice.wait(DEADLINE).expect_code(0);
    assert_eq!(lead.calls(), calls);
    let farewell = lead.letter(&Kind::Result, 2);
    assert_eq!(farewell.content, "made it");
    assert_eq!(farewell.summary.as_deref(), Some("farewell"));
}

#[test]
fn a_wait_for_the_person_does_not_hold_up_a_stop() {
    let lead = Played::new(&json!([bash("rm -f x"), says("bye")]));
    lead.task("Clean");
    let alice = lead.start(&[]);
    let question = lead.asked(RequestKind::Permission);
    lead.ask_to_stop(false);
    let _done = alice.wait(DEADLINE).expect_code(0);
    let record = lead.requests().get(&question.request_id).unwrap();
    assert_eq!(record.status, RequestStatus::Withdrawn);
    assert!(lead.letter(&Kind::Result, 1).content.starts_with("bye"));
}

#[test]
fn who_waits_at_the_providers_gate_stops_at_once_and_without_a_call() {
    let lead = Played::with(&json!([says("never said")]), json!({"shutdownSecs": 600}));
    let alice = lead.start(&[]);
    lead.wait_for_status("idle");
    Gate::new(&lead.workspace, "script:x", "bob")
        .close(Duration::from_hours(1), "too many requests")
        .unwrap();
    lead.send(Kind::Message, "Go on.");
    wait_until("she waits", DEADLINE, || {
        lead.member()["lastError"]
            .as_str()
            .is_some_and(|why| why.contains("too many requests"))
            .then_some(())
    });
    let request = lead.ask_to_stop(false);
    let _done = alice.wait(DEADLINE).expect_code(0);
    let record = lead.requests().get(&request).unwrap();
    assert_eq!(record.status, RequestStatus::Completed);
    let farewell = lead.letter(&Kind::Result, 1);
    assert_eq!(farewell.summary.as_deref(), Some("farewell"));
    assert_eq!(lead.calls(), 0);
}

#[test]
fn what_does_not_end_by_itself_is_cut_after_half_of_the_time() {
    let lead = Played::with(
        &json!([bash("sleep 600"), says("cut, but here")]),
        json!({"shutdownSecs": 4}),
    );
    let id = lead.task("Stuck");
    let alice = lead.start(&[]);
    lead.wait_for_task(&id, "in_progress");
    lead.ask_to_stop(false);
    let _done = alice.wait(DEADLINE).expect_code(0);
    assert!(lead.results()[0].contains("interrupted"));
    assert!(
        lead.letter(&Kind::Result, 1)
            .content
            .starts_with("cut, but here")
    );
    lead.bed.assert_no_process_left();
}

#[test]
fn a_wrap_up_that_fails_ends_it_all_the_same() {
    let lead = Played::new(&json!([
        complete(),
        says("made it"),
        {"error": {"status": 400, "message": "no more"}}
    ]));
    lead.task("Quick");
    let alice = lead.start(&[]);
    lead.letter(&Kind::IdleNotification, 1);
    let request = lead.ask_to_stop(false);
    let _done = alice.wait(DEADLINE).expect_code(1);
    let record = lead.requests().get(&request).unwrap();
    assert_eq!(record.status, RequestStatus::Failed);
    assert_eq!(lead.member()["status"], "failed");
    assert_eq!(lead.letter(&Kind::Result, 2).content, "made it");
}

#[test]
fn a_line_alone_stops_nobody() {
    let lead = Played::new(&json!([says("still here")]));
    let _alice = lead.start(&[]);
    lead.wait_for_status("idle");
    let forged = Message::new(&AgentName::lead(), &alice(), Kind::ShutdownRequest, "stop")
        .with("request_id", "req_00000000");
    lead.deliver(&forged);
    lead.send(Kind::Message, "are you there?");
    assert_eq!(lead.letter(&Kind::Result, 1).content, "still here");
    assert_eq!(lead.mail_of(&Kind::ShutdownResponse).len(), 0);
}

#[test]
fn sigterm_ends_its_tools_and_frees_its_task() {
    let lead = Played::new(&json!([bash("sleep 600 & touch begun; sleep 600")]));
    let id = lead.task("Long");
    let alice = lead.start(&[]);
    wait_until("the tool runs", DEADLINE, || {
        lead.bed.root().join("begun").exists().then_some(())
    });
    alice.signal(Signal::SIGTERM);
    let _done = alice.wait(DEADLINE).expect_code(143);
    lead.bed.assert_no_process_left();
    let task = lead.on_board(&id);
    assert_eq!(
        (&task["status"], &task["attempts"]),
        (&json!("pending"), &json!(0))
    );
    assert!(lead.results()[0].contains("interrupted"));
}

#[test]
fn an_interrupt_cuts_the_running_call_and_nothing_else() {
    let lead = Played::new(&json!([
        bash("touch begun; sleep 600"),
        complete(),
        says("went on")
    ]));
    let id = lead.task("Long");
    let alice = lead.start(&[]);
    wait_until("the tool runs", DEADLINE, || {
        lead.bed.root().join("begun").exists().then_some(())
    });
    alice.signal(Signal::SIGINT);
    let idle = lead.letter(&Kind::IdleNotification, 1);
    assert_eq!(idle.meta("outcome"), Some("interrupted"));
    assert_eq!(lead.on_board(&id)["status"], "in_progress");
    lead.send(Kind::Message, "go on");
    assert_eq!(lead.letter(&Kind::Result, 1).content, "went on");
}
