//! The terminal's modes for as long as the editor is used, also between two reads of it.
//!
//! The editor goes back to what it found whenever it returns. It finds raw mode: what is typed at such a moment is neither
//! echoed nor changed by the terminal. What is pasted comes marked as such the whole time, so that many lines stay one input.

use std::io;

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::cli::shell;

/// Pasted text is marked.
const ON: &str = "\u{1b}[?2004h";
const OFF: &str = "\u{1b}[?2004l";

/// A terminal as it was found.
#[derive(Debug, Clone)]
pub struct Found(Option<Termios>);

impl Found {
    /// The one on standard input, if it is any.
    pub fn look() -> Self {
        Self(tcgetattr(io::stdin()).ok())
    }

    /// Enters raw mode; without a terminal it does nothing.
    pub fn take(&self) {
        if let Some(found) = &self.0 {
            let mut raw = found.clone();
            raw.make_raw();
            tcsetattr(io::stdin(), OptionalActions::Now, &raw).ok();
            shell::out(ON);
        }
    }

    /// Goes back to how it was found.
    pub fn give_back(&self) {
        if let Some(found) = &self.0 {
            shell::out(OFF);
            tcsetattr(io::stdin(), OptionalActions::Now, found).ok();
        }
    }
}

/// The session's modes, until dropped.
#[derive(Debug)]
pub struct Raw(Found);

impl Raw {
    /// Enters them.
    pub fn enter(found: Found) -> Self {
        found.take();
        Self(found)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.0.give_back();
    }
}
