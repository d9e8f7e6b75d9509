//! A start that cannot be finished leaves nothing half-started and says at which step it failed (SPEC §6.4).

use std::path::{Path, PathBuf};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::scripts::*;
use crate::support::facts::{processes_in, send};
use crate::support::program::{copy_program, write_program};
use crate::support::{Bed, DEADLINE, Done, Running, wait_until};

/// A lead that starts `ann` with its first task once the file `go` is there.
fn script() -> Value {
    let gate = "touch ready; until [ -e go ]; do sleep 0.02; done";
    let lead = vec![
        turn(vec![proposal(&["ann"])]),
        tasks(1),
        turn(vec![tool("bash", json!({"command": gate}))]),
        turn(vec![spawn("ann", Some("t1"))]),
        turn(vec![tool("cancel_task", json!({"task_id": "${t1}"}))]),
        json!({"text": "over"}),
    ];
    script_of(lead, vec![])
}

/// Starts a lead from a program of its own, so that its teammates' program can be changed, and waits for its gate.
fn at_the_gate(bed: &Bed) -> (Running, PathBuf) {
    let program = bed.outside("own/lead");
    copy_program(Path::new(env!("CARGO_BIN_EXE_lead")), &program);
    let model = bed.script(&script());
    let mut args = goal(&model, &["--yes"]);
    args[3] = "stream-json";
    let mut command = bed.command(&program);
    command.args(args);
    let running = Running::start(&mut command);
    bed.wait_for("ready");
    (running, program)
}

/// The answer to the start, which must be an error.
fn refusal(done: &Done) -> String {
    let events = done.stdout.lines();
    events
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|event| event["event"] == "tool_result" && event["ok"] == json!(false))
        .filter_map(|event| event["output"].as_str().map(str::to_owned))
        .find(|output| output.contains("ann") || output.contains("could not"))
        .unwrap_or_else(|| panic!("no refusal in {}", done.stdout))
}

fn assert_undone(bed: &Bed) {
    let task = &bed.tasks()[0];
    let attempts = task["attempts"].as_u64().unwrap_or(0);
    assert_eq!((&task["owner"], attempts), (&Value::Null, 0), "{task:#}");
    bed.assert_no_process_left();
}

#[test]
fn each_step_that_fails_is_named_and_all_before_it_is_undone() {
    let gone: fn(&Path) = |program| std::fs::remove_file(program).unwrap();
    let dies: fn(&Path) = |program| {
        write_program(
            program,
            "#!/bin/sh\necho 'cannot find libthing' >&2\nexit 3\n",
        );
    };
    let silent: fn(&Path) =
        |program| write_program(program, "#!/bin/sh\necho waiting; exec sleep 600\n");
    for (fault, words) in [
        (gone, &["the process could not be started"][..]),
        (
            dies,
            &[
                "its process ended at once",
                "exit status: 3",
                "cannot find libthing",
            ],
        ),
        (silent, &["wrote no status in time", "waiting"]),
    ] {
        let bed = Bed::git();
        let (lead, program) = at_the_gate(&bed);
        fault(&program);
        bed.write("go", "");
        let done = lead.wait(RUN).expect_code(0);
        let why = refusal(&done);
        for word in words {
            assert!(why.contains(word), "{word:?} not in {why:?}");
        }
        assert_eq!(member(&bed, "ann"), Value::Null);
        assert_undone(&bed);
    }
}

#[test]
fn a_record_that_cannot_be_written_stops_the_start_before_anything_is_claimed() {
    let bed = Bed::git();
    let (lead, _) = at_the_gate(&bed);
    // Records are written under this lock.
    let lock = bed.root().join(".team/state/members/.write.lock");
    std::fs::create_dir_all(lock).unwrap();
    bed.write("go", "");
    let done = lead.wait(RUN);
    let why = refusal(&done);
    assert!(
        why.contains("the member's record could not be written"),
        "{why:?}"
    );
    assert_eq!(bed.tasks()[0]["attempts"], 0);
    bed.assert_no_process_left();
}

#[test]
fn an_earlier_life_of_the_name_is_as_it_was_before_the_start_that_failed() {
    let bed = Bed::git();
    let record = json!({
        "name": "ann", "role": "coder", "model": "script:x", "status": "stopped", "pid": null,
        "startedAt": "2026-11-30T17:00:00.000Z", "task": null, "turns": 7,
    });
    bed.write(".team/state/members/ann.json", &record.to_string());
    let said = "{\"type\":\"start\",\"agent\":\"ann\",\"session\":null,\"at\":\"2026-11-30T17:00:00.000Z\"}\n";
    bed.write(".team/state/transcripts/ann.jsonl", said);
    let (lead, program) = at_the_gate(&bed);
    write_program(&program, "#!/bin/sh\nexit 3\n");
    bed.write("go", "");
    drop(lead.wait(RUN).expect_code(0));
    assert_eq!(member(&bed, "ann")["status"], "stopped");
    assert_eq!(member(&bed, "ann")["turns"], 7);
    assert_eq!(bed.read(".team/state/transcripts/ann.jsonl"), said);
    assert!(
        !bed.root()
            .join(".team/state/transcripts/ann.1.jsonl")
            .exists()
    );
    assert_undone(&bed);
}

