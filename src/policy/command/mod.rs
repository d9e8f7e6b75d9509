//! One command as it would run: its options, what else it runs, what it writes.

pub(super) mod git;
mod prefixes;
mod texts;
mod unit;
mod wrap;
mod writers;
mod writes;

pub(super) use unit::Unit;
pub(super) use wrap::{Inner, inner};
pub(super) use writes::written;

#[cfg(test)]
mod tests;
