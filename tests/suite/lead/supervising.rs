//! Who watches over whom: crashes, restarts and their limit, stalls, and teammates that the lead did not start (SPEC §6.5).

use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::scripts::*;
use crate::support::facts::{now, pause, processes_in, send};
use crate::support::{Bed, DEADLINE, Running, wait_until};

/// Far less than the slow look of 30 s that would find a dead owner, too.
const BACK: Duration = Duration::from_secs(20);

fn kill(bed: &Bed, name: &str) {
    let pid = member(bed, name)["pid"].as_u64().unwrap();
    send(u32::try_from(pid).unwrap(), Signal::SIGKILL);
}

fn settings(bed: &Bed, settings: &Value) {
    let path = bed.home().join(".config/pitcrew/settings.json");
    bed.put(&path, &settings.to_string());
}

#[test]
fn four_crashes_within_a_minute_are_enough() {
    let bed = Bed::git();
    settings(&bed, &json!({"maxAttempts": 9}));
    let hangs = turn(vec![tool(
        "bash",
        json!({"command": "echo x >>tries; sleep 600"}),
    )]);
    let model = bed.script(&script_of(ann_with_a_task(), vec![hangs; 9]));
    let running = bed.start_lead(&goal(&model, &["--yes"]));
    let begun = now();
    for tries in 1..=4 {
        wait_until(&format!("try {tries}"), DEADLINE, || {
            let made = bed
                .root()
                .join("tries")
                .exists()
                .then(|| bed.read("tries"))?;
            (made.lines().count() == tries && member(&bed, "ann")["status"] == "working")
                .then_some(())
        });
        assert_eq!(member(&bed, "ann")["restarts"], tries - 1);
        assert_eq!(
            bed.tasks()[0]["attempts"],
            tries,
            "it claims its task again"
        );
        kill(&bed, "ann");
    }
    // The pauses of 0, 1 and 3 s.
    assert!(begun.elapsed() >= Duration::from_secs(4));
    let done = running.wait(RUN).expect_code(1);
    assert_eq!(member(&bed, "ann")["status"], "failed");
    assert_eq!(member(&bed, "ann")["restarts"], 3);
    assert_eq!(statuses(&bed), ["pending"]);
    assert!(done.stderr.contains("SIGKILL"), "{}", done.stderr);
    assert!(!done.stderr.contains(" INFO "), "{}", done.stderr);
    bed.assert_no_process_left();
}

#[test]
fn one_that_failed_for_good_is_not_started_again() {
    let bed = Bed::git();
    let refused = json!({"error": {"status": 401}});
    let model = bed.script(&script_of(ann_with_a_task(), vec![refused; 9]));
    drop(
        bed.start_lead(&goal(&model, &["--yes"]))
            .wait(RUN)
            .expect_code(1),
    );
    let ann = member(&bed, "ann");
    assert_eq!(
        (&ann["status"], &ann["restarts"]),
        (&json!("failed"), &json!(0))
    );
    assert_eq!(statuses(&bed), ["pending"]);
    bed.assert_no_process_left();
}

#[test]
fn who_was_lost_before_its_model_heard_its_prompt_is_told_it() {
    let bed = Bed::git();
    let record = json!({
        "name": "ann", "role": "coder", "model": bed.script(&script_of(vec![], vec![json!({"text": "Heard."})])),
        "status": "working", "pid": 1, "startedAt": "2026-11-30T17:00:00.000Z", "task": null,
        "startedBy": "lead", "prompt": "Look after the cellar.", "requirePlan": true,
    });
    bed.write(".team/state/members/ann.json", &record.to_string());
    let script = script_of(
        vec![json!({"text": "I see."})],
        vec![json!({"text": "Heard."})],
    );
    drop(run(&bed, &script, &["--yes"]).expect_code(0));
    let transcript = bed.read(".team/state/transcripts/ann.jsonl");
    assert!(
        transcript.contains("Look after the cellar."),
        "{transcript}"
    );
    let ann = member(&bed, "ann");
    assert_eq!(
        (&ann["prompt"], &ann["requirePlan"]),
        (&Value::Null, &json!(true))
    );
    assert_eq!(ann["status"], "stopped");
    bed.assert_no_process_left();
}

#[test]
fn what_a_person_started_gives_back_when_killed_is_there_at_once_and_it_is_not_stopped() {
    let bed = Bed::git();
    let sleeps = turn(vec![tool("bash", json!({"command": "sleep 600"}))]);
    let model = bed.script(&script_of(vec![], vec![sleeps]));
    let mut lead = bed.start_lead(&["--model", &model]);
    drop(
        bed.lead(&["task", "add", "One", "--assignee", "zoe"])
            .expect_code(0),
    );
    let zoe = bed.start_teammate(&["--name", "zoe", "--model", &model]);
    let yan = bed.start_teammate(&["--name", "yan", "--model", &model]);
    wait_until("zoe has her task", DEADLINE, || {
        (statuses(&bed) == ["in_progress"]).then_some(())
    });
    zoe.signal(Signal::SIGKILL);
    wait_until("it is back", BACK, || {
        (statuses(&bed) == ["pending"]).then_some(())
    });
    lead.line("/exit");
    drop(lead.wait(RUN));
    wait_for_status(&bed, "yan", "idle");
    yan.signal(Signal::SIGTERM);
    drop(yan.wait(DEADLINE).expect_code(143));
    bed.assert_no_process_left();
}

