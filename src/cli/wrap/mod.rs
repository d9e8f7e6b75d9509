//! Text broken into rows by the columns that a terminal gives its characters. Pure.
//!
//! - [`columns`]: where rows may and must break;
//! - [`styled`]: lines that hold colour sequences of our own.

pub mod columns;
pub mod styled;

pub use styled::{hang, leave, lines, wrap};
