//! Bringing a worktree's branch into the workspace's: wholly, or not at all with the reason.

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use pitcrew::worktree::{self, MergeError, Merged};

use super::repo::{Scratch, commit, git, name, put, snapshot, try_git, with_work, workspace};

#[track_caller]
fn merged(root: &Path) -> Merged {
    worktree::merge(&workspace(root), &name("w")).unwrap()
}

/// Everything that counts: objects may be left without anybody naming them, and git notes times in its index and where
/// it stood before it tried.
fn what_counts(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = snapshot(root);
    for own in ["objects", "index", "ORIG_HEAD"] {
        let own = root.join(".git").join(own);
        found.retain(|path, _| !path.starts_with(&own));
    }
    found.insert("index".into(), git(root, &["ls-files", "-s"]).into());
    found
}

/// The refusal of `merge`, which has changed nothing.
#[track_caller]
fn refused(root: &Path) -> String {
    let before = what_counts(root);
    let said = match worktree::merge(&workspace(root), &name("w")) {
        Err(MergeError::Refused(said)) => said,
        other => panic!("{other:?}"),
    };
    assert!(what_counts(root) == before, "something was changed: {said}");
    assert!(said.ends_with("nothing was changed"), "{said}");
    said
}

#[test]
fn work_comes_in_with_its_history_and_the_branch_stays() {
    let scratch = Scratch::new();
    let (root, path) = with_work(&scratch);
    let branch = git(&root, &["rev-parse", "wt/w"]);
    put(&path.join("later.txt"), "not committed\n");
    put(&root.join("a.txt"), "mine, not committed\n");

    let done = merged(&root);

    assert_eq!((done.into.as_str(), done.commits), ("main", 1));
    assert!(done.stat.contains("b.txt | 1 +"), "{}", done.stat);
    let left = done.left_behind.unwrap();
    assert!(left.contains("1 uncommitted change"), "{left}");
    assert_eq!(git(&root, &["rev-parse", "main"]), branch, "went forward");
    assert_eq!(std::fs::read(root.join("b.txt")).unwrap(), b"b\n");
    assert_eq!(git(&root, &["status", "--porcelain"]), " M a.txt");
    assert!(path.join("later.txt").exists());
    assert_eq!(merged(&root).commits, 0, "a second time");
}

