//! When a single key answers a question: pure.
//!
//! Only the first key after the question was seen, and only one that nobody can have begun to type for something else: it
//! comes a moment after. Any other begins a line, which Enter ends.

use std::time::{Duration, Instant};

/// How long a question stands there before a key can be meant for it.
const SEEN: Duration = Duration::from_millis(700);

/// What was pressed since the question came.
#[derive(Debug, Default)]
pub struct Answering {
    keys: &'static str,
    since: Option<Instant>,
    /// Something is being typed.
    begun: bool,
    answered: bool,
}

impl Answering {
    /// A question that `keys` answer is seen from `now` on.
    pub fn begins(keys: &'static str, now: Instant) -> Self {
        Self {
            keys,
            since: Some(now),
            ..Self::default()
        }
    }

    /// A key was pressed, `typed` if it is a character: whether it is the answer, unless another follows at once.
    pub fn key(&mut self, typed: Option<char>, now: Instant) -> bool {
        let first = !std::mem::replace(&mut self.begun, true);
        let seen = self
            .since
            .is_some_and(|since| now.saturating_duration_since(since) >= SEEN);
        self.answered = first && seen && typed.is_some_and(|key| self.keys.contains(key));
        self.answered
    }

    /// Whether the last key was the answer; once.
    pub fn takes(&mut self) -> bool {
        std::mem::take(&mut self.answered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    #[test]
    fn only_a_first_key_of_the_question_that_comes_after_a_moment_answers() {
        let now = clock::instant();
        let fresh = || Answering::begins("aA", now);
        assert!(fresh().key(Some('a'), now + SEEN));
        assert!(fresh().key(Some('A'), now + SEEN));
        for (typed, after) in [
            (Some('a'), SEEN / 2),
            (Some('d'), SEEN),
            (Some('y'), SEEN),
            (None, SEEN),
        ] {
            let mut answering = fresh();
            assert!(!answering.key(typed, now + after), "{typed:?} {after:?}");
            assert!(
                !answering.key(Some('a'), now + SEEN * 2),
                "a line was begun"
            );
            assert!(!answering.takes());
        }
        assert!(
            !Answering::default().key(Some('a'), now + SEEN),
            "no question"
        );
    }

    #[test]
    fn what_follows_at_once_makes_a_line_of_it() {
        let now = clock::instant();
        let mut answering = Answering::begins("y", now);
        assert!(answering.key(Some('y'), now + SEEN));
        assert!(!answering.key(Some('e'), now + SEEN));
        assert!(!answering.takes());
        let mut answering = Answering::begins("y", now);
        answering.key(Some('y'), now + SEEN);
        assert!(answering.takes() && !answering.takes());
    }
}
