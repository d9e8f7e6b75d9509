//! Processes die: nothing is lost, nothing is done twice.

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::scripts::*;
use crate::support::facts::{processes_in, send};
use crate::support::{Bed, DEADLINE, wait_until};

#[test]
fn a_killed_teammate_costs_no_task_and_no_task_is_done_twice() {
    let bed = Bed::git();
    let names = ["ann", "bob"];
    let lead = vec![
        turn(vec![proposal(&names)]),
        tasks(6),
        turn(vec![spawn("ann", Some("t1")), spawn("bob", Some("t2"))]),
        json!({"text": "They are at work."}),
    ];
    let mut ann = workers(6);
    ann.insert(
        0,
        json!({"tools": [], "text": "Let me think.", "delay_ms": 0}),
    );
    ann[0] = turn(vec![tool(
        "bash",
        json!({"command": "test -e again || { touch again; sleep 600; }"}),
    )]);
    let script = json!({"agents": {"lead": lead, "ann": ann, "*": workers(6)}});
    let model = bed.script(&script);
    let running = bed.start_lead(&goal(&model, &["--yes"]));
    let pid = wait_until("ann is in her tool", DEADLINE, || {
        bed.root().join("again").exists().then_some(())?;
        member(&bed, "ann")["pid"].as_u64()
    });
    send(u32::try_from(pid).unwrap(), Signal::SIGKILL);
    let result = running.wait(RUN).expect_code(0).json();
    assert_eq!(result["status"], "completed", "{result:#}");
    assert_eq!(count(&bed, "completed"), 6);
    assert_eq!(member(&bed, "ann")["restarts"], 1);
    let journal = bed.read(".tasks/.journal.jsonl");
    let completions = journal
        .lines()
        .filter(|line| line.contains("\"new\":\"completed\""))
        .count();
    assert_eq!(completions, 6, "{journal}");
    bed.assert_no_process_left();
}

#[test]
fn a_teammate_that_cannot_start_is_undone_and_says_why() {
    let bed = Bed::git();
    let mut member_of = proposal(&["ann"]);
    member_of["input"]["members"][0]["model"] = json!("script:/nonexistent/none.json");
    let mut start = spawn("ann", Some("t1"));
    start["input"]["model"] = json!("script:/nonexistent/none.json");
    let lead = vec![
        turn(vec![member_of]),
        tasks(1),
        turn(vec![start]),
        turn(vec![tool("cancel_task", json!({"task_id": "${t1}"}))]),
        json!({"text": "over"}),
    ];
    let model = bed.script(&script_of(lead, vec![]));
    let mut args = goal(&model, &["--yes"]);
    args[3] = "stream-json";
    let done = bed.start_lead(&args).wait(RUN);
    assert!(done.stdout.contains("none.json"), "{}", done.stdout);
    assert!(done.stdout.contains("undone"), "{}", done.stdout);
    assert_eq!(member(&bed, "ann"), Value::Null);
    let task = &bed.tasks()[0];
    assert_eq!(
        (&task["owner"], &task["attempts"]),
        (&Value::Null, &json!(0))
    );
    assert_eq!(statuses(&bed), ["cancelled"]);
    bed.assert_no_process_left();
}

#[test]
fn a_start_for_a_task_that_was_taken_meanwhile_says_by_whom_and_what_to_do() {
    let bed = Bed::git();
    let taken = "while ! grep -q in_progress .tasks/task_*.json; do sleep 0.02; done";
    let lead = vec![
        turn(vec![proposal(&["ann", "bob"])]),
        turn(vec![spawn("ann", None)]),
        tasks(1),
        turn(vec![tool("bash", json!({"command": taken}))]),
        turn(vec![spawn("bob", Some("t1"))]),
        turn(vec![tool(
            "write_file",
            json!({"path": "go", "content": "go"}),
        )]),
        json!({"text": "ann has it."}),
    ];
    let waits = tool(
        "bash",
        json!({"command": "while ! test -e go; do sleep 0.02; done"}),
    );
    let mut ann = vec![json!({"text": "I am ready."}), turn(vec![waits])];
    ann.extend(workers(1));
    let model = bed.script(&json!({"agents": {"lead": lead, "ann": ann}}));
    let mut args = goal(&model, &["--yes"]);
    args[3] = "stream-json";
    let done = bed.start_lead(&args).wait(RUN).expect_code(0);
    for part in ["is owned by ann", "spawn without task_id"] {
        assert!(
            done.stdout.contains(part),
            "{part:?} not in {}",
            done.stdout
        );
    }
    assert_eq!(member(&bed, "bob"), Value::Null);
    bed.assert_no_process_left();
}

