//! What each change does to the board.

use super::{agent, as_coder, board, claim, complete, create, id, new, offered, text};
use crate::board::{BoardError, Claimant, NewTask, Released, Status, TaskPatch};
use crate::ids::WorktreeName;

#[test]
fn a_completion_answers_with_what_became_ready() {
    let root = tempfile::tempdir().unwrap();
    let board = board(root.path());
    create(
        &board,
        &[
            new(1, &[]),
            new(2, &[]),
            new(3, &[1, 2]),
            new(4, &[1]),
            new(5, &[3]),
        ],
    );
    assert_eq!(offered(&board, "alice"), [id(1), id(2)]);
    assert_eq!(complete(&board, 1, "alice"), [id(4)]);
    assert_eq!(complete(&board, 2, "alice"), [id(3)]);
    assert_eq!(offered(&board, "alice"), [id(3), id(4)]);
    let reasons: Vec<_> = board
        .views()
        .unwrap()
        .into_iter()
        .map(|view| (view.ready, view.blocked_reason))
        .collect();
    assert_eq!(reasons[2], (true, None));
    assert_eq!(
        reasons[4],
        (false, Some("task_00000003 is pending".to_owned()))
    );
}

#[test]
fn one_agent_has_one_task() {
    let root = tempfile::tempdir().unwrap();
    let board = board(root.path());
    create(&board, &[new(1, &[]), new(2, &[])]);
    claim(&board, 1, "Alice").unwrap();
    assert!(text(claim(&board, 2, "alice")).contains("already has task_00000001"));
    assert!(
        matches!(claim(&board, 1, "bob"), Err(BoardError::Owned { owner, .. }) if owner == agent("alice"))
    );
    assert_eq!(board.owned_by(&agent("ALICE")).unwrap().unwrap().id, id(1));
    assert_eq!(board.owned_by(&agent("bob")).unwrap(), None);
}

#[test]
fn a_stopped_and_revived_owner_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let board = board(root.path());
    create(&board, &[new(1, &[])]);
    let stale = claim(&board, 1, "alice").unwrap();
    let (free, former) = board
        .lock(&agent("lead"))
        .unwrap()
        .release(&id(1), None, Released::Failed, Some("died".to_owned()))
        .unwrap();
    assert_eq!((former, free.attempts), (Some(agent("alice")), 1));
    claim(&board, 1, "alice").unwrap();
    let late = board.lock(&agent("alice")).unwrap().complete(
        &id(1),
        &agent("alice"),
        stale.work_version,
        None,
    );
    assert!(matches!(
        late,
        Err(BoardError::Stale {
            given: 1,
            now: 3,
            ..
        })
    ));
}

#[test]
fn after_three_attempts_only_the_person_offers_it_again() {
    let root = tempfile::tempdir().unwrap();
    let board = board(root.path());
    create(&board, &[new(1, &[])]);
    let release = |why| {
        board
            .lock(&agent("lead"))
            .unwrap()
            .release(&id(1), None, why, None)
            .unwrap()
    };
    for _ in 0..3 {
        claim(&board, 1, "alice").unwrap();
        release(Released::Failed);
    }
    assert!(offered(&board, "alice").is_empty());
    assert!(text(claim(&board, 1, "alice")).contains("lead task release"));
    for view in [
        board.view(&id(1)).unwrap(),
        board.views().unwrap().remove(0),
    ] {
        let why = view.blocked_reason.unwrap();
        assert!(
            !view.ready && why.starts_with("3 attempts; release it"),
            "{why}"
        );
    }
    release(Released::ByPerson);
    assert!(board.view(&id(1)).unwrap().ready);
    assert_eq!(offered(&board, "alice"), [id(1)]);
}

