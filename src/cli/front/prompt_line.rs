//! A prompt on a terminal without an editor: what happens while it stands there begins a line of its own, and it comes again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::cli::shell;

/// The line that is being typed on, as far as it can be known.
#[derive(Debug, Default)]
pub struct PromptLine {
    text: String,
    open: Arc<AtomicBool>,
}

impl PromptLine {
    /// For the reading thread, which sets it to false with every line: the terminal has ended the line then.
    pub fn open(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.open)
    }

    /// Prints whole lines above the prompt.
    pub fn print(&self, lines: &[String]) {
        if lines.is_empty() {
            return;
        }
        let open = self.open.load(Ordering::Acquire);
        if open {
            shell::out_line("");
        }
        for line in lines {
            shell::out_line(line);
        }
        if open {
            shell::out(&self.text);
        }
    }

    /// Prints the prompt; from now on it stands there until a line is read.
    pub fn ask(&mut self, text: &str) {
        if self.open.swap(true, Ordering::AcqRel) {
            shell::out_line("");
        }
        text.clone_into(&mut self.text);
        shell::out(text);
    }
}
