//! A view goes with its worktree, but not what exists only in it.

use super::bed::{Bed, put, w};
use crate::worktree;

#[test]
fn a_view_without_anything_of_its_own_goes_with_the_worktree() {
    let bed = Bed::new();
    bed.open();
    let commit = bed.agent_commits("b");
    bed.agent(&["branch", "same"]);
    worktree::remove(&bed.workspace(), &w(), false).unwrap();
    assert_eq!(bed.tip(), commit, "it was taken over first");
    assert!(!bed.view().exists());
}

#[test]
fn stashes_and_branches_of_the_agents_own_make_a_plain_removal_refuse() {
    let bed = Bed::new();
    bed.open();
    put(&bed.path().join("a"), "changed\n");
    bed.agent(&["stash"]);
    bed.agent(&["switch", "-q", "-c", "side"]);
    let side = bed.agent_commits("side");
    bed.agent(&["switch", "-q", "wt/w"]);
    let why = worktree::remove(&bed.workspace(), &w(), false)
        .unwrap_err()
        .to_string();
    for part in ["stash ", &format!("branch side {}", &side[..10])] {
        assert!(why.contains(part), "{why}");
    }
    bed.git(&["branch", "kept", &side]);
    let lost = worktree::remove(&bed.workspace(), &w(), true).unwrap();
    assert_eq!(lost.len(), 1);
    assert!(
        lost[0].contains("stash ") && !lost[0].contains("side"),
        "{lost:?}"
    );
    assert!(!bed.view().exists());
}

#[test]
fn what_cannot_be_taken_over_makes_a_plain_removal_refuse() {
    let bed = Bed::new();
    bed.open();
    bed.agent_commits("b");
    let blob = bed.agent(&["rev-parse", "HEAD:b"]);
    std::fs::remove_file(bed.object(&blob)).unwrap();
    let why = worktree::remove(&bed.workspace(), &w(), false)
        .unwrap_err()
        .to_string();
    assert!(why.contains("was not taken over"), "{why}");
    assert!(bed.path().exists() && bed.view().exists());
    worktree::remove(&bed.workspace(), &w(), true).unwrap();
}

#[test]
fn a_worktree_that_was_taken_away_by_hand_leaves_its_view_to_be_removed() {
    let bed = Bed::new();
    bed.open();
    put(&bed.path().join("a"), "changed\n");
    bed.agent(&["stash"]);
    bed.settle().unwrap();
    std::fs::remove_dir_all(bed.path()).unwrap();
    bed.git(&["worktree", "prune"]);
    bed.git(&["branch", "-D", "wt/w"]);
    let why = worktree::create(&bed.workspace(), &w())
        .unwrap_err()
        .to_string();
    assert!(
        why.contains("an earlier worktree of that name has left"),
        "{why}"
    );
    worktree::remove(&bed.workspace(), &w(), true).unwrap();
    worktree::create(&bed.workspace(), &w()).unwrap();
}