#[test]
fn assigned_tasks_go_to_name_or_role() {
    let root = tempfile::tempdir().unwrap();
    let board = board(root.path());
    let to = |nr, assignee: &str| NewTask {
        assignee: Some(assignee.to_owned()),
        ..new(nr, &[])
    };
    create(&board, &[to(1, "Bob"), to(2, "Reviewer"), new(3, &[])]);
    let bob = agent("bob");
    let ids = |claimant| -> Vec<_> {
        board
            .offered(claimant, 9)
            .unwrap()
            .into_iter()
            .map(|task| task.id)
            .collect()
    };
    assert_eq!(ids(as_coder(&bob)), [id(1), id(3)]);
    assert_eq!(
        ids(Claimant {
            name: &bob,
            role: "reviewer"
        }),
        [id(1), id(2), id(3)]
    );
    assert_eq!(board.offered(as_coder(&bob), 1).unwrap().len(), 1);
    let mut locked = board.lock(&bob).unwrap();
    assert_eq!(
        locked.claim_next(as_coder(&bob)).unwrap().unwrap().id,
        id(1)
    );
}

#[test]
fn a_cancelled_dependency_is_shown_and_its_dependents_are_named() {
    let root = tempfile::tempdir().unwrap();
    let board = board(root.path());
    create(&board, &[new(1, &[]), new(3, &[1]), new(2, &[1])]);
    claim(&board, 1, "alice").unwrap();
    let mut locked = board.lock(&agent("lead")).unwrap();
    assert!(text(locked.cancel(&id(1), false)).contains("alice"));
    let (task, former, dependents) = locked.cancel(&id(1), true).unwrap();
    assert_eq!(
        (task.status, former),
        (Status::Cancelled, Some(agent("alice")))
    );
    assert_eq!(dependents, [id(3), id(2)]);
    let view = board.view(&id(2)).unwrap();
    assert_eq!(view.blocked_reason.unwrap(), "task_00000001 was cancelled");
    assert_eq!(board.owned_by(&agent("alice")).unwrap(), None);
}

#[test]
fn dependencies_must_exist_and_close_no_cycle() {
    let root = tempfile::tempdir().unwrap();
    let board = board(root.path());
    create(&board, &[new(1, &[]), new(2, &[1]), new(3, &[2])]);
    let mut locked = board.lock(&agent("lead")).unwrap();
    let mut add = |nr, on| {
        let patch = TaskPatch {
            add_blocked_by: vec![id(on)],
            ..TaskPatch::default()
        };
        locked.update(&id(nr), &patch)
    };
    assert!(
        text(add(1, 3)).contains("task_00000001 → task_00000003 → task_00000002 → task_00000001")
    );
    assert!(text(add(1, 1)).contains("task_00000001 → task_00000001"));
    assert!(text(add(1, 8)).contains("there is no such task"));
    assert_eq!(add(3, 1).unwrap().blocked_by, [id(2), id(1)]);
    for batch in [
        vec![new(4, &[5]), new(5, &[4])],
        vec![new(4, &[4])],
        vec![new(4, &[9])],
        vec![new(4, &[]), new(4, &[])],
    ] {
        assert!(
            matches!(locked.create(&batch), Err(BoardError::Refused(_))),
            "{batch:?}"
        );
    }
    assert_eq!(board.list().unwrap().len(), 3);
}

#[test]
fn an_id_that_exists_is_drawn_again_and_never_overwritten() {
    let root = tempfile::tempdir().unwrap();
    let board = board(root.path());
    create(&board, &[new(1, &[])]);
    let again = create(&board, &[new(1, &[])]);
    assert_ne!(again[0].id, id(1));
    let mut locked = board.lock(&agent("lead")).unwrap();
    assert!(text(locked.create(&[new(1, &[]), new(2, &[1])])).contains("exists already"));
    assert_eq!(board.list().unwrap().len(), 2);
}

