//! Each change's rules as a table.

use super::{agent, as_coder, id, new};
use crate::board::rules::{self, Standing};
use crate::board::{BoardError, Claimant, Released, Status, Task, TaskPatch, Verified, VerifyRun};
use crate::clock::Timestamp;
use crate::ids::{TaskId, WorktreeName};

const NOW: fn() -> Timestamp = || Timestamp::from_ms(9_000);

fn pending() -> Task {
    rules::create(&new(1, &[2, 3]), 0, Timestamp::from_ms(1_000)).unwrap()
}

fn working() -> Task {
    Task {
        status: Status::InProgress,
        owner: Some(agent("alice")),
        work_version: 4,
        attempts: 2,
        ..pending()
    }
}

fn with(status: Status) -> Task {
    Task {
        status,
        ..pending()
    }
}

fn refusal<T: std::fmt::Debug>(result: Result<T, BoardError>) -> String {
    match result {
        Err(BoardError::Refused(why)) => why,
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn only_completed_dependencies_let_a_task_go() {
    let done = || Standing::Is(Status::Completed);
    for (second, third, waits) in [
        (done(), done(), None),
        (
            done(),
            Standing::Missing,
            Some("task_00000003 does not exist"),
        ),
        (done(), Standing::Damaged, Some("task_00000003 is damaged")),
        (
            done(),
            Standing::Is(Status::Pending),
            Some("task_00000003 is pending"),
        ),
        (
            Standing::Is(Status::InProgress),
            done(),
            Some("task_00000002 is in progress"),
        ),
        // What no work will mend is told before what only takes time.
        (
            Standing::Is(Status::Pending),
            Standing::Is(Status::Cancelled),
            Some("task_00000003 was cancelled"),
        ),
        (
            Standing::Is(Status::Other("on hold".to_owned())),
            done(),
            Some("task_00000002 is \"on hold\""),
        ),
    ] {
        let standing = |dependency: &TaskId| {
            if *dependency == id(2) {
                second.clone()
            } else {
                third.clone()
            }
        };
        assert_eq!(rules::waits_for(&pending(), standing).as_deref(), waits);
    }
}

#[test]
fn a_task_fits_by_name_or_role_whatever_the_case() {
    let alice = agent("Alice");
    let lead = agent("lead");
    for (assignee, name, role, fits) in [
        (None, &alice, "", true),
        (Some("alice"), &alice, "coder", true),
        (Some("ALICE"), &alice, "coder", true),
        (Some("Coder"), &alice, "cODER", true),
        (Some("Prüfer"), &alice, "prÜfer", true),
        (Some("bob"), &alice, "coder", false),
        (Some("alic"), &alice, "", false),
        (Some("team-lead"), &lead, "", true),
    ] {
        let claimant = Claimant { name, role };
        assert_eq!(rules::fits(assignee, claimant), fits, "{assignee:?}");
    }
}

#[test]
fn a_claim_takes_owner_version_and_attempt_in_one() {
    let alice = agent("alice");
    let claimed = rules::claim(&pending(), as_coder(&alice), None, None, 3, NOW()).unwrap();
    assert_eq!(claimed.owner, Some(alice));
    assert_eq!((claimed.work_version, claimed.attempts), (1, 1));
    assert_eq!(
        (claimed.created_at.as_ms(), claimed.updated_at.as_ms()),
        (1_000, 9_000)
    );
}

#[test]
fn a_claim_is_refused_with_the_reason() {
    let alice = agent("alice");
    let claim = |task: &Task, waits: Option<&str>, held: Option<&TaskId>| {
        rules::claim(
            task,
            as_coder(&alice),
            waits.map(str::to_owned),
            held,
            3,
            NOW(),
        )
    };
    let bobs = Task {
        owner: Some(agent("bob")),
        ..working()
    };
    assert!(
        matches!(claim(&bobs, None, None), Err(BoardError::Owned { owner, .. }) if owner == agent("bob"))
    );
    let reserved = Task {
        owner: Some(agent("bob")),
        ..pending()
    };
    assert!(matches!(
        claim(&reserved, None, None),
        Err(BoardError::Owned { .. })
    ));
    let tired = Task {
        attempts: 3,
        ..pending()
    };
    let elses = Task {
        assignee: Some("bob".to_owned()),
        ..pending()
    };
    let held = id(7);
    for (task, waits, held, why) in [
        (working(), None, None, "yours already"),
        (
            with(Status::Completed),
            None,
            None,
            "completed; only a pending task",
        ),
        (
            with(Status::Cancelled),
            None,
            None,
            "cancelled; only a pending task",
        ),
        (
            with(Status::Other("on hold".to_owned())),
            None,
            None,
            "on hold; only a pending task",
        ),
        (
            pending(),
            Some("task_00000002 is pending"),
            None,
            "task_00000002 is pending",
        ),
        (pending(), None, Some(&held), "already has task_00000007"),
        (tired, None, None, "failed 3 times"),
        (elses, None, None, "assigned to bob"),
    ] {
        let said = refusal(claim(&task, waits, held));
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn only_the_owner_under_its_version_completes() {
    let complete = |task: &Task, name: &str, version| {
        rules::complete(task, &agent(name), version, Some("done".to_owned()), NOW())
    };
    let done = complete(&working(), "Alice", 4).unwrap();
    assert_eq!(done.status, Status::Completed);
    assert_eq!((done.owner, done.work_version), (Some(agent("alice")), 4));
    assert_eq!(done.result.as_deref(), Some("done"));
    assert!(matches!(
        complete(&working(), "alice", 3),
        Err(BoardError::Stale {
            given: 3,
            now: 4,
            ..
        })
    ));
    assert!(matches!(
        complete(&working(), "bob", 4),
        Err(BoardError::Owned { .. })
    ));
    assert!(refusal(complete(&pending(), "alice", 0)).contains("claim it first"));
    assert!(refusal(complete(&done_task(), "alice", 4)).contains("is completed"));
    let long = "x".repeat(crate::board::MAX_DESCRIPTION + 1);
    let said = refusal(rules::complete(
        &working(),
        &agent("alice"),
        4,
        Some(long),
        NOW(),
    ));
    assert!(said.contains("262145"), "{said}");
}

#[test]
fn a_verify_run_is_noted_for_its_owner_and_forgotten_by_the_next_claim() {
    let alice = agent("alice");
    let run = VerifyRun {
        command: "make".to_owned(),
        passed: false,
        how: "ended with status 2".to_owned(),
        output: "no".to_owned(),
        at: NOW(),
    };
    let noted = rules::verified(&working(), &alice, 4, run.clone(), NOW()).unwrap();
    assert_eq!(noted.verified, Some(Verified::Run(run.clone())));
    assert_eq!(noted.status, Status::InProgress);
    for (task, version) in [(working(), 3), (done_task(), 4), (pending(), 0)] {
        assert!(rules::verified(&task, &alice, version, run.clone(), NOW()).is_err());
    }
    let freed = rules::release(&noted, None, Released::Failed, None, NOW()).unwrap();
    assert_eq!(freed.verified, Some(Verified::Run(run)));
    let again = rules::claim(&freed, as_coder(&alice), None, None, 9, NOW()).unwrap();
    assert_eq!(again.verified, None);
}

fn done_task() -> Task {
    Task {
        status: Status::Completed,
        ..working()
    }
}

#[test]
fn a_release_counts_the_attempt_by_its_reason() {
    let alice = agent("alice");
    for (task, why, attempts, version) in [
        (working(), Released::Orderly, 1, 5),
        (working(), Released::Failed, 2, 5),
        (working(), Released::NotAgain, 2, 5),
        (working(), Released::ByPerson, 0, 5),
        (done_task(), Released::ByPerson, 0, 5),
        (pending(), Released::ByPerson, 0, 0),
    ] {
        let free = rules::release(&task, None, why, Some("note".to_owned()), NOW()).unwrap();
        assert_eq!((free.status, free.owner), (Status::Pending, None));
        assert_eq!(
            (free.attempts, free.work_version),
            (attempts, version),
            "{why:?}"
        );
        assert_eq!(free.result.as_deref(), Some("note"));
    }
    assert!(
        refusal(rules::release(
            &pending(),
            None,
            Released::Failed,
            None,
            NOW()
        ))
        .contains("only a task in progress")
    );
    assert!(matches!(
        rules::release(
            &working(),
            Some((&alice, 3)),
            Released::Orderly,
            None,
            NOW()
        ),
        Err(BoardError::Stale { .. })
    ));
    assert!(matches!(
        rules::release(
            &working(),
            Some((&agent("bob"), 4)),
            Released::Orderly,
            None,
            NOW()
        ),
        Err(BoardError::Owned { .. })
    ));
    let long = format!("{}é", "é".repeat(crate::board::MAX_DESCRIPTION));
    let free = rules::release(&working(), None, Released::Failed, Some(long), NOW()).unwrap();
    assert!(free.result.unwrap().len() <= crate::board::MAX_DESCRIPTION);
}

#[test]
fn what_is_in_progress_is_ended_only_by_force() {
    assert!(refusal(rules::cancel(&working(), false, NOW())).contains("in progress by alice"));
    assert!(refusal(rules::complete_by_person(&working(), false, NOW())).contains("--force"));
    let cancelled = rules::cancel(&working(), true, NOW()).unwrap();
    assert_eq!(
        (cancelled.status, cancelled.owner, cancelled.work_version),
        (Status::Cancelled, None, 5)
    );
    let completed = rules::complete_by_person(&working(), true, NOW()).unwrap();
    assert_eq!(
        (completed.status, completed.work_version),
        (Status::Completed, 5)
    );
    assert!(rules::complete_by_person(&pending(), false, NOW()).is_ok());
    assert!(refusal(rules::cancel(&done_task(), false, NOW())).contains("completed"));
    assert!(refusal(rules::cancel(&with(Status::Cancelled), true, NOW())).contains("already"));
    assert!(refusal(rules::complete_by_person(&done_task(), true, NOW())).contains("already"));
}

#[test]
fn only_a_pending_task_that_nobody_has_is_changed() {
    let patch = TaskPatch {
        subject: Some("Other".to_owned()),
        assignee: Some(Some(" coder ".to_owned())),
        add_blocked_by: vec![id(4), id(4), id(3)],
        remove_blocked_by: vec![id(2)],
        ..TaskPatch::default()
    };
    let changed = rules::update(&pending(), &patch, NOW()).unwrap();
    assert_eq!(changed.blocked_by, [id(3), id(4)]);
    assert_eq!(changed.assignee.as_deref(), Some("coder"));
    assert_eq!(
        (changed.subject.as_str(), changed.description.as_str()),
        ("Other", "")
    );
    let name = WorktreeName::parse("w").unwrap();
    let bound = rules::bind(&pending(), &name, NOW()).unwrap();
    assert!(refusal(rules::bind(&bound, &name, NOW())).contains("bound"));
    for task in [working(), done_task(), with(Status::Cancelled)] {
        assert!(refusal(rules::update(&task, &patch, NOW())).contains("only a pending task"));
        assert!(refusal(rules::bind(&task, &name, NOW())).contains("only a pending task"));
    }
    let reserved = Task {
        owner: Some(agent("bob")),
        ..pending()
    };
    assert!(matches!(
        rules::update(&reserved, &patch, NOW()),
        Err(BoardError::Owned { .. })
    ));
}

#[test]
fn texts_are_bounded_and_subjects_say_something() {
    let made = |change: fn(&mut crate::board::NewTask)| {
        let mut task = new(1, &[]);
        change(&mut task);
        rules::create(&task, 0, NOW())
    };
    assert!(made(|task| task.subject = "ü".repeat(200)).is_ok());
    assert!(made(|task| task.description = "x".repeat(256 * 1024)).is_ok());
    assert_eq!(
        made(|task| task.verify = Some(" ".to_owned()))
            .unwrap()
            .verify,
        None
    );
    assert_eq!(
        made(|task| task.assignee = Some(" ".to_owned()))
            .unwrap()
            .assignee,
        None
    );
    for (made, why) in [
        (made(|task| task.subject = "x".repeat(201)), "201"),
        (
            made(|task| task.subject = " \t".to_owned()),
            "needs a subject",
        ),
        (
            made(|task| task.subject = "a\nb".to_owned()),
            "several lines",
        ),
        (
            made(|task| task.description = "x".repeat(256 * 1024 + 1)),
            "262145",
        ),
        (
            made(|task| task.assignee = Some("a\u{1b}b".to_owned())),
            "name or role",
        ),
    ] {
        let said = refusal(made);
        assert!(said.contains(why), "{said}");
    }
}
