//! What the lines of a mailbox mean to an owner who knows the mail it had before. Pure.
//!
//! A known id with the same content is the same message again (a sender's retry, or lines that a crash left behind) and is
//! dropped; with other content it is another message, delivered under an id made from both, so that it too is known
//! when it comes again.

use std::collections::HashMap;

use super::Message;
use super::archive::ACKNOWLEDGED;
use super::parse::{Parsed, made_id, parse};
use crate::conversation::{ContentHash, text_hash};
use crate::ids::AgentName;
use crate::store::jsonl::Line;

/// How many bad lines of one batch are told one by one.
const TOLD: usize = 20;

/// A line that could not be read.
#[derive(Debug, PartialEq)]
pub(super) struct BadLine {
    /// Where it began, in bytes.
    pub(super) offset: u64,
    /// Its bytes; `None` if it was too long to be read.
    pub(super) bytes: Option<Vec<u8>>,
    /// What is wrong with it.
    pub(super) why: String,
}

/// The lines of a mailbox, sorted out.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// New messages in order.
    pub(super) messages: Vec<Message>,
    /// The JSON of each, without a newline: its line as it stood, if it says just that.
    pub(super) lines: Vec<Vec<u8>>,
    /// Their ids, each with its content's hash.
    pub(super) ids: HashMap<String, ContentHash>,
    /// Lines that could not be read.
    pub(super) bad: Vec<BadLine>,
    /// Whether a line brought no id of its own.
    pub(super) anonymous: bool,
    /// What a log should say, one text each.
    pub(super) notes: Vec<String>,
}

impl Batch {
    /// Sorts `lines` of `owner`'s mailbox; `known` are the ids it had, each with its content's hash.
    pub(super) fn sort(
        lines: Vec<Line>,
        known: &HashMap<String, ContentHash>,
        owner: &AgentName,
        now: u64,
    ) -> Self {
        let mut batch = Self::default();
        for line in lines {
            match line {
                Line::TooLong { offset, length } => batch.bad.push(BadLine {
                    offset,
                    bytes: None,
                    why: format!(
                        "it has {length} bytes; at most {} are read",
                        super::message::MAX_MESSAGE
                    ),
                }),
                Line::Whole { offset, bytes } => match parse(&bytes, offset, owner, now) {
                    Ok(parsed) => batch.take(parsed, bytes, known),
                    Err(why) => batch.bad.push(BadLine {
                        offset,
                        bytes: Some(bytes),
                        why,
                    }),
                },
            }
        }
        batch
    }

    fn take(&mut self, parsed: Parsed, line: Vec<u8>, known: &HashMap<String, ContentHash>) {
        let Parsed {
            mut message,
            anonymous,
            mut ours,
        } = parsed;
        let hash = text_hash(&message.content);
        self.anonymous |= anonymous;
        while let Some(before) = self.ids.get(&message.id).or_else(|| known.get(&message.id)) {
            let given = message.id;
            if *before == hash && !anonymous {
                self.notes
                    .push(format!("{given} from {} came again", message.from));
                return;
            }
            ours = false;
            message.id = if anonymous {
                let before = known.len() + self.ids.len();
                made_id(&[given.as_bytes(), &before.to_le_bytes()])
            } else {
                self.notes.push(format!(
                    "{given} from {} came again with other content",
                    message.from
                ));
                made_id(&[given.as_bytes(), &hash])
            };
        }
        self.lines.push(if ours {
            trimmed(line)
        } else {
            message.extra.shift_remove(ACKNOWLEDGED);
            // Text, numbers and JSON have no way to fail.
            serde_json::to_vec(&message).unwrap_or_default()
        });
        self.ids.insert(message.id.clone(), hash);
        self.messages.push(message);
    }

    /// One text for each bad line, the first few in full.
    pub(super) fn damaged(&self, owner: &AgentName) -> Vec<String> {
        let mut texts: Vec<String> = self
            .bad
            .iter()
            .take(TOLD)
            .map(|line| format!("a line in the mailbox of {owner} cannot be read: {}; it was put into quarantine", line.why))
            .collect();
        if self.bad.len() > TOLD {
            texts.push(format!(
                "{} more lines in the mailbox of {owner} cannot be read",
                self.bad.len() - TOLD
            ));
        }
        texts
    }
}