#[test]
fn a_worktree_belongs_to_one_task_and_a_broken_one_blocks() {
    let root = tempfile::tempdir().unwrap();
    let board = board(root.path());
    create(&board, &[new(1, &[]), new(2, &[]), new(3, &[])]);
    let bind = |nr, name: &str| {
        board
            .lock(&agent("lead"))
            .unwrap()
            .bind(&id(nr), &WorktreeName::parse(name).unwrap())
    };
    bind(1, "good").unwrap();
    assert!(text(bind(2, "good")).contains("belongs to task_00000001"));
    assert!(text(bind(1, "other")).contains("bound"));
    bind(2, "broken").unwrap();
    assert_eq!(offered(&board, "alice"), [id(1), id(3)]);
    assert!(text(claim(&board, 2, "alice")).contains("the worktree broken is gone"));
    assert_eq!(
        board.view(&id(2)).unwrap().blocked_reason.unwrap(),
        "the worktree broken is gone"
    );
    let other = NewTask {
        worktree: Some(WorktreeName::parse("good").unwrap()),
        ..new(4, &[])
    };
    assert!(text(board.lock(&agent("lead")).unwrap().create(&[other])).contains("belongs to"));
}

#[test]
fn a_thread_that_holds_the_lock_may_lock_again() {
    let root = tempfile::tempdir().unwrap();
    let board = board(root.path());
    create(&board, &[new(1, &[])]);
    let outer = board.lock(&agent("lead")).unwrap();
    claim(&board, 1, "alice").unwrap();
    drop(outer);
    assert!(!crate::store::lock::is_held(&root.path().join(".tasks/.lock")).unwrap());
}

#[test]
fn the_person_completes_and_ends_the_owners_work() {
    let root = tempfile::tempdir().unwrap();
    let board = board(root.path());
    create(&board, &[new(1, &[]), new(2, &[1])]);
    let task = claim(&board, 1, "alice").unwrap();
    let mut locked = board.lock(&agent("user")).unwrap();
    assert!(text(locked.complete_by_person(&id(1), false)).contains("--force"));
    let (done, former) = locked.complete_by_person(&id(1), true).unwrap();
    assert_eq!(former, Some(agent("alice")));
    assert_eq!(done.unblocked[0].id, id(2));
    let late = locked.complete(&id(1), &agent("alice"), task.work_version, None);
    assert!(matches!(late, Err(BoardError::Stale { .. })));
}

#[test]
fn what_a_run_gave_up_is_offered_to_nobody_until_it_is_offered_anew() {
    let root = tempfile::tempdir().unwrap();
    let board = board(root.path());
    create(&board, &[new(1, &[])]);
    let give_up = || {
        let task = claim(&board, 1, "alice").unwrap();
        let holder = (&agent("alice"), task.work_version);
        let mut locked = board.lock(&agent("alice")).unwrap();
        let note = Some("nobody answers".to_owned());
        locked
            .release(&id(1), Some(holder), Released::NotAgain, note)
            .unwrap();
        drop(locked);
        for name in ["alice", "bob"] {
            assert!(offered(&board, name).is_empty());
            let other = super::board(root.path());
            assert!(offered(&other, name).is_empty(), "a cold process");
            assert!(text(claim(&other, 1, name)).contains("nobody answers"));
        }
        let view = board.view(&id(1)).unwrap();
        let why = view.blocked_reason.unwrap();
        assert!(
            !view.ready && why.contains("lead task release task_00000001"),
            "{why}"
        );
    };
    give_up();
    let lead = || board.lock(&agent("lead")).unwrap();
    assert!(lead().offer_anew(&id(1)).unwrap());
    assert!(!lead().offer_anew(&id(1)).unwrap(), "once");
    assert_eq!(offered(&board, "bob"), [id(1)]);
    assert_eq!(board.get(&id(1)).unwrap().attempts, 1, "they count");
    give_up();
    let released = lead().release(&id(1), None, Released::ByPerson, None);
    assert_eq!(released.unwrap().0.not_offered, None);
    assert_eq!(offered(&board, "bob"), [id(1)]);
}
