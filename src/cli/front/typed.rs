//! Whose the text at the prompt is: the person's message, or the answer to a question that has taken the prompt over.

use std::sync::{Arc, Mutex, PoisonError};

use crate::ids::RequestId;

/// A question with what stands before its answer.
pub type Question = (RequestId, String);

/// The question that the session wants answered now. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Asked(Arc<Mutex<Option<Question>>>);

impl Asked {
    /// Whether that is news.
    pub fn set(&self, question: Option<Question>) -> bool {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let news = *asked != question;
        *asked = question;
        news
    }

    fn get(&self) -> Option<Question> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// The editor's side: what is being typed for, and the message that was put aside.
#[derive(Debug)]
pub struct Typed {
    asked: Asked,
    question: Option<Question>,
    answered: bool,
    aside: String,
}

impl Typed {
    /// Begins with a message.
    pub fn new(asked: Asked) -> Self {
        Self {
            asked,
            question: None,
            answered: false,
            aside: String::new(),
        }
    }

    /// A line was entered: the question it answers, or `None` for a message.
    pub fn entered(&mut self) -> Option<RequestId> {
        self.answered = true;
        self.question.as_ref().map(|(id, _)| id.clone())
    }

    /// What stands before the answer that is being typed, if it is one.
    pub fn prompt(&self) -> Option<String> {
        self.question.as_ref().map(|(_, prompt)| prompt.clone())
    }

    /// The editor came back with `text` half typed: the text to go on with if the session wants another thing now.
    ///
    /// What was typed after an answer belongs to the message; an answer that nobody waits for any more is dropped.
    pub fn taken_over(&mut self, text: &str) -> Option<String> {
        let next = self.asked.get();
        if next == self.question {
            return None;
        }
        if self.question.is_none() || self.answered {
            self.aside.push_str(text);
        }
        self.question = next;
        self.answered = false;
        if self.question.is_some() {
            Some(String::new())
        } else {
            Some(std::mem::take(&mut self.aside))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_takes_the_prompt_and_gives_the_text_back() {
        let asked = Asked::default();
        let mut typed = Typed::new(asked.clone());
        assert_eq!(typed.entered(), None);
        let question = || (RequestId::random(), "team? ".to_owned());
        let first = question();
        assert!(asked.set(Some(first.clone())));
        assert!(!asked.set(Some(first.clone())));
        assert_eq!(typed.prompt(), None);
        assert_eq!(typed.taken_over("half a ").as_deref(), Some(""));
        assert_eq!(typed.prompt().as_deref(), Some("team? "));
        assert_eq!(typed.entered(), Some(first.0));
        asked.set(Some(question()));
        assert_eq!(typed.taken_over("mess").as_deref(), Some(""));
        asked.set(None);
        assert_eq!(
            typed.taken_over("an answer cut sh").as_deref(),
            Some("half a mess")
        );
        assert_eq!(typed.entered(), None);
    }

    #[test]
    fn the_same_question_shown_again_leaves_the_answer_being_typed() {
        let asked = Asked::default();
        let mut typed = Typed::new(asked.clone());
        asked.set(Some((RequestId::random(), String::new())));
        typed.taken_over("");
        assert_eq!(typed.taken_over("n no"), None);
    }
}