#[test]
fn a_teammate_that_keeps_dying_is_given_up() {
    let bed = Bed::git();
    let lead = ann_with_a_task();
    let always = (0..40).map(|_| {
        turn(vec![tool(
            "bash",
            json!({"command": "echo x >> tries; sleep 600"}),
        )])
    });
    let script = json!({"agents": {"lead": lead, "ann": always.collect::<Vec<_>>()}});
    let model = bed.script(&script);
    let running = bed.start_lead(&goal(&model, &["--yes"]));
    for tries in 1..=4 {
        let pid = wait_until(&format!("try {tries}"), DEADLINE, || {
            let ann = member(&bed, "ann");
            let made = bed.root().join("tries").exists().then(|| bed.read("tries"));
            let there = made.is_some_and(|text| text.lines().count() == tries);
            (there && ann["status"] == "working").then(|| ann["pid"].as_u64())?
        });
        send(u32::try_from(pid).unwrap(), Signal::SIGKILL);
        if tries == 3 {
            // After three attempts the task is no longer offered.
            break;
        }
    }
    let result = running.wait(RUN).expect_code(1).json();
    assert_eq!(result["status"], "incomplete", "{result:#}");
    assert_eq!(statuses(&bed), ["pending"]);
    assert_eq!(bed.tasks()[0]["attempts"], 3);
    bed.assert_no_process_left();
}

#[test]
fn a_lead_that_was_killed_leaves_nothing_in_progress_for_the_dead() {
    let bed = Bed::git();
    let lead = ann_with_a_task();
    let works = vec![json!({"text": "slow", "delay_ms": 600_000})];
    let model = bed.script(&script_of(lead, works));
    let mut running = bed.start_lead(&goal(&model, &["--yes"]));
    wait_for_status(&bed, "ann", "working");
    running.signal(Signal::SIGKILL);
    wait_until("the lead is gone", DEADLINE, || running.has_ended());
    for (pid, _) in processes_in(&bed.root()) {
        send(pid, Signal::SIGKILL);
    }
    wait_until_all_are_gone(&bed);
    assert_eq!(statuses(&bed), ["in_progress"]);
    let script = script_of(
        vec![json!({"when": "ann", "text": "I see what was left."})],
        vec![],
    );
    let done = run(&bed, &script, &[]).expect_code(1);
    assert!(
        done.stderr.contains("I see what was left."),
        "{}",
        done.stderr
    );
    assert_eq!(statuses(&bed), ["pending"]);
    bed.assert_no_process_left();
}

#[test]
fn a_lost_teammate_is_adopted_by_the_next_lead() {
    let bed = Bed::git();
    let lead = vec![
        turn(vec![proposal(&["ann"])]),
        tasks(2),
        turn(vec![spawn("ann", Some("t1"))]),
        json!({"text": "slow", "delay_ms": 600_000}),
    ];
    let ann = {
        let mut replies = workers(2);
        replies.insert(
            0,
            turn(vec![tool(
                "bash",
                json!({"command": "while ! test -e go; do sleep 0.02; done"}),
            )]),
        );
        replies
    };
    let model = bed.script(&script_of(lead, ann));
    let mut running = bed.start_lead(&goal(&model, &["--yes"]));
    wait_for_status(&bed, "ann", "working");
    running.signal(Signal::SIGKILL);
    wait_until("the lead is gone", DEADLINE, || running.has_ended());
    let next = bed.outside("next.json");
    bed.put(
        &next,
        &script_of(vec![json!({"text": "On we go."})], vec![]).to_string(),
    );
    let model = format!("script:{}", next.display());
    let second = bed.start_lead(&goal(&model, &["--yes"]));
    wait_until("the second lead lives", DEADLINE, || {
        (bed.json(".team/state/session.json")?["generation"] == 2).then_some(())
    });
    bed.write("go", "");
    let result = second.wait(RUN).expect_code(0).json();
    assert_eq!(result["status"], "completed", "{result:#}");
    assert_eq!(member(&bed, "ann")["status"], "stopped");
    assert_eq!(member(&bed, "ann")["restarts"], 0);
    bed.assert_no_process_left();
}

