//! `read_file`: numbered lines, a bounded part at a time.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;

use super::call::{Call, Class, Said, Tool};
use super::path::{self, Access, EntryKind, Opened, Target, entries};
use super::place::in_one_line;
use super::seen::MAX_EDIT;
use super::window::{Lines, MAX_LINES, Window};

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
            Window::read(
                &mut Lines::of(content.as_slice(), call.cancel),
                offset,
                limit,
            )
        } else {
            let mut reader = BufReader::with_capacity(64 * 1024, file);
            refuse_binary(target, reader.fill_buf().map_err(failed)?, size)?;
            Window::read(&mut Lines::of(reader, call.cancel), offset, limit)
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
    let listed = path::directory(&target.real).and_then(|dir| entries(&dir));
    let mut names: Vec<String> = listed
        .into_iter()
        .flatten()
        .map(|entry| {
            let slash = if entry.kind == EntryKind::Dir {
                "/"
            } else {
                ""
            };
            format!("{}{slash}", in_one_line(Path::new(&entry.name)))
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

/// What is appended meanwhile belongs to a later look.
fn whole(file: File) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    file.take(MAX_EDIT).read_to_end(&mut content)?;
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
