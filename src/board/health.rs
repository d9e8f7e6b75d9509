//! What of the board's derived files is not in order. Looks only; taking the lock mends what can be mended.

use super::journal::Journal;
use super::kept::Board;
use super::line;
use super::mark::{Dirty, Mark};
use super::snapshot::Snapshot;
use crate::store::lock;
use crate::store::read::open_plain;

/// What is wrong with a line of the journal.
pub fn journal_line_fault(line: &[u8]) -> Option<String> {
    line::read(line).err().map(|error| error.to_string())
}

impl Board {
    /// What a process that was killed in a change left to the next one to lock the board, in words.
    pub fn unfinished(&self) -> Option<&'static str> {
        let mark = self.calm_mark()?;
        match mark.dirty {
            Dirty::Clean => None,
            Dirty::Tasks { .. } if self.is_settled(&mark) => None,
            Dirty::Tasks { .. } => Some("a change was cut short before the journal told of it"),
            Dirty::All => Some("its record does not say that all changes are told"),
        }
    }

    fn is_settled(&self, mark: &Mark) -> bool {
        let mut journal = Journal::new(self.workspace.journal());
        journal.go_to_end().is_ok() && mark.settled(&journal).is_some()
    }

    /// Why `.index` is of no use, if it is there.
    pub fn index_fault(&self) -> Option<&'static str> {
        let path = self.workspace.board_index();
        path.symlink_metadata().ok()?;
        let mark = self.calm_mark()?;
        match Snapshot::open(&path) {
            None => Some("it is not whole"),
            Some(found) if found.reach.seq != mark.index => {
                Some("it is not the one that .lock tells of")
            }
            Some(_) => None,
        }
    }

    /// The record in `.lock`, if nobody changes the board just now.
    fn calm_mark(&self) -> Option<Mark> {
        let path = self.workspace.board_lock();
        let file = open_plain(&path).ok()??;
        let mark = Mark::read(&file, &path).ok()?;
        let held = lock::is_held(&path).unwrap_or(true);
        let again = Mark::read(&file, &path).ok()?;
        (!held && mark == again).then_some(mark)
    }
}
