//! The runtime's files are kept out of git.

use std::os::unix::fs::{PermissionsExt, symlink};

use pitcrew::worktree::{self};

use super::repo::{Scratch, git, put, snapshot, workspace};

#[test]
fn runtime_files_are_kept_out_of_git_once_and_nothing_tracked_is_touched() {
    let scratch = Scratch::new();
    let root = scratch.repository("r");
    let file = root.join(".git/info/exclude");
    put(&file, "mine");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    let space = workspace(&root);
    worktree::exclude_runtime_files(&space).unwrap();
    let once = std::fs::read_to_string(&file).unwrap();
    worktree::exclude_runtime_files(&space).unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), once);
    assert_eq!(
        once,
        "mine\n.tasks/\n.mailboxes/\n.worktrees/\n.team/state/\n"
    );
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);

    put(&root.join("tracked-exclude"), "");
    std::fs::remove_file(&file).unwrap();
    symlink("../../tracked-exclude", &file).unwrap();
    worktree::exclude_runtime_files(&space).unwrap();
    assert_eq!(
        std::fs::read_to_string(root.join("tracked-exclude")).unwrap(),
        ""
    );

    let plain = scratch.path().join("plain");
    std::fs::create_dir(&plain).unwrap();
    worktree::exclude_runtime_files(&workspace(&plain)).unwrap();
    assert_eq!(snapshot(&plain).len(), 0);
}

#[test]
fn a_workspace_below_the_top_keeps_its_own_files_out() {
    let scratch = Scratch::new();
    let root = scratch.repository("r");
    let sub = root.join("pro ject [x]");
    put(&sub.join(".tasks/task_00000000.json"), "{}");
    put(&sub.join(".team/state/session.json"), "{}");
    put(&sub.join(".team/team.json"), "{}");
    worktree::exclude_runtime_files(&workspace(&sub)).unwrap();
    let status = git(
        &root,
        &[
            "-c",
            "core.quotePath=false",
            "status",
            "--porcelain",
            "-uall",
            "-z",
        ],
    );
    assert_eq!(status, "?? pro ject [x]/.team/team.json\0");
}
