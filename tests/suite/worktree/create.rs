//! What is refused before anything is made, and what a failure leaves.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use pitcrew::worktree::{self, CreateError};

use super::repo::{Scratch, git, name, put, snapshot, try_git, workspace};

/// The refusal of `create`, which has changed nothing.
#[track_caller]
fn refused(root: &Path, worktree: &str) -> String {
    let before = snapshot(root);
    let said = match worktree::create(&workspace(root), &name(worktree)) {
        Err(CreateError::Refused(said)) => said,
        other => panic!("{other:?}"),
    };
    assert!(snapshot(root) == before, "something was changed: {said}");
    said
}

#[test]
fn a_worktree_is_made_on_its_branch_and_the_configuration_stays() {
    let scratch = Scratch::new();
    for odd in [
        "plain",
        "with space",
        "it's \"quoted\"",
        "ünï-çødé",
        "$(x) `y`",
    ] {
        let root = scratch.repository(odd);
        git(&root, &["config", "branch.autoSetupMerge", "always"]);
        git(&root, &["config", "worktree.useRelativePaths", "true"]);
        git(&root, &["config", "core.hooksPath", ".hooks"]);
        put(
            &root.join(".hooks/post-checkout"),
            "#!/bin/sh\ntouch \"$HOOKED\" hooked\n",
        );
        let hook = root.join(".hooks/post-checkout");
        std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
        put(&root.join("a.txt"), "changed\n");
        put(&root.join("new.txt"), "untracked\n");
        let config = std::fs::read(root.join(".git/config")).unwrap();
        let space = workspace(&root);

        let made = worktree::create(&space, &name("fix-1")).unwrap();

        assert_eq!(made.uncommitted, 3, "{odd}: a.txt, new.txt and .hooks");
        let path = space.worktree(&made.name);
        assert_eq!(git(&path, &["branch", "--show-current"]), "wt/fix-1");
        assert_eq!(
            std::fs::read_to_string(path.join("a.txt")).unwrap(),
            "one\n"
        );
        assert!(!path.join("hooked").exists(), "a hook ran");
        assert_eq!(std::fs::read(root.join(".git/config")).unwrap(), config);
        assert_eq!(worktree::usable(&space, &made.name), Ok(()));
        let status = git(&root, &["status", "--porcelain"]);
        assert!(!status.contains(".worktrees"), "{status}");
    }
}

#[test]
fn a_detached_head_is_a_start_like_any_other() {
    let scratch = Scratch::new();
    let root = scratch.repository("mine");
    git(&root, &["checkout", "-q", "--detach"]);
    let made = worktree::create(&workspace(&root), &name("from-detached")).unwrap();
    let path = workspace(&root).worktree(&made.name);
    assert_eq!(
        git(&path, &["rev-parse", "HEAD"]),
        git(&root, &["rev-parse", "HEAD"])
    );
}

#[test]
fn places_without_a_usable_checkout_are_refused_by_name() {
    let scratch = Scratch::new();
    let plain = scratch.path().join("plain");
    put(&plain.join("x"), "");
    assert!(refused(&plain, "a").contains("not a git checkout"));

    let empty = scratch.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    git(&empty, &["init", "-q"]);
    assert!(refused(&empty, "a").contains("no commit yet"));

    let root = scratch.repository("whole");
    put(&root.join("sub/x"), "");
    let said = refused(&root.join("sub"), "a");
    assert!(said.contains("not the top"), "{said}");
    assert!(!root.join("sub/.worktrees").exists());

    let bare = scratch.path().join("bare.git");
    git(
        &scratch.path(),
        &["clone", "-q", "--bare", "whole", "bare.git"],
    );
    assert!(refused(&bare, "a").contains("bare repository"));
}

#[test]
fn names_and_branches_in_the_way_are_refused_by_name() {
    let scratch = Scratch::new();
    let root = scratch.repository("r");
    for bad in ["a.lock", "a."] {
        let said = refused(&root, bad);
        assert!(said.contains("no branch of the name"), "{said}");
    }
    git(&root, &["branch", "wt/taken"]);
    let said = refused(&root, "taken");
    assert!(said.contains("branch wt/taken exists already"), "{said}");
    git(&root, &["branch", "wt/deep/er"]);
    let said = refused(&root, "deep");
    assert!(said.contains("wt/deep/er exists"), "{said}");

    let root = scratch.repository("s");
    git(&root, &["branch", "wt"]);
    let said = refused(&root, "a");
    assert!(said.contains("branch wt exists"), "{said}");
}

