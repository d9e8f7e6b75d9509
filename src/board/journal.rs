//! `.tasks/.journal.jsonl`: every change of the board, in order (SPEC §3.4). Derived: it may be lost at any time.
//!
//! Only the holder of the board's lock appends. Everybody else follows: reads on from where it was, through a rotation
//! too, and starts over from the task files when the numbers show a gap.

use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::line::{self, Note, Told};
use super::snapshot::Reach;
use crate::clock::Timestamp;
use crate::store::jsonl::{self, Line};
use crate::store::{Durability, StoreError, atomic};

/// At this size the journal becomes the older one and a new one begins.
pub(super) const ROTATE_AT: u64 = 8 * 1024 * 1024;
/// Longest line that is read, in bytes.
const MAX_LINE: usize = 1024 * 1024;
/// In the last so many bytes a journal's last line is looked for: at first, and if it is not there.
const TAILS: [u64; 2] = [64 * 1024, 4 * MAX_LINE as u64];
/// Of a journal that grew by more than this the files are read instead, in bytes: only a stranger or a batch of a hundred
/// thousand tasks makes it grow so.
const MOST_FOLLOWED: u64 = 4 * ROTATE_AT;

/// A journal being followed, and appended to by whoever holds the board's lock.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    open: Option<Open>,
    /// Whether there was no file at the last look.
    gone: bool,
    /// Whether the file is known to end, whole, where reading stopped. True only under the board's lock.
    at_end: bool,
    /// The number of the last line read or written.
    seq: u64,
    /// What that line says of the directory: see [`super::mark::Mark::stamp`].
    stamp: Option<u64>,
}

#[derive(Debug)]
struct Open {
    file: File,
    inode: u64,
    /// Whole lines up to here were read.
    at: u64,
    /// Whether part of a line stood there.
    torn: bool,
}

