//! Lines that wait to be printed above what is being typed.
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
    lines: Arc<Mutex<VecDeque<String>>>,
    prompt: SharedPrompt,
    menu: Openness,
    give_way: Arc<AtomicBool>,
}

impl Above {
    /// None yet. `give_way` makes the editor come back from a line being typed; not while the menu is open.
    pub fn new(prompt: SharedPrompt, menu: Openness, give_way: Arc<AtomicBool>) -> Self {
        Self {
            lines: Arc::default(),
            prompt,
            menu,
            give_way,
        }
    }

    /// Adds lines.
    pub fn add(&self, lines: Vec<String>) {
        if !lines.is_empty() {
            self.lines().extend(lines);
            if !self.must_wait() {
                self.give_way.store(true, Ordering::Release);
            }
        }
    }

    /// Whether the editor shows a list that printing would close; it comes back by itself when that is closed.
    pub fn must_wait(&self) -> bool {
        self.menu.is_open() || self.prompt.is_searching()
    }

    /// All of them, in their order.
    pub fn take(&self) -> VecDeque<String> {
        std::mem::take(&mut *self.lines())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.lines().is_empty()
    }

    fn lines(&self) -> std::sync::MutexGuard<'_, VecDeque<String>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
