//! A real process is killed at every step of every change; the next one finds the board whole.
//!
//! The process is this test binary again, running only [`victim`].

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

use super::{agent, as_coder, board, claim, create, id, new, offered};
use crate::board::{Board, Entry, Released, Status};
use crate::ids::TaskId;
use crate::store::fault::{self, Point};

const ROOT: &str = "PITCREW_TEST_ROOT";
const PLACE: &str = "PITCREW_TEST_PLACE";
const ACT: &str = "PITCREW_TEST_ACT";
const ACTS: [&str; 4] = ["create", "claim", "complete", "release"];

fn given(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The process that is killed. Without its surroundings it does nothing.
#[test]
fn victim() {
    let (Some(root), Some(place), Some(act)) = (given(ROOT), given(PLACE), given(ACT)) else {
        return;
    };
    let (name, nth) = place.split_once(':').unwrap();
    let board = board(Path::new(&root));
    offered(&board, "alice");
    fault::arm(Point::named(name).unwrap(), nth.parse().unwrap());
    perform(&board, &act);
}

/// Task 1 is alice's, 2 waits for it, 3 is free.
fn perform(board: &Board, act: &str) {
    let alice = agent("alice");
    let mut locked = board.lock(&alice).unwrap();
    match act {
        "create" => drop(locked.create(&[new(8, &[9]), new(9, &[])]).unwrap()),
        "claim" => drop(locked.claim(&id(3), as_coder(&agent("bob"))).unwrap()),
        "complete" => drop(locked.complete(&id(1), &alice, 1, None).unwrap()),
        _ => drop(
            locked
                .release(&id(1), None, Released::Failed, None)
                .unwrap(),
        ),
    }
}

/// Answers whether the process was killed, or got through without passing the place as often.
fn kill_at(root: &Path, act: &str, point: Point, nth: u32) -> bool {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "board::tests::killed::victim", "-q"])
        .env(ROOT, root)
        .env(PLACE, format!("{point:?}:{nth}"))
        .env(ACT, act)
        .output()
        .unwrap()
        .status;
    assert!(
        status.success() || status.signal() == Some(9),
        "{act} at {point:?}: {status}"
    );
    !status.success()
}

fn tasks(board: &Board) -> BTreeMap<TaskId, (Status, Option<String>)> {
    let entries = board.list().unwrap();
    entries
        .into_iter()
        .map(|entry| match entry {
            Entry::Task(task) => (
                task.id,
                (task.status, task.owner.map(|name| name.to_string())),
            ),
            Entry::Damaged { path, why, .. } => panic!("{}: {why}", path.display()),
        })
        .collect()
}

fn check(root: &Path, watcher: &Board, what: &str) {
    let next = board(root);
    drop(next.lock(&agent("lead")).unwrap());
    // Whoever knew the board before the kill now knows what the files say, without looking at them.
    assert_eq!(
        offered(watcher, "carl"),
        offered(&board(root), "carl"),
        "{what}"
    );
    for name in ["alice", "bob"] {
        let known = watcher.owned_by(&agent(name)).unwrap().map(|task| task.id);
        let said = board(root)
            .owned_by(&agent(name))
            .unwrap()
            .map(|task| task.id);
        assert_eq!(known, said, "{what}");
    }
    let text = std::fs::read_to_string(root.join(".tasks/.journal.jsonl")).unwrap();
    let mut numbers = text
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok()?["seq"].as_u64());
    assert!(
        numbers.by_ref().is_sorted_by(|one, other| one < other),
        "{what}"
    );
    for entry in std::fs::read_dir(root.join(".tasks")).unwrap() {
        let name = entry.unwrap().file_name();
        assert!(
            !name.to_string_lossy().ends_with(".tmp"),
            "{what}: {name:?} was left"
        );
    }
    let found = tasks(&next);
    // The same change again, by somebody else: it is either possible or was made.
    let done = |nr| {
        found
            .get(&id(nr))
            .is_some_and(|(status, _)| *status != Status::Pending)
    };
    assert_eq!(claim(&next, 3, "dora").is_err(), done(3), "{what}");
}

#[test]
fn no_kill_at_any_step_leaves_a_board_that_others_misread() {
    let mut reached = Vec::new();
    for act in ACTS {
        for point in Point::ALL {
            for nth in 1..=4 {
                let dir = tempfile::tempdir().unwrap();
                let root = dir.path();
                let watcher = board(root);
                create(&watcher, &[new(1, &[]), new(2, &[1]), new(3, &[])]);
                claim(&watcher, 1, "alice").unwrap();
                if !kill_at(root, act, *point, nth) {
                    break;
                }
                reached.push(*point);
                check(root, &watcher, &format!("{act} at {point:?}:{nth}"));
            }
        }
    }
    for point in Point::ALL {
        assert!(reached.contains(point), "{point:?} was never reached");
    }
}
