//! The turn machine of one agent: pure. It knows what is under way, and says in which order things are recorded and done.
//!
//! Rules: a reply is recorded before its first call runs; each result is recorded as it comes, a held one only when the
//! turn's end has confirmed it; every call gets exactly one result, whatever happens. Each piece of work (a model call, a
//! tool, the turn's end) runs under an epoch of its own, and what is reported under another epoch changes nothing.

pub mod consult;
pub mod machine;
mod record;
pub mod reply;
pub mod streak;
pub mod terms;

pub use machine::Turn;
pub use terms::{Answered, Effect, Event, Room, Shorter, State, Work};

#[cfg(test)]
mod tests;
