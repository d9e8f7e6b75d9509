//! Files that survive a kill at any moment: locks, atomic replace, JSONL, watching, quarantine. Knows no domain.

pub mod atomic;
pub mod beneath;
mod bounded;
pub mod disk;
mod error;
pub(crate) mod fault;
pub mod jsonl;
pub mod lines;
pub mod lock;
pub mod quarantine;
pub mod read;
pub mod watch;

#[cfg(test)]
mod tests;

pub use error::{Durability, StoreError};