impl Journal {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            open: None,
            gone: true,
            at_end: false,
            seq: 0,
            stamp: None,
        }
    }

    /// Goes to the journal's end without reading what stands before: the files are read afterwards. An end without a line that
    /// can be read tells no number; then the one in `.lock` counts ([`Self::raise_seq`]).
    pub(super) fn go_to_end(&mut self) -> Result<(), StoreError> {
        let reopened = self.reopen();
        self.gone = reopened.is_none();
        self.open = None;
        let Some(mut open) = reopened else {
            return Ok(());
        };
        let found = open.file.metadata();
        let size = found
            .map(|found| found.len())
            .map_err(StoreError::of("look at", &self.path))?;
        for tail in TAILS {
            let chunk = jsonl::read_lines(&open.file, size.saturating_sub(tail), MAX_LINE)
                .map_err(StoreError::of("read", &self.path))?;
            (open.at, open.torn) = (chunk.end, chunk.torn > 0);
            if let Some((seq, stamp)) = chunk.lines.iter().rev().find_map(number_and_stamp) {
                self.stamp = stamp.filter(|_| seq >= self.seq);
                self.seq = self.seq.max(seq);
                break;
            }
            if tail >= size {
                break;
            }
        }
        self.open = Some(open);
        Ok(())
    }

    /// Goes to where a snapshot reaches and follows from there. `None`: it is not this journal that it tells of, or lines
    /// are missing.
    pub(super) fn resume(&mut self, reach: Reach) -> Result<Option<Vec<Told>>, StoreError> {
        let Some(open) = self.reopen() else {
            return Ok(None);
        };
        let mut last = [0];
        let begins = reach
            .offset
            .checked_sub(1)
            .is_some_and(|at| open.file.read_exact_at(&mut last, at).is_ok() && last == *b"\n");
        if open.inode != reach.inode || reach.seq == 0 || !begins {
            return Ok(None);
        }
        self.open = Some(Open {
            at: reach.offset,
            ..open
        });
        self.gone = false;
        self.seq = reach.seq;
        let mut told = Vec::new();
        Ok(self.read_on(&mut told)?.then_some(told))
    }

    /// What a snapshot made now reaches; `None` without a journal.
    pub(super) fn reach(&self) -> Option<Reach> {
        let open = self.open.as_ref().filter(|_| !self.gone)?;
        Some(Reach {
            seq: self.seq,
            inode: open.inode,
            offset: open.at,
        })
    }

    /// The number of the last line.
    pub(super) fn seq(&self) -> u64 {
        self.seq
    }

    /// What the last line says of the directory, if it says that.
    pub(super) fn stamp(&self) -> Option<u64> {
        self.stamp
    }

    /// Whether the next lines go into the file that is open.
    pub(super) fn has_room(&self) -> bool {
        !self.gone && self.open.as_ref().is_some_and(|open| open.at < ROTATE_AT)
    }

    /// Whether there was no journal at the last look.
    pub(super) fn is_gone(&self) -> bool {
        self.gone
    }

    /// Numbers go on from here at least: the journal may have been deleted.
    pub(super) fn raise_seq(&mut self, to: u64) {
        if to > self.seq {
            (self.seq, self.stamp) = (to, None);
        }
    }

    /// Whether nothing was appended since this process last looked, as the holder of the board's lock knows from the
    /// number that `.lock` tells. It saves a look at the file.
    pub(super) fn is_current(&mut self, last: u64) -> bool {
        let is_whole = self.open.as_ref().is_some_and(|open| !open.torn);
        self.at_end = is_whole && !self.gone && last == self.seq;
        self.at_end
    }

    /// The same after reading on in the file that is open, and what was read. `None`: lines are missing; read all task files.
    pub(super) fn follow_to(&mut self, last: u64) -> Result<Option<Vec<Told>>, StoreError> {
        let mut told = Vec::new();
        let whole = self.gone || last <= self.seq || self.read_on(&mut told)?;
        self.is_current(last);
        Ok(whole.then_some(told))
    }

    /// What was appended since the last call. `None`: lines are missing; read all task files.
    pub(super) fn follow(&mut self) -> Result<Option<Vec<Told>>, StoreError> {
        self.at_end = false;
        let there = match self.path.symlink_metadata() {
            Ok(found) => Some((found.ino(), found.len())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(StoreError::new("look at", &self.path, error)),
        };
        self.gone = there.is_none();
        // An open file keeps its inode, so that an equal one is the same file.
        let same = match (&self.open, there) {
            (Some(open), Some((inode, size))) if inode == open.inode => {
                if size < open.at {
                    self.open = None;
                    return Ok(None);
                }
                if size == open.at {
                    return Ok(Some(Vec::new()));
                }
                true
            }
            _ => false,
        };
        let mut told = Vec::new();
        let mut whole = self.read_on(&mut told)?;
        if !same && !self.gone {
            self.open = self.reopen();
            whole = whole && self.open.is_some() && self.read_on(&mut told)?;
        }
        Ok(whole.then_some(told))
    }

    /// Appends one line for each of `entries`, numbered on; the last one says how the directory looks, if `stamp` does. Only
    /// under the board's lock, after a [`Self::follow`].
    pub(super) fn append(
        &mut self,
        by: &str,
        entries: &[Note<'_>],
        stamp: Option<u64>,
    ) -> Result<(), StoreError> {
        self.make_room()?;
        let now = Timestamp::now();
        let last = self.seq + entries.len() as u64;
        let lines: Vec<Vec<u8>> = entries
            .iter()
            .zip(self.seq + 1..)
            .map(|(note, seq)| {
                let line = note.line(seq, now, by, stamp.filter(|_| seq == last));
                // Text, numbers and lists have no way to fail.
                serde_json::to_vec(&line).unwrap_or_default()
            })
            .collect();
        let Some(open) = &mut self.open else {
            let error = std::io::ErrorKind::NotFound.into();
            return Err(StoreError::new("append to", &self.path, error));
        };
        let lines: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
        // A failed write may leave part of a line.
        let begin = if std::mem::take(&mut self.at_end) {
            jsonl::append_lines_at(&open.file, &self.path, &lines, open.at)?;
            open.at
        } else {
            jsonl::append_lines(&open.file, &self.path, &lines)?
        };
        self.at_end = true;
        open.torn = false;
        open.at = begin + lines.iter().map(|line| line.len() as u64 + 1).sum::<u64>();
        (self.seq, self.stamp) = (last, stamp);
        Ok(())
    }

    /// A journal at its path that is not full.
    fn make_room(&mut self) -> Result<(), StoreError> {
        if self.open.as_ref().is_some_and(|open| open.at >= ROTATE_AT) && !self.gone {
            atomic::rename(&self.path, &older(&self.path), Durability::Process)?;
            self.gone = true;
        }
        if self.gone || self.open.is_none() {
            let file = jsonl::open_append(&self.path, Durability::Process)?;
            self.at_end = false;
            self.open = Some(Open::at_end(file).map_err(StoreError::of("look at", &self.path))?);
            self.gone = false;
        }
        Ok(())
    }

    /// Reads whole lines on; `false` if a number is missing, or more stands there than is to be read.
    fn read_on(&mut self, told: &mut Vec<Told>) -> Result<bool, StoreError> {
        let Some(open) = &mut self.open else {
            return Ok(true);
        };
        let chunk = jsonl::read_some_lines(&open.file, open.at, MAX_LINE, MOST_FOLLOWED)
            .map_err(StoreError::of("read", &self.path))?;
        let read = chunk.end + chunk.torn - open.at;
        (open.at, open.torn) = (chunk.end, chunk.torn > 0);
        if read >= MOST_FOLLOWED {
            return Ok(false);
        }
        for line in &chunk.lines {
            let Line::Whole { bytes, .. } = line else {
                return Ok(false);
            };
            let Ok(read) = line::read(bytes) else {
                return Ok(false);
            };
            // The first line ever read has nothing before it.
            let follows = self.seq == 0 || read.seq == self.seq + 1;
            (self.seq, self.stamp) = (read.seq, read.stamp);
            if !follows {
                return Ok(false);
            }
            told.push(read.told);
        }
        Ok(true)
    }

    /// The journal at its path, to be read from its beginning; `None` if there is none that can be used.
    fn reopen(&self) -> Option<Open> {
        let (file, found) = jsonl::open_existing(&self.path).ok()??;
        Some(Open {
            file,
            inode: found.ino(),
            at: 0,
            torn: false,
        })
    }
}

impl Open {
    fn at_end(file: File) -> std::io::Result<Self> {
        let found = file.metadata()?;
        Ok(Self {
            file,
            inode: found.ino(),
            at: found.len(),
            torn: false,
        })
    }
}

/// Where the journal before this one is kept.
pub(super) fn older(path: &Path) -> PathBuf {
    path.with_file_name(".journal.1.jsonl")
}

fn number_and_stamp(line: &Line) -> Option<(u64, Option<u64>)> {
    match line {
        Line::Whole { bytes, .. } => line::read(bytes).ok().map(|read| (read.seq, read.stamp)),
        Line::TooLong { .. } => None,
    }
}
