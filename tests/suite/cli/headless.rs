//! `lead -p`: what goes where, the three formats, exit codes. And piped sessions, which print plainly.

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::{Bed, DEADLINE, Done};

fn scripted(bed: &Bed, replies: &Value) -> String {
    bed.script(&json!({ "agents": { "lead": replies } }))
}

fn run(bed: &Bed, replies: &Value, args: &[&str]) -> Done {
    let model = scripted(bed, replies);
    bed.lead(&[&["--model", &model, "-p", "go"], args].concat())
}

#[test]
fn only_the_result_goes_to_standard_output_and_it_is_harmless() {
    let bed = Bed::new();
    let replies = json!([
        { "text": "First I look.", "tools": [{ "name": "list_tasks", "input": {} }] },
        { "text": "All is \u{1b}[31mfine\u{9b}2J\u{202e}." },
    ]);
    let done = run(&bed, &replies, &[]).expect_code(0);
    assert_eq!(done.stdout, "All is ␛fine␛<U+202E>.\n");
    for part in ["First I look.", "list_tasks"] {
        assert!(done.stderr.contains(part), "{}", done.stderr);
    }
    bed.assert_no_process_left();
}

#[test]
fn json_is_one_object_of_the_agreed_shape() {
    let bed = Bed::new();
    let done = run(
        &bed,
        &json!([{ "text": "Done\u{9b}." }]),
        &["--output-format", "json"],
    )
    .expect_code(0);
    assert!(!done.stdout.contains('\u{9b}'), "{:?}", done.stdout);
    let result = done.json();
    let mut keys: Vec<&String> = result.as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(
        keys,
        [
            "duration_ms",
            "result",
            "session",
            "status",
            "tasks",
            "teammates",
            "usage"
        ]
    );
    assert_eq!(result["status"], "completed");
    assert_eq!(result["result"], "Done\u{9b}.");
    assert!(result["session"].as_str().unwrap().starts_with("ses_"));
    assert_eq!(result["usage"]["agents"]["lead"]["calls"], 1);
}

#[test]
fn stream_json_is_one_event_a_line_and_the_result_last() {
    let bed = Bed::new();
    let replies = json!([
        { "text": "A task.", "tools": [{ "name": "create_task", "input": { "subject": "Do it" }, "as": "t" }] },
        { "tools": [{ "name": "no_such_tool", "input": {} }] },
        { "tools": [{ "name": "cancel_task", "input": { "task_id": "${t}" } }] },
        { "text": "Done." },
    ]);
    let done = run(&bed, &replies, &["--output-format", "stream-json"]).expect_code(0);
    let events: Vec<Value> = done
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for event in &events {
        for key in ["event", "at", "agent"] {
            assert!(event[key].is_string(), "{key}: {event}");
        }
    }
    let of = |name: &str| -> Vec<&Value> {
        events
            .iter()
            .filter(|event| event["event"] == name)
            .collect()
    };
    assert_eq!(events.first().unwrap()["event"], "init");
    let last = events.last().unwrap();
    assert_eq!(
        (&last["event"], &last["status"], &last["result"]),
        (&json!("result"), &json!("completed"), &json!("Done."))
    );
    assert_eq!(of("text").len(), 2);
    let (uses, results) = (of("tool_use"), of("tool_result"));
    assert_eq!((uses.len(), results.len()), (3, 3));
    for (used, result) in uses.iter().zip(&results) {
        assert_eq!(used["id"], result["id"]);
        assert!(used["input"].is_object());
        assert!(result["output"].is_string());
    }
    let ok: Vec<&Value> = results.iter().map(|result| &result["ok"]).collect();
    assert_eq!(ok, [true, false, true]);
    assert!(
        of("task")
            .iter()
            .all(|event| event["task"]["subject"] == "Do it")
    );
    assert!(!of("task").is_empty());
}

