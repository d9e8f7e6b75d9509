//! With, without and between leads (SPEC §5.6, §5.1).

use pitcrew::mailbox::Kind;
use serde_json::json;

use super::played::Played;
use super::{bash, complete, says};
use crate::support::{DEADLINE, wait_until};

#[test]
fn a_lost_lead_is_waited_for_in_vain() {
    let mut lead = Played::with(&json!([bash("sleep 600")]), json!({"leadGraceSecs": 1}));
    let id = lead.task("Long");
    let alice = lead.start(&[]);
    lead.wait_for_task(&id, "in_progress");
    lead.die();
    let _done = alice.wait(DEADLINE).expect_code(0);
    let member = lead.member();
    assert_eq!(
        (&member["status"], &member["lastError"]),
        (&json!("failed"), &json!("lead lost"))
    );
    let task = lead.on_board(&id);
    assert_eq!(
        (&task["status"], &task["attempts"]),
        (&json!("pending"), &json!(0))
    );
    lead.bed.assert_no_process_left();
}

#[test]
fn the_turn_is_ended_and_nothing_begun_until_a_lead_is_back() {
    let mut lead = Played::with(
        &json!([
            bash("touch begun; until [ -e go ]; do sleep 0.01; done"),
            complete(),
            says("done")
        ]),
        json!({"leadGraceSecs": 60}),
    );
    let id = lead.task("Long");
    let _alice = lead.start(&[]);
    wait_until("the tool runs", DEADLINE, || {
        lead.bed.root().join("begun").exists().then_some(())
    });
    lead.die();
    lead.bed.write("go", "");
    wait_until("the turn has ended", DEADLINE, || {
        (lead.results().len() == 1).then_some(())
    });
    assert_eq!(lead.calls(), 1);
    assert_eq!(lead.on_board(&id)["status"], "in_progress");
    lead.live();
    assert_eq!(lead.letter(&Kind::Result, 1).content, "done");
    assert_eq!(lead.on_board(&id)["status"], "completed");
}

#[test]
fn who_was_started_by_a_person_waits_for_a_lead_and_says_so() {
    let mut lead = Played::new(&json!([complete(), says("joined")]));
    lead.die();
    let id = lead.task("Waiting");
    let alice = lead.bed.start_teammate(&["--name", "alice"]);
    let said = wait_until("it says so", DEADLINE, || {
        let said = alice.stderr();
        let told = said.contains("no lead") && said.contains("start `lead` in another terminal");
        told.then_some(said)
    });
    lead.wait_for_status("idle");
    assert_eq!(lead.on_board(&id)["status"], "pending");
    assert_eq!(lead.member()["startedBy"], "user");
    assert!(!said.contains("INFO"), "{said}");
    lead.live();
    assert_eq!(lead.letter(&Kind::Result, 1).content, "joined");
}

#[test]
fn a_limit_of_the_team_holds_for_teammates_too() {
    let lead = Played::with(
        &json!([bash("true"), bash("echo two"), complete(), says("never")]),
        json!({"limits": {"turns": 2}}),
    );
    let id = lead.task("Long");
    let alice = lead.start(&[]);
    lead.wait_for_task(&id, "in_progress");
    wait_until("two turns", DEADLINE, || {
        (lead.results().len() == 2).then_some(())
    });
    lead.wait_for_status("idle");
    lead.ask_to_stop(false);
    let _done = alice.wait(DEADLINE).expect_code(0);
    assert_eq!(lead.calls(), 2);
    assert_eq!(lead.on_board(&id)["status"], "pending");
}
