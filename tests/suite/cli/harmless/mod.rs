//! What models, files and messages say reaches no terminal as it is (SPEC §14): hostile text in every field that can hold
//! any, through every verb and every front end.

mod planted;

use pitcrew::cli::safe::acts_on_terminal;
use planted::plant;
use serde_json::{Value, json};

use crate::support::{Bed, DEADLINE, Done, wait_until};

/// Sequences of both kinds, a clipboard, a title, C0, C1, overwriting, reordered, invisible, and a line of its own.
const HOSTILE: &str = "\u{1b}[31mred\u{1b}]52;c;cm0=\u{7}\u{1b}]0;t\u{1b}\\\u{9b}2J\u{9d}0;t\u{9c}\u{8}\r\u{7f}\u{85}\u{ad}\
    \u{202e}txt\u{2066}\u{200b}\u{200f}\u{feff}\u{2028}\u{e0041}\u{1}end";

/// The same in a shell's `printf`.
const PRINTED: &str =
    r"printf 'x\033[31mred\033]52;c;cm0=\007\302\2332J\b\r\177\342\200\256txt\342\200\213end\n'";

#[track_caller]
fn assert_harmless(what: &str, done: &Done) {
    for stream in [&done.stdout, &done.stderr] {
        let bad = stream
            .chars()
            .find(|ch| !matches!(ch, '\n' | '\t') && acts_on_terminal(*ch));
        assert_eq!(bad, None, "{what}: {stream:?}");
    }
}

/// The same, and standard output is what programs read: not even a tabulator, and the value is whole.
#[track_caller]
fn assert_json(what: &str, done: &Done) {
    assert_harmless(what, done);
    assert!(!done.stdout.contains('\t'), "{what}: {:?}", done.stdout);
    assert!(!done.stdout.is_empty(), "{what}: {}", done.stderr);
    done.json();
}

fn hostile(text: &str) -> String {
    format!("{text} {HOSTILE}")
}

/// The same for what has to be one line.
fn line(text: &str) -> String {
    hostile(text).replace('\r', "")
}

#[expect(clippy::needless_pass_by_value, reason = "the calls read better")]
fn call(name: &str, input: Value) -> Value {
    json!({"name": name, "input": input})
}

/// A lead and a teammate who say it wherever they can.
fn script() -> Value {
    let member = json!({"name": "alice", "role": line("coder")});
    let spawn = json!({"name": "alice", "role": line("coder"), "prompt": hostile("Work."), "task_id": "${t}", "require_plan": true});
    let task = json!({"subject": line("Subject"), "description": hostile("Description"), "verify": format!("{PRINTED}; # {HOSTILE}")});
    json!({"agents": {
        "lead": [
            {"text": hostile("I begin."), "tools": [
                {"name": "create_task", "input": task, "as": "t"},
                call("create_task", json!({"subject": line("Wait"), "worktree": hostile("w")})),
                call("bash", json!({"command": format!("{PRINTED}; {PRINTED} >&2; echo '{HOSTILE}'; exit 3")})),
                call("write_file", json!({"path": hostile("file"), "content": hostile("text")})),
                call("read_file", json!({"path": hostile("none")})),
                call("read_file", json!({"path": hostile("file")})),
                call("edit_file", json!({"path": hostile("file"), "old_text": "text", "new_text": hostile("more")})),
                call("glob", json!({"pattern": "file*"})),
                call("grep", json!({"pattern": "red", "context": 2})),
                call(&hostile("no_tool"), json!({})),
                call("grep", json!({"pattern": "red", HOSTILE: 1})),
                call("todo_write", json!({"items": [{"text": hostile("do"), "status": "pending"}]})),
                call("propose_team", json!({"members": [member], "rationale": hostile("because")})),
            ]},
            {"tools": [call("spawn_teammate", spawn)]},
            {"when": "[Team events]", "text": hostile("Heard.")},
        ],
        "alice": [
            {"text": hostile("A plan."), "tools": [
                call("submit_plan", json!({"title": hostile("Plan"), "steps": [hostile("one")], "rationale": hostile("why")})),
            ]},
            {"tools": [
                call("bash", json!({"command": format!("rm -f nothing # {HOSTILE}")})),
                call("send_message", json!({"to": "lead", "content": hostile("Content"), "summary": hostile("Summary")})),
                call("send_message", json!({"to": hostile("bob"), "content": hostile("Content")})),
                call("write_file", json!({"path": "more.txt", "content": hostile("text")})),
                call("complete_task", json!({"task_id": "${task}", "result": hostile("Result")})),
            ]},
            {"text": hostile("Done.")},
        ],
        "*": [{"text": hostile("Nothing.")}],
    }})
}

