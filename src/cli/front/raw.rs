//! The terminal's raw mode for as long as the editor is used, also between two reads of it.
//!
//! The editor goes back to what it found whenever it returns. It finds raw mode: what is typed at such a moment is neither
//! echoed nor changed by the terminal.

use std::io;

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// Raw mode, until dropped.
#[derive(Debug)]
pub struct Raw(Option<Termios>);

impl Raw {
    /// Enters it; without a terminal it does nothing.
    pub fn enter() -> Self {
        let found = tcgetattr(io::stdin()).ok();
        if let Some(found) = &found {
            let mut raw = found.clone();
            raw.make_raw();
            tcsetattr(io::stdin(), OptionalActions::Now, &raw).ok();
        }
        Self(found)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        if let Some(found) = &self.0 {
            tcsetattr(io::stdin(), OptionalActions::Now, found).ok();
        }
    }
}