/// Without blanks around it.
fn trimmed(line: Vec<u8>) -> Vec<u8> {
    match line.trim_ascii() {
        kept if kept.len() == line.len() => line,
        kept => kept.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alice() -> AgentName {
        AgentName::parse("alice").unwrap()
    }

    fn lines(texts: &[&str]) -> Vec<Line> {
        let mut offset = 0;
        texts
            .iter()
            .map(|text| {
                let line = Line::Whole {
                    offset,
                    bytes: text.as_bytes().to_vec(),
                };
                offset += text.len() as u64 + 1;
                line
            })
            .collect()
    }

    fn ids(batch: &Batch) -> Vec<&str> {
        batch
            .messages
            .iter()
            .map(|message| message.id.as_str())
            .collect()
    }

    #[test]
    fn one_bad_line_costs_that_line_only() {
        let mut given = lines(&[
            r#"{"id":"a","from":"bob","content":"1"}"#,
            "garbage",
            r#"{"id":"b","from":"bob","content":"2"}"#,
        ]);
        given.push(Line::TooLong {
            offset: 200,
            length: 9_000_000,
        });
        let batch = Batch::sort(given, &HashMap::new(), &alice(), 0);
        assert_eq!(ids(&batch), ["a", "b"]);
        assert_eq!(
            batch.bad.iter().map(|bad| bad.offset).collect::<Vec<_>>(),
            [38, 200]
        );
        assert_eq!(batch.damaged(&alice()).len(), 2);
    }

    #[test]
    fn a_flood_of_bad_lines_is_told_in_short() {
        let batch = Batch::sort(lines(&["x"; 1000]), &HashMap::new(), &alice(), 0);
        assert_eq!(batch.bad.len(), 1000);
        assert_eq!(batch.damaged(&alice()).len(), TOLD + 1);
    }

    #[test]
    fn the_same_again_is_dropped_within_a_batch_and_across() {
        let line = r#"{"id":"a","from":"bob","content":"1"}"#;
        let first = Batch::sort(lines(&[line, line]), &HashMap::new(), &alice(), 0);
        assert_eq!(ids(&first), ["a"]);
        let second = Batch::sort(lines(&[line]), &first.ids, &alice(), 0);
        assert!(second.messages.is_empty());
        assert_eq!(second.notes.len(), 1);
    }

    #[test]
    fn a_used_id_with_other_content_is_delivered_under_another_once() {
        let first = Batch::sort(
            lines(&[r#"{"id":"a","from":"bob","content":"1"}"#]),
            &HashMap::new(),
            &alice(),
            0,
        );
        let other = lines(&[r#"{"id":"a","from":"eve","content":"2"}"#]);
        let second = Batch::sort(other.clone(), &first.ids, &alice(), 0);
        assert_eq!(second.messages.len(), 1);
        assert_ne!(ids(&second), ["a"]);
        let mut both = first.ids.clone();
        both.extend(second.ids);
        assert!(
            Batch::sort(other.clone(), &both, &alice(), 0)
                .messages
                .is_empty()
        );
    }

    #[test]
    fn a_line_of_ours_is_kept_as_it_stands_and_any_other_is_written_anew() {
        let ours = r#" {"timestamp":1764522000123,"id":"a","from":"bob","to":"Alice","type":"poem","content":"\u0041"} "#;
        let other = r#"{"id":"b","from":"bob","content":"1","acknowledgedAt":"never"}"#;
        let batch = Batch::sort(lines(&[ours, other]), &HashMap::new(), &alice(), 7);
        assert_eq!(batch.lines[0], ours.trim().as_bytes());
        assert_eq!(
            str::from_utf8(&batch.lines[1]).unwrap(),
            r#"{"id":"b","from":"bob","to":"alice","type":"message","content":"1","timestamp":7}"#
        );
        for (message, line) in batch.messages.iter().zip(&batch.lines) {
            assert_eq!(&serde_json::from_slice::<Message>(line).unwrap(), message);
        }
    }

    #[test]
    fn a_line_without_id_is_a_new_message_each_time() {
        let line = lines(&[r#"{"from":"bob","content":"go on"}"#]);
        let mut had = HashMap::new();
        for count in 1..=3 {
            let batch = Batch::sort(line.clone(), &had, &alice(), 0);
            assert!(batch.anonymous);
            had.extend(batch.ids);
            assert_eq!(had.len(), count);
        }
    }
}
