//! What one process learns of another's changes, of changes by hand, and of changes whose maker was killed.

use std::path::Path;

use super::{agent, board, claim, complete, create, id, new, offered};
use crate::board::journal::{Journal, ROTATE_AT};
use crate::board::mark::Mark;
use crate::board::summary::Key;
use crate::board::{Board, Released};
use crate::store::lock::{FileLock, LOCK_WAIT};

fn at(root: &Path, name: &str) -> std::path::PathBuf {
    root.join(".tasks").join(name)
}

fn journal(root: &Path) -> Vec<serde_json::Value> {
    std::fs::read_to_string(at(root, ".journal.jsonl"))
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A change by a text editor that keeps the file's name and inode.
fn edit(root: &Path, nr: u32, from: &str, to: &str) {
    let path = at(root, &format!("{}.json", id(nr)));
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(from));
    std::fs::write(&path, text.replace(from, to)).unwrap();
}

/// The same by one that saves under a new name and renames.
fn replace(root: &Path, nr: u32, from: &str, to: &str) {
    let path = at(root, &format!("{}.json", id(nr)));
    let text = std::fs::read_to_string(&path).unwrap().replace(from, to);
    std::fs::write(at(root, "editor~"), text).unwrap();
    std::fs::rename(at(root, "editor~"), path).unwrap();
}

