//! The order of writes that makes a change safe: mark → files → journal → bell → mark cleared.
//!
//! | killed after | what the next holder of the lock finds |
//! | --- | --- |
//! | mark | the old files; clears the mark, sweeps the temporary file |
//! | a file | the new file, untold; appends its line |
//! | journal | everything told; clears the mark |
//!
//! A change into `in_progress` makes nothing ready, so that no bell is due and the journal's line is its end: the mark names
//! that line instead of being cleared ([`super::mark`]).

use super::journal::Journal;
use super::kept::Board;
use super::line::Note;
use super::mark::Mark;
use super::summary::{Key, Summary};
use super::{BoardError, Status, Task, file};
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

/// What a write changes.
struct Change<'a> {
    old: Option<&'a Task>,
    before: Option<Summary>,
    new: &'a Task,
    after: Summary,
}

impl<'a> Change<'a> {
    fn of(write: &'a Write) -> Self {
        let old = write.old.as_ref().map(|(task, _)| task);
        Self {
            old,
            before: old.map(Summary::of),
            new: &write.new,
            after: Summary::of(&write.new),
        }
    }

    fn note(&self) -> Note<'_> {
        Note::changed(self.old.zip(self.before.as_ref()), self.new, &self.after)
    }
}

/// Whether nothing is left to be done once the journal, which goes on in the file it is in, tells of `writes`.
fn ends_when_told(writes: &[Write], journal: &Journal) -> bool {
    let is_begun = |write: &Write| write.new.status == Status::InProgress;
    writes.iter().all(is_begun) && journal.has_room()
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
        let last = known.journal.seq() + writes.len() as u64;
        let until = ends_when_told(writes, &known.journal).then_some(last);
        known.write_mark(lock.file(), Mark::tasks(keys.clone(), by, until))?;
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
        let changes: Vec<Change<'_>> = writes.iter().map(Change::of).collect();
        let notes: Vec<Note<'_>> = changes.iter().map(Change::note).collect();
        let stamp = until.and_then(|_| known.look_again());
        let told = known.journal.append(by, &notes, stamp);
        drop(notes);
        if let Err(error) = told {
            tracing::warn!(%error, "a change is not in the journal yet");
            for (key, change) in keys.iter().zip(changes) {
                known.written_untold(*key, change.before, change.after, &change.new.subject);
            }
            return Ok(());
        }
        for (key, change) in keys.iter().zip(changes) {
            known.written(*key, change.after);
        }
        fault::here(Point::BoardTold);
        if until.is_none() && known.is_any_ready(&keys) {
            self.ring(known.journal.seq());
        }
        fault::here(Point::BoardRung);
        let saved = known.save_if_due();
        if until.is_none() || saved {
            // A mark that stays costs the next holder a look.
            known.write_clean_mark(lock.file()).ok();
        }
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
