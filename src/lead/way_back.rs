//! The session's way back: a snapshot of the workspace before anybody of the team can change it (SPEC §7.5).

use std::sync::OnceLock;

use super::Inlet;
use super::inlet::Event;
use crate::ids::SessionId;
use crate::workspace::Workspace;
use crate::worktree::snapshot::{self, Kept, SnapshotError};

/// Kept at most once by each lead; whoever comes meanwhile waits.
#[derive(Debug)]
pub(super) struct WayBack {
    workspace: Workspace,
    session: SessionId,
    inlet: Inlet,
    kept: OnceLock<()>,
}

impl WayBack {
    pub(super) fn new(workspace: Workspace, session: SessionId, inlet: Inlet) -> Self {
        Self {
            workspace,
            session,
            inlet,
            kept: OnceLock::new(),
        }
    }

    /// Before a tool of the lead that changes files, before a teammate's process starts, and where one lives already. The
    /// work goes on without a snapshot, too; then the person is told once.
    pub(super) fn keep(&self) {
        self.kept.get_or_init(|| {
            if let Some(notice) = told(snapshot::keep(&self.workspace, &self.session)) {
                self.inlet.put(Event::Notice(notice));
            }
        });
    }
}

/// What the person is told.
fn told(kept: Result<Kept, SnapshotError>) -> Option<String> {
    match kept {
        Ok(Kept::Whole | Kept::Before) | Err(SnapshotError::NoCheckout) => None,
        Ok(Kept::Partly(said)) => Some(format!(
            "the snapshot for `lead undo` is without what could not be read: {said}"
        )),
        Err(
            error @ (SnapshotError::None { .. }
            | SnapshotError::InTheWay(_)
            | SnapshotError::Failed(_)),
        ) => Some(format!(
            "no snapshot of the workspace was kept; {error}; `lead undo` will have nothing to go back to"
        )),
    }
}