#[test]
fn two_histories_become_one_commit_without_any_hook_or_setting() {
    let scratch = Scratch::new();
    let (root, _) = with_work(&scratch);
    commit(&root, "c.txt", "c\n");
    git(&root, &["config", "core.hooksPath", ".hooks"]);
    git(&root, &["config", "commit.gpgSign", "true"]);
    git(&root, &["config", "merge.verifySignatures", "true"]);
    git(&root, &["config", "merge.ff", "false"]);
    for hook in [
        "post-merge",
        "pre-merge-commit",
        "post-checkout",
        "reference-transaction",
    ] {
        let file = root.join(".hooks").join(hook);
        put(&file, "#!/bin/sh\ntouch hooked\nexit 1\n");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let config = std::fs::read(root.join(".git/config")).unwrap();

    let done = merged(&root);

    assert_eq!(done.commits, 1);
    assert!(
        !done.stat.contains("c.txt"),
        "only what came in: {}",
        done.stat
    );
    assert_eq!(
        git(&root, &["log", "-1", "--format=%s %an"]),
        "Merge branch 'wt/w' Test"
    );
    let parents = git(&root, &["rev-parse", "HEAD^1", "HEAD^2"]);
    assert!(parents.ends_with(&git(&root, &["rev-parse", "wt/w"])));
    assert!(root.join("b.txt").exists() && root.join("c.txt").exists());
    assert!(!root.join("hooked").exists(), "a hook ran");
    assert_eq!(std::fs::read(root.join(".git/config")).unwrap(), config);
    assert_eq!(git(&root, &["status", "--porcelain"]), "?? .hooks/");
}

#[test]
fn a_branch_whose_worktree_is_gone_is_merged_as_well() {
    let scratch = Scratch::new();
    let (root, _) = with_work(&scratch);
    git(&root, &["worktree", "remove", ".worktrees/w"]);
    let done = merged(&root);
    assert_eq!((done.commits, done.left_behind), (1, None));
}

#[test]
fn conflicts_are_named_and_nothing_moves() {
    let scratch = Scratch::new();
    let (root, path) = with_work(&scratch);
    for (file, ours, theirs) in [
        ("a.txt", "ours\n", "theirs\n"),
        ("ä \"x\".txt", "1\n", "2\n"),
    ] {
        commit(&path, file, theirs);
        commit(&root, file, ours);
    }
    let said = refused(&root);
    for part in ["wt/w conflicts with main in ", "a.txt", "ä \"x\".txt"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("b.txt"), "{said}");
}

#[test]
fn files_in_no_commit_are_never_overwritten() {
    type Change = fn(&Path);
    let table: [(&str, Change); 7] = [
        ("a.txt", |root| put(&root.join("a.txt"), "mine\n")),
        ("a.txt", |root| {
            put(&root.join("a.txt"), "mine\n");
            git(root, &["add", "a.txt"]);
        }),
        ("a.txt", |root| {
            std::fs::remove_file(root.join("a.txt")).unwrap();
        }),
        ("sub/new.txt", |root| {
            put(&root.join("sub/new.txt"), "untracked\n");
        }),
        ("sub/new.txt/deeper", |root| {
            put(&root.join("sub/new.txt/deeper"), "untracked\n");
        }),
        ("sub", |root| put(&root.join("sub"), "untracked\n")),
        ("sub/new.txt", |root| {
            put(&root.join(".git/info/exclude"), "new.txt\n");
            put(&root.join("sub/new.txt"), "ignored\n");
        }),
    ];
    for (wanted, change) in table {
        let scratch = Scratch::new();
        let (root, path) = with_work(&scratch);
        commit(&path, "a.txt", "theirs\n");
        commit(&path, "sub/new.txt", "theirs\n");
        change(&root);
        let said = refused(&root);
        let named = format!("uncommitted changes in the workspace: {wanted};");
        assert!(said.contains(&named), "{named}: {said}");
    }
}

#[test]
fn what_only_git_sees_in_the_way_is_a_refusal_too() {
    let scratch = Scratch::new();
    let (root, path) = with_work(&scratch);
    let elsewhere = scratch.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    commit(&path, "out/new.txt", "theirs\n");
    put(&root.join(".git/info/exclude"), "out\n.worktrees/\n");
    symlink(&elsewhere, root.join("out")).unwrap();
    assert!(refused(&root).contains("out"));
    assert_eq!(snapshot(&elsewhere).len(), 0);
}

#[test]
fn a_workspace_that_is_in_the_middle_of_something_is_refused() {
    type Change = fn(&Path);
    let table: [(&str, Change); 5] = [
        ("its HEAD is detached", |root| {
            git(root, &["checkout", "-q", "--detach"]);
        }),
        ("a merge is in progress", |root| {
            try_git(root, &["merge", "-q", "other"]).unwrap_err();
        }),
        ("a rebase is in progress", |root| {
            try_git(root, &["rebase", "-q", "other"]).unwrap_err();
        }),
        ("a cherry-pick is in progress", |root| {
            try_git(root, &["cherry-pick", "other"]).unwrap_err();
        }),
        ("a bisect is in progress", |root| {
            git(root, &["bisect", "start", "HEAD", "HEAD~1"]);
        }),
    ];
    for (wanted, change) in table {
        let scratch = Scratch::new();
        let (root, _) = with_work(&scratch);
        git(&root, &["checkout", "-q", "-b", "other"]);
        commit(&root, "a.txt", "other\n");
        git(&root, &["checkout", "-q", "main"]);
        commit(&root, "a.txt", "main\n");
        change(&root);
        let said = refused(&root);
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
}

#[test]
fn branches_that_are_missing_or_bring_the_teams_own_files_are_refused() {
    let scratch = Scratch::new();
    let (root, path) = with_work(&scratch);
    let said = match worktree::merge(&workspace(&root), &name("nobody")) {
        Err(MergeError::Refused(said)) => said,
        other => panic!("{other:?}"),
    };
    assert!(said.contains("there is no branch wt/nobody"), "{said}");

    commit(&path, ".tasks/task_0000000a.json", "{}");
    commit(&path, ".team/team.json", "{}");
    let said = refused(&root);
    assert!(said.contains("work: .tasks/task_0000000a.json;"), "{said}");
}

#[test]
fn without_a_name_for_the_commit_nothing_is_merged() {
    let scratch = Scratch::new();
    let (root, _) = with_work(&scratch);
    commit(&root, "c.txt", "c\n");
    git(&root, &["config", "--unset", "user.name"]);
    git(&root, &["config", "--unset", "user.email"]);
    git(&root, &["config", "user.useConfigOnly", "true"]);
    if try_git(&root, &["var", "GIT_COMMITTER_IDENT"]).is_ok() {
        return; // The configuration of this machine names somebody.
    }
    let said = refused(&root);
    assert!(said.contains("user.email"), "{said}");
}

#[test]
fn a_step_that_cannot_be_written_says_what_it_left() {
    let scratch = Scratch::new();
    let (root, path) = with_work(&scratch);
    put(&path.join(".gitattributes"), "z.bin filter=broken\n");
    commit(&path, "z.bin", "theirs\n");
    git(&path, &["add", "."]);
    git(&path, &["commit", "-q", "-m", "attributes"]);
    git(&root, &["config", "filter.broken.clean", "cat"]);
    git(&root, &["config", "filter.broken.smudge", "false"]);
    git(&root, &["config", "filter.broken.required", "true"]);
    let before = git(&root, &["rev-parse", "HEAD"]);
    let said = match worktree::merge(&workspace(&root), &name("w")) {
        Err(MergeError::Partial(said)) => said,
        other => panic!("{other:?}"),
    };
    assert!(said.starts_with("Partial operation"), "{said}");
    for part in ["b.txt", "main is still at", "git restore"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(git(&root, &["rev-parse", "HEAD"]), before);
}
