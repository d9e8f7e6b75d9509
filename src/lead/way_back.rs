//! The session's way back: a snapshot of the workspace before anybody of the team can change it (SPEC §7.5).

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::thread;
use std::time::Duration;

use super::Inlet;
use super::inlet::Event;
use crate::cancel::{self, Cancel};
use crate::ids::SessionId;
use crate::workspace::Workspace;
use crate::worktree::snapshot::{self, Kept, SnapshotError};

const STILL: &str = "the workspace is still being read, so that `lead undo` can bring it back";
const NO_WAY_BACK: &str = "what is changed here cannot be taken back: this is no git checkout; `git init` before a session makes `lead undo` work";
/// After how long the person is told what is waited for.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long is waited between two looks whether it is kept by now.
const TURN: Duration = Duration::from_millis(20);

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

    /// Before a tool of the lead that changes files, before a teammate's process starts, and where one lives already; whether
    /// the work may go on. It does without a snapshot, too; then the person is told once. One that was cut with its call is
    /// kept before the next.
    pub(super) fn keep(&self) -> bool {
        match cancel::current() {
            Some(call) => self.keep_for(&call),
            None => self
                .inlet
                .while_deaf(|| cancel::current().is_none_or(|call| self.keep_for(&call))),
        }
    }

    fn keep_for(&self, call: &Cancel) -> bool {
        let Some(mut kept) = self.turn(call) else {
            return false;
        };
        if *kept {
            return true;
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
        *kept
    }

    /// `None` if the call is cut while somebody else keeps it.
    fn turn(&self, call: &Cancel) -> Option<MutexGuard<'_, bool>> {
        loop {
            match self.kept.try_lock() {
                Ok(kept) => return Some(kept),
                Err(TryLockError::Poisoned(kept)) => return Some(kept.into_inner()),
                Err(TryLockError::WouldBlock) if call.sleep(TURN) => return None,
                Err(TryLockError::WouldBlock) => {}
            }
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
