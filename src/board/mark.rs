//! What stands in `.tasks/.lock`: who changes what at this moment, and how the directory looked after the last change.
//!
//! Written whole in one small write, read and written only under the lock. Whoever finds a change marked that its maker
//! did not live to report reports it (SPEC §3.4: no crash can leave a changed task that no other process learns of).
//! It is not synced: after a power cut no process is left that could have missed anything.
//!
//! A change is over when the record says `clean`. One after which nothing is left to do but to tell it may name the line
//! of the journal that tells it instead: with that line there, the change is over, and the line says how the directory
//! looks.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::journal::Journal;
use super::summary::Key;
use crate::store::StoreError;

/// The record's length in bytes: one line, padded, so that one write always replaces all of the one before.
const LENGTH: usize = 256;
/// More tasks than this are marked as `all`.
const MOST_NAMED: usize = 5;

/// Which task files may differ from what the journal tells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Dirty {
    /// None.
    #[default]
    Clean,
    /// These, changed by the named agent.
    Tasks {
        keys: Vec<Key>,
        by: String,
        /// The number of the journal's line with which they are told and nothing else is to be done.
        until: Option<u64>,
    },
    /// Any: too many to name, or the record could not be read.
    All,
}

/// The record.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Mark {
    pub(super) dirty: Dirty,
    /// The number of the journal's last line.
    pub(super) seq: u64,
    /// The number of the last line that `.index` contains; 0 if none was written.
    pub(super) index: u64,
    /// The modification time of `.tasks` in nanoseconds after the last change of ours; another one means that somebody
    /// else put files there.
    pub(super) stamp: Option<u64>,
}

impl Mark {
    /// Reads the record; one that is empty or not ours makes everything suspect.
    pub(super) fn read(file: &File, path: &Path) -> Result<Self, StoreError> {
        let mut bytes = [0; LENGTH];
        let got = file
            .read_at(&mut bytes, 0)
            .map_err(StoreError::of("read", path))?;
        Ok(Self::parse(str::from_utf8(&bytes[..got]).unwrap_or("")))
    }

    /// Writes the record for the process `pid`.
    pub(super) fn write(&self, file: &File, path: &Path, pid: u32) -> Result<(), StoreError> {
        let record = self.to_bytes(pid);
        let written = file
            .write_at(&record, 0)
            .map_err(StoreError::of("write", path))?;
        if written == record.len() {
            Ok(())
        } else {
            let error = std::io::ErrorKind::StorageFull.into();
            Err(StoreError::new("write", path, error))
        }
    }

    /// Marks the tasks as being changed by `by`, until a line with the number `until` tells it or the mark is cleared.
    pub(super) fn tasks(keys: Vec<Key>, by: &str, until: Option<u64>) -> Dirty {
        if keys.len() > MOST_NAMED {
            Dirty::All
        } else {
            let by = by.to_owned();
            Dirty::Tasks { keys, by, until }
        }
    }

    /// The number of the last line that a journal holds which tells everything.
    pub(super) fn told(&self) -> u64 {
        match self.dirty {
            Dirty::Tasks {
                until: Some(until), ..
            } => until,
            Dirty::Tasks { until: None, .. } | Dirty::Clean | Dirty::All => self.seq,
        }
    }

