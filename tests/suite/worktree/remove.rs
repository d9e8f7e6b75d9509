//! Removing a worktree: the branch stays, and what exists only there goes only if a person says so.

use std::os::unix::fs::symlink;
use std::path::Path;

use pitcrew::worktree::{self, RemoveError};

use super::repo::{Scratch, commit, git, name, put, snapshot, try_git, with_work, workspace};

fn remove(root: &Path, discard: bool) -> Result<Vec<String>, RemoveError> {
    worktree::remove(&workspace(root), &name("w"), discard)
}

/// The refusal of a removal, which has changed nothing.
#[track_caller]
fn refused(root: &Path, discard: bool) -> String {
    let before = snapshot(root);
    let said = match remove(root, discard) {
        Err(RemoveError::Refused(said)) => said,
        other => panic!("{other:?}"),
    };
    assert!(snapshot(root) == before, "something was changed: {said}");
    said
}

#[track_caller]
fn assert_gone(root: &Path) {
    assert!(!root.join(".worktrees/w").exists());
    let registered = git(root, &["worktree", "list", "--porcelain"]);
    assert!(!registered.contains("worktrees/w"), "{registered}");
}

#[test]
fn a_clean_worktree_goes_and_its_commits_stay_on_the_branch() {
    let scratch = Scratch::new();
    let (root, _) = with_work(&scratch);
    let tip = git(&root, &["rev-parse", "wt/w"]);
    let config = std::fs::read(root.join(".git/config")).unwrap();
    assert_eq!(remove(&root, false).unwrap(), Vec::<String>::new());
    assert_gone(&root);
    assert_eq!(git(&root, &["rev-parse", "wt/w"]), tip);
    assert_eq!(std::fs::read(root.join(".git/config")).unwrap(), config);
    assert!(refused(&root, false).contains("there is none"));
}

#[test]
fn what_exists_only_there_keeps_it_until_it_is_given_up() {
    type Change = fn(&Path, &Path);
    let table: [(&str, Change); 13] = [
        ("uncommitted changes (a.txt)", |_, path| {
            put(&path.join("a.txt"), "changed\n");
        }),
        ("uncommitted changes (new.txt)", |_, path| {
            put(&path.join("new.txt"), "staged\n");
            git(path, &["add", "."]);
        }),
        ("uncommitted changes (a.txt)", |_, path| {
            std::fs::remove_file(path.join("a.txt")).unwrap();
        }),
        ("untracked files (dir/)", |_, path| {
            put(&path.join("dir/ü.txt"), "");
        }),
        ("untracked files (nested/)", |_, path| {
            std::fs::create_dir(path.join("nested")).unwrap();
            git(&path.join("nested"), &["init", "-q"]);
        }),
        ("ignored files (out.log)", |root, path| {
            put(&root.join(".git/info/exclude"), "*.log\n.worktrees/\n");
            put(&path.join("out.log"), "results\n");
        }),
        ("commits on no branch (2, the last is ", |_, path| {
            git(path, &["checkout", "-q", "--detach"]);
            commit(path, "c.txt", "c\n");
            commit(path, "d.txt", "d\n");
        }),
        ("stashed changes (stash@{0})", |_, path| {
            put(&path.join("a.txt"), "later\n");
            git(path, &["stash"]);
        }),
        ("a rebase in progress", |root, path| {
            commit(path, "a.txt", "theirs\n");
            commit(root, "a.txt", "ours\n");
            try_git(path, &["rebase", "-q", "main"]).unwrap_err();
        }),
        ("a merge in progress", |root, path| {
            commit(root, "c.txt", "c\n");
            git(path, &["merge", "-q", "--no-commit", "--no-ff", "main"]);
        }),
        ("a cherry-pick in progress", |root, path| {
            commit(path, "a.txt", "theirs\n");
            commit(root, "a.txt", "ours\n");
            try_git(path, &["cherry-pick", "main"]).unwrap_err();
        }),
        ("a bisect in progress", |_, path| {
            git(path, &["bisect", "start", "HEAD", "HEAD~1"]);
        }),
        ("repositories of their own (sub)", |_, path| {
            std::fs::create_dir(path.join("sub")).unwrap();
            git(&path.join("sub"), &["init", "-q"]);
            git(&path.join("sub"), &["config", "user.name", "T"]);
            git(&path.join("sub"), &["config", "user.email", "t@e"]);
            commit(&path.join("sub"), "x", "x");
            git(path, &["-c", "advice.addEmbeddedRepo=false", "add", "sub"]);
            git(path, &["commit", "-q", "-m", "sub"]);
        }),
    ];
    for (wanted, change) in table {
        let scratch = Scratch::new();
        let (root, path) = with_work(&scratch);
        change(&root, &path);
        let tip = git(&root, &["rev-parse", "wt/w"]);
        let stashes = git(&root, &["stash", "list"]);

        let said = refused(&root, false);
        assert!(said.contains(wanted), "{wanted}: {said}");
        assert!(said.contains("--discard-changes"), "{said}");

        let lost = remove(&root, true).unwrap().join("; ");
        assert!(lost.contains(wanted), "{wanted}: {lost}");
        assert_gone(&root);
        assert_eq!(git(&root, &["rev-parse", "wt/w"]), tip);
        assert_eq!(git(&root, &["stash", "list"]), stashes);
    }
}

