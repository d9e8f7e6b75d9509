//! A prompt on a terminal without an editor: what happens while it stands there begins a line of its own, and it comes again;
//! or it waits until the line is read.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::cli::shell;

/// The line that is being typed on, as far as it can be known.
#[derive(Debug, Default)]
pub struct PromptLine {
    text: String,
    open: Arc<AtomicBool>,
    /// What waits for the line to be read; `None`: nothing does.
    held: Option<Vec<String>>,
}

impl PromptLine {
    /// One that nothing disturbs: what happens while it stands there is printed when its line was read.
    pub fn undisturbed() -> Self {
        let mut line = Self::default();
        line.held = Some(Vec::new());
        line
    }

    /// For the reading thread, which sets it to false with every line: the terminal has ended the line then.
    pub fn open(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.open)
    }

    /// Prints whole lines above the prompt, or after it.
    pub fn print(&mut self, lines: &[String]) {
        let open = self.open.load(Ordering::Acquire);
        if let Some(held) = &mut self.held {
            held.extend_from_slice(lines);
            if !open {
                held.drain(..).for_each(|line| shell::out_line(&line));
            }
            return;
        }
        if lines.is_empty() {
            return;
        }
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

    /// Prints the prompt, with `above` before it, unless it stands there; it does from now on until a line is read.
    pub fn ask(&mut self, above: &[String], text: &str) {
        if text == self.text && self.open.load(Ordering::Acquire) {
            return;
        }
        self.close();
        self.print(above);
        self.open.store(true, Ordering::Release);
        text.clone_into(&mut self.text);
        shell::out(text);
    }

    /// Nothing is asked any more: what was held comes now.
    pub fn close(&mut self) {
        if self.open.swap(false, Ordering::AcqRel) {
            shell::out_line("");
        }
        self.print(&[]);
    }
}

impl Drop for PromptLine {
    /// Nobody answers any more.
    fn drop(&mut self) {
        if self.held.as_ref().is_some_and(|held| !held.is_empty()) {
            self.close();
        }
    }
}
