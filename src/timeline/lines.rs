//! A line file as a source of events.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;

use super::Event;
use super::parse::{Form, Unreadable};
use crate::store::jsonl::{LONGEST, Line};
use crate::store::lines::Lines;

/// A line file being read. As an iterator it ends where the file ends, and goes on when the file has grown.
#[derive(Debug)]
pub(super) struct LineSource {
    lines: Lines,
    form: Form,
    /// Device and inode: the same file under whatever name.
    pub(super) identity: (u64, u64),
    ready: VecDeque<Event>,
    skipped: u64,
}

impl LineSource {
    pub(super) fn new(file: File, form: Form) -> io::Result<Self> {
        let found = file.metadata()?;
        Ok(Self {
            identity: (found.dev(), found.ino()),
            lines: Lines::new(file, 0, LONGEST),
            form,
            ready: VecDeque::new(),
            skipped: 0,
        })
    }

    /// Whether the file was cut behind what was read of it.
    pub(super) fn was_cut(&self) -> bool {
        let length = self.lines.file().metadata().map(|found| found.len());
        length.is_ok_and(|length| length < self.lines.end())
    }

    /// Whether all of it was read.
    pub(super) fn is_at_end(&self) -> bool {
        let length = self.lines.file().metadata().map(|found| found.len());
        length.is_ok_and(|length| length <= self.lines.end() + self.lines.torn())
    }

    /// How many lines were passed over since the last call.
    pub(super) fn take_skipped(&mut self) -> u64 {
        std::mem::take(&mut self.skipped)
    }
}

impl Iterator for LineSource {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            match self.lines.next_line() {
                Ok(Some(Line::Whole { bytes, .. })) => match self.form.parse(&bytes) {
                    Ok(events) => self.ready.extend(events),
                    Err(Unreadable) => self.skipped += 1,
                },
                Ok(Some(Line::TooLong { .. })) => self.skipped += 1,
                Ok(None) => return None,
                Err(error) => {
                    tracing::warn!(%error, "a history was not read to its end");
                    self.skipped += 1;
                    return None;
                }
            }
        }
    }
}
