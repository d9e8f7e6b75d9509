//! Files that are no tasks, as the programs see them.

use serde_json::json;

use crate::store::strace;
use crate::support::{Bed, DEADLINE, Running};

/// A lead that makes one task.
fn lead(bed: &Bed) -> Running {
    let script = json!({"agents": {"lead": [
        {"tools": [{"name": "create_task", "input": {"subject": "One"}}]},
        {"text": "Done."},
    ]}});
    let model = bed.script(&script);
    bed.start_lead(&["-p", "go", "--yes", "--model", &model])
}

#[test]
fn a_board_that_cannot_be_changed_is_refused_at_the_start() {
    for why in ["hard link", "Not a directory"] {
        let bed = Bed::new();
        if why == "hard link" {
            bed.write(".tasks/.lock", "");
            let lock = bed.root().join(".tasks/.lock");
            std::fs::hard_link(lock, bed.root().join("other")).unwrap();
        } else {
            bed.write(".tasks", "");
        }
        let done = lead(&bed).wait(DEADLINE);
        assert!(done.stderr.contains(why), "{}", done.stderr);
        done.expect_usage_error("the team cannot work here");
        let changed = bed.lead(&["task", "add", "One"]).expect_code(1);
        assert!(changed.stderr.contains(why), "{}", changed.stderr);
    }
}

#[test]
fn what_stands_in_the_place_of_the_lock_is_moved_away_by_a_lead() {
    let bed = Bed::new();
    bed.write(".tasks/.lock/mine", "kept");
    drop(lead(&bed).wait(DEADLINE).expect_code(1));
    assert_eq!(bed.tasks()[0]["subject"], "One");
    let kept = bed.listing();
    assert!(kept.iter().any(|name| name.ends_with("/mine")), "{kept:?}");
}

#[test]
fn a_file_system_without_locks_is_refused_in_plain_words() {
    if !strace::is_there("a file system without locks is refused") {
        return;
    }
    for error in ["ENOLCK", "EOPNOTSUPP", "EBADF"] {
        let bed = Bed::new();
        bed.write(".tasks/.lock", "");
        let lead = bed.lead_command(&["-p", "go", "--model", &bed.script(&json!({"agents": {}}))]);
        let mut strace = bed.command("strace");
        strace
            .args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=flock", "-e"])
            .arg(format!("inject=flock:error={error}"))
            .arg(lead.get_program())
            .args(lead.get_args());
        let done = Running::start(&mut strace).wait(DEADLINE);
        done.expect_usage_error("has no working locks");
    }
}

#[test]
fn a_damaged_file_is_listed_and_stops_nobody() {
    let bed = Bed::new();
    let torn = "{\"id\": \"task_0000000a\", \"subj";
    bed.write(".tasks/task_0000000a.json", torn);
    let id = bed
        .lead(&["task", "add", "Waits", "--blocked-by", "task_0000000a"])
        .expect_code(0)
        .stdout
        .trim()
        .to_owned();
    let listed = bed.lead(&["task", "list", "--json"]).expect_code(0).json();
    let listed = listed.as_array().unwrap();
    let damaged = listed
        .iter()
        .find(|entry| entry["id"] == "task_0000000a")
        .unwrap();
    assert_eq!(
        (&damaged["damaged"].is_null(), &damaged["ready"]),
        (&false, &json!(false))
    );
    let waits = listed.iter().find(|entry| entry["id"] == id).unwrap();
    assert_eq!(waits["blockedReason"], "task_0000000a is damaged");
    assert_eq!(bed.read(".tasks/task_0000000a.json"), torn);
}