#[test]
fn the_journal_tells_each_change_and_numbers_them() {
    let root = tempfile::tempdir().unwrap();
    let board = board(root.path());
    create(&board, &[new(1, &[]), new(2, &[1])]);
    let task = claim(&board, 1, "alice").unwrap();
    let alice = agent("alice");
    let result = Some("x".repeat(1000));
    board
        .lock(&alice)
        .unwrap()
        .complete(&id(1), &alice, task.work_version, result)
        .unwrap();
    let lines = journal(root.path());
    let numbers: Vec<_> = lines
        .iter()
        .map(|line| line["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
    assert_eq!(lines[1]["task"], "task_00000002");
    assert_eq!(lines[1]["by"], "lead");
    assert_eq!(
        lines[1]["change"]["status"],
        serde_json::json!({"old": null, "new": "pending"})
    );
    assert_eq!(lines[2]["by"], "alice");
    assert_eq!(
        lines[2]["change"]["owner"],
        serde_json::json!({"old": null, "new": "alice"})
    );
    assert_eq!(
        lines[2]["change"]["workVersion"],
        serde_json::json!({"old": 0, "new": 1})
    );
    assert!(lines[2]["change"].get("blockedBy").is_none());
    for (key, value) in [
        ("subject", serde_json::json!("Task 1")),
        ("status", serde_json::json!("completed")),
        ("owner", serde_json::json!("alice")),
        ("blockedBy", serde_json::json!([])),
        ("assignee", serde_json::json!(null)),
        ("worktree", serde_json::json!(null)),
        ("attempts", serde_json::json!(1)),
    ] {
        assert_eq!(lines[3][key], value, "{key}");
    }
    assert!(lines[3]["change"]["result"]["new"].as_str().unwrap().len() < 1000);
}

#[test]
fn others_follow_without_looking_at_the_files() {
    let root = tempfile::tempdir().unwrap();
    let (one, other) = (board(root.path()), board(root.path()));
    assert!(offered(&other, "bob").is_empty());
    create(&one, &[new(1, &[]), new(2, &[1]), new(3, &[])]);
    assert_eq!(offered(&other, "bob"), [id(1), id(3)]);
    claim(&one, 1, "alice").unwrap();
    assert_eq!(offered(&other, "bob"), [id(3)]);
    assert_eq!(other.owned_by(&agent("alice")).unwrap().unwrap().id, id(1));
    other
        .lock(&agent("lead"))
        .unwrap()
        .release(&id(1), None, Released::Orderly, None)
        .unwrap();
    assert_eq!(one.owned_by(&agent("alice")).unwrap(), None);
    complete(&other, 1, "bob");
    assert_eq!(offered(&one, "alice"), [id(2), id(3)]);
}

#[test]
fn a_change_by_hand_is_seen_by_whoever_locks_next_and_told_to_all() {
    let root = tempfile::tempdir().unwrap();
    let (one, other, cold) = (board(root.path()), board(root.path()), board(root.path()));
    create(&one, &[new(1, &[]), new(2, &[1])]);
    assert_eq!(offered(&other, "bob"), [id(1)]);
    replace(root.path(), 1, "\"pending\"", "\"completed\"");
    drop(one.lock(&agent("lead")).unwrap());
    assert_eq!(offered(&other, "bob"), [id(2)]);
    let last = journal(root.path()).pop().unwrap();
    assert_eq!(
        (last["by"].as_str(), last["status"].as_str()),
        (Some("outside"), Some("completed"))
    );
    assert_eq!(
        last["change"]["status"],
        serde_json::json!({"old": "pending", "new": "completed"})
    );
    // A process that knew nothing before cannot say what changed; it makes the others look.
    replace(root.path(), 1, "\"completed\"", "\"cancelled\"");
    std::fs::remove_file(at(root.path(), "task_00000002.json")).unwrap();
    drop(cold.lock(&agent("lead")).unwrap());
    assert!(offered(&other, "bob").is_empty());
    assert!(offered(&one, "bob").is_empty());
    assert_eq!(journal(root.path()).pop().unwrap()["rescan"], true);
    // They know what was before, so the first of them that locks tells it, once.
    let calm = journal(root.path()).len();
    drop(other.lock(&agent("lead")).unwrap());
    drop(one.lock(&agent("lead")).unwrap());
    let told = journal(root.path());
    assert_eq!(told.len(), calm + 2, "told twice or not at all");
    assert_eq!(told[calm + 1]["status"], "missing");
}

#[test]
fn a_claim_reads_the_file_whatever_the_index_says() {
    let root = tempfile::tempdir().unwrap();
    let board = board(root.path());
    create(&board, &[new(1, &[]), new(2, &[])]);
    assert_eq!(offered(&board, "alice").len(), 2);
    edit(root.path(), 1, "\"pending\"", "\"cancelled\"");
    assert_eq!(offered(&board, "alice"), [id(2)]);
    assert!(claim(&board, 1, "alice").is_err());
    edit(root.path(), 1, "\"cancelled\"", "\"pending\"");
    claim(&board, 1, "alice").unwrap();
}

/// What a process leaves that is killed after writing a task's file and before telling it.
fn killed_in_mid_change(root: &Path, nr: u32) {
    let lock = FileLock::exclusive(&at(root, ".lock"), LOCK_WAIT).unwrap();
    let mut mark = Mark::read(lock.file(), &at(root, ".lock")).unwrap();
    let until = Some(mark.told() + 1);
    mark.dirty = Mark::tasks(vec![Key::of(&id(nr))], "alice", until);
    mark.write(lock.file(), &at(root, ".lock"), 1).unwrap();
    replace(root, nr, "\"pending\"", "\"completed\"");
    std::fs::write(at(root, ".task_00000001.json.Ab3xYz.tmp"), "half").unwrap();
}

#[test]
fn a_change_whose_maker_was_killed_is_told_by_the_next_one_to_lock() {
    for warm in [true, false] {
        let root = tempfile::tempdir().unwrap();
        let (maker, watcher, next) = (board(root.path()), board(root.path()), board(root.path()));
        create(&maker, &[new(1, &[]), new(2, &[1])]);
        assert_eq!(offered(&watcher, "bob"), [id(1)]);
        if warm {
            assert_eq!(offered(&next, "bob"), [id(1)]);
        }
        let bell = std::fs::read(at(root.path(), ".bell")).unwrap();
        killed_in_mid_change(root.path(), 1);
        drop(next.lock(&agent("lead")).unwrap());
        assert_eq!(offered(&watcher, "bob"), [id(2)], "warm: {warm}");
        let told = journal(root.path());
        let line = told.iter().find(|line| line["seq"] == 3).unwrap();
        assert_eq!(
            (line["by"].as_str(), line["status"].as_str()),
            (Some("alice"), Some("completed"))
        );
        assert_eq!(line["subject"], "Task 1");
        assert_ne!(
            std::fs::read(at(root.path(), ".bell")).unwrap(),
            bell,
            "the bell was not rung"
        );
        assert!(!at(root.path(), ".task_00000001.json.Ab3xYz.tmp").exists());
    }
}

#[test]
fn what_was_claimed_by_one_killed_in_mid_claim_is_found_under_the_lock() {
    let root = tempfile::tempdir().unwrap();
    let (maker, next) = (board(root.path()), board(root.path()));
    create(&maker, &[new(1, &[])]);
    assert_eq!(next.owned_by(&agent("alice")).unwrap(), None);
    killed_in_mid_change(root.path(), 1);
    replace(root.path(), 1, "\"completed\"", "\"in_progress\"");
    replace(root.path(), 1, "\"owner\": null", "\"owner\": \"alice\"");
    let locked = next.lock(&agent("lead")).unwrap();
    let held = next.owned_by(&agent("alice")).unwrap();
    assert_eq!(held.map(|task| task.id), Some(id(1)));
    drop(locked);
}

#[test]
fn what_its_maker_could_not_tell_it_tells_as_soon_as_it_can() {
    let root = tempfile::tempdir().unwrap();
    let one = board(root.path());
    create(&one, &[new(1, &[])]);
    let path = at(root.path(), ".journal.jsonl");
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    claim(&one, 1, "alice").unwrap();
    std::fs::remove_dir(&path).unwrap();
    drop(one.lock(&agent("lead")).unwrap());
    let told = journal(root.path());
    let line = told.iter().find(|line| line["task"] == "task_00000001");
    let line = line.expect("nobody was told");
    assert_eq!(
        (&line["by"], &line["owner"]),
        (&"alice".into(), &"alice".into())
    );
    assert_eq!(line["change"]["status"]["old"], "pending");
}

#[test]
fn whatever_is_derived_may_be_deleted_at_any_time() {
    for gone in [".journal.jsonl", ".lock", ".bell", "all"] {
        let root = tempfile::tempdir().unwrap();
        let (one, other): (Board, Board) = (board(root.path()), board(root.path()));
        create(&one, &[new(1, &[]), new(2, &[1]), new(3, &[])]);
        assert_eq!(offered(&other, "bob").len(), 2);
        for name in [".journal.jsonl", ".lock", ".bell"] {
            if gone == name || gone == "all" {
                std::fs::remove_file(at(root.path(), name)).unwrap();
            }
        }
        complete(&one, 1, "alice");
        assert_eq!(offered(&other, "bob"), [id(2), id(3)], "{gone}");
        complete(&other, 2, "bob");
        assert_eq!(offered(&one, "alice"), [id(3)], "{gone}");
    }
}

#[test]
fn a_rotated_journal_is_followed() {
    let root = tempfile::tempdir().unwrap();
    let (one, other) = (board(root.path()), board(root.path()));
    create(&one, &[new(1, &[]), new(2, &[1])]);
    assert_eq!(offered(&other, "bob"), [id(1)]);
    // Lines of other tools' tasks, as many as make the journal full.
    let pad = "y".repeat(200_000);
    let mut seq = 2;
    while at(root.path(), ".journal.jsonl").metadata().unwrap().len() < ROTATE_AT {
        use std::io::Write;
        seq += 1;
        let line = format!(
            "{{\"seq\":{seq},\"by\":\"x\",\"task\":\"task_000000ff\",\"pad\":\"{pad}\",\"status\":\"missing\"}}\n"
        );
        let mut file = std::fs::OpenOptions::new()
            .append(true)
            .open(at(root.path(), ".journal.jsonl"))
            .unwrap();
        file.write_all(line.as_bytes()).unwrap();
    }
    // Nobody marked them; without this nobody would look.
    std::fs::write(at(root.path(), ".lock"), "").unwrap();
    complete(&one, 1, "alice");
    assert!(
        at(root.path(), ".journal.1.jsonl")
            .metadata()
            .unwrap()
            .len()
            >= ROTATE_AT
    );
    let lines = journal(root.path());
    assert_eq!(lines.last().unwrap()["seq"], seq + 2);
    assert_eq!(offered(&other, "bob"), [id(2)]);
}

#[test]
fn a_torn_end_of_the_journal_is_not_glued_to_the_line_of_whoever_locks_next() {
    let root = tempfile::tempdir().unwrap();
    let (one, other) = (board(root.path()), board(root.path()));
    create(&one, &[new(1, &[]), new(2, &[])]);
    assert_eq!(offered(&other, "bob").len(), 2);
    claim(&one, 1, "alice").unwrap();
    let path = at(root.path(), ".journal.jsonl");
    let torn = std::fs::read_to_string(&path).unwrap() + "{\"seq\":";
    std::fs::write(&path, torn).unwrap();
    claim(&other, 2, "bob").unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let last: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(last["owner"], "bob");
}

/// Read whole, a file of this size would keep the board's lock for minutes.
#[test]
fn a_journal_that_a_stranger_made_huge_is_not_read_but_rotated() {
    const HUGE: u64 = 1 << 40;
    let root = tempfile::tempdir().unwrap();
    let (one, other) = (board(root.path()), board(root.path()));
    create(&one, &[new(1, &[]), new(2, &[1]), new(3, &[])]);
    assert_eq!(offered(&other, "bob"), [id(1), id(3)]);
    let path = at(root.path(), ".journal.jsonl");
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(HUGE).unwrap();
    complete(&one, 1, "alice");
    assert_eq!(offered(&other, "bob"), [id(2), id(3)]);
    complete(&other, 2, "bob");
    assert_eq!(offered(&one, "alice"), [id(3)]);
    assert_eq!(offered(&board(root.path()), "carl"), [id(3)]);
    assert!(path.metadata().unwrap().len() < ROTATE_AT);
    assert!(journal(root.path()).len() >= 2);
}

#[test]
fn a_gap_in_the_numbers_is_noticed() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("j");
    let line =
        |seq| format!("{{\"seq\":{seq},\"task\":\"task_00000001\",\"status\":\"missing\"}}\n");
    std::fs::write(&path, line(4)).unwrap();
    let mut journal = Journal::new(path.clone());
    assert_eq!(journal.follow().unwrap().unwrap().len(), 1);
    std::fs::write(&path, line(4) + &line(5)).unwrap();
    assert_eq!(journal.follow().unwrap().unwrap().len(), 1);
    for text in [
        line(4) + &line(5) + &line(7),
        "no json\n".to_owned(),
        line(4),
    ] {
        let mut journal = Journal::new(path.clone());
        std::fs::write(&path, line(4) + &line(5)).unwrap();
        journal.follow().unwrap().unwrap();
        std::fs::write(&path, &text).unwrap();
        assert_eq!(journal.follow().unwrap(), None, "{text}");
    }
}
