//! A teammate's end by a verb from another terminal, beside its lead and without one (SPEC §14).

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::scripts::*;
use super::unresponsive::{leave, session, stop_of_ann};
use crate::support::facts::send;
use crate::support::{Bed, DEADLINE, Running, wait_until};

/// Longer than any test waits.
fn sleeps() -> Value {
    turn(vec![tool(
        "bash",
        json!({"command": "touch in; sleep 600"}),
    )])
}

fn wait_until_in_tool(bed: &Bed) {
    bed.wait_for("in");
}

#[test]
fn one_that_is_asked_from_elsewhere_says_its_farewell_and_is_not_started_again() {
    let bed = Bed::git();
    let lead = session(&bed, &[sleeps(), json!({"text": "The half is done."})], 4);
    wait_until_in_tool(&bed);
    let said = bed.lead(&["team", "stop", "ann"]).expect_code(0).stdout;
    assert!(said.contains("ann was asked to stop (req_"), "{said}");
    wait_until("ann is gone", DEADLINE, || {
        (member(&bed, "ann")["status"] == "stopped" && alive(&bed).is_empty()).then_some(())
    });
    lead.wait_for("(farewell)", DEADLINE);
    let record = stop_of_ann(&bed);
    assert_eq!(
        (&record["sender"], &record["status"]),
        (&json!("user"), &json!("completed"))
    );
    assert_eq!(member(&bed, "ann")["restarts"], 0);
    leave(&bed, lead);
}

#[test]
fn the_lead_knows_of_it_and_says_that_one_does_not_stop() {
    let bed = Bed::git();
    let lead = session(&bed, &[sleeps()], 2);
    wait_until_in_tool(&bed);
    let pid = member(&bed, "ann")["pid"].as_u64().unwrap();
    send(u32::try_from(pid).unwrap(), Signal::SIGSTOP);
    drop(bed.lead(&["team", "stop", "ann"]).expect_code(0));
    lead.wait_for("ann has not stopped in time", DEADLINE);
    let killed = bed
        .lead(&["team", "kill", "ann", "--json"])
        .expect_code(0)
        .json();
    assert_eq!(killed["request_id"], stop_of_ann(&bed)["request_id"]);
    assert_eq!(
        (&killed["status"], &killed["decided_by"]),
        (&json!("failed"), &json!("lead"))
    );
    let ann = member(&bed, "ann");
    assert_eq!(
        (&ann["status"], &ann["restarts"], &ann["lastError"]),
        (
            &json!("failed"),
            &json!(0),
            &json!("the person has killed it")
        )
    );
    assert_eq!(bed.tasks()[0]["attempts"], 0, "the attempt is taken back");
    leave(&bed, lead);
}

#[test]
fn one_that_is_killed_from_elsewhere_in_a_long_tool_is_not_started_again() {
    let bed = Bed::git();
    let lead = session(&bed, &[sleeps()], 60);
    wait_until_in_tool(&bed);
    drop(bed.lead(&["team", "kill", "ann"]).expect_code(0));
    assert_eq!(alive(&bed), Vec::<String>::new());
    assert_eq!(statuses(&bed), ["pending"]);
    assert_eq!(member(&bed, "ann")["restarts"], 0);
    leave(&bed, lead);
}

/// A teammate of the person that was in a tool when its lead died.
fn left_alone(bed: &Bed) -> Running {
    let model = bed.script(&script_of(vec![], vec![sleeps()]));
    let lead = bed.start_lead(&["--model", &model]);
    drop(
        bed.lead(&["task", "add", "One", "--assignee", "zoe"])
            .expect_code(0),
    );
    let zoe = bed.start_teammate(&["--name", "zoe", "--model", &model]);
    wait_until_in_tool(bed);
    lead.signal(Signal::SIGKILL);
    drop(lead);
    zoe
}

#[test]
fn without_a_lead_one_that_hangs_is_killed_and_what_it_held_is_free() {
    let bed = Bed::git();
    let zoe = left_alone(&bed);
    zoe.signal(Signal::SIGSTOP);
    let killed = bed
        .lead(&["team", "kill", "zoe", "--json"])
        .expect_code(0)
        .json();
    assert_eq!(
        (&killed["status"], &killed["decided_by"]),
        (&json!("failed"), &json!("user"))
    );
    let record = member(&bed, "zoe");
    assert_eq!(
        (&record["status"], &record["task"], &record["lastError"]),
        (
            &json!("failed"),
            &Value::Null,
            &json!("the person has killed it")
        )
    );
    assert_eq!(statuses(&bed), ["pending"]);
    assert_eq!(bed.tasks()[0]["attempts"], 0);
    drop(zoe);
    bed.assert_no_process_left();
}

#[test]
fn without_a_lead_one_that_is_asked_stops() {
    let bed = Bed::git();
    let model = bed.script(&json!({"agents": {"*": []}}));
    let zoe = bed.start_teammate(&["--name", "zoe", "--model", &model]);
    wait_for_status(&bed, "zoe", "idle");
    drop(bed.lead(&["team", "stop", "zoe"]).expect_code(0));
    drop(zoe.wait(DEADLINE).expect_code(0));
    assert_eq!(stop_of_ann(&bed)["status"], "completed");
    assert_eq!(member(&bed, "zoe")["status"], "stopped");
    bed.assert_no_process_left();
}