/// All verbs that show something, in words and as JSON.
const LISTS: [&str; 16] = [
    "status",
    "doctor",
    "config",
    "log",
    "usage",
    "sessions",
    "task list",
    "task show task_00000001",
    "team list",
    "mail list",
    "mail list lead",
    "mail list lead --all",
    "plan list",
    "permission list",
    "worktree list",
    "permission test --list",
];

#[track_caller]
fn assert_verbs(bed: &Bed) {
    for verb in LISTS {
        let mut args: Vec<&str> = verb.split(' ').collect();
        assert_harmless(verb, &bed.lead(&args));
        args.push("--json");
        assert_json(verb, &bed.lead(&args));
    }
    for args in [
        vec!["mail", "show", "msg_00000000000000aa"],
        vec!["task", "show", "task_00000002"],
        vec!["task", "show", "task_0000000a"],
        vec!["diff"],
        vec!["plan", "approve", "req_0000000a", "--comment", HOSTILE],
        vec!["permission", "allow", "req_0000000b"],
        vec!["permission", "test", HOSTILE],
        vec!["permission", "test", "--tool", HOSTILE, "x"],
        vec!["task", "show", HOSTILE],
        vec!["task", "add", HOSTILE, "--blocked-by", HOSTILE],
        vec!["task", "add", HOSTILE, "--worktree", HOSTILE],
        vec![
            "task",
            "add",
            HOSTILE,
            "--description",
            HOSTILE,
            "--assignee",
            HOSTILE,
        ],
        vec!["task", "complete", "task_00000001"],
        vec!["task", "cancel", "task_00000002"],
        vec!["mail", "send", HOSTILE, HOSTILE],
        vec!["mail", "list", HOSTILE],
        vec!["worktree", "diff", HOSTILE],
        vec!["team", "kill", HOSTILE],
        vec![HOSTILE],
        vec!["--model", HOSTILE, "-p", "x"],
        vec!["--resume", HOSTILE],
        vec!["--root", HOSTILE, "status"],
        vec!["doctor", "--repair"],
    ] {
        assert_harmless(&format!("{args:?}"), &bed.lead(&args));
    }
}

#[track_caller]
fn assert_lines(what: &str, done: &Done) {
    let bad = done
        .stdout
        .chars()
        .find(|ch| *ch != '\n' && acts_on_terminal(*ch));
    assert_eq!(bad, None, "{what}: {:?}", done.stdout);
    for line in done.stdout.lines() {
        assert!(
            serde_json::from_str::<Value>(line).is_ok(),
            "{what}: {line}"
        );
    }
}

#[test]
fn files_are_shown_by_no_verb_as_they_are() {
    let bed = Bed::git();
    plant(&bed);
    bed.run_git(&["checkout", "-q", "-b", "b\u{202e}ranch"]);
    bed.run_git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "wt/a\u{200b}b",
        ".worktrees/a\u{200b}b",
    ]);
    bed.write(&format!(".worktrees/w/{HOSTILE}"), HOSTILE);
    assert_verbs(&bed);
    let model = bed.script(&json!({"agents": {"*": [{"text": "I see."}]}}));
    assert_harmless(
        "the account of a start",
        &bed.lead(&["-p", "go", "--model", &model]),
    );
}

