//! The area `cli` as real processes see it.

mod answers;
mod bad_input;
mod board_verbs;
mod closed;
mod damaged;
mod docs;
mod docs_commands;
mod doctor;
mod editing;
mod fences;
mod first_steps;
mod guide;
mod harmless;
mod headless;
mod headless_docs;
mod help;
mod log;
mod looking_back;
mod mail_verbs;
mod models;
mod modes;
mod no_file;
mod output;
mod own_editor;
mod question_keys;
mod readme;
mod screen;
mod scripts_docs;
mod settings;
mod shapes;
mod streaming;
mod team_verbs;
mod terminal;
mod typing;
mod watch;

use crate::support::Bed;

#[test]
fn help_version_and_reading_verbs_leave_no_trace() {
    let bed = Bed::new();
    for (args, part) in [
        (&["--help"][..], "A team of coding agents"),
        (&["--version"], concat!("lead ", env!("CARGO_PKG_VERSION"))),
        (&["status"], "none yet"),
        (&["task", "list"], "no tasks"),
        (&["mail", "list"], "no mail waits"),
        (&["plan", "list"], "none"),
        (&["permission", "list"], "none"),
        (&["permission", "test", "rm x"], "ask: "),
        (&["permission", "test", "sudo true"], "deny: "),
        (&["permission", "test", "ls"], "allow"),
        (&["permission", "test", "--list"], "sudo, doas"),
        (&["team", "list"], "no teammates"),
        (&["usage"], "nothing used yet"),
        (&["log"], ""),
        (&["config"], "maxTeammates"),
        (&["config", "schema"], "maxTeammates"),
    ] {
        let done = bed.lead(args).expect_code(0);
        assert!(done.stdout.contains(part), "{args:?}: {}", done.stdout);
        assert_eq!(done.stderr, "", "{args:?}");
    }
    assert_eq!(bed.listing(), [""; 0]);
    assert!(!bed.home().join(".config").exists());
}

#[test]
fn lists_are_json_of_the_agreed_shape_without_any_file_too() {
    let bed = Bed::new();
    let status = bed.lead(&["status", "--json"]).expect_code(0).json();
    assert!(status["lead"].is_null());
    for count in [
        "pending",
        "in_progress",
        "completed",
        "cancelled",
        "ready",
        "damaged",
    ] {
        assert_eq!(status["tasks"][count], 0, "{count}");
    }
    assert_eq!(status["teammates"], serde_json::json!([]));
    assert_eq!(status["requests"], serde_json::json!([]));
    assert_eq!(status["mail"]["lead"], 0);
    for verb in ["task", "mail", "plan", "permission", "team"] {
        let list = bed.lead(&[verb, "list", "--json"]).expect_code(0).json();
        assert_eq!(list, serde_json::json!([]), "{verb}");
    }
    let usage = bed.lead(&["usage", "--json"]).expect_code(0).json();
    assert_eq!(usage["total"]["calls"], 0);
    assert_eq!(usage["agents"], serde_json::json!({}));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let bed = Bed::new();
    for index in 0..200 {
        bed.write(
            &format!(".tasks/task_{index:08x}.json"),
            &task(&format!("task_{index:08x}")),
        );
    }
    let lead = env!("CARGO_BIN_EXE_lead");
    let mut command = bed.command("sh");
    command.args(["-c", &format!("'{lead}' task list --json | head -n 1")]);
    let done = crate::support::Running::start(&mut command)
        .wait(crate::support::DEADLINE)
        .expect_code(0);
    assert!(done.stdout.starts_with('['), "{}", done.stdout);
    assert_eq!(done.stderr, "");
}

/// A task file with the required keys only, as other tools write it.
fn task(id: &str) -> String {
    serde_json::json!({
        "id": id, "subject": format!("subject of {id}"), "description": "", "status": "pending",
        "owner": null, "blockedBy": [], "worktree": null,
    })
    .to_string()
}
