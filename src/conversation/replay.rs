//! From a transcript's lines back to a conversation, however the file ends. Pure but for reading.

use std::collections::HashMap;
use std::io::{self, BufRead};

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::dialogue::Dialogue;
use super::{MailRecord, Message, ModelNotes, Record, Usage, words};
use crate::clock::Timestamp;

/// What a transcript holds when opened.
#[derive(Debug, Clone, Default)]
pub struct Replay {
    /// The conversation, valid for any provider: unanswered calls are closed.
    pub messages: Vec<Message>,
    /// Mail that was taken in but never put before the model, control messages included; in order.
    pub pending_mail: Vec<Value>,
    /// Ids of all mail ever taken in, with the [`content_hash`] of each.
    pub known_mail: HashMap<String, ContentHash>,
    /// The last mail record, to finish a take-in that a crash cut short.
    pub last_mail: Option<LastMail>,
    /// What that record brought, put before the model or not.
    pub last_batch: Vec<Value>,
    /// The notes of the replies.
    pub model_notes: ModelNotes,
    /// The last value of each owner's note.
    pub notes: HashMap<String, Value>,
    /// When the conversation began.
    pub began: Option<Timestamp>,
    /// Replies of the model so far.
    pub replies: u64,
    /// The words with which the last round ended, if nothing was put before the model since.
    pub last_words: Option<String>,
    /// Whether the last round ended: the last message is an assistant's without calls, or the round was interrupted, or
    /// there is none.
    pub at_rest: bool,
    /// Sum of all calls.
    pub usage: Usage,
}

/// What a mail record was taken from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastMail {
    /// How many bytes of the mailbox.
    pub bytes: u64,
    /// Their SHA-256, hex.
    pub hash: String,
    /// The id of its first message, which no other record has.
    pub first: String,
}

/// SHA-256 of a message's `content`: of the text itself, or of the JSON of what is no text.
pub type ContentHash = [u8; 32];

/// The hash of a message's content.
pub fn content_hash(message: &Value) -> ContentHash {
    match message.get("content") {
        Some(Value::String(text)) => text_hash(text),
        Some(other) => text_hash(&other.to_string()),
        None => text_hash(""),
    }
}

/// The same of a content that is a text.
pub fn text_hash(content: &str) -> ContentHash {
    Sha256::digest(content).into()
}

impl LastMail {
    /// What `record` says.
    pub fn of(record: &MailRecord) -> Self {
        let first = record
            .messages
            .first()
            .and_then(|message| message["id"].as_str());
        Self {
            bytes: record.bytes,
            hash: record.hash.clone(),
            first: first.unwrap_or_default().to_owned(),
        }
    }
}

/// A replay under way.
pub(super) struct Replaying {
    replay: Replay,
    dialogue: Dialogue,
    started: bool,
}

impl Replaying {
    /// Reads all of `lines`, holding one line at a time; what is no record is passed over.
    pub(super) fn read(mut lines: impl BufRead) -> io::Result<Self> {
        let mut replaying = Self {
            replay: Replay {
                at_rest: true,
                ..Replay::default()
            },
            dialogue: Dialogue::default(),
            started: false,
        };
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line)? > 0 {
            let bytes = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line);
            if let Ok(record) = serde_json::from_slice(bytes) {
                replaying.take(record);
            }
            line.clear();
        }
        Ok(replaying)
    }

    /// Whether there was a start record.
    pub(super) fn started(&self) -> bool {
        self.started
    }

    /// Calls that have no result.
    pub(super) fn unanswered(&self) -> Vec<String> {
        self.dialogue.unanswered().to_vec()
    }

    /// Takes the next record in.
    pub(super) fn take(&mut self, record: Record) {
        self.replay.model_notes.take(&record);
        match record {
            Record::Start { at, .. } => {
                self.started = true;
                self.replay.began.get_or_insert(at);
            }
            Record::User { text, mail, .. } => {
                self.shown(&mail);
                if !text.trim().is_empty() {
                    self.replay.at_rest = false;
                    self.replay.last_words = None;
                }
                self.dialogue.user(&text);
            }
            Record::Mail(batch) => {
                self.replay.last_mail = Some(LastMail::of(&batch));
                self.replay.last_batch.clone_from(&batch.messages);
                batch
                    .messages
                    .into_iter()
                    .for_each(|message| self.mail(message));
            }
            Record::Assistant {
                content,
                usage,
                note,
                ..
            } => {
                self.replay.usage += usage;
                self.replay.model_notes.add(note);
                self.replay.replies += 1;
                self.replay.last_words = words(&content);
                self.dialogue.assistant(content);
                self.replay.at_rest = self.dialogue.unanswered().is_empty();
                if !self.replay.at_rest {
                    self.replay.last_words = None;
                }
            }
            Record::Result {
                tool_use_id,
                content,
                is_error,
                ..
            } => {
                self.dialogue.result(&tool_use_id, content, is_error);
            }
            Record::Compacted {
                cut,
                text,
                usage,
                note,
                ..
            } => {
                self.replay.usage += usage;
                self.replay.model_notes.add(note);
                self.dialogue.compact(cut, text.as_deref());
            }
            Record::Interrupted { why, .. } => {
                self.dialogue.interrupted(&why);
                self.replay.at_rest = true;
                self.replay.last_words = None;
            }
            Record::Note { key, value, .. } => {
                self.replay.notes.insert(key, value);
            }
        }
    }

    /// The outcome. Calls still unanswered are the caller's to close before.
    pub(super) fn finish(self) -> Replay {
        Replay {
            messages: self.dialogue.into_messages(),
            ..self.replay
        }
    }

    fn mail(&mut self, message: Value) {
        let Some(id) = message.get("id").and_then(Value::as_str) else {
            return;
        };
        let hash = content_hash(&message);
        if self.replay.known_mail.insert(id.to_owned(), hash).is_none() {
            self.replay.pending_mail.push(message);
        }
    }

    fn shown(&mut self, ids: &[String]) {
        if !ids.is_empty() {
            self.replay.pending_mail.retain(|message| {
                message
                    .get("id")
                    .and_then(Value::as_str)
                    .is_none_or(|id| !ids.iter().any(|shown| shown == id))
            });
        }
    }
}
