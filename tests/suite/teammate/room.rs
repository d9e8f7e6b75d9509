//! A conversation that is too long for the model (SPEC §9.4).

use pitcrew::mailbox::Kind;
use pitcrew::request::RequestStatus;
use serde_json::{Value, json};

use super::played::Played;
use super::{bash, complete, says};
use crate::support::DEADLINE;

fn too_long() -> Value {
    json!({"error": {"status": 400, "message": "prompt is too long: 9 tokens > 8 maximum"}})
}

#[test]
fn what_is_too_long_is_summed_up_with_the_assignment_and_the_work_goes_on() {
    let lead = Played::new(&json!([
        bash("echo one >> ran"),
        bash("echo two >> ran"),
        too_long(),
        says("Both commands ran."),
        complete(),
        says("made"),
    ]));
    let id = lead.task("Work");
    let _alice = lead.start(&[]);
    lead.wait_for_task(&id, "completed");
    lead.wait_for_status("idle");
    assert_eq!(lead.bed.read("ran"), "one\ntwo\n", "nothing ran twice");
    let records = lead.transcript();
    let shorter: Vec<&Value> = records
        .iter()
        .filter(|record| record["type"] == "compacted")
        .collect();
    assert_eq!(shorter.len(), 1, "{records:#?}");
    let text = shorter[0]["text"].as_str().unwrap();
    for part in ["Both commands ran.", "alice", "The description of Work."] {
        assert!(text.contains(part), "{part:?} not in {text}");
    }
    assert!(text.trim_end().ends_with(id.as_str()), "{text}");
    assert_eq!(lead.mail_of(&Kind::ErrorReport), []);
}

#[test]
fn what_cannot_be_made_shorter_ends_the_teammate_with_that_reason() {
    let lead = Played::new(&json!([too_long(), too_long()]));
    let id = lead.task("Work");
    let alice = lead.start(&[]);
    let _done = alice.wait(DEADLINE).expect_code(1);
    assert_eq!(lead.on_board(&id)["status"], "pending");
    let member = lead.member();
    assert_eq!(member["status"], "failed");
    let why = lead.letter(&Kind::ErrorReport, 1).content;
    assert!(why.contains("nothing of the conversation"), "{why}");
}

#[test]
fn one_whose_context_is_full_stops_without_the_model() {
    let lead = Played::new(&json!([
        bash("true"),
        says("made it"),
        too_long(),
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
    assert_eq!(lead.member()["status"], "stopped");
    let farewell = lead.letter(&Kind::Result, 2);
    assert_eq!(farewell.summary.as_deref(), Some("farewell"));
    assert_eq!(farewell.content, "made it");
    let records = lead.transcript();
    let shorter = records.iter().any(|record| record["type"] == "compacted");
    assert!(!shorter, "{records:#?}");
}
