//! Which branches a task needs, as a table, and what follows for whoever wants it.

use super::{agent, as_coder, board, claim, complete, create, id, new, offered, text};
use crate::board::branches::needed;
use crate::board::rules;
use crate::board::summary::{Key, Summary};
use crate::board::{Board, Bound, NewTask, Status, Task};
use crate::clock::Timestamp;
use crate::ids::WorktreeName;

fn name(text: &str) -> WorktreeName {
    WorktreeName::parse(text).unwrap()
}

fn bound(nr: u32, worktree: Option<&str>, blocked_by: &[u32]) -> NewTask {
    NewTask {
        worktree: worktree.map(name),
        ..new(nr, blocked_by)
    }
}

/// Number, worktree, dependencies, and whether it is completed.
type Row<'a> = (u32, Option<&'a str>, &'a [u32], bool);

/// What the last of `rows` needs.
fn needs(rows: &[Row<'_>]) -> Vec<String> {
    let summaries: Vec<(Key, Summary)> = rows
        .iter()
        .map(|(nr, worktree, blocked_by, done)| {
            let made = rules::create(&bound(*nr, *worktree, blocked_by), 0, Timestamp::from_ms(1));
            let status = if *done {
                Status::Completed
            } else {
                Status::Pending
            };
            let task = Task {
                status,
                ..made.unwrap()
            };
            (Key::of(&task.id), Summary::of(&task))
        })
        .collect();
    let get = |key: Key| {
        let found = summaries.iter().find(|(known, _)| *known == key);
        found.map(|(_, task)| task.clone())
    };
    let (_, last) = summaries.last().unwrap();
    needed(last, get).iter().map(ToString::to_string).collect()
}

#[test]
fn the_branches_of_dependencies_are_needed_once_each_and_no_others() {
    let table: [(&[Row<'_>], &[&str]); 9] = [
        // The dependency worked in the workspace, or in the same worktree.
        (&[(1, None, &[], true), (9, None, &[1], false)], &[]),
        (
            &[(1, Some("a"), &[], true), (9, Some("a"), &[1], false)],
            &[],
        ),
        // It worked on a branch.
        (&[(1, Some("a"), &[], true), (9, None, &[1], false)], &["a"]),
        (
            &[(1, Some("a"), &[], true), (9, Some("b"), &[1], false)],
            &["a"],
        ),
        // It is not done, or is not there.
        (
            &[(1, Some("a"), &[], false), (9, Some("b"), &[1, 2], false)],
            &[],
        ),
        // Two, the first named first; the branch of one holds what that one was built on.
        (
            &[
                (1, Some("a"), &[], true),
                (2, Some("b"), &[1], true),
                (3, Some("c"), &[], true),
                (9, Some("d"), &[3, 2], false),
            ],
            &["c", "b"],
        ),
        // What was done in the workspace has no branch: what that was built on is needed.
        (
            &[
                (1, Some("a"), &[], true),
                (2, None, &[1], true),
                (3, None, &[2, 1], true),
                (9, Some("b"), &[3, 1], false),
            ],
            &["a"],
        ),
        // In the workspace it was there when that began.
        (
            &[
                (1, Some("a"), &[], true),
                (2, None, &[1], true),
                (9, None, &[2], false),
            ],
            &[],
        ),
        // A cycle made by hand ends.
        (
            &[
                (1, None, &[2], true),
                (2, None, &[1], true),
                (9, Some("b"), &[1], false),
            ],
            &[],
        ),
    ];
    for (rows, wanted) in table {
        assert_eq!(needs(rows), wanted, "{rows:?}");
    }
}

/// A board on which the dependency of the task 9 was completed in worktree `branch`.
fn with_dependency(root: &std::path::Path, branch: &str, own: Option<&str>) -> (Board, Vec<u32>) {
    let board = board(root);
    create(&board, &[bound(1, Some(branch), &[]), bound(9, own, &[1])]);
    let unblocked = complete(&board, 1, "alice");
    let nine = unblocked.into_iter().filter(|one| *one == id(9)).map(|_| 9);
    (board, nine.collect())
}

#[test]
fn a_task_waits_until_the_branch_is_where_it_works() {
    for (branch, own, waits) in [
        ("apart", None, Some("waits for wt/apart to be merged")),
        ("apart", Some("mine"), Some("conflict with apart")),
        ("merged", None, None),
        ("merged", Some("mine"), None),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let (board, unblocked) = with_dependency(dir.path(), branch, own);
        let case = format!("{branch} {own:?}");
        // The board alone knows of statuses only; who asks outside of the lock knows more.
        assert_eq!(unblocked, [9], "{case}");
        let view = board.view(&id(9)).unwrap();
        assert_eq!(view.blocked_reason.as_deref(), waits, "{case}");
        assert_eq!(board.can_start(&view.task), waits.is_none(), "{case}");
        let views = board.views().unwrap();
        let listed = views.iter().find(|view| view.task.id == id(9)).unwrap();
        assert_eq!(*listed, view, "{case}");
        let bob = agent("bob");
        assert_eq!(
            offered(&board, "bob").len(),
            usize::from(waits.is_none()),
            "{case}"
        );
        let next = board
            .lock(&bob)
            .unwrap()
            .claim_next(as_coder(&bob))
            .unwrap();
        assert_eq!(next.is_some(), waits.is_none(), "{case}");
        if let Some(waits) = waits {
            let said = text(claim(&board, 9, "bob"));
            assert!(said.contains(waits), "{case}: {said}");
        }
    }
}

#[test]
fn worktrees_that_may_lack_a_branch_are_listed_once_their_dependencies_are_completed() {
    let dir = tempfile::tempdir().unwrap();
    let board = board(dir.path());
    create(
        &board,
        &[
            bound(1, Some("a"), &[]),
            bound(2, Some("b"), &[]),
            bound(3, Some("mine"), &[1, 2]),
            bound(4, None, &[1]),
            bound(5, Some("free"), &[]),
        ],
    );
    complete(&board, 1, "alice");
    assert_eq!(board.bound().unwrap(), []);
    assert_eq!(
        board.branches_for(&name("new"), &[id(1), id(2)]),
        [name("a")]
    );
    complete(&board, 2, "alice");
    let wanted = Bound {
        task: id(3),
        worktree: name("mine"),
        branches: vec![name("a"), name("b")],
    };
    assert_eq!(board.bound().unwrap(), [wanted]);
    assert_eq!(
        super::board(dir.path()).bound().unwrap().len(),
        1,
        "a cold look"
    );
}

#[test]
fn whoever_waits_is_woken_by_the_bell() {
    let dir = tempfile::tempdir().unwrap();
    let board = board(dir.path());
    board.lock(&agent("lead")).unwrap().wake();
    assert!(
        !dir.path().join(".tasks").exists(),
        "nobody waits for a board that is not there"
    );
    create(&board, &[new(1, &[])]);
    let bell = dir.path().join(".tasks/.bell");
    std::fs::remove_file(&bell).unwrap();
    board.lock(&agent("lead")).unwrap().wake();
    assert!(bell.exists());
}