#[test]
fn paths_in_the_way_are_refused_by_name() {
    let scratch = Scratch::new();
    let root = scratch.repository("r");
    let elsewhere = scratch.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, root.join(".worktrees")).unwrap();
    assert!(refused(&root, "a").contains(".worktrees is a symbolic link"));
    assert_eq!(snapshot(&elsewhere).len(), 0);

    let root = scratch.repository("file");
    put(&root.join(".worktrees"), "");
    assert!(refused(&root, "a").contains(".worktrees is not a directory"));

    let root = scratch.repository("s");
    put(&root.join(".worktrees/a/x"), "");
    assert!(refused(&root, "a").contains("exists already"));
    symlink("nowhere", root.join(".worktrees/b")).unwrap();
    assert!(refused(&root, "b").contains("exists already"));

    let made = worktree::create(&workspace(&root), &name("gone")).unwrap();
    std::fs::remove_dir_all(workspace(&root).worktree(&made.name)).unwrap();
    git(&root, &["update-ref", "-d", "refs/heads/wt/gone"]);
    let said = refused(&root, "gone");
    assert!(said.contains("git worktree prune"), "{said}");
}

#[test]
fn submodules_are_refused_with_the_reason() {
    let scratch = Scratch::new();
    let root = scratch.repository("outer");
    scratch.repository("inner");
    let inner = scratch.path().join("inner");
    git(
        &root,
        &[
            "submodule",
            "--quiet",
            "add",
            inner.to_str().unwrap(),
            "lib/in ner",
        ],
    );
    git(&root, &["commit", "-q", "-m", "submodule"]);
    let said = refused(&root, "a");
    assert!(said.contains("submodule at lib/in ner"), "{said}");
}

#[test]
fn a_linked_worktree_is_a_workspace_of_its_own() {
    let scratch = Scratch::new();
    let main = scratch.repository("main");
    git(&main, &["worktree", "add", "-q", "-b", "side", "../side"]);
    let side = workspace(&scratch.path().join("side"));
    let made = worktree::create(&side, &name("deep")).unwrap();
    assert_eq!(worktree::usable(&side, &made.name), Ok(()));
    assert!(side.root().join(".worktrees/deep/a.txt").exists());
    let exclude = std::fs::read_to_string(main.join(".git/info/exclude")).unwrap();
    assert!(exclude.contains("\n.worktrees/\n"), "{exclude}");
    assert!(git(side.root(), &["status", "--porcelain"]).is_empty());
}

#[test]
fn what_a_failed_git_left_is_listed_and_not_deleted() {
    let scratch = Scratch::new();
    let root = scratch.repository("r");
    put(&root.join(".gitattributes"), "*.txt filter=broken\n");
    git(&root, &["add", "."]);
    git(&root, &["commit", "-q", "-m", "attributes"]);
    git(&root, &["config", "filter.broken.clean", "cat"]);
    git(&root, &["config", "filter.broken.smudge", "false"]);
    git(&root, &["config", "filter.broken.required", "true"]);
    let said = match worktree::create(&workspace(&root), &name("half")) {
        Err(CreateError::Partial(said)) => said,
        other => panic!("{other:?}"),
    };
    assert!(said.starts_with("Partial operation"), "{said}");
    assert!(said.contains("the branch wt/half"), "{said}");
    assert!(said.contains("still unbound"), "{said}");
    assert!(said.contains("git branch -D wt/half"), "{said}");
    let branch = try_git(
        &root,
        &["rev-parse", "--verify", "-q", "refs/heads/wt/half"],
    );
    assert!(branch.is_ok(), "the branch was deleted");
    assert_eq!(
        said.contains("the directory"),
        workspace(&root).worktree(&name("half")).exists()
    );
}

#[test]
fn a_failure_that_left_nothing_is_a_plain_refusal() {
    let scratch = Scratch::new();
    let root = scratch.repository("r");
    // git cannot make the branch: its log's place is taken by a file.
    put(&root.join(".git/logs/refs/heads/wt"), "");
    match worktree::create(&workspace(&root), &name("a")) {
        Err(CreateError::Refused(said)) => assert!(said.contains("nothing was left"), "{said}"),
        other => panic!("{other:?}"),
    }
    assert!(!root.join(".worktrees").exists());
}
