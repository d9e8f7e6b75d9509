//! Requests that await one answer: shutdown, plan, permission, team (SPEC §8.1). The record decides, never a message.

pub mod kept;
pub mod machine;
pub mod record;

pub use kept::Requests;
pub use record::{Decision, NewRequest, Record, Refusal, RequestKind, RequestStatus};

/// What a tool is told whose permission question nobody answered in time: it is not a denial (SPEC §8.4).
pub const UNANSWERED: &str =
    "nobody answered the permission question in time; it was neither allowed nor denied";

#[cfg(test)]
mod tests;