#[test]
fn a_lost_teammate_goes_on_with_its_conversation_under_the_next_lead() {
    let bed = Bed::git();
    let lead = vec![
        turn(vec![proposal(&["ann"])]),
        tasks(1),
        turn(vec![spawn("ann", Some("t1"))]),
        json!({"text": "slow", "delay_ms": 600_000}),
    ];
    let mut ann = vec![turn(vec![tool(
        "bash",
        json!({"command": "test -e again || { touch again; sleep 600; }"}),
    )])];
    ann.extend(workers(1));
    let script = json!({"agents": {"lead": lead, "ann": ann}});
    let model = bed.script(&script);
    let mut running = bed.start_lead(&goal(&model, &["--yes"]));
    bed.wait_for("again");
    running.signal(Signal::SIGKILL);
    wait_until("the lead is gone", DEADLINE, || running.has_ended());
    for (pid, _) in processes_in(&bed.root()) {
        send(pid, Signal::SIGKILL);
    }
    wait_until_all_are_gone(&bed);
    // ann's own model is the one it had.
    let next = bed.outside("next.json");
    let lead = script_of(vec![json!({"text": "On we go."})], vec![]);
    bed.put(&next, &lead.to_string());
    let model = format!("script:{}", next.display());
    let done = bed.start_lead(&goal(&model, &["--yes"])).wait(RUN);
    let result = done.expect_code(0).json();
    assert_eq!(result["status"], "completed", "{result:#}");
    assert_eq!(count(&bed, "completed"), 1);
    let transcript = bed.read(".team/state/transcripts/ann.jsonl");
    assert!(transcript.contains("interrupted"), "{transcript}");
    bed.assert_no_process_left();
}

#[test]
fn what_was_agreed_holds_when_the_session_goes_on() {
    let bed = Bed::git();
    let first = vec![
        turn(vec![proposal(&["ann"])]),
        json!({"text": "agreed", "delay_ms": 600_000}),
    ];
    let model = bed.script(&script_of(first, vec![]));
    let mut running = bed.start_lead(&goal(&model, &["--yes"]));
    wait_until("it is agreed", DEADLINE, || {
        let dir = bed.root().join(".team/state/transcripts");
        let file = std::fs::read_dir(dir).ok()?.flatten().next()?;
        let text = std::fs::read_to_string(file.path()).ok()?;
        text.contains("the person agreed").then_some(())
    });
    running.signal(Signal::SIGKILL);
    wait_until("the lead is gone", DEADLINE, || running.has_ended());
    for (more, started) in [("--continue", true), ("--plain", false)] {
        // The session that goes on has used its first reply already.
        let next = vec![
            turn(vec![tool("list_teammates", json!({}))]),
            turn(vec![spawn("ann", None)]),
            json!({"text": "over"}),
        ];
        let script = script_of(next, vec![]);
        let path = bed.outside("next.json");
        bed.put(&path, &script.to_string());
        let model = format!("script:{}", path.display());
        let done = bed.start_lead(&goal(&model, &[more])).wait(RUN);
        assert_eq!(
            member(&bed, "ann") != Value::Null,
            started,
            "{more}: {}",
            done.stderr
        );
        std::fs::remove_file(bed.root().join(".team/state/members/ann.json")).ok();
    }
    bed.assert_no_process_left();
}
