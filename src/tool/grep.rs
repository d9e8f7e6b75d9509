//! `grep`: lines by regular expression.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::SystemTime;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkFinish, SinkMatch,
};
use ignore::overrides::{Override, OverrideBuilder};
use schemars::JsonSchema;
use serde::Deserialize;

use super::call::{Call, Class, Said, Tool};
use super::path::{Access, EntryKind, Opened};
use super::search::{self, MAX_RESULTS, Walked};
use crate::cancel::Cancel;

/// Most lines around each match.
const MAX_CONTEXT: u64 = 20;
/// Longest line shown, in characters.
const WIDE: usize = 400;
/// Most that is answered, in bytes.
const MAX_TEXT: usize = 256 * 1024;
/// Most memory for one line of a file, in bytes; a longer one ends the search of that file.
const HEAP: usize = 8 * 1024 * 1024;

pub(crate) struct Grep;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GrepInput {
    /// A regular expression, matched within lines; `(?i)` at its start ignores case.
    pattern: String,
    /// The directory or file to search; your working directory if left out.
    path: Option<String>,
    /// Only files whose name or path fits, such as `*.rs` or `src/**`.
    glob: Option<String>,
    /// How many lines to show around each match; 0 if left out, at most 20.
    context: Option<u64>,
}

impl Tool for Grep {
    type Input = GrepInput;
    const NAME: &'static str = "grep";
    const DESCRIPTION: &'static str = "Searches files for lines that match a regular expression, newest files first, at most 200 lines; \
        what .gitignore names and binary files are left out.";
    const CLASS: Class = Class::Workspace;

    fn path(input: &GrepInput) -> Option<(&str, Access)> {
        Some((input.path.as_deref()?, Access::Read))
    }

    fn run(call: &Call<'_>, input: GrepInput) -> Result<Said, String> {
        let matcher = matcher(&input.pattern)?;
        let walked = searched(call, input.glob.as_deref())?;
        let mut searcher = searcher(input.context.unwrap_or(0).min(MAX_CONTEXT));
        let mut found = Found::default();
        for met in &walked.files {
            found.file = call.place()?.shown(&met.path);
            // A file that cannot be read is one without matches: it may be gone by now.
            drop(search_file(
                &mut searcher,
                &matcher,
                &met.path,
                call.cancel,
                &mut found,
            ));
            if call.cancel.is_cancelled() {
                return Err("interrupted".to_owned());
            }
        }
        Ok(found.told(&input.pattern, &walked).into())
    }
}

/// The files to search: the one that is named, or those beneath the directory that fit.
fn searched(call: &Call<'_>, glob: Option<&str>) -> Result<Walked, String> {
    let (start, kind) = search::start(call)?;
    let only = only(start, glob)?;
    if kind == EntryKind::Dir {
        return search::files(call, start, |path| !only.matched(path, false).is_ignore());
    }
    let itself = search::Found {
        changed: SystemTime::UNIX_EPOCH,
        path: start.to_path_buf(),
    };
    Ok(Walked {
        files: vec![itself],
        ended: false,
    })
}

fn matcher(pattern: &str) -> Result<RegexMatcher, String> {
    if pattern.is_empty() {
        return Err("`pattern` is empty; say what to look for".to_owned());
    }
    RegexMatcherBuilder::new()
        .line_terminator(Some(b'\n'))
        .build(pattern)
        .map_err(|error| {
            format!("`pattern` is not a regular expression that fits in a line: {error}")
        })
}

fn only(start: &Path, glob: Option<&str>) -> Result<Override, String> {
    let Some(glob) = glob else {
        return Ok(Override::empty());
    };
    let mut builder = OverrideBuilder::new(start);
    builder
        .add(glob)
        .and_then(|builder| builder.build())
        .map_err(|error| format!("`glob` is not a glob: {error}"))
}

fn searcher(context: u64) -> Searcher {
    let context = usize::try_from(context).unwrap_or_default();
    SearcherBuilder::new()
        .line_number(true)
        .before_context(context)
        .after_context(context)
        .heap_limit(Some(HEAP))
        .binary_detection(BinaryDetection::quit(0))
        .build()
}

fn search_file(
    searcher: &mut Searcher,
    matcher: &RegexMatcher,
    path: &Path,
    cancel: &Cancel,
    found: &mut Found,
) -> io::Result<()> {
    let Some(file) = Opened::parent_of(path, false)?.file()? else {
        return Ok(());
    };
    // A FIFO or device that was put in its place might never end.
    if !file.metadata()?.is_file() {
        return Ok(());
    }
    let before = (found.lines.len(), found.size, found.matches, found.shown);
    found.binary = false;
    let done = searcher.search_reader(matcher, Interruptible { file, cancel }, &mut *found);
    if found.binary {
        found.lines.truncate(before.0);
        (found.size, found.matches, found.shown) = (before.1, before.2, before.3);
    }
    done
}

/// A file whose reading ends with the call.
struct Interruptible<'a> {
    file: File,
    cancel: &'a Cancel,
}

impl Read for Interruptible<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("interrupted"));
        }
        self.file.read(buffer)
    }
}

/// What was found so far, over all files.
#[derive(Debug, Default)]
struct Found {
    file: String,
    lines: Vec<String>,
    /// How many bytes they have.
    size: usize,
    matches: usize,
    /// How many of them are shown.
    shown: usize,
    binary: bool,
}

impl Found {
    fn push(&mut self, number: Option<u64>, bytes: &[u8], mark: char) {
        let number = number.unwrap_or_default();
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_end_matches(['\n', '\r']);
        let (text, dots) = match text.char_indices().nth(WIDE) {
            Some((end, _)) => (&text[..end], "…"),
            None => (text, ""),
        };
        let line = format!("{}{mark}{number}{mark} {text}{dots}", self.file);
        self.size += line.len() + 1;
        self.lines.push(line);
    }

    /// Whether no more is shown.
    fn is_full(&self) -> bool {
        self.shown >= MAX_RESULTS || self.size >= MAX_TEXT
    }

    fn told(mut self, pattern: &str, walked: &Walked) -> String {
        if self.matches == 0 {
            self.lines.push(format!("no line matches {pattern}"));
        }
        let more = self.matches.saturating_sub(self.shown);
        if more > 0 {
            self.lines.push(format!(
                "({more} more matches are left out; narrow the pattern, the path or the glob)"
            ));
        }
        self.lines.extend(walked.notes());
        self.lines.join("\n")
    }
}

impl Sink for Found {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, line: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.matches += 1;
        if !self.is_full() {
            self.shown += 1;
            self.push(line.line_number(), line.bytes(), ':');
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, line: &SinkContext<'_>) -> Result<bool, io::Error> {
        if !self.is_full() {
            self.push(line.line_number(), line.bytes(), '-');
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        if !self.is_full() {
            self.lines.push("--".to_owned());
        }
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.binary = true;
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, end: &SinkFinish) -> Result<(), io::Error> {
        self.binary |= end.binary_byte_offset().is_some();
        Ok(())
    }
}
