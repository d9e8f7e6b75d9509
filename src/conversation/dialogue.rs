//! A conversation as it grows, kept valid whatever comes: the one place where records become messages.
//!
//! Results go before the texts of their message, wherever they come; blank texts, second results and replies that say
//! nothing are left out; a call that the conversation has passed by without a result is closed.

use std::collections::HashSet;

use super::{Block, Compaction, Message, Role, compaction};

/// What the model is told in place of the result of a call that a crash cut off.
pub const INTERRUPTED_CALL: &str = "interrupted: the process ended while this call was under way; \
    it may have had effects; check before doing it again";

/// The first user message where that was lost.
const LOST_BEGINNING: &str = "[The beginning of this conversation is lost.]";

/// See the module. Valid for any provider as soon as nothing is unanswered.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dialogue {
    messages: Vec<Message>,
    /// Calls of the last assistant message without a result, in order.
    open: Vec<String>,
}

impl Dialogue {
    /// Goes on from messages that are valid.
    pub fn resume(messages: Vec<Message>) -> Self {
        Self {
            messages,
            open: Vec::new(),
        }
    }

    /// The messages so far.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The messages, given away.
    pub fn into_messages(self) -> Vec<Message> {
        self.messages
    }

    /// Calls of the last reply that have no result yet, in order.
    pub fn unanswered(&self) -> &[String] {
        &self.open
    }

    /// Puts a text before the model; a blank one is left out.
    pub fn user(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.user_content().push(Block::text(text));
        }
    }

    /// Makes the conversation shorter. Nothing is cut while a call is unanswered.
    pub fn compact(&mut self, cut: Compaction, text: Option<&str>) {
        if self.open.is_empty() {
            let messages = std::mem::take(&mut self.messages);
            self.messages = compaction::apply(messages, cut, text);
        }
    }

    /// Tells the model that the round was interrupted.
    pub fn interrupted(&mut self, why: &str) {
        self.user(&format!("[Interrupted: {why}]"));
    }

    /// Takes the result of a call of the last reply; whether it belongs to one that had none. Results stand in the order of
    /// the calls, whatever order they come in.
    pub fn result(&mut self, id: &str, content: String, is_error: bool) -> bool {
        let Some(at) = self.open.iter().position(|open| open == id) else {
            return false;
        };
        self.open.remove(at);
        let later = self.calls_after(id);
        let blocks = self.user_content();
        let place = blocks
            .iter()
            .position(|block| match block {
                Block::ToolResult { tool_use_id, .. } => later.contains(tool_use_id),
                Block::Text { .. } | Block::ToolUse(_) | Block::Opaque { .. } => true,
            })
            .unwrap_or(blocks.len());
        blocks.insert(
            place,
            Block::ToolResult {
                tool_use_id: id.to_owned(),
                content,
                is_error,
            },
        );
        true
    }

    /// Takes a reply. One that neither says nor asks anything is left out: providers refuse to be shown it.
    pub fn assistant(&mut self, content: Vec<Block>) {
        for id in std::mem::take(&mut self.open) {
            self.open.push(id.clone());
            self.result(&id, INTERRUPTED_CALL.to_owned(), true);
        }
        let mut ids = HashSet::new();
        let content: Vec<Block> = content
            .into_iter()
            .filter(|block| match block {
                Block::Text { text } => !text.trim().is_empty(),
                Block::ToolUse(call) => !call.id.is_empty() && ids.insert(call.id.clone()),
                Block::Opaque { .. } => true,
                Block::ToolResult { .. } => false,
            })
            .collect();
        if content
            .iter()
            .all(|block| matches!(block, Block::Opaque { .. }))
        {
            return;
        }
        self.open = calls_in(&content);
        if self.messages.is_empty() {
            self.user(LOST_BEGINNING);
        }
        match self.messages.last_mut() {
            Some(last) if last.role == Role::Assistant => last.content.extend(content),
            _ => self.messages.push(Message {
                role: Role::Assistant,
                content,
            }),
        }
    }

    /// The calls of the last reply that come after `id`.
    fn calls_after(&self, id: &str) -> Vec<String> {
        let reply = self
            .messages
            .iter()
            .rev()
            .find(|message| message.role == Role::Assistant);
        let mut calls = reply
            .map(|reply| calls_in(&reply.content))
            .unwrap_or_default();
        match calls.iter().position(|call| call == id) {
            Some(at) => calls.split_off(at + 1),
            None => Vec::new(),
        }
    }

    fn user_content(&mut self) -> &mut Vec<Block> {
        if self
            .messages
            .last()
            .is_none_or(|last| last.role != Role::User)
        {
            self.messages.push(Message {
                role: Role::User,
                content: Vec::new(),
            });
        }
        let last = self.messages.len() - 1;
        &mut self.messages[last].content
    }
}

fn calls_in(content: &[Block]) -> Vec<String> {
    content
        .iter()
        .filter_map(|block| match block {
            Block::ToolUse(call) => Some(call.id.clone()),
            Block::Text { .. } | Block::ToolResult { .. } | Block::Opaque { .. } => None,
        })
        .collect()
}
