//! Making a worktree for a task, merging its work, and removing it. Task 1 is to be done in worktree `w`.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use super::steps::{Act, Check, anywhere};
use crate::board::{Board, BoardOptions, NewTask};
use crate::ids::{AgentName, TaskId, WorktreeName};
use crate::process::capture;
use crate::store::Durability;
use crate::workspace::Workspace;
use crate::worktree;

pub(super) fn acts() -> Vec<Act> {
    let act = |name, prepare, perform| Act {
        name,
        prepare,
        perform,
        covers: anywhere,
    };
    vec![
        act("make a worktree", made, |root, victim| {
            let board = board(root);
            victim.begin();
            worktree::create(&space(root), &name("w")).unwrap();
            let mut locked = board.lock(&AgentName::lead()).unwrap();
            locked.bind(&task(), &name("w")).unwrap();
            drop(locked);
            victim.say("done");
        }),
        act("merge a worktree", merged, |root, victim| {
            victim.begin();
            worktree::merge(&space(root), &name("w")).unwrap();
            victim.say("done");
        }),
        act("take over a commit", taken_over, |root, victim| {
            victim.begin();
            worktree::view::settle(&space(root), &name("w")).unwrap();
            victim.say("done");
        }),
        act("remove a worktree", removed, |root, victim| {
            victim.begin();
            worktree::remove(&space(root), &name("w"), false).unwrap();
            victim.say("done");
        }),
    ]
}

/// A task that is bound has its worktree; a worktree without a task is found and can be taken away.
fn made(root: &Path) -> Check {
    repository(root);
    let new = NewTask {
        id: task(),
        subject: "Task 1".to_owned(),
        description: String::new(),
        blocked_by: Vec::new(),
        assignee: None,
        worktree: None,
        verify: None,
    };
    let made = board(root);
    let mut locked = made.lock(&AgentName::lead()).unwrap();
    locked.create(&[new]).unwrap();
    drop(locked);
    let root = root.to_path_buf();
    Box::new(move |said| {
        let there = space(&root);
        let bound = board(&root).get(&task()).unwrap().worktree;
        assert!(bound.is_some() || said.is_empty(), "what was done is lost");
        let found = worktree::names(&there).unwrap();
        if bound.is_some() {
            assert_eq!(worktree::usable(&there, &name("w")), Ok(()));
        } else if found.contains(&name("w")) {
            worktree::create(&there, &name("w")).unwrap_err();
            worktree::remove(&there, &name("w"), false).unwrap();
        }
        worktree::create(&there, &name("other")).unwrap();
        assert_eq!(git(&root, &["status", "--porcelain"]), "");
    })
}

/// The work came in or it did not; it can still, once.
fn merged(root: &Path) -> Check {
    repository(root);
    let there = space(root);
    worktree::create(&there, &name("w")).unwrap();
    commit(&there.worktree(&name("w")), "theirs");
    commit(root, "ours");
    let branch = git(root, &["rev-parse", "wt/w"]);
    let root = root.to_path_buf();
    Box::new(move |said| {
        assert_eq!(git(&root, &["rev-parse", "wt/w"]), branch);
        assert_eq!(git(&root, &["status", "--porcelain"]), "");
        let again = worktree::merge(&space(&root), &name("w")).unwrap();
        assert!(said.is_empty() || again.commits == 0, "it came in twice");
        assert!(root.join("theirs").exists() && root.join("ours").exists());
        let merges = git(&root, &["rev-list", "--merges", "--count", "HEAD"]);
        assert_eq!(merges, "1");
    })
}

/// What the agent has committed in its view is in the repository in the end, whole.
fn taken_over(root: &Path) -> Check {
    repository(root);
    let there = space(root);
    worktree::create(&there, &name("w")).unwrap();
    worktree::view::open(&there, &name("w")).unwrap();
    let (view, path) = (
        there.git_view(&name("w")).join("view"),
        there.worktree(&name("w")),
    );
    // What the agent's mounts do: the repository's git directory is the view.
    let pointer = root.join(".git/worktrees/w/commondir");
    put(&pointer, &format!("{}\n", view.display()));
    put(
        &view.join("objects/info/alternates"),
        &format!("{}\n", root.join(".git/objects").display()),
    );
    commit(&path, "theirs");
    let made = git(&path, &["rev-parse", "HEAD"]);
    put(&pointer, "../..\n");
    let root = root.to_path_buf();
    Box::new(move |said| {
        let tip = || git(&root, &["rev-parse", "wt/w"]);
        assert!(said.is_empty() || tip() == made, "what was done is lost");
        worktree::view::settle(&space(&root), &name("w")).unwrap();
        assert_eq!(tip(), made);
        git(&root, &["fsck", "--strict"]);
        assert_eq!(git(&path, &["status", "--porcelain"]), "");
        worktree::remove(&space(&root), &name("w"), false).unwrap();
    })
}

/// The worktree goes in the end; its branch stays.
fn removed(root: &Path) -> Check {
    repository(root);
    let there = space(root);
    worktree::create(&there, &name("w")).unwrap();
    commit(&there.worktree(&name("w")), "theirs");
    let branch = git(root, &["rev-parse", "wt/w"]);
    let root = root.to_path_buf();
    Box::new(move |said| {
        let there = space(&root);
        let again = worktree::remove(&there, &name("w"), false);
        assert!(said.is_empty() || again.is_err(), "it was still there");
        assert!(worktree::names(&there).unwrap().is_empty());
        assert_eq!(git(&root, &["rev-parse", "wt/w"]), branch);
    })
}

fn task() -> TaskId {
    TaskId::parse("task_00000001").unwrap()
}

fn name(text: &str) -> WorktreeName {
    WorktreeName::parse(text).unwrap()
}

fn space(root: &Path) -> Workspace {
    Workspace::at(root.to_path_buf())
}

fn board(root: &Path) -> Board {
    let options = BoardOptions {
        durability: Durability::Power,
        max_attempts: 3,
        usable: Arc::new(|_| Ok(())),
        contains: Arc::new(|_, _| Ok(())),
    };
    Board::open(&space(root), options).unwrap()
}

fn repository(root: &Path) {
    git(root, &["init", "-q", "-b", "main"]);
    git(root, &["config", "user.name", "Test"]);
    git(root, &["config", "user.email", "test@example.org"]);
    commit(root, "first");
    // As every start of a lead does.
    worktree::exclude_runtime_files(&space(root)).unwrap();
}

#[expect(clippy::disallowed_methods, reason = "a test makes plain files")]
fn put(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

fn commit(dir: &Path, file: &str) {
    put(&dir.join(file), "x\n");
    git(dir, &["add", file]);
    git(dir, &["commit", "-q", "-m", file]);
}

fn git(dir: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(args).current_dir(dir);
    let done = capture::run(&mut command, b"", 1 << 20, Duration::from_mins(1)).unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status().unwrap().success(), "git {args:?}: {said}");
    String::from_utf8(done.stdout)
        .unwrap()
        .trim_end()
        .to_owned()
}
