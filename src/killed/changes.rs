//! Changes of the board. Task 1 is alice's, 2 waits for it, 3 is free.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::steps::{Act, Check, Victim, anywhere};
use crate::board::{
    Board, BoardOptions, Claimant, Entry, LockedBoard, NewTask, Released, Status, Task,
};
use crate::ids::{AgentName, TaskId};
use crate::store::Durability;
use crate::workspace::Workspace;

pub(super) fn acts() -> Vec<Act> {
    let act = |name, prepare, perform| Act {
        name,
        prepare,
        perform,
        covers: anywhere,
    };
    vec![
        act(
            "create",
            |root| prepared(root, created),
            |root, victim| {
                change(root, victim, |board| {
                    board.create(&[new(8, &[9]), new(9, &[])]).unwrap();
                });
            },
        ),
        act(
            "claim",
            |root| prepared(root, |found| owner(found, 3, "bob")),
            |root, victim| {
                change(root, victim, |board| {
                    board.claim(&id(3), as_coder(&agent("bob"))).unwrap();
                });
            },
        ),
        act(
            "complete",
            |root| prepared(root, |found| found[&id(1)].status == Status::Completed),
            |root, victim| {
                change(root, victim, |board| {
                    board.complete(&id(1), &agent("alice"), 1, None).unwrap();
                });
            },
        ),
        act(
            "release",
            |root| prepared(root, |found| found[&id(1)].owner.is_none()),
            |root, victim| {
                change(root, victim, |board| {
                    board.release(&id(1), None, Released::Failed, None).unwrap();
                });
            },
        ),
    ]
}

type Found = BTreeMap<TaskId, Task>;

fn created(found: &Found) -> bool {
    found.contains_key(&id(8)) && found.contains_key(&id(9))
}

fn owner(found: &Found, nr: u32, name: &str) -> bool {
    found[&id(nr)].owner == Some(agent(name))
}

fn board(root: &Path) -> Board {
    let options = BoardOptions {
        durability: Durability::Power,
        max_attempts: 3,
        usable: Arc::new(|_| Ok(())),
        contains: Arc::new(|_, _| Ok(())),
    };
    Board::open(&Workspace::at(root.to_path_buf()), options).unwrap()
}

fn agent(name: &str) -> AgentName {
    AgentName::parse(name).unwrap()
}

fn id(nr: u32) -> TaskId {
    TaskId::parse(&format!("task_{nr:08x}")).unwrap()
}

fn as_coder(name: &AgentName) -> Claimant<'_> {
    Claimant {
        name,
        role: "coder",
    }
}

fn new(nr: u32, blocked_by: &[u32]) -> NewTask {
    NewTask {
        id: id(nr),
        subject: format!("Task {nr}"),
        description: String::new(),
        blocked_by: blocked_by.iter().map(|nr| id(*nr)).collect(),
        assignee: None,
        worktree: None,
        verify: None,
    }
}

fn offered(board: &Board, name: &str) -> Vec<TaskId> {
    let tasks = board.offered(as_coder(&agent(name)), 10).unwrap();
    tasks.into_iter().map(|task| task.id).collect()
}

/// The process: it knows the board, and is killed within one change of it.
fn change(root: &Path, victim: &Victim, act: impl FnOnce(&mut LockedBoard<'_>)) {
    let board = board(root);
    offered(&board, "alice");
    victim.begin();
    let mut locked = board.lock(&agent("alice")).unwrap();
    act(&mut locked);
    drop(locked);
    victim.say("done");
}

fn prepared(root: &Path, is_done: fn(&Found) -> bool) -> Check {
    let watcher = board(root);
    let tasks = [new(1, &[]), new(2, &[1]), new(3, &[])];
    let mut locked = watcher.lock(&agent("lead")).unwrap();
    locked.create(&tasks).unwrap();
    locked.claim(&id(1), as_coder(&agent("alice"))).unwrap();
    drop(locked);
    let root = root.to_path_buf();
    Box::new(move |said| check(&root, &watcher, is_done, !said.is_empty()))
}

fn tasks(board: &Board) -> Found {
    let entries = board.list().unwrap();
    entries
        .into_iter()
        .map(|entry| match entry {
            Entry::Task(task) => (task.id.clone(), *task),
            Entry::Damaged { path, why, .. } => panic!("{}: {why}", path.display()),
        })
        .collect()
}

fn check(root: &Path, watcher: &Board, is_done: fn(&Found) -> bool, said: bool) {
    let next = board(root);
    drop(next.lock(&agent("lead")).unwrap());
    // Whoever knew the board before the kill now knows what the files say, without looking at them.
    assert_eq!(offered(watcher, "carl"), offered(&board(root), "carl"));
    for name in ["alice", "bob"] {
        let known = watcher.owned_by(&agent(name)).unwrap().map(|task| task.id);
        let there = board(root).owned_by(&agent(name)).unwrap();
        assert_eq!(known, there.map(|task| task.id));
    }
    let text = std::fs::read_to_string(root.join(".tasks/.journal.jsonl")).unwrap();
    let mut numbers = text
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok()?["seq"].as_u64());
    assert!(numbers.by_ref().is_sorted_by(|one, other| one < other));
    for entry in std::fs::read_dir(root.join(".tasks")).unwrap() {
        let name = entry.unwrap().file_name();
        assert!(
            !name.to_string_lossy().ends_with(".tmp"),
            "{name:?} was left"
        );
    }
    let found = tasks(&next);
    assert!(is_done(&found) || !said, "reported done, and is not");
    // The next change: a claim is either possible or was made.
    let taken = found[&id(3)].status != Status::Pending;
    let claimed = next
        .lock(&agent("dora"))
        .unwrap()
        .claim(&id(3), as_coder(&agent("dora")));
    assert_eq!(claimed.is_err(), taken);
}
