//! Keeping a snapshot.

use super::SnapshotError;
use super::tree::{Ground, reference};
use crate::ids::SessionId;
use crate::workspace::Workspace;

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// It is there now.
    Whole,
    /// It is there without some of what there is; what, in words.
    Partly(String),
    /// It was there before, from an earlier start of the same session.
    Before,
}

/// Keeps the workspace as it stands under `refs/pitcrew/<session>`, unless the session has a snapshot already.
///
/// Cut or killed in between, it leaves none of its objects among those of the repository, or whole ones that nothing names.
pub fn keep(workspace: &Workspace, session: &SessionId) -> Result<Kept, SnapshotError> {
    let ground = Ground::of(workspace)?
        .ended_by_the_next_start(workspace)
        .with_objects_aside()?;
    let reference = reference(session);
    if ground.commit(&reference)?.is_some() {
        return Ok(Kept::Before);
    }
    let now = ground.now(None)?;
    let left_out = now.left_out.noted();
    let message = format!("pitcrew: the workspace before {session} changed it{left_out}");
    let commit = ground.commit_tree(&now.tree, &message)?;
    ground.name(&reference, &commit)?;
    let unread =
        (!now.unread.is_empty()).then(|| format!("what could not be read: {}", now.unread));
    let without: Vec<String> = unread.into_iter().chain(now.left_out.told()).collect();
    Ok(if without.is_empty() {
        Kept::Whole
    } else {
        Kept::Partly(without.join("; "))
    })
}
