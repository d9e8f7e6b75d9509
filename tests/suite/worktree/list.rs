//! How each worktree stands, whatever state it is in.

use std::os::unix::fs::symlink;

use pitcrew::worktree;

use super::repo::{Scratch, commit, git, name, put, with_work, workspace};

#[test]
fn ahead_behind_and_changes_are_counted_against_the_workspace() {
    let scratch = Scratch::new();
    let (root, path) = with_work(&scratch);
    commit(&root, "c.txt", "c\n");
    commit(&root, "d.txt", "d\n");
    put(&path.join("a.txt"), "changed\n");
    put(&path.join("new.txt"), "untracked\n");
    let state = worktree::state(&workspace(&root), &name("w"));
    assert_eq!(state.problem, None);
    assert_eq!(
        (state.ahead, state.behind, state.changes),
        (Some(1), Some(2), Some(2))
    );
}

#[test]
fn leftovers_of_every_kind_are_found() {
    let scratch = Scratch::new();
    let (root, path) = with_work(&scratch);
    let space = workspace(&root);
    worktree::create(&space, &name("missing")).unwrap();
    std::fs::remove_dir_all(space.worktree(&name("missing"))).unwrap();
    put(&root.join(".worktrees/stranger/file"), "");
    put(&root.join(".worktrees/not a name/file"), "");
    put(&root.join(".git/worktrees/w/locked"), "initializing");
    git(&path, &["checkout", "-q", "--detach"]);
    git(&root, &["worktree", "add", "-q", "../elsewhere"]);
    let names: Vec<String> = worktree::names(&space)
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(names, ["missing", "stranger", "w"]);
    for (worktree, wanted) in [
        ("missing", "is missing"),
        ("stranger", "not registered"),
        ("w", "half made"),
    ] {
        let state = worktree::state(&space, &name(worktree));
        let problem = state.problem.unwrap();
        assert!(problem.contains(wanted), "{wanted}: {problem}");
    }
}

#[test]
fn a_link_in_place_of_the_directory_is_not_looked_into() {
    let scratch = Scratch::new();
    let root = scratch.repository("r");
    let outside = scratch.path().join("outside");
    std::fs::create_dir_all(outside.join("x")).unwrap();
    symlink(&outside, root.join(".worktrees")).unwrap();
    assert!(worktree::names(&workspace(&root)).unwrap().is_empty());
}

#[test]
fn the_difference_holds_commits_and_changes_and_names_the_rest() {
    let scratch = Scratch::new();
    let (root, path) = with_work(&scratch);
    commit(&root, "c.txt", "the workspace's own\n");
    put(&path.join("a.txt"), "changed\n");
    put(&path.join("new.txt"), "untracked\n");
    git(&root, &["config", "diff.noprefix", "true"]);
    git(&root, &["config", "color.ui", "always"]);
    let found = worktree::difference(&workspace(&root), &name("w")).unwrap();
    assert_eq!(found.untracked, [std::path::PathBuf::from("new.txt")]);
    assert_eq!(found.problem, None);
    let text = String::from_utf8(found.patch).unwrap();
    for part in ["diff --git a/a.txt b/a.txt", "+changed", "+b"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("c.txt"), "{text}");

    git(&path, &["add", "."]);
    git(&path, &["commit", "-q", "-m", "all"]);
    git(&root, &["worktree", "remove", ".worktrees/w"]);
    let found = worktree::difference(&workspace(&root), &name("w")).unwrap();
    let text = String::from_utf8(found.patch).unwrap();
    assert!(
        text.contains("+changed") && !text.contains("c.txt"),
        "{text}"
    );
    let said = worktree::difference(&workspace(&root), &name("none")).unwrap_err();
    assert!(said.contains("no branch wt/none"), "{said}");
}
