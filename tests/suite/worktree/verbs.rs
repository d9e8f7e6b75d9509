//! `lead worktree` as a person uses it.

use serde_json::json;

use crate::support::Bed;

/// A repository with the task `Config` bound to the worktree `w`, on which one commit adds `b.txt`; the task's id.
fn with_task() -> (Bed, String) {
    let bed = Bed::git();
    let id = bed
        .lead(&["task", "add", "Config", "--worktree", "w"])
        .expect_code(0)
        .stdout
        .trim()
        .to_owned();
    bed.write(".worktrees/w/b.txt", "b\n");
    for args in [&["add", "."][..], &["commit", "-q", "-m", "add b"]] {
        bed.run_git(&[&["-C", ".worktrees/w"], args].concat());
    }
    (bed, id)
}

#[test]
fn the_list_tells_task_owner_distance_and_use() {
    let (bed, id) = with_task();
    bed.write(".worktrees/w/new.txt", "");
    let listed = bed.lead(&["worktree", "list", "--json"]).expect_code(0);
    let listed: serde_json::Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(
        listed,
        json!([{
            "name": "w", "path": bed.root().join(".worktrees/w"), "task": id, "owner": null, "branch": "wt/w",
            "ahead": 1, "behind": 0, "changes": 1, "inUse": false, "inUseBy": null, "problem": null,
        }])
    );
    let table = bed.lead(&["worktree", "list"]).expect_code(0).stdout;
    assert!(table.contains("wt/w") && table.contains(&id), "{table}");
    let empty = Bed::git();
    assert_eq!(
        empty.lead(&["worktree", "list"]).expect_code(0).stdout,
        "no worktrees\n"
    );
    assert_eq!(empty.listing(), ["README.md"], "looking makes nothing");
}

#[test]
fn work_is_looked_at_merged_and_its_worktree_removed() {
    let (bed, id) = with_task();
    bed.write(".worktrees/w/c.txt", "c\n");
    let shown = bed.lead(&["worktree", "diff", "w"]).expect_code(0);
    assert!(shown.stdout.contains("+++ b/b.txt"), "{}", shown.stdout);
    assert!(
        shown.stderr.contains("untracked, not in the patch: c.txt"),
        "{}",
        shown.stderr
    );

    let merged = bed.lead(&["worktree", "merge", "w"]).expect_code(0).stdout;
    assert!(
        merged.contains("merged wt/w into main: 1 commit"),
        "{merged}"
    );
    assert!(
        merged.contains("1 uncommitted change in worktree w"),
        "{merged}"
    );
    assert_eq!(bed.read("b.txt"), "b\n");
    let again = bed.lead(&["worktree", "merge", "w"]).expect_code(0).stdout;
    assert!(again.contains("already"), "{again}");

    let said = bed.lead(&["worktree", "remove", "w"]).expect_code(1).stderr;
    assert!(
        said.contains(&format!("{id} (Config) is bound to it and pending")),
        "{said}"
    );
    drop(bed.lead(&["task", "complete", &id]).expect_code(0));
    let said = bed.lead(&["worktree", "remove", "w"]).expect_code(1).stderr;
    assert!(said.contains("untracked files (c.txt)"), "{said}");
    let done = bed
        .lead(&["worktree", "remove", "w", "--discard-changes"])
        .expect_code(0)
        .stdout;
    assert!(done.contains("branch wt/w stays"), "{done}");
    assert!(
        done.contains("lost with it: untracked files (c.txt)"),
        "{done}"
    );
    assert_eq!(bed.run_git(&["branch", "--list", "wt/w"]).trim(), "wt/w");
}

#[test]
fn a_bound_task_keeps_its_worktree_whatever_is_given_up() {
    let (bed, id) = with_task();
    let said = bed
        .lead(&["worktree", "remove", "w", "--discard-changes"])
        .expect_code(1)
        .stderr;
    assert!(said.contains(&id), "{said}");
    assert!(bed.root().join(".worktrees/w/b.txt").exists());
}

#[test]
fn a_merge_that_does_not_go_is_refused_with_the_files() {
    let (bed, _) = with_task();
    bed.write("b.txt", "mine, in no commit\n");
    let said = bed.lead(&["worktree", "merge", "w"]).expect_code(1).stderr;
    assert!(
        said.contains("uncommitted changes in the workspace: b.txt"),
        "{said}"
    );
    assert_eq!(bed.read("b.txt"), "mine, in no commit\n");
    bed.run_git(&["add", "."]);
    bed.run_git(&["commit", "-q", "-m", "mine"]);
    let said = bed.lead(&["worktree", "merge", "w"]).expect_code(1).stderr;
    assert!(said.contains("conflicts with main in b.txt"), "{said}");
    assert_eq!(bed.run_git(&["status", "--porcelain"]), "");
}

#[test]
fn an_agents_tool_may_look_and_not_touch() {
    let (bed, _) = with_task();
    let root = bed.root();
    let bed = bed.with_env("PITCREW_AGENT", format!("alice@{}", root.display()));
    drop(bed.lead(&["worktree", "list"]).expect_code(0));
    drop(bed.lead(&["worktree", "diff", "w"]).expect_code(0));
    for args in [&["worktree", "merge", "w"], &["worktree", "remove", "w"]] {
        let said = bed.lead(args).expect_code(2).stderr;
        assert!(said.contains("tool of alice"), "{said}");
    }
    assert!(!bed.root().join("b.txt").exists());
}

#[test]
fn an_old_git_is_named_where_it_cannot_try_a_merge() {
    let (bed, _) = with_task();
    bed.program(
        "git",
        "#!/bin/sh\n\
         for word do case $word in\n\
         version) echo git version 2.34.1; exit 0;;\n\
         merge-tree) echo usage: git merge-tree >&2; exit 129;;\n\
         esac; done\n\
         PATH=${PATH#*:}; exec git \"$@\"\n",
    );
    let said = bed.lead(&["worktree", "merge", "w"]).expect_code(1).stderr;
    assert!(
        said.contains("merging needs git 2.38 or newer, and this is git version 2.34.1"),
        "{said}"
    );
    drop(bed.lead(&["worktree", "list"]).expect_code(0));
}

#[test]
fn names_that_are_none_are_usage_errors() {
    let bed = Bed::git();
    for args in [
        ["worktree", "diff", "../x"],
        ["worktree", "merge", "a b"],
        ["worktree", "remove", ".git"],
    ] {
        drop(bed.lead(&args).expect_code(2));
    }
    let said = bed
        .lead(&["worktree", "remove", "none"])
        .expect_code(1)
        .stderr;
    assert!(said.contains("there is none"), "{said}");
}
