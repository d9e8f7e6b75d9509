//! Whose the text at the prompt is: the person's message, or the answer to a question that has taken the prompt over.

use std::sync::{Arc, Mutex, PoisonError};

use crate::ids::RequestId;

/// A question that is to be answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Its request.
    pub id: RequestId,
    /// What stands before the answer.
    pub prompt: String,
    /// How often it was asked.
    pub asked: u32,
}

/// The question that the session wants answered now. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Asked(Arc<Mutex<Option<Question>>>);

impl Asked {
    /// Whether that is news: also that what was entered is no answer, so that the same is asked `again`.
    pub fn set(&self, question: Option<(RequestId, String)>, again: bool) -> bool {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = |id: &RequestId| match asked.as_ref().filter(|open| open.id == *id) {
            Some(open) => open.asked + u32::from(again),
            None => 1,
        };
        let next = question.map(|(id, prompt)| Question {
            asked: count(&id),
            id,
            prompt,
        });
        let news = *asked != next;
        *asked = next;
        news
    }

    fn get(&self) -> Option<Question> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// The text to go on with after the session has come to want another thing.
#[derive(Debug, PartialEq, Eq)]
pub struct Taken {
    /// It.
    pub text: String,
    /// A half-typed answer that nobody waits for any more.
    pub dropped: Option<String>,
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
        self.question.as_ref().map(|open| open.id.clone())
    }

    /// What stands before the answer that is being typed, if it is one.
    pub fn prompt(&self) -> Option<String> {
        self.question.as_ref().map(|open| open.prompt.clone())
    }

    /// The editor came back with `text` half typed: what to go on with if the session wants another thing now.
    ///
    /// What was typed after an answer belongs to the message, unless that was none and is asked for again; an answer that
    /// nobody waits for any more is dropped.
    pub fn taken_over(&mut self, text: &str) -> Option<Taken> {
        let next = self.asked.get();
        if next == self.question {
            return None;
        }
        let before = std::mem::replace(&mut self.question, next);
        let answered = std::mem::take(&mut self.answered);
        let same = match (&before, &self.question) {
            (Some(before), Some(now)) => before.id == now.id,
            (None | Some(_), None | Some(_)) => false,
        };
        if same {
            return None;
        }
        let mut dropped = None;
        if before.is_none() || answered {
            self.aside.push_str(text);
        } else if !text.trim().is_empty() {
            dropped = Some(text.to_owned());
        }
        let text = match &self.question {
            Some(_) => String::new(),
            None => std::mem::take(&mut self.aside),
        };
        Some(Taken { text, dropped })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> (RequestId, String) {
        (RequestId::random(), "team? ".to_owned())
    }

    fn text(taken: Option<Taken>) -> (String, Option<String>) {
        let taken = taken.unwrap();
        (taken.text, taken.dropped)
    }

    #[test]
    fn a_question_takes_the_prompt_and_gives_the_text_back() {
        let asked = Asked::default();
        let mut typed = Typed::new(asked.clone());
        assert_eq!(typed.entered(), None);
        let first = question();
        assert!(asked.set(Some(first.clone()), false));
        assert!(!asked.set(Some(first.clone()), false));
        assert_eq!(typed.prompt(), None);
        assert_eq!(text(typed.taken_over("half a ")), (String::new(), None));
        assert_eq!(typed.prompt().as_deref(), Some("team? "));
        assert_eq!(typed.entered(), Some(first.0));
        asked.set(Some(question()), false);
        assert_eq!(text(typed.taken_over("mess")), (String::new(), None));
        asked.set(None, false);
        assert_eq!(
            text(typed.taken_over("an answer cut sh")),
            (
                "half a mess".to_owned(),
                Some("an answer cut sh".to_owned())
            )
        );
        assert_eq!(typed.entered(), None);
    }

    #[test]
    fn the_same_question_shown_again_leaves_the_answer_being_typed() {
        let asked = Asked::default();
        let mut typed = Typed::new(asked.clone());
        let open = question();
        asked.set(Some(open.clone()), false);
        typed.taken_over("");
        assert_eq!(typed.taken_over("n no"), None);
        typed.entered();
        assert!(asked.set(Some(open), true), "it was no answer");
        assert_eq!(typed.taken_over("n "), None);
        asked.set(None, false);
        let dropped = Some("n no".to_owned());
        assert_eq!(text(typed.taken_over("n no")), (String::new(), dropped));
    }
}
