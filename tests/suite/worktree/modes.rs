//! What git writes for the person has the modes that the person's umask gives, whatever the runtime's own is.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;

use crate::lead::scripts::*;
use crate::support::{Bed, DEADLINE, Running};

/// Runs `lead` as a person with the umask 022 does.
#[track_caller]
fn lead(bed: &Bed, args: &[&str]) {
    let wanted = bed.lead_command(args);
    let mut command = bed.command("sh");
    command
        .args(["-c", "umask 022; exec \"$@\"", "sh"])
        .arg(wanted.get_program())
        .args(wanted.get_args());
    drop(Running::start(&mut command).wait(DEADLINE).expect_code(0));
}

#[track_caller]
fn assert_mode(path: &Path, mode: u32) {
    let found = std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(
        format!("{found:o}"),
        format!("{mode:o}"),
        "{}",
        path.display()
    );
}

/// A repository with a script and a directory.
fn bed() -> Bed {
    let bed = Bed::git();
    bed.write("dir/run.sh", "#!/bin/sh\n");
    std::fs::set_permissions(
        bed.root().join("dir/run.sh"),
        std::fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    bed.run_git(&["add", "."]);
    bed.run_git(&["commit", "-q", "-m", "script"]);
    bed
}

#[test]
fn a_checkout_and_a_merge_have_the_persons_modes() {
    let bed = bed();
    lead(&bed, &["task", "add", "Config", "--worktree", "w"]);
    let (root, tree) = (bed.root(), bed.root().join(".worktrees/w"));
    assert_mode(&tree, 0o755);
    assert_mode(&tree.join("README.md"), 0o644);
    assert_mode(&tree.join("dir"), 0o755);
    assert_mode(&tree.join("dir/run.sh"), 0o755);
    assert_mode(&root.join(".worktrees"), 0o700);
    assert_mode(&root.join(".team/state/worktrees.lock"), 0o600);

    bed.write(".worktrees/w/README.md", "changed\n");
    bed.write(".worktrees/w/dir/run.sh", "#!/bin/sh\ntrue\n");
    bed.write(".worktrees/w/new/file", "");
    bed.run_git(&["-C", ".worktrees/w", "add", "."]);
    bed.run_git(&["-C", ".worktrees/w", "commit", "-q", "-m", "work"]);
    lead(&bed, &["worktree", "merge", "w"]);
    assert_mode(&root.join("README.md"), 0o644);
    assert_mode(&root.join("dir/run.sh"), 0o755);
    assert_mode(&root.join("new"), 0o755);
    assert_mode(&root.join("new/file"), 0o644);
}

#[test]
fn what_a_teammate_makes_and_undo_puts_back_has_the_persons_modes() {
    let bed = bed();
    let members = ann_with_a_task();
    let change = "umask > mask; echo changed > README.md; echo true > dir/run.sh; echo > file";
    let ann = vec![
        turn(vec![
            tool("bash", json!({"command": change})),
            tool("complete_task", json!({"task_id": "${task}"})),
        ]),
        json!({"text": "Done."}),
    ];
    let model = bed.script(&script_of(members, ann));
    lead(&bed, &goal(&model, &["--yes"]));
    assert_eq!(bed.read("mask").trim(), "0022");
    assert_mode(&bed.root().join("file"), 0o644);
    lead(&bed, &["undo", "--yes"]);
    assert_mode(&bed.root().join("README.md"), 0o644);
    assert_mode(&bed.root().join("dir/run.sh"), 0o755);
}
