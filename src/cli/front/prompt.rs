//! What stands before the line being typed, and above it the status row; changed by the session while the editor is open.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use reedline::{Color, Prompt, PromptEditMode, PromptHistorySearch};

use super::answering::Answering;
use super::painted::Painted;
use super::question;
use super::status::Status;
use crate::cli::shell::Style;
use crate::clock;
use crate::lead::Shown;
use crate::policy::Mode;

/// What stands before a message: the permission mode where it is not the usual one, and whether the lead works.
pub fn before_message(mode: Mode, works: bool) -> String {
    let mode = match mode {
        Mode::Ask => None,
        Mode::Confirm => Some("confirm"),
        Mode::Deny => Some("deny"),
        Mode::Bypass => Some("bypass"),
    };
    let marks: Vec<&str> = mode.into_iter().chain(works.then_some("working")).collect();
    if marks.is_empty() {
        "lead> ".to_owned()
    } else {
        format!("lead ({})> ", marks.join(", "))
    }
}

/// What stands before the second line of a text, and those after it.
pub const NEXT_ROW: &str = "… ";
/// After how long without a key a question rings.
const QUIET: Duration = Duration::from_secs(10);

/// A prompt that others may change. Clones share the text.
#[derive(Debug, Clone, Default)]
pub struct SharedPrompt {
    texts: Arc<Mutex<Texts>>,
    searching: Arc<AtomicBool>,
    found: Arc<AtomicBool>,
    painted: Painted,
}

#[derive(Debug, Default)]
struct Texts {
    /// Rows of streamed text that still change.
    open: Vec<String>,
    message: String,
    question: Option<String>,
    answering: Answering,
    /// When the last key was pressed.
    typed_at: Option<Instant>,
    status: Status,
    style: Style,
}

impl SharedPrompt {
    /// Empty. `found` becomes true whenever a search of the history ends.
    pub fn new(style: Style, found: Arc<AtomicBool>) -> Self {
        let prompt = Self {
            found,
            ..Self::default()
        };
        prompt.texts().style = style;
        prompt
    }

    /// Takes in what is shown.
    pub fn note(&self, item: &Shown) {
        self.texts().status.note(item, clock::instant());
    }

    /// Whether the status row changes with time alone now.
    pub fn ticks(&self) -> bool {
        self.texts().status.ticks(clock::instant())
    }

    /// What stands before a message; the editor shows it with its next repaint.
    pub fn set(&self, text: impl Into<String>) {
        self.texts().message = text.into();
    }

    /// The rows above the status row; the editor shows them with its next repaint.
    pub fn set_open(&self, rows: Vec<String>) {
        self.texts().open = rows;
    }

    /// What stands before an answer, for as long as the line is one. Only the editor's own thread may say so: a question's
    /// prompt that is seen must be the one that the line is taken for.
    pub fn set_question(&self, text: Option<String>) {
        let mut texts = self.texts();
        let keys = text.as_deref().map_or("", question::at_once);
        texts.answering = Answering::begins(keys, clock::instant());
        texts.question = text;
    }

    /// Whether nothing was typed for so long that the person may look elsewhere.
    pub fn is_quiet(&self) -> bool {
        let typed = self.texts().typed_at;
        typed.is_none_or(|at| clock::instant().saturating_duration_since(at) >= QUIET)
    }

    /// A key was pressed, `typed` if it is a character: whether it answers the question at once.
    pub fn key(&self, typed: Option<char>) -> bool {
        let now = clock::instant();
        let mut texts = self.texts();
        texts.typed_at = Some(now);
        texts.answering.key(typed, now)
    }

    /// Whether the last key has answered the question; once.
    pub fn takes_answer(&self) -> bool {
        self.texts().answering.takes()
    }

    /// Whether the line being typed is an answer.
    pub fn is_question(&self) -> bool {
        self.texts().question.is_some()
    }

    /// What stands on the screen.
    pub fn painted(&self) -> &Painted {
        &self.painted
    }

    /// Whether the history was being searched when the editor painted last.
    pub fn is_searching(&self) -> bool {
        self.searching.load(Ordering::Acquire)
    }

    fn get(&self) -> String {
        let texts = self.texts();
        let line = texts.question.as_ref().unwrap_or(&texts.message);
        let (width, _) = crossterm::terminal::size().unwrap_or((80, 24));
        let now = clock::instant();
        let mut rows = texts.open.clone();
        rows.extend(texts.status.row(texts.style, now, usize::from(width)));
        rows.push(line.clone());
        let text = rows.join("\n");
        self.painted.prompt(&text, usize::from(width));
        text
    }

    fn texts(&self) -> MutexGuard<'_, Texts> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Prompt for SharedPrompt {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Owned(self.get())
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        if self.searching.swap(false, Ordering::AcqRel) {
            self.found.store(true, Ordering::Release);
        }
        Cow::Borrowed("")
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed(NEXT_ROW)
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        self.searching.store(true, Ordering::Release);
        // What the editor was to give way for as the search began waits for its end.
        self.found.store(false, Ordering::Release);
        Cow::Owned(format!("(history: {}) ", search.term))
    }

    fn get_prompt_color(&self) -> Color {
        Color::Default
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompt_names_what_is_not_as_usual() {
        for (mode, works, wanted) in [
            (Mode::Ask, false, "lead> "),
            (Mode::Ask, true, "lead (working)> "),
            (Mode::Confirm, false, "lead (confirm)> "),
            (Mode::Deny, true, "lead (deny, working)> "),
        ] {
            assert_eq!(before_message(mode, works), wanted);
        }
    }
}
