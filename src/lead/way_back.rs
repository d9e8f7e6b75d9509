//! The session's way back: a snapshot of the workspace before anybody of the team can change it (SPEC §7.5).

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
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

/// Kept at most once by each lead; whoever comes meanwhile waits.
#[derive(Debug)]
pub(super) struct WayBack {
    workspace: Workspace,
    session: SessionId,
    inlet: Inlet,
    turns: Arc<Turns>,
}

/// Who keeps it now.
#[derive(Debug, Default)]
struct Turns {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Due,
    UnderWay,
    /// Nothing is to be done any more.
    Over,
}

/// The call was cut before its turn came.
#[derive(Debug, PartialEq, Eq)]
struct Cut;

/// The turn of one call; whatever ends it, the next may come.
struct Turn<'a> {
    turns: &'a Turns,
    end: State,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.turns.lock() = self.end;
        self.turns.changed.notify_all();
    }
}

impl Turns {
    /// Waits while somebody else keeps it, unless the call is cut; `None` if nothing is to be done any more.
    fn take(self: &Arc<Self>, call: &Cancel) -> Result<Option<Turn<'_>>, Cut> {
        let turns = Arc::clone(self);
        call.on_cancel(move || {
            drop(turns.lock());
            turns.changed.notify_all();
        });
        let mut state = self.lock();
        loop {
            match *state {
                State::Over => return Ok(None),
                _ if call.is_cancelled() => return Err(Cut),
                State::Due => {
                    *state = State::UnderWay;
                    let end = State::Due;
                    return Ok(Some(Turn { turns: self, end }));
                }
                State::UnderWay => {
                    state = self
                        .changed
                        .wait(state)
                        .unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WayBack {
    pub(super) fn new(workspace: Workspace, session: SessionId, inlet: Inlet) -> Self {
        Self {
            workspace,
            session,
            inlet,
            turns: Arc::default(),
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
        let mut turn = match self.turns.take(call) {
            Err(Cut) => return false,
            Ok(None) => return true,
            Ok(Some(turn)) => turn,
        };
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
        let cut = matches!(made, Err(SnapshotError::Cut));
        if !cut {
            turn.end = State::Over;
        }
        drop(turn);
        if let Some(notice) = told(made) {
            self.inlet.put(Event::Notice(notice));
        }
        !cut
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_comes_meanwhile_waits_for_its_end_or_is_cut() {
        let turns = Arc::<Turns>::default();
        let taken = |call: &Cancel| turns.take(call).map(|turn| turn.is_some());
        let first = turns.take(&Cancel::new()).ok().flatten().unwrap();
        let cut = Cancel::new();
        thread::scope(|scope| {
            let waits = scope.spawn(|| taken(&cut));
            cut.cancel();
            assert_eq!(waits.join().unwrap(), Err(Cut));
        });
        thread::scope(|scope| {
            let waits = scope.spawn(|| taken(&Cancel::new()));
            drop(first);
            assert_eq!(waits.join().unwrap(), Ok(true), "the first was cut");
        });
        let mut last = turns.take(&Cancel::new()).ok().flatten().unwrap();
        last.end = State::Over;
        drop(last);
        assert_eq!(taken(&Cancel::new()), Ok(false));
    }
}
