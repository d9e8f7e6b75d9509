//! Messages as every provider can be told them.
//!
//! A valid conversation begins with a user message, roles alternate, each tool call of an assistant message has exactly
//! one result at the front of the next user message, and no text is empty.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The person, the runtime, or tool results.
    User,
    /// The model.
    Assistant,
}

/// A tool call as the model asked for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id, echoed with the result.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments; an object unless `cut`.
    pub input: Value,
    /// Why this call must not be run: its input was cut or is not JSON. The text goes to the model as the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Words; never empty or blank.
    Text {
        /// The words.
        text: String,
    },
    /// A tool call (assistant only).
    ToolUse(ToolCall),
    /// The result of a tool call (user only).
    ToolResult {
        /// The call's id.
        tool_use_id: String,
        /// What the tool said; may be empty.
        content: String,
        /// Whether it failed.
        is_error: bool,
    },
    /// Something of the provider's own (thinking, reasoning, unknown blocks) that is echoed to it as it came.
    Opaque {
        /// The provider and model it came from, `anthropic:claude-…`; never sent to another.
        origin: String,
        /// The block as received.
        value: Value,
    },
}

impl Block {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

/// The words among `content`, if there are any.
pub fn words(content: &[Block]) -> Option<String> {
    let texts: Vec<&str> = content
        .iter()
        .filter_map(|block| match block {
            Block::Text { text } if !text.trim().is_empty() => Some(text.as_str()),
            Block::Text { .. }
            | Block::ToolUse(_)
            | Block::ToolResult { .. }
            | Block::Opaque { .. } => None,
        })
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// A message of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// Its parts in order.
    pub content: Vec<Block>,
}

impl Message {
    /// All text of the message, parts joined by a newline.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self
            .content
            .iter()
            .filter_map(|block| match block {
                Block::Text { text } => Some(text.as_str()),
                Block::ToolUse(_) | Block::ToolResult { .. } | Block::Opaque { .. } => None,
            })
            .collect();
        texts.join("\n")
    }
}

/// A tool as offered to a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolSpec {
    /// `[a-z_]+`
    pub name: &'static str,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of the input, of type object, without unknown fields.
    pub schema: Value,
}

/// Tokens of one model call, in the sense of SPEC §9.5: the four do not overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Prompt tokens that were neither read from nor written to a cache.
    pub input: u64,
    /// Generated tokens.
    pub output: u64,
    /// Prompt tokens read from a cache.
    pub cache_read: u64,
    /// Prompt tokens written to a cache.
    pub cache_write: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
    }
}
