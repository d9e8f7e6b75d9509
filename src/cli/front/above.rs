//! Lines that wait to be printed above what is being typed, and the rows there that still change.
//!
//! Those rows are part of the prompt. They change with the lines before them in one step, so that no word is seen twice or
//! not at all.
//!
//! Whoever hands them over never waits for the editor. It is told to give the terminal up for a moment, unless it shows a
//! list that would be lost by that: they wait for its end then.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::menu::Openness;
use super::prompt::SharedPrompt;

/// The waiting lines. Clones share them.
#[derive(Debug, Clone)]
pub struct Above {
    waiting: Arc<Mutex<Waiting>>,
    prompt: SharedPrompt,
    menu: Openness,
    give_way: Arc<AtomicBool>,
}

#[derive(Debug, Default)]
struct Waiting {
    lines: VecDeque<String>,
    /// What comes after them and still changes.
    open: Vec<String>,
}

impl Above {
    /// None yet. `give_way` makes the editor come back from a line being typed; not while the menu is open.
    pub fn new(prompt: SharedPrompt, menu: Openness, give_way: Arc<AtomicBool>) -> Self {
        Self {
            waiting: Arc::default(),
            prompt,
            menu,
            give_way,
        }
    }

    /// Adds lines; after them come the rows `open` from now on.
    pub fn add(&self, lines: Vec<String>, open: Vec<String>) {
        let mut waiting = self.waiting();
        waiting.lines.extend(lines);
        waiting.open = open;
        if waiting.lines.is_empty() {
            self.prompt.set_open(waiting.open.clone());
        } else if !self.must_wait() {
            self.give_way.store(true, Ordering::Release);
        }
    }

    /// Adds a line of the editor's own.
    pub fn say(&self, line: String) {
        self.waiting().lines.push_back(line);
        self.give_way.store(true, Ordering::Release);
    }

    /// Whether the editor shows a list that printing would close; it comes back by itself when that is closed.
    pub fn must_wait(&self) -> bool {
        self.menu.is_open() || self.prompt.is_searching()
    }

    /// All of them, in their order.
    pub fn take(&self) -> VecDeque<String> {
        let mut waiting = self.waiting();
        self.prompt.set_open(waiting.open.clone());
        std::mem::take(&mut waiting.lines)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.waiting().lines.is_empty()
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
