//! Which branches must be where a task is worked on (SPEC §3.2): pure.
//!
//! Work that was done in a worktree is on its branch until somebody merges it. The branch of a dependency holds the branches
//! of that one's own dependencies, so nothing behind it is asked for; a dependency that was done in the workspace has no
//! branch, and what it was built on counts as the dependent's own.

use std::collections::HashSet;

use super::summary::{Key, Summary};
use crate::ids::WorktreeName;

/// The branches, each by its worktree's name, that `task` needs; those of dependencies named first come first. `get` answers
/// for every task; what is not completed needs no branch yet.
pub(super) fn needed(
    task: &Summary,
    mut get: impl FnMut(Key) -> Option<Summary>,
) -> Vec<WorktreeName> {
    let own = task.worktree.as_deref();
    let mut needed: Vec<WorktreeName> = Vec::new();
    let mut seen: HashSet<Key> = HashSet::new();
    let mut open: Vec<Key> = task.blocked_by.iter().rev().copied().collect();
    while let Some(key) = open.pop() {
        if !seen.insert(key) {
            continue;
        }
        let Some(done) = get(key).filter(Summary::is_completed) else {
            continue;
        };
        match (done.worktree.as_deref(), own) {
            (Some(branch), own) if own != Some(branch) => {
                let name = WorktreeName::parse(branch).ok();
                needed.extend(name.filter(|name| !needed.contains(name)));
            }
            (None, Some(_)) => open.extend(done.blocked_by.iter().rev()),
            (Some(_) | None, _) => {}
        }
    }
    needed
}
