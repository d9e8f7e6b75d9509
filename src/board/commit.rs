//! The order of writes that makes a change safe: mark → files → journal → bell → mark cleared.
//!
//! | killed after | what the next holder of the lock finds |
//! | --- | --- |
//! | mark | the old files; clears the mark, sweeps the temporary file |
//! | a file | the new file, untold; appends its line |
//! | journal | everything told; clears the mark |

use super::kept::Board;
use super::line::Note;
use super::mark::Mark;
use super::summary::{Key, Summary};
use super::{BoardError, Task, file};
use crate::store::fault::{self, Point};
use crate::store::lock::FileLock;
use crate::store::read::read_plain;
use crate::store::{Durability, StoreError, atomic};

/// One task to be written.
#[derive(Debug)]
pub(super) struct Write {
    /// The task and its file's bytes as read under this lock; `None` for a new one.
    pub(super) old: Option<(Task, Vec<u8>)>,
    /// The task as it is to be.
    pub(super) new: Task,
}

impl Board {
    /// Writes all of `writes`, or none.
    ///
    /// A journal that cannot be written does not undo what the files say already: the mark stays, and the next holder of
    /// the lock tells it.
    pub(super) fn commit(&self, by: &str, writes: &[Write]) -> Result<(), BoardError> {
        let Some(lock) = self.gate.with(|lock| lock.map(FileLock::kept)) else {
            return Err(BoardError::Store(StoreError::new(
                "change",
                &self.workspace.tasks_dir(),
                std::io::ErrorKind::NotFound.into(),
            )));
        };
        let mut known = self.known();
        let keys: Vec<Key> = writes.iter().map(|write| Key::of(&write.new.id)).collect();
        known.tell_found(&keys)?;
        known.write_mark(lock.file(), Mark::tasks(keys.clone(), by))?;
        fault::here(Point::BoardMarked);
        for (nr, write) in writes.iter().enumerate() {
            if let Err(error) = self.write(write) {
                let undone = writes[..=nr].iter().rev().all(|write| self.undo(write));
                if undone {
                    known.write_clean_mark(lock.file()).ok();
                }
                return Err(error.into());
            }
        }
        fault::here(Point::BoardWritten);
        let summaries: Vec<Summary> = writes.iter().map(|write| Summary::of(&write.new)).collect();
        let notes: Vec<Note<'_>> = writes
            .iter()
            .zip(&summaries)
            .map(|(write, summary)| {
                let old = write.old.as_ref().map(|(task, _)| task);
                Note::changed(old, &write.new, summary)
            })
            .collect();
        let told = known.journal.append(by, &notes);
        drop(notes);
        for (key, summary) in keys.iter().zip(summaries) {
            known.written(*key, summary);
        }
        if let Err(error) = told {
            tracing::warn!(%error, "a change is not in the journal yet");
            return Ok(());
        }
        fault::here(Point::BoardTold);
        if known.is_any_ready(&keys) {
            self.ring(known.journal.seq());
        }
        fault::here(Point::BoardRung);
        known.save_if_due();
        // A mark that stays costs the next holder a look.
        known.write_clean_mark(lock.file()).ok();
        fault::here(Point::BoardCleared);
        Ok(())
    }

    fn write(&self, write: &Write) -> Result<(), StoreError> {
        let path = self.workspace.task(&write.new.id);
        let bytes = file::encode(&write.new);
        if write.old.is_some() {
            atomic::replace(&path, &bytes, self.options.durability)
        } else {
            atomic::create_new(&path, &bytes, self.options.durability)
        }
    }

    /// Puts back what was there before, if `write` got through. Answers whether the file is as it was.
    fn undo(&self, write: &Write) -> bool {
        let path = self.workspace.task(&write.new.id);
        // A name that somebody else had taken, or a replacement that failed before its rename, is not ours to undo.
        let there = read_plain(&path, file::MAX_FILE).ok().flatten();
        if there.is_none_or(|bytes| bytes != file::encode(&write.new)) {
            return true;
        }
        match &write.old {
            Some((_, bytes)) => atomic::replace(&path, bytes, Durability::Process).is_ok(),
            None => std::fs::remove_file(&path).is_ok(),
        }
    }
}
