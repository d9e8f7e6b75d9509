//! The view follows the repository, and the repository the view; where both have moved, nothing is lost.

use super::bed::{Bed, put, w};
use crate::worktree;

#[test]
fn a_view_sees_what_others_have_done() {
    let bed = Bed::new();
    bed.open();
    bed.git(&["commit", "-q", "--allow-empty", "-m", "second"]);
    bed.git(&["branch", "new"]);
    bed.git(&["branch", "-D", "other"]);
    bed.git(&["pack-refs", "--all"]);
    bed.open();
    for name in ["main", "new"] {
        assert_eq!(
            bed.agent(&["rev-parse", name]),
            bed.git(&["rev-parse", "main"])
        );
    }
    assert_eq!(bed.agent(&["branch", "--list", "other"]), "");
}

#[test]
fn a_commit_made_in_the_worktree_by_the_person_is_where_the_agent_goes_on() {
    let bed = Bed::new();
    bed.open();
    bed.agent_commits("b");
    bed.settle().unwrap();
    put(&bed.path().join("c"), "c\n");
    bed.inside(&["add", "c"]);
    bed.inside(&["commit", "-q", "-m", "c"]);
    let theirs = bed.tip();
    bed.settle().unwrap();
    bed.open();
    assert_eq!(bed.agent(&["rev-parse", "HEAD"]), theirs);
    assert_eq!(bed.agent(&["status", "--porcelain"]), "");
    let next = bed.agent_commits("d");
    bed.settle().unwrap();
    assert_eq!(bed.tip(), next);
    bed.assert_sound();
}

#[test]
fn if_both_have_moved_nothing_moves_until_the_agent_has_merged() {
    let bed = Bed::new();
    bed.open();
    bed.agent_commits("b");
    let theirs = bed.git(&["commit-tree", "-p", "main", "-m", "theirs", "main^{tree}"]);
    bed.git(&["update-ref", "refs/heads/wt/w", &theirs]);
    let why = bed.settle().unwrap_err();
    assert!(why.contains(&format!("git merge {theirs}")), "{why}");
    assert_eq!(bed.tip(), theirs);
    bed.open();
    assert_eq!(
        bed.agent(&["show", "HEAD:b"]),
        "b",
        "the agent keeps its own"
    );
    bed.agent(&["merge", "-q", &theirs]);
    let merged = bed.agent(&["rev-parse", "HEAD"]);
    bed.settle().unwrap();
    assert_eq!(bed.tip(), merged);
    bed.assert_sound();
}

#[test]
fn if_the_repository_has_all_of_the_view_the_view_follows() {
    let bed = Bed::new();
    bed.open();
    let ours = bed.agent_commits("b");
    bed.settle().unwrap();
    bed.agent(&["reset", "-q", "--hard", "main"]);
    let theirs = bed.git(&["commit-tree", "-p", &ours, "-m", "theirs", "main^{tree}"]);
    bed.git(&["update-ref", "refs/heads/wt/w", &theirs]);
    bed.settle().unwrap();
    assert_eq!(bed.tip(), theirs);
    bed.open();
    assert_eq!(bed.agent(&["rev-parse", "wt/w"]), theirs);
}

#[test]
fn a_branch_that_somebody_has_deleted_is_not_made_again() {
    let bed = Bed::new();
    bed.open();
    bed.agent_commits("b");
    bed.git(&["update-ref", "-d", "refs/heads/wt/w"]);
    let why = bed.settle().unwrap_err();
    assert!(why.contains("no branch wt/w"), "{why}");
}

#[test]
fn a_branch_that_somebody_has_deleted_stays_under_its_agent() {
    let bed = Bed::new();
    bed.open();
    let commit = bed.agent_commits("b");
    bed.settle().unwrap();
    bed.git(&["update-ref", "-d", "refs/heads/wt/w"]);
    bed.open();
    assert_eq!(bed.agent(&["rev-parse", "HEAD"]), commit);
}

#[test]
fn the_runtimes_own_commit_builds_on_the_agents_and_the_agent_on_it() {
    let bed = Bed::new();
    bed.open();
    let commit = bed.agent_commits("b");
    put(&bed.path().join("left"), "left\n");
    let left = worktree::leftovers(&bed.workspace(), &w())
        .unwrap()
        .unwrap();
    left.commit("the rest").unwrap();
    assert_eq!(bed.git(&["rev-parse", "wt/w^"]), commit);
    bed.open();
    assert_eq!(bed.agent(&["rev-parse", "HEAD"]), bed.tip());
    assert_eq!(bed.agent(&["status", "--porcelain"]), "");
}

#[test]
fn what_reads_the_branch_sees_what_no_call_has_taken_over() {
    let bed = Bed::new();
    bed.open();
    bed.agent_commits("b");
    let state = worktree::state(&bed.workspace(), &w());
    assert_eq!((state.ahead, state.problem), (Some(1), None));
    bed.agent_commits("c");
    let merged = worktree::merge(&bed.workspace(), &w()).unwrap();
    assert_eq!(merged.commits, 2);
    bed.agent_commits("d");
    let told = worktree::summary(&bed.workspace(), &w()).unwrap();
    assert!(told.contains("1 commit ahead"), "{told}");
}

#[test]
fn settings_and_what_is_left_out_are_seen_as_they_are() {
    let bed = Bed::new();
    bed.open();
    bed.git(&["config", "alias.hi", "status"]);
    put(&bed.root.join(".git/info/exclude"), "*.log\n");
    let binds = bed.open();
    assert_eq!(bed.agent(&["config", "alias.hi"]), "status");
    let info = bed.root.join(".git/info");
    let shown = binds.iter().find(|bind| bind.at == info).unwrap();
    assert!(!shown.writable);
    let copy = std::fs::read_to_string(shown.from.join("exclude")).unwrap();
    assert_eq!(copy, "*.log\n");
}
