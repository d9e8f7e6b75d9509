//! Messages between agents (SPEC §4): sending that never lies, and taking in that neither loses nor doubles.

mod archive;
mod batch;
pub mod exchange;
mod file;
mod front;
pub mod inbox;
pub mod message;
mod ours;
mod parse;
pub mod post;
mod strict;

#[cfg(test)]
mod tests;

pub use front::unless_recorded;
pub use inbox::{Inbox, Intake};
pub use message::{Kind, MAX_MESSAGE, Message};
pub use parse::{line_fault, made_id};
pub use post::{Directory, Post, Recipient, SendError, Sent};
