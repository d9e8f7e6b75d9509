//! One timeline of the team, from everything that its processes have written: what `lead log` shows (SPEC §14).
//!
//! Every file is a source that gives its events in its own order; [`merge`] puts them into one, by time, then by source, pure.
//! Line files are read line by line, so that a long history is never held in memory; what cannot be read is passed over
//! and counted. Reading again goes on where it was: that is how the timeline is followed.

pub mod event;
mod history;
mod lines;
pub mod merge;
mod parse;

#[cfg(test)]
mod tests;

pub use event::{Event, Happened};
pub use history::History;
