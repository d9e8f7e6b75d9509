//! Reading a line file one line at a time, however large it is, and on when it has grown.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::jsonl::{Line, Splitter};

/// How much is read at once.
const BLOCK: usize = 64 * 1024;

/// A line file being read.
#[derive(Debug)]
pub struct Lines {
    file: File,
    splitter: Splitter,
    block: Vec<u8>,
    /// Bytes up to here were read.
    at: u64,
    ready: VecDeque<Line>,
}

impl Lines {
    /// Reads `file` from `offset`, at which a line begins; lines over `max_line` bytes are not held in memory.
    pub fn new(file: File, offset: u64, max_line: usize) -> Self {
        Self {
            file,
            splitter: Splitter::new(offset, max_line),
            block: Vec::new(),
            at: offset,
            ready: VecDeque::new(),
        }
    }

    /// The next whole line; blank ones are left out. `None`: there is none yet.
    pub fn next_line(&mut self) -> io::Result<Option<Line>> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Ok(Some(line));
            }
            self.block.resize(BLOCK, 0);
            match self.file.read_at(&mut self.block, self.at) {
                Ok(0) => {
                    // Many files may be open at their ends.
                    self.block = Vec::new();
                    return Ok(None);
                }
                Ok(got) => {
                    self.at += got as u64;
                    self.splitter.feed(&self.block[..got]);
                    self.ready.extend(self.splitter.chunk.lines.drain(..));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The offset after the last newline read.
    pub fn end(&self) -> u64 {
        self.splitter.chunk.end
    }

    /// How many bytes were read after it: a line that somebody may be writing.
    pub fn torn(&self) -> u64 {
        self.splitter.chunk.torn
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;
    use crate::store::jsonl;

    proptest! {
        #[test]
        fn line_by_line_equals_all_at_once(parts in prop::collection::vec("[ab\r\n]{0,9}", 0..6)) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("lines");
            let mut file = File::create(&path).unwrap();
            let mut lines = Lines::new(File::open(&path).unwrap(), 0, 5);
            let mut read = Vec::new();
            for part in &parts {
                file.write_all(part.as_bytes()).unwrap();
                while let Some(line) = lines.next_line().unwrap() {
                    read.push(line);
                }
            }
            let chunk = jsonl::read_lines(&File::open(&path).unwrap(), 0, 5).unwrap();
            prop_assert_eq!((lines.end(), lines.torn()), (chunk.end, chunk.torn));
            prop_assert_eq!(read, chunk.lines);
        }
    }
}
