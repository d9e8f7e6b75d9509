//! Requests that await one answer: shutdown, plan, permission, team (SPEC §8.1). The record decides, never a message.

pub mod kept;
pub mod machine;
pub mod record;

pub use kept::Requests;
pub use record::{Decision, NewRequest, Record, Refusal, RequestKind, RequestStatus};

#[cfg(test)]
mod tests;
