//! Keys that came in one read behind one that ends the reading of the line: the editor would lose them.
//!
//! The editor takes all keys that wait as one batch and drops what is left of it when a key hands over to the session. From
//! such a key on they are kept here, for [`super::keyboard`] to type them afterwards.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use reedline::{EditMode, Emacs, PromptEditMode, ReedlineEvent, ReedlineRawEvent};

use super::keys::{bindings, handed_over, pressed, second_of_two};
use super::menu::Openness;
use super::prompt::SharedPrompt;
use crate::cli::shell;

/// What was kept. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Behind {
    keeps: Arc<AtomicBool>,
    events: Arc<Mutex<Vec<ReedlineEvent>>>,
}

impl Behind {
    /// All of them, in their order; none is kept from now on.
    pub fn take(&self) -> Vec<ReedlineEvent> {
        self.keeps.store(false, Ordering::Release);
        std::mem::take(&mut *self.events.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A batch is over and the line is still being read: whether keys were kept for nothing.
    pub fn batch_is_over(&self) -> bool {
        let kept = self.keeps.swap(false, Ordering::AcqRel);
        kept && !self
            .events
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_empty()
    }

    fn push(&self, event: ReedlineEvent) {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.push(event);
    }
}

/// The session's keys, with what comes behind one that hands over kept.
pub struct Keys {
    emacs: Emacs,
    behind: Behind,
    menu: Openness,
    prompt: SharedPrompt,
    /// Has the editor come back.
    give_way: Arc<AtomicBool>,
    /// Ctrl-X was pressed: the beginning of Ctrl-X Ctrl-E.
    begun: bool,
}

impl Keys {
    /// While the menu is open or the history is searched no key hands over.
    pub fn new(
        behind: Behind,
        menu: Openness,
        prompt: SharedPrompt,
        give_way: Arc<AtomicBool>,
    ) -> Self {
        Self {
            emacs: Emacs::new(bindings()),
            behind,
            menu,
            prompt,
            give_way,
            begun: false,
        }
    }
}

impl EditMode for Keys {
    fn parse_event(&mut self, event: ReedlineRawEvent) -> ReedlineEvent {
        let event = second_of_two(&mut self.begun, event.into());
        if let Some(typed) = pressed(&event)
            && self.prompt.key(typed)
        {
            self.give_way.store(true, Ordering::Release);
        }
        let Ok(event) = ReedlineRawEvent::try_from(event) else {
            return ReedlineEvent::None;
        };
        let parsed = self.emacs.parse_event(event);
        if let ReedlineEvent::Resize(columns, _) = parsed {
            let more = self.prompt.painted().rows_more(usize::from(columns));
            shell::out(&"\r\n".repeat(more));
        }
        if self.behind.keeps.load(Ordering::Acquire) {
            self.behind.push(parsed);
            return ReedlineEvent::None;
        }
        let busy = self.menu.is_open() || self.prompt.is_searching();
        if handed_over(&parsed).is_some() && !busy {
            self.behind.keeps.store(true, Ordering::Release);
        }
        parsed
    }

    fn edit_mode(&self) -> PromptEditMode {
        self.emacs.edit_mode()
    }
}
