//! Task files that people, other tools, and crashes leave behind.

use std::os::unix::fs::symlink;
use std::path::Path;

use super::{board, claim, complete, create, id, new, offered, text};
use crate::board::{Board, Entry, Status};

const SEVEN: &str = r#"{"id": "task_00000001", "subject": "S", "description": "D", "status": "pending", "owner": null, "blockedBy": [], "worktree": null}"#;

fn put(root: &Path, nr: u32, text: &str) {
    std::fs::create_dir_all(root.join(".tasks")).unwrap();
    std::fs::write(root.join(format!(".tasks/{}.json", id(nr))), text).unwrap();
}

fn damaged(board: &Board) -> Vec<(String, String)> {
    let entries = board.list().unwrap();
    entries
        .into_iter()
        .filter_map(|entry| match entry {
            Entry::Damaged { id, why, .. } => Some((id, why)),
            Entry::Task(_) => None,
        })
        .collect()
}

#[test]
fn a_task_file_is_pretty_and_ends_in_one_newline() {
    let root = tempfile::tempdir().unwrap();
    create(&board(root.path()), &[new(1, &[2]), new(2, &[])]);
    let text = std::fs::read_to_string(root.path().join(".tasks/task_00000001.json")).unwrap();
    assert!(text.starts_with("{\n  \"id\": \"task_00000001\",\n  \"subject\": \"Task 1\",\n  \"description\": \"\",\n  \"status\": \"pending\",\n  \"owner\": null,\n  \"blockedBy\": [\n    \"task_00000002\"\n  ],\n  \"worktree\": null,\n"), "{text}");
    assert!(text.ends_with("\"\n}\n"));
}

#[test]
fn seven_keys_are_enough_and_foreign_keys_are_kept() {
    let root = tempfile::tempdir().unwrap();
    let foreign = SEVEN.replace(
        "\"worktree\"",
        "\"priority\": {\"z\": 1, \"a\": [null]}, \"worktree\"",
    );
    put(
        root.path(),
        1,
        &format!("\u{feff}{}", foreign.replace(", ", ",\r\n")),
    );
    let board = board(root.path());
    assert_eq!(offered(&board, "alice"), [id(1)]);
    complete(&board, 1, "alice");
    let text = std::fs::read_to_string(root.path().join(".tasks/task_00000001.json")).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["priority"].to_string(), r#"{"z":1,"a":[null]}"#);
    assert_eq!(value["createdAt"], "1970-01-01T00:00:00.000Z");
    assert_eq!(value["status"], "completed");
}

#[test]
fn what_is_no_valid_task_is_damaged_blocks_and_stops_nothing() {
    let cases = [
        String::new(),
        SEVEN[..40].to_owned(),
        "[]".to_owned(),
        "null".to_owned(),
        format!("{SEVEN}x"),
        SEVEN.replace("task_00000001", "task_00000009"),
        SEVEN.replace("task_00000001", "../../etc"),
        SEVEN.replace("\"owner\": null", "\"owner\": \"a/b\""),
        SEVEN.replace("\"owner\": null, ", ""),
        SEVEN.replace(", \"worktree\": null", ""),
        SEVEN.replace("[]", "\"task_00000002\""),
        SEVEN.replace("\"pending\"", "7"),
        SEVEN.replace("\"S\"", "\"S\", \"subject\": \"T\""),
        SEVEN.replace("\"S\"", "\"S\", \"mine\": 1, \"mine\": 2"),
    ];
    for bad in cases {
        let root = tempfile::tempdir().unwrap();
        put(root.path(), 1, &bad);
        let board = board(root.path());
        create(&board, &[new(3, &[]), new(2, &[1])]);
        assert_eq!(damaged(&board).len(), 1, "{bad}");
        assert_eq!(offered(&board, "alice"), [id(3)], "{bad}");
        assert!(text(claim(&board, 1, "alice")).contains("damaged"), "{bad}");
        assert!(
            text(claim(&board, 2, "alice")).contains("task_00000001 is damaged"),
            "{bad}"
        );
        complete(&board, 3, "alice");
        let kept = std::fs::read_to_string(root.path().join(".tasks/task_00000001.json")).unwrap();
        assert_eq!(kept, bad, "a damaged file was touched");
    }
}

#[test]
fn links_big_files_and_wrong_names_are_damaged_and_strangers_are_left_alone() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(".tasks").join(name);
    put(root.path(), 5, &SEVEN.replace("00000001", "00000005"));
    symlink(at("task_00000005.json"), at("task_00000001.json")).unwrap();
    std::fs::hard_link(at("task_00000005.json"), at("second")).unwrap();
    std::fs::create_dir(at("task_00000002.json")).unwrap();
    let big = std::fs::File::create(at("task_00000003.json")).unwrap();
    big.set_len(crate::board::MAX_FILE + 1).unwrap();
    std::fs::write(at("task_ABC.json"), SEVEN).unwrap();
    std::fs::write(at("notes.json"), "mine").unwrap();
    std::fs::write(at(".notes.tmp"), "mine").unwrap();
    let board = board(root.path());
    let found = damaged(&board);
    let whys = [
        ("task_00000001", "a symbolic link"),
        ("task_00000002", "a directory"),
        ("task_00000003", "the limit is"),
        ("task_00000005", "hard link"),
        ("task_ABC", "its name"),
    ];
    assert_eq!(found.len(), whys.len(), "{found:?}");
    for ((id, why), (wanted, part)) in found.iter().zip(whys) {
        assert!(id == wanted && why.contains(part), "{id}: {why}");
    }
    create(&board, &[new(9, &[])]);
    assert!(at("notes.json").exists() && at(".notes.tmp").exists());
}

#[test]
fn a_foreign_status_is_shown_and_never_claimed() {
    let root = tempfile::tempdir().unwrap();
    put(root.path(), 1, &SEVEN.replace("pending", "on_hold"));
    let board = board(root.path());
    create(&board, &[new(2, &[1])]);
    assert_eq!(
        board.get(&id(1)).unwrap().status,
        Status::Other("on_hold".to_owned())
    );
    assert!(offered(&board, "alice").is_empty());
    assert!(text(claim(&board, 1, "alice")).contains("on_hold"));
    let waiting = board.view(&id(2)).unwrap();
    assert_eq!(
        waiting.blocked_reason.unwrap(),
        "task_00000001 is \"on_hold\""
    );
}

#[test]
fn an_unreadable_board_is_an_error_and_never_empty() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join(".tasks"), "no directory").unwrap();
    let board = board(root.path());
    assert!(board.list().is_err());
    assert!(board.views().is_err());
    assert!(
        board
            .offered(super::as_coder(&super::agent("a")), 1)
            .is_err()
    );
}

#[test]
fn nothing_is_made_before_the_first_change() {
    let root = tempfile::tempdir().unwrap();
    let board = board(root.path());
    assert!(board.list().unwrap().is_empty());
    assert!(offered(&board, "alice").is_empty());
    assert!(text(claim(&board, 1, "alice")).contains("no task"));
    let bad = new(1, &[7]);
    assert!(
        board
            .lock(&super::agent("lead"))
            .unwrap()
            .create(&[bad])
            .is_err()
    );
    assert!(!root.path().join(".tasks").exists());
}
