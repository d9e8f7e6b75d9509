//! The session's way back: a snapshot of the workspace before anybody of the team can change it (SPEC §7.5).

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::Inlet;
use super::inlet::Event;
use crate::ids::SessionId;
use crate::workspace::Workspace;
use crate::worktree::snapshot::{self, Kept, SnapshotError};

const STILL: &str = "the workspace is still being read, so that `lead undo` can bring it back";
const NO_WAY_BACK: &str = "what is changed here cannot be taken back: this is no git checkout; `git init` before a session makes `lead undo` work";
/// After how long the person is told what is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// Kept at most once by each lead; whoever comes meanwhile waits.
#[derive(Debug)]
pub(super) struct WayBack {
    workspace: Workspace,
    session: SessionId,
    inlet: Inlet,
    /// Whether nothing is to be done any more.
    kept: Mutex<bool>,
}

impl WayBack {
    pub(super) fn new(workspace: Workspace, session: SessionId, inlet: Inlet) -> Self {
        Self {
            workspace,
            session,
            inlet,
            kept: Mutex::new(false),
        }
    }

    /// Before a tool of the lead that changes files, before a teammate's process starts, and where one lives already. The
    /// work goes on without a snapshot, too; then the person is told once. One that was cut with its call is kept before the
    /// next.
    pub(super) fn keep(&self) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if *kept {
            return;
        }
        let (done, waits) = channel::<()>();
        let made = thread::scope(|scope| {
            scope.spawn(move || {
                if waits.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                    self.inlet.put(Event::Notice(STILL.to_owned()));
                }
            });
            let made = snapshot::keep(&self.workspace, &self.session);
            drop(done);
            made
        });
        *kept = !matches!(made, Err(SnapshotError::Cut));
        if let Some(notice) = told(made) {
            self.inlet.put(Event::Notice(notice));
        }
    }
}

/// What the person is told.
fn told(kept: Result<Kept, SnapshotError>) -> Option<String> {
    match kept {
        Ok(Kept::Whole | Kept::Before) | Err(SnapshotError::Cut) => None,
        Err(SnapshotError::NoCheckout) => Some(NO_WAY_BACK.to_owned()),
        Ok(Kept::Partly(said)) => Some(format!("the snapshot for `lead undo` is without {said}")),
        Err(
            error @ (SnapshotError::None { .. }
            | SnapshotError::InTheWay(_)
            | SnapshotError::Failed(_)),
        ) => Some(format!(
            "no snapshot of the workspace was kept; {error}; `lead undo` will have nothing to go back to"
        )),
    }
}
