//! One agent's thinking loop, the same for lead and teammates: turns, the worker thread, the system prompt.

pub mod answering;
mod budget;
pub mod history;
pub mod joined;
pub mod limits;
pub mod prompt;
mod shortening;
pub mod thinker;
pub mod turn;
pub mod worker;

#[cfg(test)]
mod tests;

pub use thinker::{Happening, Input, Thinker, ThinkerParts};
pub use worker::Report;
