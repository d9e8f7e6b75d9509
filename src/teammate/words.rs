//! The words of rounds, told to the lead once each, also across a crash: the transcript says which were said, and a
//! message's id is made from where in the conversation it stands.

use serde_json::{Value, json};

use super::letters;
use super::mate::Mate;
use crate::clock::Timestamp;
use crate::conversation::Replay;
use crate::ids::AgentName;
use crate::mailbox::{Message, inbox, made_id};

/// The transcript's note of the text that the reminder's round adds to.
const KEPT: &str = "reminded";
/// The transcript's note that an answer to a question is awaited.
pub(super) const ASKED: &str = "asked";

/// Where the conversation stands.
#[derive(Debug, Default)]
pub(super) struct Words {
    began: Option<Timestamp>,
    replies: u64,
    kept: bool,
    asked: bool,
}

/// What a predecessor has left.
#[derive(Debug, Default)]
pub(super) struct Left {
    /// See [`super::machine::Start::last_words`].
    pub(super) last_words: Option<String>,
    /// See [`super::machine::Start::reminded`].
    pub(super) reminded: Option<String>,
    /// See [`super::machine::Start::asked`].
    pub(super) asked: bool,
}

impl Words {
    pub(super) fn of(replay: &Replay) -> Self {
        Self {
            began: replay.began,
            replies: replay.replies,
            kept: replay.notes.get(KEPT).is_some_and(|note| !note.is_null()),
            asked: replay.notes.get(ASKED) == Some(&json!(true)),
        }
    }

    /// The model has replied.
    pub(super) fn replied(&mut self) {
        self.replies += 1;
    }

    /// The id of what is said of the present place in `agent`'s conversation.
    fn id(&self, agent: &AgentName) -> String {
        let began = self.began.map_or(0, Timestamp::as_ms);
        made_id(&[
            agent.as_str().to_ascii_lowercase().as_bytes(),
            &began.to_le_bytes(),
            &self.replies.to_le_bytes(),
        ])
    }
}

/// What `replay` tells of the last round.
pub(super) fn left(replay: &Replay) -> Left {
    let kept = replay.notes.get(KEPT);
    let said_after = kept
        .and_then(|note| note.get("replies")?.as_u64())
        .is_some_and(|replies| replies < replay.replies);
    let text = kept.and_then(|note| note.get("text")?.as_str());
    Left {
        last_words: replay.last_words.clone(),
        // Before the reminder's round has said anything they are the same words.
        reminded: text
            .filter(|_| said_after || replay.last_words.is_none())
            .map(str::to_owned),
        asked: replay.notes.get(ASKED) == Some(&json!(true)),
    }
}

impl Mate {
    pub(super) fn result(&self, text: &str) -> Message {
        let mut message = letters::result(&self.me, text, self.last_work.as_ref());
        message.id = self.words.id(&self.me);
        message
    }

    /// Tells the lead what a predecessor may have told already: then it has a message of that id.
    pub(super) fn late_result(&mut self, text: &str) -> anyhow::Result<()> {
        let message = self.result(text);
        let lead = AgentName::lead();
        let told = inbox::waiting(&self.workspace, &lead)?
            .into_iter()
            .chain(inbox::archived(&self.workspace, &lead)?)
            .any(|known| known.id == message.id);
        if !told {
            self.tell(&message)?;
        }
        self.keep(None)
    }

    /// Keeps the text that the next round adds to, or forgets it.
    pub(super) fn keep(&mut self, text: Option<&str>) -> anyhow::Result<()> {
        if text.is_none() && !self.words.kept {
            return Ok(());
        }
        self.words.kept = text.is_some();
        let note = text.map_or(
            Value::Null,
            |text| json!({ "replies": self.words.replies, "text": text }),
        );
        self.note(KEPT, note)
    }

    /// Whether an answer to a question is awaited, for a successor.
    pub(super) fn awaits_answer(&mut self, awaits: bool) -> anyhow::Result<()> {
        if awaits == self.words.asked {
            return Ok(());
        }
        self.words.asked = awaits;
        self.note(ASKED, json!(awaits))
    }
}
