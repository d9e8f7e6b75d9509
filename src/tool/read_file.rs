//! `read_file`: numbered lines, a bounded part at a time.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead, BufReader};

use schemars::JsonSchema;
use serde::Deserialize;

use super::call::{Call, Class, Said, Tool};
use super::path::{Access, Opened, Target};
use super::seen::MAX_EDIT;

/// Most lines of one call.
const MAX_LINES: u64 = 2_000;
/// Most bytes of one call.
const MAX_BYTES: usize = 256 * 1024;
/// How much is looked at to tell text from binary, in bytes.
const SNIFF: usize = 8_000;
/// How many entries of a directory are named.
const ENTRIES: usize = 30;

pub(crate) struct ReadFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadFileInput {
    /// The file, relative to your working directory or absolute.
    path: String,
    /// The first line to read, counted from 1; 1 if left out.
    offset: Option<u64>,
    /// How many lines to read; 2000 if left out, which is also the most.
    limit: Option<u64>,
}

impl Tool for ReadFile {
    type Input = ReadFileInput;
    const NAME: &'static str = "read_file";
    const DESCRIPTION: &'static str = "Reads a text file as numbered lines, at most 2,000 lines or 256 KiB a call; the answer says how to read on. \
        Read a file before you overwrite it.";
    const CLASS: Class = Class::Workspace;

    fn path(input: &ReadFileInput) -> Option<(&str, Access)> {
        Some((&input.path, Access::Read))
    }

    fn run(call: &Call<'_>, input: ReadFileInput) -> Result<Said, String> {
        let target = call.target()?;
        let failed = |error: io::Error| format!("cannot read {}: {error}", target.shown);
        let offset = input.offset.unwrap_or(1);
        if offset == 0 {
            return Err("`offset` must be at least 1; lines are counted from 1".to_owned());
        }
        let limit = input.limit.unwrap_or(MAX_LINES).min(MAX_LINES);
        if limit == 0 {
            return Err("`limit` must be at least 1".to_owned());
        }
        let file = open(target)?;
        let size = file.metadata().map_err(failed)?.len();
        let window = if size <= MAX_EDIT {
            let content = whole(file).map_err(failed)?;
            refuse_binary(target, &content, size)?;
            call.seen.note(&target.real, &content);
            Window::read(&mut content.as_slice(), offset, limit)
        } else {
            let mut reader = BufReader::with_capacity(64 * 1024, file);
            refuse_binary(target, reader.fill_buf().map_err(failed)?, size)?;
            Window::read(&mut reader, offset, limit)
        };
        window.map_err(failed)?.told(&target.shown, offset)
    }
}

fn open(target: &Target) -> Result<File, String> {
    let file = Opened::parent_of(&target.real, false)
        .and_then(|parent| parent.file())
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => format!("there is no file {}", target.shown),
            io::ErrorKind::IsADirectory => directory(target),
            _ => format!("cannot read {}: {error}", target.shown),
        })?
        .ok_or_else(|| {
            format!(
                "there is no file {}; glob finds files by name",
                target.shown
            )
        })?;
    let meta = file
        .metadata()
        .map_err(|error| format!("cannot read {}: {error}", target.shown))?;
    if meta.is_dir() {
        return Err(directory(target));
    }
    if !meta.is_file() {
        return Err(format!("{} is not a plain file", target.shown));
    }
    Ok(file)
}

fn directory(target: &Target) -> String {
    let mut names: Vec<String> = std::fs::read_dir(&target.real)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| {
            let slash = if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                "/"
            } else {
                ""
            };
            format!("{}{slash}", entry.file_name().to_string_lossy())
        })
        .collect();
    names.sort();
    let more = names.len().saturating_sub(ENTRIES);
    names.truncate(ENTRIES);
    if more > 0 {
        names.push(format!("… {more} more"));
    }
    if names.is_empty() {
        names.push("nothing".to_owned());
    }
    format!(
        "{} is a directory, not a file; it holds {}",
        target.shown,
        names.join(", ")
    )
}

fn whole(mut file: File) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    io::Read::read_to_end(&mut file, &mut content)?;
    Ok(content)
}

fn refuse_binary(target: &Target, start: &[u8], size: u64) -> Result<(), String> {
    if start.iter().take(SNIFF).any(|byte| *byte == 0) {
        return Err(format!(
            "{} is a binary file of {size} bytes, which cannot be shown as lines",
            target.shown
        ));
    }
    Ok(())
}

/// The lines of one call.
#[derive(Debug, Default)]
struct Window {
    /// Numbered lines.
    text: String,
    /// The last line shown, or, if none is, the last line of the file.
    last: u64,
    /// How many lines are shown.
    shown: u64,
    /// Whether there is more after them.
    more: bool,
    /// A line that was cut, and its length in bytes.
    cut: Option<(u64, u64)>,
}

impl Window {
    fn read(reader: &mut impl BufRead, offset: u64, limit: u64) -> io::Result<Self> {
        let mut window = Self::default();
        let mut bytes = 0;
        let mut line = Vec::new();
        let mut number = 0;
        loop {
            number += 1;
            let wanted = number >= offset;
            let room = if wanted { MAX_BYTES - bytes } else { 0 };
            let length = next_line(reader, room, &mut line)?;
            if length == 0 {
                return Ok(window);
            }
            if !wanted {
                window.last = number;
                continue;
            }
            let is_cut = length > line.len() as u64;
            if window.shown == limit || (is_cut && window.shown > 0) {
                window.more = true;
                return Ok(window);
            }
            bytes += line.len();
            window.push(number, &line);
            if is_cut {
                window.cut = Some((number, length));
                window.more = next_line(reader, 0, &mut line)? > 0;
                return Ok(window);
            }
        }
    }

    fn push(&mut self, number: u64, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        let text = if number == 1 {
            text.strip_prefix('\u{feff}').unwrap_or(text)
        } else {
            text
        };
        let _ = writeln!(self.text, "{number:>6}\t{text}");
        self.last = number;
        self.shown += 1;
    }

    fn told(self, shown: &str, offset: u64) -> Result<Said, String> {
        if self.shown == 0 {
            return if self.last == 0 && offset == 1 {
                Ok(format!("{shown} is empty").into())
            } else {
                Err(format!(
                    "`offset` {offset} is beyond the end: {shown} has {} lines",
                    self.last
                ))
            };
        }
        let mut text = self.text;
        if let Some((number, length)) = self.cut {
            let _ = writeln!(
                text,
                "(line {number} has {length} bytes and is cut; bash can show the rest)"
            );
        }
        if self.more {
            let _ = writeln!(
                text,
                "(there is more; read on with offset {})",
                self.last + 1
            );
        }
        Ok(text.into())
    }
}

/// Reads the next line, its newline included, keeping at most `room` bytes of it; its whole length, 0 at the end.
fn next_line(reader: &mut impl BufRead, room: usize, line: &mut Vec<u8>) -> io::Result<u64> {
    line.clear();
    let mut length = 0;
    loop {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            return Ok(length);
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(buffer.len(), |end| end + 1);
        let kept = taken.min(room - line.len());
        line.extend_from_slice(&buffer[..kept]);
        reader.consume(taken);
        length += taken as u64;
        if end.is_some() {
            return Ok(length);
        }
    }
}