    /// How the directory looked after the last change, if `journal` tells that it is over; the outer `None`: it is not.
    #[expect(
        clippy::option_option,
        reason = "an unknown look is not a change under way"
    )]
    pub(super) fn settled(&self, journal: &Journal) -> Option<Option<u64>> {
        match self.dirty {
            Dirty::Clean => Some(self.stamp),
            Dirty::Tasks {
                until: Some(until), ..
            } if journal.seq() >= until => Some(journal.stamp()),
            Dirty::Tasks { .. } | Dirty::All => None,
        }
    }

    /// The record: what does not fit is cut off, which makes everything suspect and nothing wrong.
    fn to_bytes(&self, pid: u32) -> [u8; LENGTH] {
        let mut bytes = [b' '; LENGTH];
        bytes[LENGTH - 1] = b'\n';
        let mut rest = &mut bytes[..LENGTH - 1];
        self.put(pid, &mut rest).ok();
        bytes
    }

    fn put(&self, pid: u32, out: &mut impl Write) -> std::io::Result<()> {
        write!(out, "pid {pid} seq {} index {}", self.seq, self.index)?;
        if let Some(stamp) = self.stamp {
            write!(out, " stamp {stamp}")?;
        }
        match &self.dirty {
            Dirty::Clean => out.write_all(b" clean"),
            Dirty::All => out.write_all(b" dirty all"),
            Dirty::Tasks { keys, by, until } => {
                for (nr, key) in keys.iter().enumerate() {
                    write!(out, "{}{key}", if nr == 0 { " dirty " } else { "," })?;
                }
                if let Some(until) = until {
                    write!(out, " until {until}")?;
                }
                write!(out, " by {by}")
            }
        }
    }

    fn parse(text: &str) -> Self {
        let suspect = Self {
            dirty: Dirty::All,
            ..Self::default()
        };
        let Some(line) = text.strip_suffix('\n') else {
            return suspect;
        };
        let mut words = line.split_ascii_whitespace();
        let mut mark = Self {
            dirty: Dirty::All,
            ..Self::default()
        };
        let (mut by, mut until) = (String::new(), None);
        while let Some(word) = words.next() {
            match (word, words.next()) {
                ("clean", None) => mark.dirty = Dirty::Clean,
                ("dirty", Some("all")) => mark.dirty = Dirty::All,
                ("dirty", Some(ids)) => match keys(ids) {
                    Some(keys) => mark.dirty = Self::tasks(keys, "", None),
                    None => return suspect,
                },
                ("seq", Some(number)) => mark.seq = number.parse().unwrap_or(0),
                ("index", Some(number)) => mark.index = number.parse().unwrap_or(0),
                ("stamp", Some(number)) => mark.stamp = number.parse().ok(),
                ("by", Some(name)) => name.clone_into(&mut by),
                ("until", Some(number)) => until = number.parse().ok(),
                // `pid` is for people and for the error of whoever waits in vain.
                ("pid", Some(_)) => {}
                _ => return suspect,
            }
        }
        if let Dirty::Tasks { keys, .. } = mark.dirty {
            mark.dirty = Dirty::Tasks { keys, by, until };
        }
        mark
    }
}

fn keys(ids: &str) -> Option<Vec<Key>> {
    ids.split(',').map(Key::parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_back() {
        let by = "x".repeat(64);
        let five: Vec<Key> = (0..5).map(|nr| Key(u32::MAX - nr)).collect();
        for dirty in [
            Dirty::Clean,
            Dirty::All,
            Mark::tasks(vec![Key(7)], "alice", None),
            Mark::tasks(vec![Key(7)], "alice", Some(u64::MAX)),
            Mark::tasks(five, &by, None),
        ] {
            for stamp in [None, Some(1_800_000_000_123_456_789)] {
                let mark = Mark {
                    dirty: dirty.clone(),
                    seq: 123_456_789,
                    index: 123_456_700,
                    stamp,
                };
                let bytes = mark.to_bytes(4_194_304);
                assert_eq!(Mark::parse(str::from_utf8(&bytes).unwrap()), mark);
            }
        }
        assert_eq!(Mark::tasks(vec![Key(1); 6], "a", None), Dirty::All);
    }

    #[test]
    fn a_record_that_is_not_ours_makes_everything_suspect() {
        for text in [
            "",
            "pid",
            "pid 1 seq 2 clean",
            "hello world\n",
            "dirty task_x by a\n",
            "\0\0\n",
        ] {
            assert_eq!(Mark::parse(text).dirty, Dirty::All, "{text:?}");
        }
        assert_eq!(Mark::parse("pid 1 seq 2 clean  \n").dirty, Dirty::Clean);
    }
}
