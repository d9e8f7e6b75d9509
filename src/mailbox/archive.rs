//! The archive of an agent's mail, `archive/<agent>.jsonl`: a copy for people, each line with `acknowledgedAt`.
//!
//! The transcript is what counts; the archive is not synced, and a line of it that cannot be read is passed over.

use std::collections::HashSet;
use std::path::Path;

use serde_json::{Value, json};

use super::Message;
use super::file;
use super::message::MAX_MESSAGE;
use super::parse::parse;
use crate::clock::{self, Timestamp};
use crate::ids::AgentName;
use crate::store::jsonl::{self, Chunk, Line};
use crate::store::{Durability, StoreError};

/// Longest line of an archive, in bytes: a content that was no text is longer as the text of its JSON.
const MAX_LINE: usize = 4 * MAX_MESSAGE;

/// Appends `messages`, all in one write.
pub(super) fn append<'a>(
    path: &Path,
    messages: impl IntoIterator<Item = &'a Value>,
    at: Timestamp,
) -> Result<(), StoreError> {
    let lines: Vec<Vec<u8>> = messages
        .into_iter()
        .map(|message| {
            let mut line = message.clone();
            line["acknowledgedAt"] = json!(at);
            line.to_string().into_bytes()
        })
        .collect();
    if lines.is_empty() {
        return Ok(());
    }
    let file = jsonl::open_append(path, Durability::Process)?;
    let lines: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
    jsonl::append_lines(&file, path, &lines).map(drop)
}

/// Appends those of `messages` that the archive does not hold. Reads all of it: this is for after a crash.
pub(super) fn append_missing(
    path: &Path,
    messages: &[Value],
    owner: &AgentName,
) -> Result<(), StoreError> {
    let there: HashSet<String> = read(path, owner)?
        .into_iter()
        .map(|message| message.id)
        .collect();
    let is_missing =
        |message: &&Value| message["id"].as_str().is_some_and(|id| !there.contains(id));
    append(path, messages.iter().filter(is_missing), Timestamp::now())
}

/// How much of an archive's end is looked at for what was said lately, in bytes.
const LATELY: u64 = 4 * 1024 * 1024;

/// The readable lines of its end, oldest first.
pub(super) fn newest(path: &Path, owner: &AgentName) -> Result<Vec<Message>, StoreError> {
    let length = path.symlink_metadata().map_or(0, |found| found.len());
    let from = length.saturating_sub(LATELY);
    let chunk = file::read_unlocked_from(path, from, MAX_LINE)?;
    Ok(messages(&chunk, owner))
}

/// All readable lines, oldest first.
pub(super) fn read(path: &Path, owner: &AgentName) -> Result<Vec<Message>, StoreError> {
    Ok(messages(&file::read_unlocked(path, MAX_LINE)?, owner))
}

/// The messages among the lines of `chunk`; a line that cannot be read is passed over.
pub(super) fn messages(chunk: &Chunk, owner: &AgentName) -> Vec<Message> {
    let message = |line: &Line| match line {
        Line::Whole { offset, bytes } => parse(bytes, *offset, owner, clock::now_ms()).ok(),
        Line::TooLong { .. } => None,
    };
    chunk
        .lines
        .iter()
        .filter_map(message)
        .map(|parsed| parsed.message)
        .collect()
}
