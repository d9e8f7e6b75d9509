//! From the path that a model names to an open file: resolved once, judged as resolved, and opened without a link in it.
//!
//! [`resolve`] follows every link and says what is really meant; the rules judge that. [`open`] then walks that path from
//! the root, one directory at a time, refusing links, so that a link put there meanwhile ends in an error and never
//! somewhere else.

pub(crate) mod entries;
pub(crate) mod guarded;
pub(crate) mod open;
pub(crate) mod resolve;

pub(crate) use entries::{EntryKind, entries};
pub(crate) use open::{Opened, directory, directory_beneath};
pub(crate) use resolve::{Access, Target, resolve};

#[cfg(test)]
mod tests;
