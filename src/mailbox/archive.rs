//! The archive of an agent's mail, `archive/<agent>.jsonl`: a copy for people, each line with `acknowledgedAt`.
//!
//! The transcript is what counts; the archive is not synced, and a line of it that cannot be read is passed over.

use std::collections::HashSet;
use std::path::Path;

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

/// The key that an archive's line has besides the message's own.
pub(super) const ACKNOWLEDGED: &str = "acknowledgedAt";

/// Appends `messages`, each a JSON object without a newline and without [`ACKNOWLEDGED`], all in one write.
pub(super) fn append<'a>(
    path: &Path,
    messages: impl IntoIterator<Item = &'a [u8]>,
    at: Timestamp,
) -> Result<(), StoreError> {
    let end = format!(",\"{ACKNOWLEDGED}\":\"{at}\"}}\n");
    let mut lines = Vec::new();
    for message in messages {
        if let Some(fields) = message.strip_suffix(b"}") {
            lines.extend_from_slice(fields);
            lines.extend_from_slice(end.as_bytes());
        }
    }
    if lines.is_empty() {
        return Ok(());
    }
    let file = jsonl::open_append(path, Durability::Process)?;
    jsonl::append_block(&file, path, lines)
}

/// Appends those of `messages` that the archive does not hold. Reads all of it: this is for after a crash.
pub(super) fn append_missing(
    path: &Path,
    messages: &[Vec<u8>],
    owner: &AgentName,
) -> Result<(), StoreError> {
    let there: HashSet<String> = read(path, owner)?
        .into_iter()
        .map(|message| message.id)
        .collect();
    let is_missing = |message: &&[u8]| {
        parse(message, 0, owner, 0).is_ok_and(|parsed| !there.contains(&parsed.message.id))
    };
    let messages = messages.iter().map(Vec::as_slice);
    append(path, messages.filter(is_missing), Timestamp::now())
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
