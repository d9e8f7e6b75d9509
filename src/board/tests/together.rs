//! Many boards over one directory at the same moment. Each has a lock file of its own, as processes do.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{agent, as_coder, board, create, id, new};
use crate::board::{BoardError, Entry, NewTask, TaskPatch};
use crate::ids::TaskId;

#[test]
fn each_task_is_claimed_once_and_the_losers_are_told_by_whom() {
    let root = tempfile::tempdir().unwrap();
    let tasks: Vec<NewTask> = (0..60).map(|nr| new(nr, &[])).collect();
    create(&board(root.path()), &tasks);
    let winners = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for worker in 0..8 {
            let (root, winners) = (root.path(), &winners);
            scope.spawn(move || {
                let board = board(root);
                let name = agent(&format!("w{worker}"));
                for nr in 0..60 {
                    let mut locked = board.lock(&name).unwrap();
                    match locked.claim(&id(nr), as_coder(&name)) {
                        Ok(task) => {
                            winners.lock().unwrap().push(nr);
                            locked
                                .complete(&id(nr), &name, task.work_version, None)
                                .unwrap();
                        }
                        Err(BoardError::Refused(why)) => {
                            assert!(why.contains("completed"), "{why}");
                        }
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
    let mut winners = winners.into_inner().unwrap();
    winners.sort_unstable();
    assert_eq!(winners, (0..60).collect::<Vec<_>>());
}

#[test]
fn of_many_claims_at_one_moment_one_succeeds() {
    let root = tempfile::tempdir().unwrap();
    create(&board(root.path()), &[new(1, &[])]);
    let results: Vec<Result<_, _>> = std::thread::scope(|scope| {
        let tries: Vec<_> = (0..8)
            .map(|worker| {
                let root = root.path();
                scope.spawn(move || super::claim(&board(root), 1, &format!("w{worker}")))
            })
            .collect();
        tries
            .into_iter()
            .map(|handle| handle.join().unwrap())
            .collect()
    });
    let winner = results
        .iter()
        .find_map(|result| result.as_ref().ok())
        .unwrap();
    let owner = winner.owner.clone().unwrap();
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    for result in results {
        if let Err(error) = result {
            assert!(
                matches!(&error, BoardError::Owned { owner: told, .. } if *told == owner),
                "{error}"
            );
        }
    }
}

#[test]
fn concurrent_creations_never_overwrite_each_other() {
    let root = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            let root = root.path();
            scope.spawn(move || {
                let board = board(root);
                for _ in 0..15 {
                    // All want the same id.
                    create(&board, &[new(7, &[])]);
                }
            });
        }
    });
    let entries = board(root.path()).list().unwrap();
    let ids: HashSet<TaskId> = entries
        .iter()
        .map(|entry| match entry {
            Entry::Task(task) => task.id.clone(),
            Entry::Damaged { why, .. } => panic!("{why}"),
        })
        .collect();
    assert_eq!(ids.len(), 90);
}

#[test]
fn readers_see_every_task_whole_while_one_is_rewritten() {
    let root = tempfile::tempdir().unwrap();
    create(&board(root.path()), &[new(1, &[]), new(2, &[1])]);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let board = board(root.path());
                while !done.load(Ordering::Relaxed) {
                    let views = board.views().unwrap();
                    assert_eq!(views.len(), 2);
                    board.get(&id(1)).unwrap();
                }
            });
        }
        let board = board(root.path());
        let lead = agent("lead");
        for nr in 0..200 {
            let patch = crate::board::TaskPatch {
                description: Some("d".repeat(nr * 50)),
                ..Default::default()
            };
            board.lock(&lead).unwrap().update(&id(1), &patch).unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_held_board_is_waited_for_and_the_threads_of_one_process_take_turns() {
    let root = tempfile::tempdir().unwrap();
    let shared = board(root.path());
    create(&shared, &(0..40).map(|nr| new(nr, &[])).collect::<Vec<_>>());
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let shared = &shared;
            scope.spawn(move || {
                let name = agent(&format!("w{worker}"));
                while let Some(task) = shared
                    .lock(&name)
                    .unwrap()
                    .claim_next(as_coder(&name))
                    .unwrap()
                {
                    let version = task.work_version;
                    shared
                        .lock(&name)
                        .unwrap()
                        .complete(&task.id, &name, version, None)
                        .unwrap();
                }
            });
        }
    });
    let open = shared
        .views()
        .unwrap()
        .into_iter()
        .filter(|view| view.ready)
        .count();
    assert_eq!(open, 0);
}

/// Each edge is harmless alone; together they would be a cycle, and whoever comes second is told.
#[test]
fn of_two_edges_that_close_a_cycle_at_one_moment_one_is_refused() {
    for _ in 0..40 {
        let root = tempfile::tempdir().unwrap();
        create(&board(root.path()), &[new(1, &[]), new(2, &[])]);
        let added = std::thread::scope(|scope| {
            let add = |nr: u32, dependency: u32| {
                let root = root.path();
                scope.spawn(move || {
                    let patch = TaskPatch {
                        add_blocked_by: vec![id(dependency)],
                        ..TaskPatch::default()
                    };
                    let board = board(root);
                    let mut locked = board.lock(&agent("lead")).unwrap();
                    locked.update(&id(nr), &patch).map(drop)
                })
            };
            [add(1, 2), add(2, 1)].map(|handle| handle.join().unwrap())
        });
        let refused: Vec<String> = added
            .into_iter()
            .filter_map(|done| Some(done.err()?.to_string()))
            .collect();
        assert!(
            matches!(&refused[..], [why] if why.contains("task_00000001") && why.contains("task_00000002")),
            "{refused:?}"
        );
        assert!(board(root.path()).cycles().unwrap().is_empty());
    }
}
