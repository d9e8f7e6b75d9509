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

/// How much of an archive's end is looked at for what was said lately, in bytes: at first, and at most.
const FIRST_LOOK: u64 = 64 * 1024;
const LATELY: u64 = 4 * 1024 * 1024;

/// The readable lines of its end, oldest first: all that were taken in after `since`, in Unix milliseconds, and perhaps some
/// before. No more is read than that, however long the archive is.
pub(super) fn newest(
    path: &Path,
    owner: &AgentName,
    since: u64,
) -> Result<Vec<Message>, StoreError> {
    let length = path.symlink_metadata().map_or(0, |found| found.len());
    let mut size = FIRST_LOOK;
    loop {
        let chunk = file::read_unlocked_from(path, length.saturating_sub(size), MAX_LINE)?;
        if size >= length.min(LATELY) || begins_before(&chunk, since) {
            return Ok(messages(&chunk, owner));
        }
        size *= 4;
    }
}

/// Whether what stands before `chunk` was taken in at `since` or earlier.
fn begins_before(chunk: &Chunk, since: u64) -> bool {
    #[derive(serde::Deserialize)]
    struct Taken {
        #[serde(rename = "acknowledgedAt")]
        at: Timestamp,
    }
    let taken = |line: &Line| match line {
        Line::Whole { bytes, .. } => serde_json::from_slice::<Taken>(bytes).ok(),
        Line::TooLong { .. } => None,
    };
    let first = chunk.lines.iter().find_map(taken);
    first.is_some_and(|first| first.at.as_ms() <= since)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mailbox::Kind;

    #[test]
    fn of_a_long_archive_no_more_is_read_than_was_taken_in_lately() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("bob.jsonl");
        let bob = AgentName::parse("bob").unwrap();
        let text = "x".repeat(1000);
        let lines: Vec<Vec<u8>> = (0..600)
            .map(|_| Message::new(&AgentName::lead(), &bob, Kind::Message, &text))
            .map(|message| serde_json::to_vec(&message).unwrap())
            .collect();
        for (nr, part) in (1..).zip(lines.chunks(200)) {
            let part = part.iter().map(Vec::as_slice);
            append(&path, part, Timestamp::from_ms(nr * 1000)).unwrap();
        }
        let read = |since| newest(&path, &bob, since).unwrap().len();
        assert!(read(3000) < 100, "the last ones were all read long ago");
        assert!((200..400).contains(&read(2000)), "{}", read(2000));
        assert_eq!(read(0), 600);
    }
}