#[test]
fn links_are_removed_and_never_followed() {
    let scratch = Scratch::new();
    let (root, path) = with_work(&scratch);
    let outside = scratch.path().join("outside");
    put(&outside.join("deep/precious"), "kept");
    symlink(&outside, path.join("link")).unwrap();
    symlink(outside.join("deep/precious"), path.join("file")).unwrap();
    git(&path, &["add", "."]);
    git(&path, &["commit", "-q", "-m", "links"]);
    put(&path.join("later"), "");
    remove(&root, true).unwrap();
    assert_gone(&root);
    assert_eq!(
        std::fs::read_to_string(outside.join("deep/precious")).unwrap(),
        "kept"
    );
}

#[test]
fn what_is_no_worktree_of_ours_is_left_alone_whatever_is_said() {
    type Change = fn(&Path, &Path, &Path);
    let table: [(&str, Change); 5] = [
        (".worktrees is a symbolic link", |root, _, outside| {
            std::fs::remove_dir_all(root.join(".worktrees")).unwrap();
            symlink(outside, root.join(".worktrees")).unwrap();
        }),
        ("its directory is a symbolic link", |_, path, outside| {
            std::fs::remove_dir_all(path).unwrap();
            symlink(outside, path).unwrap();
        }),
        ("is no directory", |_, path, _| {
            std::fs::remove_dir_all(path).unwrap();
            put(path, "");
        }),
        ("a repository of its own", |_, path, _| {
            std::fs::remove_file(path.join(".git")).unwrap();
            git(path, &["init", "-q"]);
        }),
        ("has locked it (mine)", |root, _, _| {
            git(
                root,
                &["worktree", "lock", "--reason", "mine", ".worktrees/w"],
            );
        }),
    ];
    for (wanted, change) in table {
        let scratch = Scratch::new();
        let (root, path) = with_work(&scratch);
        let outside = scratch.path().join("outside");
        put(&outside.join("w/precious"), "kept");
        change(&root, &path, &outside);
        for discard in [false, true] {
            let said = refused(&root, discard);
            assert!(said.contains(wanted), "{wanted}: {said}");
        }
        assert!(outside.join("w/precious").exists());
    }
}

#[test]
fn broken_worktrees_go_only_with_their_content_given_up() {
    type Change = fn(&Path, &Path);
    let table: [(&str, Change); 4] = [
        ("not registered", |root, _| {
            std::fs::remove_dir_all(root.join(".git/worktrees")).unwrap();
        }),
        ("its .git file was changed", |root, path| {
            put(
                &path.join(".git"),
                &format!("gitdir: {}\n", root.join(".git").display()),
            );
        }),
        ("its .git file is missing", |_, path| {
            std::fs::remove_file(path.join(".git")).unwrap();
        }),
        ("had not finished writing", |root, _| {
            put(&root.join(".git/worktrees/w/locked"), "initializing");
        }),
    ];
    for (wanted, change) in table {
        let scratch = Scratch::new();
        let (root, path) = with_work(&scratch);
        change(&root, &path);
        let said = refused(&root, false);
        assert!(said.contains(wanted), "{wanted}: {said}");
        let lost = remove(&root, true).unwrap().join("; ");
        assert!(lost.contains(wanted), "{wanted}: {lost}");
        assert_gone(&root);
        assert!(root.join("a.txt").exists() && root.join(".git/config").exists());
    }
}

#[test]
fn a_removal_that_was_cut_short_is_finished_by_the_next() {
    let scratch = Scratch::new();
    let (root, path) = with_work(&scratch);
    std::fs::remove_dir_all(&path).unwrap();
    assert_eq!(remove(&root, false).unwrap(), Vec::<String>::new());
    assert_gone(&root);

    let scratch = Scratch::new();
    let (root, path) = with_work(&scratch);
    std::fs::remove_file(path.join(".git")).unwrap();
    std::fs::remove_file(path.join("a.txt")).unwrap();
    assert!(refused(&root, false).contains("--discard-changes"));
    remove(&root, true).unwrap();
    assert_gone(&root);
}

/// Whoever comes second finds it gone, and whoever compares finds a worktree or its branch.
#[test]
fn a_removal_beside_others_and_beside_a_look_is_whole() {
    let scratch = Scratch::new();
    let (root, path) = with_work(&scratch);
    let files = |path: &Path| (0..200).for_each(|n| put(&path.join(format!("dir/{n}")), "x\n"));
    files(&path);
    for round in 0..4 {
        std::thread::scope(|scope| {
            let removers = [(); 2].map(|()| scope.spawn(|| remove(&root, true)));
            let looks = [(); 2].map(|()| {
                scope.spawn(|| {
                    let looked = || worktree::difference(&workspace(&root), &name("w"));
                    (0..4).find_map(|_| looked().err())
                })
            });
            for remover in removers {
                match remover.join().unwrap() {
                    Ok(_) => {}
                    Err(RemoveError::Refused(said)) if said.contains("there is none") => {}
                    Err(error) => panic!("round {round}: {error}"),
                }
            }
            for look in looks {
                assert_eq!(look.join().unwrap(), None, "round {round}");
            }
        });
        assert_gone(&root);
        git(&root, &["worktree", "add", "-q", ".worktrees/w", "wt/w"]);
        files(&path);
    }
}
