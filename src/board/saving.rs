//! When `.index` is written: seldom enough that nobody waits for it, often enough that whoever starts reads few lines of
//! the journal.

use super::knowledge::Knowledge;
use crate::store::{Durability, atomic};

/// So many tasks are read from their files as quickly as from a snapshot.
const FEW_TASKS: usize = 32;
/// After so many lines, or so many tasks a line, whichever is more, a snapshot is made anew: its cost is spread over them.
const LINES_UNSAVED: u64 = 32;
const TASKS_PER_LINE: u64 = 128;
/// So many times as long does a process wait that has changed something before: it needs no snapshot itself, and those that
/// start later make one when they change something, too.
const PATIENCE: u64 = 8;

impl Knowledge {
    /// Writes `.index` if the journal has grown much since; answers whether it did. Only under the lock, with the change in
    /// hand still marked.
    pub(super) fn save_if_due(&mut self) -> bool {
        let patience = if std::mem::take(&mut self.is_new) {
            1
        } else {
            PATIENCE
        };
        let lines = self.journal.seq().saturating_sub(self.saved);
        let due = LINES_UNSAVED.max(self.index.len() as u64 / TASKS_PER_LINE);
        let is_due = lines >= due * patience && self.is_worth_saving();
        if is_due {
            self.save();
        }
        is_due
    }

    /// Whether reading the files costs more than reading the snapshot.
    pub(super) fn is_worth_saving(&self) -> bool {
        self.index.len() >= FEW_TASKS
    }

    /// Writes `.index`. Failing costs only speed.
    pub(super) fn save(&mut self) {
        let Some(reach) = self.journal.reach() else {
            return;
        };
        let Some(bytes) = self
            .index
            .encode(reach)
            .filter(|_| !self.index.is_doubtful())
        else {
            return;
        };
        // Failing too, so that it is not tried again at every change. `.lock` then names an index that is not there.
        self.saved = reach.seq;
        // What it misses after a power cut, its checksums and the journal tell.
        let path = self.workspace.board_index();
        if let Err(error) = atomic::replace(&path, &bytes, Durability::Process) {
            tracing::debug!(%error, "the board's index was not saved");
        }
    }
}
