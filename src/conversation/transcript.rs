//! The append-only record of one conversation, enough to go on after a kill at any point.
//!
//! The order that makes it so: an assistant message is recorded (synced) before any of its calls runs; each result is
//! recorded as it comes; mail is recorded with its bytes' hash before the mailbox is emptied, and a second time, by id,
//! with the user message in which it was put before the model. Replaying closes unanswered calls.

use std::io::BufReader;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::dialogue::INTERRUPTED_CALL;
use super::replay::{Replay, Replaying};
use super::{Block, Compaction, Usage};
use crate::clock::Timestamp;
use crate::ids::AgentName;
use crate::store::{Durability, StoreError, atomic, jsonl};

/// One line of a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Record {
    /// The first line: whose conversation this is.
    Start {
        /// The agent.
        agent: String,
        /// The session (lead) in which it began, if any.
        session: Option<String>,
        /// When.
        at: Timestamp,
    },
    /// Text put before the model as (part of) a user message.
    User {
        /// The text. A blank one is not shown; with `mail` it marks control messages as dealt with.
        text: String,
        /// Ids of the mail that this text carries.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        mail: Vec<String>,
        /// Whose words they are, if they are those of the person (`user`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<AgentName>,
        /// When.
        at: Timestamp,
    },
    /// Messages taken in from the mailbox.
    Mail(MailRecord),
    /// A reply of the model.
    Assistant {
        /// Its parts.
        content: Vec<Block>,
        /// The tokens of the call.
        usage: Usage,
        /// What the provider wants to be told when the conversation is opened again (a script's place).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<Value>,
        /// When.
        at: Timestamp,
    },
    /// The result of one tool call.
    Result {
        /// The call's id.
        tool_use_id: String,
        /// What the tool said.
        content: String,
        /// Whether it failed.
        is_error: bool,
        /// When.
        at: Timestamp,
    },
    /// The conversation before this line was made shorter.
    Compacted {
        /// What was cut.
        #[serde(flatten)]
        cut: Compaction,
        /// What stands in place of the older part, if it was replaced.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// The tokens that this took.
        usage: Usage,
        /// As of a reply.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<Value>,
        /// When.
        at: Timestamp,
    },
    /// A round was interrupted; its reply, if any had begun, is not part of the conversation.
    Interrupted {
        /// Why, in words for the model.
        why: String,
        /// When.
        at: Timestamp,
    },
    /// Anything the owner of the transcript wants to find again (assignment, round's end); not shown to the model.
    Note {
        /// What it is about.
        key: String,
        /// Its value.
        value: Value,
        /// When.
        at: Timestamp,
    },
}

/// A batch of mail taken in: delivery and cursor in one line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MailRecord {
    /// The messages in order, as JSON objects with their `id`.
    pub messages: Vec<Value>,
    /// How many bytes of the mailbox they were taken from, from its beginning.
    pub bytes: u64,
    /// SHA-256 of those bytes, hex.
    pub hash: String,
    /// When.
    pub at: Timestamp,
}

/// An open transcript. One process writes it.
#[derive(Debug)]
pub struct Transcript {
    path: PathBuf,
    appender: jsonl::Appender,
}

impl Transcript {
    /// Opens or makes the transcript at `path`, replays it, and records a closing result for every unanswered call.
    ///
    /// Lines that cannot be read are left where they are and skipped.
    pub fn open(
        path: &Path,
        start: &Record,
        durability: Durability,
    ) -> Result<(Self, Replay), StoreError> {
        if let Some(dir) = path.parent() {
            atomic::ensure_dir(dir)?;
        }
        let mut transcript = Self {
            path: path.to_owned(),
            appender: jsonl::Appender::open(path, durability)?,
        };
        // Opened for appending just now, so that it is a plain file.
        let file = transcript.appender.reader()?;
        let mut replaying = Replaying::read(BufReader::with_capacity(1 << 16, file))
            .map_err(StoreError::of("read", path))?;
        if !replaying.started() {
            transcript.append(start)?;
            replaying.take(start.clone());
        }
        for id in replaying.unanswered() {
            let closing = Record::Result {
                tool_use_id: id,
                content: INTERRUPTED_CALL.to_owned(),
                is_error: true,
                at: Timestamp::now(),
            };
            transcript.append(&closing)?;
            replaying.take(closing);
        }
        Ok((transcript, replaying.finish()))
    }

    /// Appends `record`, synced by the durability given at opening. On an error nothing was recorded.
    pub fn append(&mut self, record: &Record) -> Result<(), StoreError> {
        let line = serde_json::to_vec(record).map_err(|error| StoreError {
            action: "write",
            path: self.path.clone(),
            source: error.into(),
        })?;
        self.appender.append(&line)
    }

    /// Appends a [`Record::Mail`] under the same rules; each of `messages` is a JSON object without a newline, kept as it
    /// is written.
    pub fn append_mail(
        &mut self,
        messages: &[Vec<u8>],
        bytes: u64,
        hash: &str,
    ) -> Result<(), StoreError> {
        let mut line = br#"{"type":"mail","messages":["#.to_vec();
        line.extend_from_slice(&messages.join(&b','));
        let rest = json!({ "bytes": bytes, "hash": hash, "at": Timestamp::now() }).to_string();
        line.extend_from_slice(b"],");
        line.extend_from_slice(&rest.as_bytes()[1..]);
        self.appender.append(&line)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