#[test]
fn the_exit_code_and_the_status_say_the_same() {
    let busy =
        json!([{ "text": "x", "tools": [{ "name": "list_tasks", "input": {} }] }, { "text": "y" }]);
    for (replies, args, status, code) in [
        (json!([{ "text": "ok" }]), &[][..], "completed", 0),
        (
            json!([{ "error": { "status": 400, "message": "no" } }]),
            &[],
            "failed",
            1,
        ),
        (busy, &["--max-turns", "1"], "limit", 3),
    ] {
        let bed = Bed::new();
        let args = [&["--output-format", "json"], args].concat();
        let done = run(&bed, &replies, &args).expect_code(code);
        assert_eq!(done.json()["status"], status, "{}", done.stderr);
    }
    let bed = Bed::new();
    drop(bed.lead(&["task", "add", "left open"]).expect_code(0));
    let done = run(
        &bed,
        &json!([{ "text": "ok" }]),
        &["--output-format", "json"],
    )
    .expect_code(1);
    assert_eq!(done.json()["status"], "incomplete");
}

/// A mistake in the call or the settings is told on standard error: a program that reads the result finds none.
#[test]
fn a_mistake_has_no_result_object() {
    let bed = Bed::new().with_env("OLLAMA_HOST", "127.0.0.1:1");
    let broken = bed.outside("broken.json");
    bed.put(&broken, "{");
    let broken = format!("script:{}", broken.display());
    for format in ["json", "stream-json"] {
        for call in [
            &["-p", "", "--model", "ollama:x"][..],
            &["-p", "go", "--model", "acme:x"],
            &["-p", "go", "--model", "anthropic:x"],
            &["-p", "go", "--model", "script:none.json"],
            &["-p", "go", "--model", &broken],
            &["-p", "go"],
        ] {
            let call = [call, &["--output-format", format]].concat();
            bed.lead(&call).expect_usage_error("");
        }
        bed.write(".team/team.json", "{");
        let call = ["-p", "go", "--model", "ollama:x", "--output-format", format];
        bed.lead(&call).expect_usage_error("team.json");
        std::fs::remove_dir_all(bed.root().join(".team")).unwrap();
    }
    assert_eq!(bed.listing(), [""; 0]);
}

/// Calls that never answer are cut when the time is up, not waited for.
#[test]
fn the_limit_on_time_ends_also_calls_that_hang() {
    let bed = Bed::new();
    let hangs = json!([{ "text": "late", "delay_ms": 600_000 }]);
    let model = scripted(&bed, &hangs);
    let args = ["--output-format", "json", "--max-time", "1", "-p", "go"];
    let running = bed.start_lead(&[&["--model", &model], &args[..]].concat());
    let done = running.wait(DEADLINE).expect_code(3);
    assert_eq!(done.json()["status"], "limit");
    bed.assert_no_process_left();
}

#[test]
fn a_signal_ends_the_run_with_its_code() {
    for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGINT, 130)] {
        let bed = Bed::new();
        let model = scripted(&bed, &json!([{ "text": "late", "delay_ms": 60000 }]));
        let running = bed.start_lead(&["--model", &model, "-p", "go", "--output-format", "json"]);
        crate::support::wait_until("a session", DEADLINE, || {
            let session = bed.json(".team/state/session.json")?;
            (session["status"] == "working").then_some(())
        });
        running.signal(signal);
        let done = running.wait(DEADLINE).expect_code(code);
        assert_eq!(done.json()["status"], "interrupted");
        bed.assert_no_process_left();
    }
}

#[test]
fn a_piped_session_prints_plainly_and_ends_with_its_input() {
    let bed = Bed::new();
    let model = scripted(
        &bed,
        &json!([
            { "text": "One\u{1b}[31m line.\nAnother." },
            { "tools": [{ "name": "propose_team", "input": { "members": [{ "name": "bob", "role": "coder" }], "rationale": "one is enough" } }] },
            { "when": "later, please", "text": "As you like." },
        ]),
    );
    let done = bed
        .lead_fed(&["--model", &model], "hello\ngo\nn later, please\n")
        .expect_code(0);
    for part in [
        "One␛ line.\n",
        "Another.\n",
        "lead proposes a team",
        "bob (coder)",
        "As you like.\n",
    ] {
        assert!(
            done.stdout.contains(part),
            "{part:?} not in {}",
            done.stdout
        );
    }
    assert!(!done.stdout.contains('\u{1b}'));
    assert_eq!(done.stderr, "");
}

