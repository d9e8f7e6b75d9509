//! The way back (SPEC §7.5): what the workspace held before a session's first change, as a commit that no branch names.
//!
//! It holds tracked and untracked files as they were, byte by byte, never ignored ones and none of the runtime's. Index, HEAD, stash and
//! configuration of the repository are only read: every tree is made through an index of our own.

mod aside;
pub(super) mod diff;
mod exact;
mod keep;
pub(super) mod left_out;
mod rules;
pub(super) mod tree;
mod undo;

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use super::git::GitError;
use crate::ids::SessionId;
use crate::store::StoreError;

pub use diff::{Differences, Form, diff};
pub use keep::{Kept, keep};
pub use left_out::LeftOut;
pub use undo::{Undone, undo};

/// Why a snapshot was not made, found, or put back.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// Without git there is none.
    #[error(
        "the workspace is not in a git checkout; without one no snapshot of it is kept; run `git init` before the next session"
    )]
    NoCheckout,
    /// The session has none.
    #[error("session {session} has no snapshot; {}", others_there_are(.others))]
    None {
        /// The session.
        session: SessionId,
        /// Sessions that have one, the newest first.
        others: Vec<SessionId>,
    },
    /// Files that no snapshot holds would be lost.
    #[error(
        "nothing was restored; files that git ignores are in the way: {}; move them away first",
        shown(.0)
    )]
    InTheWay(Vec<PathBuf>),
    /// The call that it was made for was cut.
    #[error("it was interrupted")]
    Cut,
    /// git did not do it.
    #[error("{0}")]
    Failed(String),
}

impl From<GitError> for SnapshotError {
    fn from(error: GitError) -> Self {
        match error {
            GitError::Cut(_) => Self::Cut,
            error => Self::Failed(error.to_string()),
        }
    }
}

impl From<StoreError> for SnapshotError {
    fn from(error: StoreError) -> Self {
        Self::Failed(format!("{error} ({})", error.source))
    }
}

impl From<std::io::Error> for SnapshotError {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(format!("the snapshot's own files cannot be used ({error})"))
    }
}

fn others_there_are(others: &[SessionId]) -> String {
    if others.is_empty() {
        return "nothing was changed in it yet".to_owned();
    }
    let names: Vec<&str> = others.iter().map(SessionId::as_str).collect();
    format!(
        "nothing was changed in it yet; name another with --session: {}",
        names.join(", ")
    )
}

/// At most ten paths, then their number.
pub(super) fn shown(paths: &[PathBuf]) -> String {
    let mut names: Vec<String> = paths
        .iter()
        .take(10)
        .map(|path| path.display().to_string())
        .collect();
    if paths.len() > names.len() {
        names.push(format!("{} more", paths.len() - names.len()));
    }
    names.join(", ")
}