#[test]
fn settings_are_shown_by_no_verb_as_they_are() {
    for settings in [
        json!({"model": HOSTILE, "teammateModel": HOSTILE, "verify": HOSTILE}),
        json!({HOSTILE: 1, "members": {HOSTILE: {"role": HOSTILE}}}),
        json!({"permissions": {"deny": [HOSTILE]}}),
        json!({"maxTeammates": HOSTILE}),
    ] {
        let bed = Bed::new();
        bed.write(".team/team.json", &settings.to_string());
        bed.put(
            &bed.home().join(".config/pitcrew/settings.json"),
            &settings.to_string(),
        );
        for args in [
            &["config"][..],
            &["doctor"],
            &["status"],
            &["-p", "x"],
            &["permission", "test", "x"],
        ] {
            assert_harmless(&format!("{args:?} with {settings}"), &bed.lead(args));
        }
    }
    let bed = Bed::new();
    bed.write(".team/team.json", &format!("{{\"model\": {HOSTILE}}}"));
    assert_harmless("no JSON", &bed.lead(&["config"]));
}

#[test]
fn no_front_end_shows_what_a_model_says_as_it_is() {
    for format in ["text", "json", "stream-json"] {
        let bed = Bed::git();
        let hook = format!("{PRINTED} >&2; exit 1");
        bed.put(
            &bed.home().join(".config/pitcrew/settings.json"),
            &json!({"hooks": {"PostToolUse": [hook], "TaskCompleted": [hook]}}).to_string(),
        );
        let model = bed.script(&script());
        let done = bed.lead(&[
            "-p",
            &hostile("go"),
            "--yes",
            "--permissions",
            "bypass",
            "-v",
            "--model",
            &model,
            "--output-format",
            format,
        ]);
        let shown = format!("{}{}", done.stdout, done.stderr);
        assert!(shown.contains("Heard."), "{shown}");
        match format {
            "text" => assert_harmless(format, &done),
            "json" => assert_json(format, &done),
            _ => assert_lines(format, &done),
        }
        if format == "text" {
            for verb in LISTS.iter().chain(&["diff"]) {
                assert_harmless(verb, &bed.lead(&verb.split(' ').collect::<Vec<_>>()));
            }
            for task in bed.tasks() {
                let shown = bed.lead(&["task", "show", task["id"].as_str().unwrap()]);
                assert_harmless("task show", &shown.expect_code(0));
            }
        }
    }
}

#[test]
fn no_question_and_no_answer_to_a_person_shows_it() {
    let bed = Bed::git();
    let model = bed.script(&script());
    let mut lead = bed.start_lead(&["--model", &model]);
    lead.line("go");
    // How to verify, the command, the team, the plan, the removal.
    for count in 1..=5 {
        wait_until("the next question", DEADLINE, || {
            let asked = lead
                .stdout()
                .matches(", then a comment if you like")
                .count();
            (asked >= count).then_some(())
        });
        lead.line("y");
    }
    lead.wait_for("Heard.", DEADLINE);
    for line in [
        "/team list",
        "/team messages",
        "/team plans",
        "/team permissions",
        "/tasks",
        "/mail",
        "/worktrees",
        "/log",
        "/diff",
        "/usage",
    ] {
        lead.line(line);
    }
    lead.line(&format!("/tasks {HOSTILE}"));
    lead.line(&format!("/{HOSTILE}"));
    lead.line(&format!("@{HOSTILE} hello"));
    lead.line(&format!("!{PRINTED}"));
    lead.line("/exit");
    let done = lead.wait(DEADLINE);
    assert!(done.stdout.contains("Summary"), "{}", done.stdout);
    assert_harmless("the session", &done);
}
