//! The conversation in memory, as the provider is sent it: built by the same [`Dialogue`] as a replay of the transcript.
//!
//! Everything that could shorten a conversation belongs between [`History::lend`] and the call it is lent for.

use super::turn::reply;
use crate::conversation::{Block, Dialogue, Message, Role, ToolCall};

/// See the module. While a call is in flight the messages are lent to the worker and nothing is added.
#[derive(Debug, Default)]
pub struct History {
    dialogue: Dialogue,
    last_text: Option<String>,
}

impl History {
    /// From a replayed transcript.
    pub fn new(messages: Vec<Message>) -> Self {
        let last_text = messages
            .iter()
            .rev()
            .filter(|message| message.role == Role::Assistant)
            .find_map(|message| reply::text(&message.content));
        Self {
            dialogue: Dialogue::resume(messages),
            last_text,
        }
    }

    /// All calls made so far.
    pub fn calls(&self) -> Vec<ToolCall> {
        self.dialogue
            .messages()
            .iter()
            .flat_map(|message| reply::calls(&message.content))
            .collect()
    }

    /// The last words of the model.
    pub fn last_text(&self) -> Option<&str> {
        self.last_text.as_deref()
    }

    /// Whether a call could be made with what is there.
    pub fn ends_with_user(&self) -> bool {
        self.dialogue
            .messages()
            .last()
            .is_some_and(|message| message.role == Role::User)
    }

    /// Text of the person or the runtime.
    pub fn add_text(&mut self, text: &str) {
        self.dialogue.user(text);
    }

    /// The round was interrupted.
    pub fn add_interruption(&mut self, why: &str) {
        self.dialogue.interrupted(why);
    }

    /// A reply.
    pub fn add_reply(&mut self, content: Vec<Block>) {
        if let Some(text) = reply::text(&content) {
            self.last_text = Some(text);
        }
        self.dialogue.assistant(content);
    }

    /// One result.
    pub fn add_result(&mut self, call: &ToolCall, content: String, is_error: bool) {
        self.dialogue.result(&call.id, content, is_error);
    }

    /// Hands the messages to a call.
    pub fn lend(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.dialogue).into_messages()
    }

    /// Takes them back.
    pub fn give_back(&mut self, messages: Vec<Message>) {
        self.dialogue = Dialogue::resume(messages);
    }
}
