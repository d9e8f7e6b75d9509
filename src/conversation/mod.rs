//! An agent's conversation: model-neutral messages, and the transcript they are kept in. Knows no provider.

pub mod check;
pub mod dialogue;
pub mod message;
pub mod replay;
pub mod transcript;

pub use dialogue::Dialogue;
pub use message::{Block, Message, Role, ToolCall, ToolSpec, Usage, words};
pub use replay::{LastMail, Replay, content_hash};
pub use transcript::{MailRecord, Record, Transcript};

#[cfg(test)]
mod tests;
