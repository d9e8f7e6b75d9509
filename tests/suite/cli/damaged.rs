//! What cannot be read is told of, and the rest is shown.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::task;
use crate::support::{Bed, DEADLINE, Running};

fn with_a_task() -> Bed {
    let bed = Bed::new();
    bed.write(".tasks/task_00000001.json", &task("task_00000001"));
    bed
}

fn damaged_paths(status: &Value) -> Vec<&str> {
    let damaged = status["damaged"].as_array().unwrap();
    damaged
        .iter()
        .inspect(|one| assert_ne!(one["why"].as_str().unwrap(), ""))
        .map(|one| one["path"].as_str().unwrap())
        .collect()
}

#[test]
fn status_shows_the_rest_beside_bad_mailboxes() {
    let bed = with_a_task();
    bed.write(".mailboxes/bob.jsonl/x", "");
    bed.write("elsewhere", "");
    symlink(
        bed.root().join("elsewhere"),
        bed.root().join(".mailboxes/lead.jsonl"),
    )
    .unwrap();
    bed.write(".mailboxes/carol.jsonl", "");
    let status = bed.lead(&["status", "--json"]).expect_code(0).json();
    assert_eq!(status["tasks"]["pending"], 1);
    assert_eq!(status["mail"], serde_json::json!({"carol": 0}));
    let damaged = damaged_paths(&status);
    assert_eq!(damaged.len(), 2, "{status}");
    for name in ["bob.jsonl", "lead.jsonl"] {
        assert!(damaged.iter().any(|path| path.ends_with(name)), "{status}");
    }
    let text = bed.lead(&["status"]).expect_code(0).stdout;
    assert!(text.contains("1 pending"), "{text}");
    assert_eq!(text.matches("damaged cannot read").count(), 2, "{text}");
}

#[test]
fn a_file_in_place_of_a_directory_is_one_finding_among_others() {
    for (dir, pending) in [
        (".team/state/requests", json!(1)),
        (".team/state/members", json!(1)),
        (".tasks", json!(null)),
    ] {
        let bed = if dir == ".tasks" {
            Bed::new()
        } else {
            with_a_task()
        };
        bed.write(dir, "not a directory");
        // A board that cannot be read is never shown as an empty one.
        let code = i32::from(dir == ".tasks");
        let status = bed.lead(&["status", "--json"]).expect_code(code).json();
        assert_eq!(status["tasks"]["pending"], pending, "{dir}");
        let damaged = damaged_paths(&status);
        assert!(
            matches!(damaged[..], [path] if path.ends_with(dir)),
            "{status}"
        );

        let checks = bed.lead(&["doctor", "--json"]).expect_code(1).json();
        let checks = checks["checks"].as_array().unwrap();
        let check = |name: &str| {
            let found = checks.iter().find(|check| check["name"] == name);
            found.unwrap_or_else(|| panic!("{dir}: no {name} in {checks:?}"))
        };
        assert_eq!(check("directories")["ok"], false, "{dir}");
        assert_eq!(check("reading")["ok"], false, "{dir}");
        assert_eq!(check("locking")["ok"], true, "{dir}");
    }
}

/// `ulimit -f`: a write that may not be made is told of, and ends nobody.
#[test]
fn a_limit_on_file_sizes_is_like_a_full_disk() {
    let bed = Bed::git();
    drop(bed.lead(&["task", "add", "before"]).expect_code(0));
    let model = bed.script(&json!({ "agents": { "lead": [{ "text": "x".repeat(4000) }] } }));
    for args in [
        &["task", "add", "after"][..],
        &["-p", "go", "--model", &model],
    ] {
        let command = bed.lead_command(args);
        let mut limited = bed.command("sh");
        limited.args(["-c", "ulimit -f 0; exec \"$@\"", "sh"]);
        limited.arg(command.get_program()).args(args);
        let done = Running::start(&mut limited).wait(DEADLINE);
        assert_eq!(done.code, Some(1), "{args:?}: {}", done.stderr);
        assert!(done.stderr.contains("File too large"), "{}", done.stderr);
    }
    let list = bed.lead(&["task", "list", "--json"]).expect_code(0).json();
    assert_eq!(list.as_array().unwrap().len(), 1);
}