#[test]
fn commands_of_the_person_work_without_a_terminal_too() {
    let bed = Bed::new();
    let model = scripted(&bed, &json!([]));
    let done = bed
        .lead_fed(
            &["--model", &model],
            "/help\n/tasks\n!echo my own command\n/taks\n/usage\n/exit\n",
        )
        .expect_code(0);
    for part in [
        "/team stop",
        "no tasks",
        "my own command",
        "/tasks",
        "nothing used yet",
    ] {
        assert!(
            done.stdout.contains(part),
            "{part:?} not in {}",
            done.stdout
        );
    }
}

/// With `permissionWaitSecs` a run is told what waits and how it is answered, and goes on when nobody did.
#[test]
fn a_question_of_the_leads_own_tool_waits_as_long_as_the_settings_say() {
    let bed = Bed::new();
    bed.write("old.txt", "old\n");
    let rm = json!({ "name": "bash", "input": { "command": "rm -f old.txt" } });
    let model = scripted(
        &bed,
        &json!([{ "tools": [rm] }, { "when": "neither allowed nor denied", "text": "Not today." }]),
    );
    bed.put(
        &bed.home().join(".config/pitcrew/settings.json"),
        r#"{"permissionWaitSecs": 1}"#,
    );
    let done = bed.lead(&["-p", "go", "--model", &model]).expect_code(0);
    assert_eq!(done.stdout.trim(), "Not today.");
    let asks = "lead asks for permission: bash: rm -f old.txt; answer with lead permission allow|deny req_";
    assert!(done.stderr.contains(asks), "{}", done.stderr);
    assert_eq!(bed.read("old.txt"), "old\n");
}

/// What would be asked is denied: whoever started the run is told what, by which rule, and what to do.
#[test]
fn what_is_denied_in_a_run_without_a_person_is_told() {
    let bed = Bed::new();
    bed.write("old.txt", "old\n");
    let bash = |command: &str| json!({ "name": "bash", "input": { "command": command } });
    let model = bed.script(&json!({ "agents": {
        "lead": [
            { "text": "A team.", "tools": [
                bash("rm -f old.txt"), bash("rm -f old.txt"),
                { "name": "create_task", "input": { "subject": "Tidy" }, "as": "t" },
                { "name": "propose_team", "input": { "members": [{ "name": "bob", "role": "coder" }], "rationale": "one" } }] },
            { "tools": [{ "name": "spawn_teammate", "input": { "name": "bob", "role": "coder", "prompt": "Tidy.", "task_id": "${t}" } }] },
            { "text": "Bob works." },
            { "when": "[Team events]", "text": "Done." },
        ],
        "bob": [
            { "tools": [bash("git push origin main"), bash("git push origin main")] },
            { "tools": [{ "name": "complete_task", "input": { "task_id": "${task}" } }] },
            { "text": "Done." },
        ],
    } }));
    let args = [
        "-p",
        "go",
        "--yes",
        "--model",
        &model,
        "--output-format",
        "json",
    ];
    let done = bed.lead(&args).expect_code(0);
    for part in [
        "denied: bash `rm -f old.txt`; nobody is asked in this run, and it removes files",
        "the rule bash(rm *) under permissions.allow of your settings allows it",
        "bob → lead status update\n  denied: bash `git push origin main`; nobody is asked in this run",
        "2 calls were denied, since nobody is asked in this run",
    ] {
        assert!(
            done.stderr.contains(part),
            "{part:?} not in\n{}",
            done.stderr
        );
    }
    let result = done.json();
    let keys: Vec<&String> = result.as_object().unwrap().keys().collect();
    assert_eq!(keys.len(), 7, "{keys:?}");
    assert!(bed.root().join("old.txt").exists());
    bed.assert_no_process_left();
}
