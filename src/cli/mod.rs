//! Arguments, exit codes, and the only writer to the terminal.
//!
//! [`main`] is the whole of both binaries. Verbs work on files; a session joins the lead's loop with a front end. Whatever a
//! model, a file or a message says goes through [`safe`] before it reaches a terminal.

pub mod args;
pub mod choice;
pub mod closed;
pub mod demo;
pub mod entry;
pub mod exit;
pub mod front;
mod goal;
pub mod log;
pub mod meant;
pub mod place;
pub mod safe;
pub mod session;
pub mod shell;
pub mod table;
pub mod teammate;
pub mod trust;
pub mod usage_error;
pub mod verbs;
pub mod wrap;
pub mod yes_no;

pub use entry::{main, teammate_main};
