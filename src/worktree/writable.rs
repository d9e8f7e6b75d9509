//! What of the repository a command in a worktree may change.

use std::path::PathBuf;

use super::usable::trusted;
use crate::ids::WorktreeName;
use crate::workspace::Workspace;

/// The directories of the repository that git writes to when it commits in the worktree; some may not exist.
pub fn writable_parts(workspace: &Workspace, name: &WorktreeName) -> Result<Vec<PathBuf>, String> {
    let (repository, registration) = trusted(workspace, name)?;
    let common = repository.common;
    let parts = [
        registration.git_dir,
        common.join("objects"),
        common.join("refs/heads/wt"),
        common.join("logs"),
    ];
    // A repository may be reached through links, and what does not exist cannot be given.
    Ok(parts
        .into_iter()
        .filter_map(|part| part.canonicalize().ok())
        .collect())
}
