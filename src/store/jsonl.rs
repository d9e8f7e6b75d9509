//! Line files: append of one write, torn tails healed, reading of whole lines only.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufRead};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::{FcntlArg, OFlag, fcntl};

use super::fault::{self, Point};
use super::lock::{FileLock, LOCK_WAIT};
use super::read::BYTE_ORDER_MARK;
use super::{Durability, StoreError, atomic, read};

/// Longest line of any file that is read line by line, in bytes: a transcript's hold whole results of tools.
pub const LONGEST: usize = 64 * 1024 * 1024;

/// How much is read at first, and at most, at once: most looks find little that is new.
const FIRST_BLOCK: usize = 4 * 1024;
const BLOCK: usize = 64 * 1024;

/// Appends `line` (without its newline) to `file` in one write. The caller holds the file's lock or is its only writer.
///
/// A torn tail is first ended with a newline, in the same write. A short or failed write is undone and is an error.
/// Returns the offset at which the line begins. Nothing is synced.
pub fn append_line(file: &File, path: &Path, line: &[u8]) -> Result<u64, StoreError> {
    append_lines(file, path, &[line])
}

/// The same for a file just locked, which tells where it ends.
pub fn append_locked(lock: &FileLock, path: &Path, line: &[u8]) -> Result<u64, StoreError> {
    let end = lock.length();
    let torn = ends_torn(lock.file(), end).map_err(StoreError::of("read", path))?;
    write_lines(lock.file(), path, &[line], end, torn)?;
    Ok(end + u64::from(torn))
}

/// Appends several lines in one write, under the same rules; the offset is that of the first.
pub fn append_lines(file: &File, path: &Path, lines: &[&[u8]]) -> Result<u64, StoreError> {
    let end = file
        .metadata()
        .map_err(StoreError::of("look at", path))?
        .len();
    let torn = ends_torn(file, end).map_err(StoreError::of("read", path))?;
    write_lines(file, path, lines, end, torn)?;
    Ok(end + u64::from(torn))
}

/// The same for lines that stand in `block` already, each with its newline.
pub fn append_block(file: &File, path: &Path, mut block: Vec<u8>) -> Result<(), StoreError> {
    let end = file
        .metadata()
        .map_err(StoreError::of("look at", path))?
        .len();
    if ends_torn(file, end).map_err(StoreError::of("read", path))? {
        block.insert(0, b'\n');
    }
    write_once(file, &block, end).map_err(StoreError::of("append to", path))
}

/// The same for a caller who knows that the file ends at `end`, with a newline or at its beginning.
pub fn append_lines_at(
    file: &File,
    path: &Path,
    lines: &[&[u8]],
    end: u64,
) -> Result<(), StoreError> {
    write_lines(file, path, lines, end, false)
}

fn write_lines(
    file: &File,
    path: &Path,
    lines: &[&[u8]],
    end: u64,
    torn: bool,
) -> Result<(), StoreError> {
    if lines.iter().any(|line| line.contains(&b'\n')) {
        let error = io::Error::new(io::ErrorKind::InvalidInput, "a line holds a newline");
        return Err(StoreError::new("append to", path, error));
    }
    let mut bytes = Vec::with_capacity(1 + lines.iter().map(|line| line.len() + 1).sum::<usize>());
    if torn {
        bytes.push(b'\n');
    }
    for line in lines {
        bytes.extend_from_slice(line);
        bytes.push(b'\n');
    }
    write_once(file, &bytes, end).map_err(StoreError::of("append to", path))
}

fn ends_torn(file: &File, end: u64) -> io::Result<bool> {
    let mut last = [b'\n'];
    if end > 0 {
        file.read_exact_at(&mut last, end - 1)?;
    }
    Ok(last[0] != b'\n')
}

/// One write at the end; a file in append mode appends wherever its end is by then.
fn write_once(file: &File, bytes: &[u8], end: u64) -> io::Result<()> {
    fault::within(Point::LineTorn, || {
        file.write_at(&bytes[..bytes.len() / 2], end)
    });
    let written = loop {
        match file.write_at(bytes, end) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            written => break written?,
        }
    };
    if written == bytes.len() {
        fault::here(Point::LineWritten);
        return Ok(());
    }
    // A full disk writes what fits and fails only at the next call.
    file.set_len(end)?;
    Err(io::Error::new(
        io::ErrorKind::StorageFull,
        format!("only {written} of {} bytes were written", bytes.len()),
    ))
}

