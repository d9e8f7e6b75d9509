//! An agent's conversation: model-neutral messages, and the transcript they are kept in. Knows no provider.

pub mod check;
pub mod compaction;
pub mod dialogue;
pub mod estimate;
pub mod message;
pub mod model_notes;
pub mod opening;
pub mod replay;
pub mod transcript;

pub use compaction::Compaction;
pub use dialogue::Dialogue;
pub use estimate::Estimate;
pub use message::{Block, Message, Role, ToolCall, ToolSpec, Usage, words};
pub use model_notes::ModelNotes;
pub use replay::{ContentHash, LastMail, Replay, content_hash, text_hash};
pub use transcript::{MailRecord, Record, Transcript};

#[cfg(test)]
mod tests;