/// What the steps of a start leave when the lead is killed between them.
#[test]
fn a_start_that_a_kill_cut_short_is_undone_by_the_next_lead() {
    let record = json!({
        "name": "ann", "role": "coder", "model": "script:x", "status": "starting", "pid": null,
        "startedAt": "2026-11-30T17:00:00.000Z", "task": null, "startedBy": "lead",
    });
    for claimed in [false, true] {
        let bed = Bed::git();
        bed.write(".team/state/members/ann.json", &record.to_string());
        let mut task = json!({
            "id": "task_00000001", "subject": "One", "description": "", "status": "pending", "owner": null,
            "blockedBy": [], "worktree": null,
        });
        if claimed {
            task["status"] = json!("in_progress");
            task["owner"] = json!("ann");
            task["workVersion"] = json!(1);
            task["attempts"] = json!(1);
        }
        bed.write(".tasks/task_00000001.json", &task.to_string());
        let script = script_of(vec![json!({"text": "I see."})], vec![]);
        drop(run(&bed, &script, &["--yes"]).expect_code(1));
        assert_eq!(member(&bed, "ann"), Value::Null);
        assert_eq!(statuses(&bed), ["pending"]);
        assert_undone(&bed);
    }
}

#[test]
fn a_lead_killed_while_it_waits_for_the_status_is_followed_by_one_that_undoes_the_start() {
    let bed = Bed::git();
    let (lead, program) = at_the_gate(&bed);
    write_program(&program, "#!/bin/sh\nexec sleep 600\n");
    bed.write("go", "");
    wait_until("ann's process is there", DEADLINE, || {
        let there = processes_in(&bed.root());
        there
            .iter()
            .any(|(_, command)| command.starts_with("sleep 600"))
            .then_some(())
    });
    lead.signal(Signal::SIGKILL);
    drop(lead.wait(RUN));
    assert_eq!(statuses(&bed), ["in_progress"]);
    let script = script_of(vec![json!({"text": "I see."})], vec![]);
    drop(run(&bed, &script, &["--yes"]).expect_code(1));
    assert_eq!(member(&bed, "ann"), Value::Null);
    assert_eq!(statuses(&bed), ["pending"]);
    // What stood in for ann's process knows nothing of leads.
    for (pid, _) in processes_in(&bed.root()) {
        send(pid, Signal::SIGKILL);
    }
    assert_undone(&bed);
}

/// Its lead was killed after the start, and the next lead has undone it before the process came up.
#[test]
fn a_process_whose_start_was_undone_ends_without_a_trace() {
    let bed = Bed::git();
    let model = bed.script(&script_of(vec![], vec![]));
    let args = [
        "--name",
        "ann",
        "--role",
        "coder",
        "--model",
        &model,
        "--keys-on-stdin",
    ];
    let mut ann = bed.start_teammate(&args);
    ann.line("{}");
    let done = ann.wait(DEADLINE).expect_code(2);
    assert!(done.stderr.contains("was undone"), "{}", done.stderr);
    assert_eq!(member(&bed, "ann"), Value::Null);
    bed.assert_no_process_left();
}

/// A member that has nothing to do: it takes no turn.
fn rests(name: &str) -> Value {
    tool(
        "spawn_teammate",
        json!({"name": name, "role": "coder", "prompt": ""}),
    )
}

/// The farewell of an earlier life, which the model has not read yet, says nothing of the present one.
#[test]
fn what_is_in_the_way_of_a_start_is_not_waited_for_after_an_old_farewell() {
    for (second, why) in [
        ("ann", "ann is there already"),
        ("bob", "the most allowed (maxTeammates)"),
    ] {
        let bed = Bed::git();
        let settings = bed.home().join(".config/pitcrew/settings.json");
        bed.put(&settings, &json!({"maxTeammates": 1}).to_string());
        let agreed = turn(vec![proposal(&["ann", "bob"])]);
        let first = vec![
            agreed.clone(),
            turn(vec![rests("ann")]),
            json!({"text": "end"}),
        ];
        drop(run(&bed, &script_of(first.clone(), vec![]), &["--yes"]).expect_code(0));
        let again = vec![
            agreed,
            turn(vec![rests("ann")]),
            turn(vec![rests(second)]),
            json!({"text": "end again"}),
        ];
        let both = script_of([first, again].concat(), vec![]);
        let done = run(&bed, &both, &["--yes", "--continue"]).expect_code(0);
        let result = done.json();
        assert_eq!(result["result"], "end again");
        let session = result["session"].as_str().unwrap();
        let transcript = bed.read(&format!(".team/state/transcripts/lead.{session}.jsonl"));
        assert!(transcript.contains(why), "{why:?} not in {transcript}");
        bed.assert_no_process_left();
    }
}