/// Takes the line that was appended at `begin` back, if it still stands there: cuts it off, or blanks it if others came
/// after it. The caller holds the file's lock; the file is left in a mode in which writes go where they say.
pub fn take_line_back(file: &File, begin: u64, line: &[u8]) -> io::Result<()> {
    let mut there = vec![0; line.len() + 1];
    match file.read_exact_at(&mut there, begin) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
        read => read?,
    }
    if there.strip_suffix(b"\n") != Some(line) {
        return Ok(());
    }
    let end = begin + there.len() as u64;
    if file.metadata()?.len() == end {
        return file.set_len(begin);
    }
    fcntl(file, FcntlArg::F_SETFL(OFlag::empty()))?;
    blank(file, begin, end)
}

/// Overwrites the bytes from `begin` to `end` with newlines: blank lines, which no reader takes for anything. The file is
/// not open in append mode.
pub fn blank(file: &File, begin: u64, end: u64) -> io::Result<()> {
    let block = [b'\n'; 4096];
    let mut at = begin;
    while at < end {
        let want = usize::try_from(end - at).map_or(block.len(), |left| left.min(block.len()));
        file.write_all_at(&block[..want], at)?;
        at += want as u64;
    }
    Ok(())
}

/// An append-only file with one writer process, such as a transcript or `usage.jsonl`'s shared form under a lock.
#[derive(Debug)]
pub struct Appender {
    path: PathBuf,
    file: File,
    durability: Durability,
}

impl Appender {
    /// Opens or makes `path` (0600) for appending.
    pub fn open(path: &Path, durability: Durability) -> Result<Self, StoreError> {
        let file = open_append(path, durability)?;
        Ok(Self {
            path: path.to_path_buf(),
            file,
            durability,
        })
    }

    /// The same file for reading, once and from its beginning: appending does not move where it stands.
    pub fn reader(&self) -> Result<File, StoreError> {
        self.file
            .try_clone()
            .map_err(StoreError::of("read", &self.path))
    }

    /// Appends one line, synced by the durability given at opening. After an error it is not in the file.
    pub fn append(&mut self, line: &[u8]) -> Result<(), StoreError> {
        let begin = append_line(&self.file, &self.path, line)?;
        atomic::sync_data(&self.file, &self.path, self.durability).inspect_err(|_| {
            // Not reported, so not to be read either; if this fails too, the next reader sees a line more.
            self.file.set_len(begin).ok();
        })
    }

    /// Appends one line under an exclusive flock of the file, for files with several writing processes.
    ///
    /// Synced after the unlock, so that writers sync together. A failed sync leaves the line in the file.
    pub fn append_shared(&mut self, line: &[u8]) -> Result<(), StoreError> {
        let lock = FileLock::exclusive_append(&self.path, LOCK_WAIT)
            .map_err(super::lock::LockError::into_store)?;
        append_locked(&lock, &self.path, line)?;
        drop(lock);
        atomic::sync_data(&self.file, &self.path, self.durability)
    }
}

/// Opens or makes `path` (0600) for reading and appending; a link or another special file is refused.
pub fn open_append(path: &Path, durability: Durability) -> Result<File, StoreError> {
    if let Some((file, _)) = open_existing(path)? {
        return Ok(file);
    }
    if let Some(parent) = path.parent() {
        atomic::ensure_dir(parent)?;
    }
    let made = opened(OpenOptions::new().create(true).mode(0o600), path)
        .map_err(StoreError::of("create", path))?;
    atomic::sync_parent(path, durability)?;
    Ok(looked_at(made, path)?.0)
}

/// The same with how the file looks; `None`, and nothing is made, if it is missing.
pub fn open_existing(path: &Path) -> Result<Option<(File, Metadata)>, StoreError> {
    match opened(&mut OpenOptions::new(), path) {
        Ok(file) => looked_at(file, path).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::new("open", path, error)),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "never waits, and looks at what it has"
)]
fn opened(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let options = options.read(true).append(true).custom_flags(flags.bits());
    options.open(path)
}

