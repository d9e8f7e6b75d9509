//! Teammates that cannot answer are ended all the same (SPEC §8.2): nothing depends on their model's goodwill.

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::scripts::*;
use crate::support::facts::send;
use crate::support::{Bed, DEADLINE, Running, wait_until};

/// A session whose teammate ann does `replies` with its task, and may take `secs` to stop.
pub(super) fn session(bed: &Bed, replies: &[Value], secs: u64) -> Running {
    let settings = json!({"shutdownSecs": secs});
    bed.write(".team/team.json", &settings.to_string());
    let lead = ann_with_a_task();
    let model = bed.script(&json!({"agents": {"lead": lead, "ann": replies}}));
    let mut lead = bed.start_lead(&["--model", &model, "--yes"]);
    lead.line("go");
    lead.wait_for("ann is at work.", DEADLINE);
    lead
}

pub(super) fn stop_of_ann(bed: &Bed) -> Value {
    let status = bed.lead(&["status", "--json"]).expect_code(0).json();
    let dir = std::fs::read_dir(bed.root().join(".team/state/requests")).unwrap();
    dir.flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            bed.json(&format!(".team/state/requests/{name}"))
        })
        .find(|record| record["type"] == "shutdown")
        .unwrap_or_else(|| panic!("nobody asked: {status:#}"))
}

pub(super) fn leave(bed: &Bed, mut lead: Running) {
    lead.line("/exit");
    drop(lead.wait(RUN).expect_code(1));
    assert_eq!(statuses(bed), ["pending"]);
    bed.assert_no_process_left();
}

#[test]
fn one_that_was_stopped_is_told_of_and_killed_by_the_persons_word() {
    let bed = Bed::git();
    let sleeps = turn(vec![tool(
        "bash",
        json!({"command": "touch in; sleep 600"}),
    )]);
    let mut lead = session(&bed, &[sleeps], 2);
    bed.wait_for("in");
    let pid = u32::try_from(member(&bed, "ann")["pid"].as_u64().unwrap()).unwrap();
    send(pid, Signal::SIGSTOP);
    lead.line("/team stop ann");
    lead.wait_for("ann has not stopped in time", DEADLINE);
    assert_eq!(stop_of_ann(&bed)["status"], "pending");
    lead.line("/team stop ann");
    lead.line("/team kill ann");
    wait_until("ann is gone and her task is free", DEADLINE, || {
        (alive(&bed).is_empty() && statuses(&bed) == ["pending"]).then_some(())
    });
    let record = stop_of_ann(&bed);
    assert_eq!(
        (&record["status"], &record["decided_by"]),
        (&json!("failed"), &json!("lead"))
    );
    let ann = member(&bed, "ann");
    assert_eq!(
        (&ann["status"], &ann["lastError"]),
        (&json!("failed"), &json!("the person has killed it"))
    );
    leave(&bed, lead);
}

#[test]
fn one_that_hangs_in_its_model_call_and_in_its_wrap_up_ends_in_time() {
    let bed = Bed::git();
    let hangs = || json!({"text": "never", "delay_ms": 600_000});
    let mut lead = session(&bed, &[hangs(), hangs(), hangs()], 6);
    wait_for_status(&bed, "ann", "working");
    lead.line("/team stop ann");
    wait_until_all_are_gone(&bed);
    lead.wait_for("ann → lead result (farewell)", DEADLINE);
    wait_until("the request is closed", DEADLINE, || {
        (stop_of_ann(&bed)["status"] == "failed").then_some(())
    });
    assert!(!lead.stdout().contains("has not stopped in time"));
    leave(&bed, lead);
}

#[test]
fn one_in_a_tool_that_ignores_everything_says_its_farewell_in_time() {
    let bed = Bed::git();
    let stubborn = "trap '' TERM INT HUP; touch in; while :; do sleep 1; done";
    let replies = [
        turn(vec![tool("bash", json!({"command": stubborn}))]),
        json!({"text": "It would not end."}),
    ];
    let mut lead = session(&bed, &replies, 2);
    bed.wait_for("in");
    lead.line("/team stop ann");
    wait_until_all_are_gone(&bed);
    let record = stop_of_ann(&bed);
    let ended = record["status"] == "completed" || record["status"] == "failed";
    assert!(ended, "{record:#}");
    lead.wait_for("(farewell)", DEADLINE);
    leave(&bed, lead);
}