#[test]
fn the_task_of_a_killed_teammate_is_soon_with_another() {
    let bed = Bed::git();
    // ann is given up at once: its second life fails for good.
    let mut ann = vec![turn(vec![tool(
        "bash",
        json!({"command": "touch in; sleep 600"}),
    )])];
    ann.push(json!({"error": {"status": 401}}));
    let mut lead = ann_with_a_task();
    lead[0] = turn(vec![proposal(&["ann", "bob"])]);
    lead[2] = turn(vec![spawn("ann", Some("t1")), spawn("bob", None)]);
    let model = bed.script(&json!({"agents": {"lead": lead, "ann": ann, "bob": [
        {"text": "Ready."}, {"tools": [{"name": "complete_task", "input": {"task_id": "${task}"}}]}, {"text": "Done."},
    ]}}));
    let running = bed.start_lead(&goal(&model, &["--yes"]));
    wait_until("ann is in her tool, bob waits", DEADLINE, || {
        let waits = member(&bed, "bob")["status"] == "idle";
        (waits && bed.root().join("in").exists()).then_some(())
    });
    let first = bed.tasks()[0]["workVersion"].clone();
    kill(&bed, "ann");
    wait_until("it is claimed again", BACK, || {
        (bed.tasks()[0]["workVersion"] != first).then_some(())
    });
    let result = running.wait(RUN).expect_code(0).json();
    assert_eq!(result["status"], "completed", "{result:#}");
    bed.assert_no_process_left();
}

/// After which silence of a model it is told of.
const STALL: Duration = Duration::from_secs(1);

#[test]
fn a_model_that_hangs_is_told_of_once_and_shown_and_a_long_tool_is_not() {
    let bed = Bed::git();
    settings(&bed, &json!({"stallSecs": STALL.as_secs()}));
    let long = turn(vec![tool(
        "bash",
        json!({"command": "touch in; until [ -e go ]; do sleep 0.02; done"}),
    )]);
    let hangs = json!({"text": "slow", "delay_ms": 600_000});
    let model = bed.script(&script_of(ann_with_a_task(), vec![long, hangs]));
    let mut lead = bed.start_lead(&["--model", &model, "--yes"]);
    lead.line("go");
    bed.wait_for("in");
    // A machine that stands still for a second may have made it true before the tool ran.
    let told = |lead: &Running| lead.stdout().matches("without a sign").count();
    let before = told(&lead);
    pause(3 * STALL / 2);
    assert_eq!(told(&lead), before, "{}", lead.stdout());
    let over = std::time::Instant::now();
    bed.write("go", "");
    wait_until("the call after it is told of", DEADLINE, || {
        (told(&lead) > before).then_some(())
    });
    // The end of the tool was a sign. The clock of a file system may lag behind a little.
    assert!(over.elapsed() + Duration::from_millis(50) > STALL);
    let status = wait_until("status shows it", DEADLINE, || {
        let status = bed.lead(&["status", "--json"]).expect_code(0).json();
        let since = status["teammates"][0]["stalledSince"].is_string();
        since.then_some(status)
    });
    assert_eq!(status["teammates"][0]["status"], "working");
    let text = bed.lead(&["status"]).expect_code(0).stdout;
    assert!(text.contains("stalled since "), "{text}");
    let once = told(&lead);
    pause(3 * STALL / 2);
    assert_eq!(told(&lead), once, "{}", lead.stdout());
    lead.line("/team interrupt ann");
    wait_until("the call is over", DEADLINE, || {
        let status = bed.lead(&["status", "--json"]).expect_code(0).json();
        status["teammates"][0]["stalledSince"]
            .is_null()
            .then_some(())
    });
    lead.line("/exit");
    drop(lead.wait(RUN));
    bed.assert_no_process_left();
}

/// Kill -9 of the lead; what its teammate's tools have started tries to get away.
#[test]
fn nobody_is_left_after_the_grace_of_a_killed_lead() {
    let bed = Bed::git();
    settings(&bed, &json!({"leadGraceSecs": 1}));
    let escapes = "(setsid sh -c 'trap \"\" TERM HUP; sleep 600; sleep 600' </dev/null >/dev/null 2>&1 &); \
                   setsid sleep 600 & touch in; sleep 600";
    let runs = turn(vec![tool("bash", json!({"command": escapes}))]);
    let calls = json!({"text": "slow", "delay_ms": 600_000});
    for ann in [runs, calls] {
        std::fs::remove_file(bed.root().join("in")).ok();
        let model = bed.script(&script_of(ann_with_a_task(), vec![ann]));
        let lead = bed.start_lead(&goal(&model, &["--yes"]));
        wait_for_status(&bed, "ann", "working");
        lead.signal(Signal::SIGKILL);
        drop(lead.wait(RUN));
        wait_until("nobody is left", BACK, || {
            processes_in(&bed.root()).is_empty().then_some(())
        });
        let ann = member(&bed, "ann");
        assert_eq!(
            (&ann["status"], &ann["lastError"]),
            (&json!("failed"), &json!("lead lost"))
        );
        assert_eq!(bed.tasks().last().unwrap()["attempts"], 0);
        assert_eq!(count(&bed, "in_progress"), 0);
        std::fs::remove_dir_all(bed.root().join(".tasks")).unwrap();
        std::fs::remove_dir_all(bed.root().join(".team")).unwrap();
    }
}
