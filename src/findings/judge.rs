//! What is wrong with one file.

use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use super::Books;
use super::files::{Kept, LineFile, What};
use crate::board::{self, BoardError};
use crate::clock;
use crate::conversation::Record;
use crate::lease::Leases;
use crate::mailbox;
use crate::model::script;
use crate::request::Refusal;
use crate::store::StoreError;
use crate::store::jsonl::{LONGEST, Line};
use crate::store::lines::Lines;
use crate::store::read::{self, ReadError};
use crate::team::{self, grants, usage};

/// So long after its last change a writer is taken to be gone, in milliseconds: what is written is written in far less.
pub const SETTLED_MS: u64 = 5000;

/// Longest line of the board's journal, and of usage and grants.
const MAX_SHORT: usize = 1024 * 1024;

/// What is wrong with a line.
type Check = fn(&[u8]) -> Option<String>;

/// How closely files of lines are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Whether they are files at all: a bad line costs only itself, and who reads it passes it over.
    Names,
    /// Every line.
    Lines,
}

/// What is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// All of it.
    File(String),
    /// Some lines.
    Lines(Vec<BadLine>),
}

/// A line that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadLine {
    /// Where it begins, in bytes.
    pub offset: u64,
    /// Its length in bytes, without its newline.
    pub length: u64,
    /// What is wrong with it.
    pub why: String,
}

/// What is wrong with `kept`, if anything is. An error means that nobody can say.
pub fn judge(books: Books<'_>, kept: &Kept, depth: Depth) -> Result<Option<Fault>, StoreError> {
    if kept.what == What::Directory {
        return Ok(not_a_directory(&kept.path).map(Fault::File));
    }
    if let Some(what) = read::other_than_plain(&kept.path)? {
        return Ok(Some(Fault::File(format!("it is {what}, not a plain file"))));
    }
    let why = match &kept.what {
        What::Task(id) => task_fault(books, id)?,
        What::Misnamed => Some("its name is not that of a task, task_<8 hex>.json".to_owned()),
        What::Member(name) => books.roster.fault(name)?,
        What::Request(id) => match books.requests.get(id) {
            Err(Refusal::Damaged { why, .. }) => Some(why),
            Err(Refusal::Store(error)) => return Err(error),
            _ => None,
        },
        What::Session => team::Session::fault(books.workspace),
        What::ScriptNames => script::names_fault(books.workspace),
        What::Leases => Leases::new(books.workspace.clone()).read()?.err(),
        What::Index => books.board.index_fault().map(str::to_owned),
        What::Lines(kind) if depth == Depth::Lines => {
            let bad = bad_lines(&kept.path, kind)?;
            return Ok((!bad.is_empty()).then_some(Fault::Lines(bad)));
        }
        What::Lines(_) | What::Lock | What::Output | What::Directory => None,
        What::Leftover => {
            is_settled(&kept.path).then(|| "a temporary file of a writer that is gone".to_owned())
        }
    };
    Ok(why.map(Fault::File))
}

fn not_a_directory(path: &Path) -> Option<String> {
    let found = path.symlink_metadata().ok()?;
    let what = if found.is_symlink() {
        "a symbolic link"
    } else if found.is_dir() {
        return None;
    } else {
        "no directory"
    };
    Some(format!("it is {what}, where a plain directory belongs"))
}

fn task_fault(books: Books<'_>, id: &crate::ids::TaskId) -> Result<Option<String>, StoreError> {
    match books.board.get(id) {
        Ok(_) | Err(BoardError::Unknown(_)) => Ok(None),
        Err(BoardError::Damaged { why, .. }) => Ok(Some(why)),
        Err(BoardError::Store(error)) => Err(error),
        Err(other) => Ok(Some(other.to_string())),
    }
}

/// Whether the last change of `path` is a while ago, or in what the clock says is the future.
fn is_settled(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| {
        let changed = u64::try_from(found.mtime()).unwrap_or(0) * 1000;
        clock::now_ms().abs_diff(changed) > SETTLED_MS
    })
}

fn bad_lines(path: &Path, kind: &LineFile) -> Result<Vec<BadLine>, StoreError> {
    let (check, longest): (Check, usize) = match kind {
        LineFile::Journal => (board::journal_line_fault, MAX_SHORT),
        LineFile::Mailbox(_) => (mailbox::line_fault, mailbox::MAX_MESSAGE),
        LineFile::Archive(_) => (mailbox::line_fault, 4 * mailbox::MAX_MESSAGE),
        LineFile::Transcript(_) => (record_fault, LONGEST),
        LineFile::Usage => (usage::line_fault, MAX_SHORT),
        LineFile::Grants => (grants::line_fault, MAX_SHORT),
    };
    let file = match read::open_plain(path) {
        Ok(Some(file)) => file,
        Err(ReadError::Store(error)) => return Err(error),
        // It was moved or replaced since it was looked at.
        Ok(None) | Err(ReadError::NotPlain { .. } | ReadError::TooLarge { .. }) => {
            return Ok(Vec::new());
        }
    };
    read_bad(Lines::new(file, 0, longest), path, check, longest)
        .map_err(StoreError::of("read", path))
}

fn read_bad(
    mut lines: Lines,
    path: &Path,
    check: Check,
    longest: usize,
) -> io::Result<Vec<BadLine>> {
    let mut bad = Vec::new();
    while let Some(line) = lines.next_line()? {
        match line {
            Line::Whole { offset, bytes } => bad.extend(check(&bytes).map(|why| BadLine {
                offset,
                length: bytes.len() as u64 + mark_before(&lines, offset),
                why,
            })),
            Line::TooLong { offset, length } => bad.push(BadLine {
                offset,
                length,
                why: format!("it has {length} bytes; at most {longest} are read"),
            }),
        }
    }
    bad.extend(bad_tail(&lines, path, check)?);
    Ok(bad)
}

/// The length of the byte-order mark that was dropped from the line at `offset`.
fn mark_before(lines: &Lines, offset: u64) -> u64 {
    let mut first = [0; 3];
    let has_mark = offset == 0
        && lines.file().read_exact_at(&mut first, 0).is_ok()
        && first == *read::BYTE_ORDER_MARK;
    if has_mark { 3 } else { 0 }
}

/// What stands after the last newline: a line that lacks only its newline is whole, and what is new may go on.
fn bad_tail(lines: &Lines, path: &Path, check: Check) -> io::Result<Option<BadLine>> {
    let (offset, length) = (lines.end(), lines.torn());
    if length == 0 || !is_settled(path) {
        return Ok(None);
    }
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(0).min(LONGEST)];
    lines.file().read_exact_at(&mut bytes, offset)?;
    let is_blank = bytes.trim_ascii().is_empty();
    Ok((!is_blank && check(&bytes).is_some()).then(|| BadLine {
        offset,
        length,
        why: "it was cut short by the end of its writer".to_owned(),
    }))
}

fn record_fault(line: &[u8]) -> Option<String> {
    serde_json::from_slice::<Record>(line)
        .err()
        .map(|error| error.to_string())
}
