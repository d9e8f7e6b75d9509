//! From making to removing, wherever the workspace is and whatever the names are.

use std::path::Path;

use pitcrew::worktree;

use super::repo::{Scratch, commit, git, name, try_git, workspace};

/// Makes worktree `called` of the workspace at `root`, works in it, brings the work in, and removes it.
#[track_caller]
fn goes_its_whole_way(root: &Path, called: &str) {
    let space = workspace(root);
    let own = name(called);
    let git_dir = git(
        root,
        &["rev-parse", "--path-format=absolute", "--git-common-dir"],
    );
    let config = || std::fs::read(Path::new(&git_dir).join("config")).unwrap();
    let (before, branch) = (config(), git(root, &["branch", "--show-current"]));

    assert_eq!(worktree::create(&space, &own).unwrap().uncommitted, 0);
    let path = space.worktree(&own);
    assert_eq!(worktree::usable(&space, &own), Ok(()));
    commit(&path, "odd ü \"file\"\n.txt", "work\n");
    commit(root, "ours.txt", "ours\n");

    let state = worktree::state(&space, &own);
    assert_eq!(state.problem, None);
    assert_eq!(
        (state.ahead, state.behind, state.changes),
        (Some(1), Some(1), Some(0))
    );
    let told = worktree::summary(&space, &own).unwrap();
    assert!(told.contains("1 commit ahead"), "{told}");
    let found = worktree::difference(&space, &own).unwrap();
    assert!(String::from_utf8(found.patch).unwrap().contains("+work"));

    let merged = worktree::merge(&space, &own).unwrap();
    assert_eq!((merged.into, merged.commits), (branch, 1));
    assert_eq!(
        std::fs::read_to_string(root.join("odd ü \"file\"\n.txt")).unwrap(),
        "work\n"
    );
    assert_eq!(worktree::remove(&space, &own, false).unwrap().len(), 0);
    assert!(worktree::names(&space).unwrap().is_empty());
    let kept = git(root, &["branch", "--list", &own.branch()]);
    assert_eq!(kept.trim(), own.branch());
    assert_eq!(config(), before, "git's configuration was changed");
    assert_eq!(git(root, &["status", "--porcelain"]), "");
}

#[test]
fn in_workspaces_with_odd_paths_under_odd_names() {
    let scratch = Scratch::new();
    let longest = "x".repeat(64);
    for (place, called) in [
        ("with space", "A.b-c_d"),
        ("it's \"quoted\"", "0"),
        ("ünï-çødé 漢字", "HEAD"),
        ("$(x) `y` *?[z]", "main-"),
        ("-dash\\back:colon", &longest),
        ("tab\there", "a_.b"),
    ] {
        goes_its_whole_way(&scratch.repository(place), called);
    }
}

#[test]
fn in_a_linked_worktree_that_is_a_workspace_of_its_own() {
    let scratch = Scratch::new();
    let main = scratch.repository("main");
    git(&main, &["worktree", "add", "-q", "-b", "side", "../side"]);
    goes_its_whole_way(&scratch.path().join("side"), "w");
    assert!(
        !main.join("ours.txt").exists(),
        "the main checkout was changed"
    );
}

#[test]
fn in_repositories_of_other_formats() {
    for format in ["--object-format=sha256", "--ref-format=reftable"] {
        let scratch = Scratch::new();
        let root = scratch.repository("r");
        std::fs::remove_dir_all(root.join(".git")).unwrap();
        if try_git(&root, &["init", "-q", "-b", "main", format]).is_err() {
            continue; // This git is older than the format.
        }
        git(&root, &["config", "user.name", "Test"]);
        git(&root, &["config", "user.email", "test@example.org"]);
        git(&root, &["add", "."]);
        git(&root, &["commit", "-q", "-m", "first"]);
        git(&root, &["pack-refs", "--all"]);
        goes_its_whole_way(&root, "w");
    }
}
