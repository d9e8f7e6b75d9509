//! What counts as usable, and what is said of a worktree.

use std::os::unix::fs::symlink;
use std::path::Path;

use pitcrew::worktree::{self};

use super::repo::{Scratch, git, name, put, try_git, with_work, workspace};

/// A repository with the worktree `w`, used and changed by `change`; what `usable` says then.
#[track_caller]
fn usable_after(change: impl FnOnce(&Path, &Path)) -> Result<(), String> {
    let scratch = Scratch::new();
    let root = scratch.repository("r");
    let space = workspace(&root);
    worktree::create(&space, &name("w")).unwrap();
    change(&root, &space.worktree(&name("w")));
    Ok(worktree::usable(&space, &name("w"))?)
}

#[test]
fn broken_worktrees_are_not_usable_and_say_why() {
    type Change = fn(&Path, &Path);
    let table: [(&str, Change); 9] = [
        ("is missing", |_, path| {
            std::fs::remove_dir_all(path).unwrap();
        }),
        ("not registered", |root, _| {
            std::fs::remove_dir_all(root.join(".git/worktrees")).unwrap();
        }),
        ("it is on branch other, not wt/w", |_, path| {
            git(path, &["checkout", "-q", "-b", "other"]);
        }),
        ("it is on no branch", |_, path| {
            git(path, &["checkout", "-q", "--detach"]);
        }),
        (".git file is missing or was changed", |_, path| {
            std::fs::remove_file(path.join(".git")).unwrap();
        }),
        (".git file was changed", |root, path| {
            put(
                &path.join(".git"),
                &format!("gitdir: {}\n", root.join(".git").display()),
            );
        }),
        ("symbolic link", |root, path| {
            std::fs::remove_dir_all(path).unwrap();
            symlink(root, path).unwrap();
        }),
        ("commondir file was changed", |root, _| {
            put(&root.join(".git/worktrees/w/commondir"), "/tmp\n");
        }),
        ("not in a git checkout", |root, _| {
            std::fs::remove_dir_all(root.join(".git")).unwrap();
        }),
    ];
    for (wanted, change) in table {
        let said = usable_after(change).unwrap_err();
        assert!(said.contains(wanted), "wanted {wanted:?}: {said}");
    }
}

#[test]
fn ordinary_work_keeps_a_worktree_usable() {
    let rebased = usable_after(|root, path| {
        put(&path.join("a.txt"), "theirs\n");
        git(path, &["commit", "-q", "-a", "-m", "theirs"]);
        put(&root.join("a.txt"), "ours\n");
        git(root, &["commit", "-q", "-a", "-m", "ours"]);
        try_git(path, &["rebase", "-q", "main"]).unwrap_err();
    });
    assert_eq!(rebased, Ok(()));
    let bisected = usable_after(|_, path| {
        put(&path.join("a.txt"), "two\n");
        git(path, &["commit", "-q", "-a", "-m", "two"]);
        git(path, &["bisect", "start", "HEAD", "HEAD~1"]);
        git(path, &["checkout", "-q", "--detach"]);
    });
    assert_eq!(bisected, Ok(()));
    let packed = usable_after(|root, _| {
        git(root, &["pack-refs", "--all"]);
    });
    assert_eq!(packed, Ok(()));
}

#[test]
fn a_moved_workspace_says_how_to_repair_its_worktrees() {
    let scratch = Scratch::new();
    let root = scratch.repository("old");
    worktree::create(&workspace(&root), &name("w")).unwrap();
    let moved = scratch.path().join("new");
    #[expect(clippy::disallowed_methods, reason = "a test moves a directory")]
    std::fs::rename(&root, &moved).unwrap();
    let said = String::from(worktree::usable(&workspace(&moved), &name("w")).unwrap_err());
    assert!(said.contains("git worktree repair"), "{said}");
    let path = moved.join(".worktrees/w");
    git(&moved, &["worktree", "repair", path.to_str().unwrap()]);
    assert_eq!(worktree::usable(&workspace(&moved), &name("w")), Ok(()));
}

#[test]
fn the_summary_stays_short_however_much_was_done() {
    let scratch = Scratch::new();
    let (root, path) = with_work(&scratch);
    for n in 0..30 {
        put(&path.join(format!("many/{n}.txt")), "x\n");
        git(&path, &["add", "."]);
        let message = format!("{n} {}", "long ".repeat(2000));
        git(&path, &["commit", "-q", "-m", &message]);
    }
    let told = worktree::summary(&workspace(&root), &name("w")).unwrap();
    assert!(told.contains("31 commits ahead"), "{told}");
    assert!(told.contains("31 files changed"), "{told}");
    assert!(told.contains("more lines"), "{told}");
    assert!(told.len() < 10_000, "{} bytes", told.len());
}

#[test]
fn the_summary_counts_commits_and_changes_whatever_the_git_file_says() {
    let scratch = Scratch::new();
    let root = scratch.repository("r");
    let space = workspace(&root);
    assert_eq!(worktree::summary(&space, &name("w")), None);
    worktree::create(&space, &name("w")).unwrap();
    let path = space.worktree(&name("w"));
    put(&path.join("b.txt"), "b\n");
    git(&path, &["add", "."]);
    git(&path, &["commit", "-q", "-m", "add b"]);
    put(&path.join("c.txt"), "c\n");
    let told = worktree::summary(&space, &name("w")).unwrap();
    for part in [
        "branch wt/w",
        "1 commit ahead",
        "1 uncommitted change",
        "add b",
        "b.txt | 1 +",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    put(&path.join(".git"), "gitdir: /elsewhere\n");
    let told = worktree::summary(&space, &name("w")).unwrap();
    assert!(told.contains(".git file was changed"), "{told}");
}