fn looked_at(file: File, path: &Path) -> Result<(File, Metadata), StoreError> {
    let found = file.metadata().map_err(StoreError::of("look at", path))?;
    match read::not_plain(&found) {
        Some(what) => {
            let error = io::Error::new(io::ErrorKind::InvalidInput, format!("it is {what}"));
            Err(StoreError::new("append to", path, error))
        }
        None => Ok((file, found)),
    }
}

/// One line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A whole line without its newline (nor `\r`), at this offset of the file.
    Whole {
        /// Where it begins, in bytes.
        offset: u64,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// A line over the limit, skipped without being held in memory.
    TooLong {
        /// Where it begins, in bytes.
        offset: u64,
        /// Its length in bytes.
        length: u64,
    },
}

/// What stood in a file from an offset on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Chunk {
    /// Whole lines in order; blank ones are left out, a byte-order mark at the start is dropped.
    pub lines: Vec<Line>,
    /// The offset after the last newline: where to go on.
    pub end: u64,
    /// Bytes after the last newline: somebody may be writing them.
    pub torn: u64,
}

/// Reads the whole lines of `file` from `offset` to its end, each at most `max_line` bytes.
pub fn read_lines(file: &File, offset: u64, max_line: usize) -> io::Result<Chunk> {
    read_some_lines(file, offset, max_line, u64::MAX)
}

/// The same, but nothing after the first `most` bytes, give or take a block.
pub fn read_some_lines(file: &File, offset: u64, max_line: usize, most: u64) -> io::Result<Chunk> {
    let mut splitter = Splitter::new(offset, max_line);
    let mut block = vec![0; FIRST_BLOCK];
    let mut at = offset;
    while at - offset < most {
        let got = match file.read_at(&mut block, at) {
            Ok(0) => return Ok(splitter.chunk),
            Ok(got) => got,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        splitter.feed(&block[..got]);
        at += got as u64;
        if got < block.len() {
            // Only the end cuts the reading of a file short.
            break;
        }
        block.resize(BLOCK.min(4 * block.len()), 0);
    }
    Ok(splitter.chunk)
}

/// Cuts a stream of blocks into lines, holding at most one line of at most `max_line` bytes.
#[derive(Debug)]
pub(super) struct Splitter {
    pub(super) chunk: Chunk,
    /// The line begun, as long as it is within the limit.
    begun: Vec<u8>,
    max_line: usize,
}

impl Splitter {
    pub(super) fn new(offset: u64, max_line: usize) -> Self {
        Self {
            chunk: Chunk {
                end: offset,
                ..Chunk::default()
            },
            begun: Vec::new(),
            max_line,
        }
    }

    pub(super) fn feed(&mut self, mut block: &[u8]) {
        while let Some(newline) = first_newline(block) {
            self.hold(&block[..newline]);
            self.finish();
            block = &block[newline + 1..];
        }
        self.hold(block);
    }

    /// One byte over the limit is held, for the `\r` that does not count.
    fn hold(&mut self, part: &[u8]) {
        self.chunk.torn += part.len() as u64;
        let room = (self.max_line + 1).saturating_sub(self.begun.len());
        self.begun.extend_from_slice(&part[..part.len().min(room)]);
    }

    fn finish(&mut self) {
        let offset = self.chunk.end;
        let length = std::mem::take(&mut self.chunk.torn);
        self.chunk.end += length + 1;
        let mut bytes = std::mem::take(&mut self.begun);
        let whole = bytes.len() as u64 == length;
        if whole && bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
        if offset == 0 && bytes.starts_with(BYTE_ORDER_MARK) {
            bytes.drain(..BYTE_ORDER_MARK.len());
        }
        if !whole || bytes.len() > self.max_line {
            self.chunk.lines.push(Line::TooLong { offset, length });
        } else if !bytes.trim_ascii().is_empty() {
            self.chunk.lines.push(Line::Whole { offset, bytes });
        }
    }
}

/// Where the first newline is; the standard library's reader looks at many bytes at a time.
fn first_newline(bytes: &[u8]) -> Option<usize> {
    let mut rest = bytes;
    let last = rest.skip_until(b'\n').ok()?.checked_sub(1)?;
    (bytes[last] == b'\n').then_some(last)
}
