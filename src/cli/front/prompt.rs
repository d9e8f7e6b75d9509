//! What stands before the line being typed; changed by the session while the editor is open.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reedline::{Prompt, PromptEditMode, PromptHistorySearch};

/// A prompt that others may change. Clones share the text.
#[derive(Debug, Clone, Default)]
pub struct SharedPrompt {
    texts: Arc<Mutex<Texts>>,
}

#[derive(Debug, Default)]
struct Texts {
    message: String,
    question: Option<String>,
}

impl SharedPrompt {
    /// What stands before a message; the editor shows it with its next repaint.
    pub fn set(&self, text: impl Into<String>) {
        self.texts().message = text.into();
    }

    /// What stands before an answer, for as long as the line is one. Only the editor's own thread may say so: a question's
    /// prompt that is seen must be the one that the line is taken for.
    pub fn set_question(&self, text: Option<String>) {
        self.texts().question = text;
    }

    /// Whether the line being typed is an answer.
    pub fn is_question(&self) -> bool {
        self.texts().question.is_some()
    }

    fn get(&self) -> String {
        let texts = self.texts();
        texts.question.as_ref().unwrap_or(&texts.message).clone()
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
        Cow::Borrowed("")
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("… ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        Cow::Owned(format!("(history: {}) ", search.term))
    }
}
