//! The same call with the same input again and again (SPEC §9.5): pure.

use serde_json::Value;

use crate::conversation::ToolCall;

/// From which identical call in a row on a warning is the answer.
const WARN_FROM: u32 = 5;

/// From which one on the round is over: a model that has not heard twenty warnings goes on for ever, at the person's cost.
const GIVE_UP_FROM: u32 = 25;

/// How often the last call was made in a row.
#[derive(Debug, Default)]
pub struct Streak {
    last: Option<(String, Value)>,
    times: u32,
}

impl Streak {
    /// Counts `call`; the answer is what to tell the model instead of running it.
    pub fn count(&mut self, call: &ToolCall) -> Option<String> {
        let same = self
            .last
            .as_ref()
            .is_some_and(|(name, input)| *name == call.name && *input == call.input);
        if same {
            self.times += 1;
        } else {
            self.last = Some((call.name.clone(), call.input.clone()));
            self.times = 1;
        }
        (self.times >= WARN_FROM).then(|| {
            format!(
                "not run: {} was called {} times in a row with the same input; its answer will not change by asking again; \
                 do something else, or say what you are stuck on",
                call.name, self.times
            )
        })
    }

    /// Why the round is to end, if the same was asked for too often.
    pub fn gives_up(&self) -> Option<String> {
        let (name, _) = self.last.as_ref()?;
        (self.times >= GIVE_UP_FROM).then(|| {
            format!(
                "the model called {name} {} times in a row with the same input; its round was ended; say what it should do \
                 instead, or take another model",
                self.times
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(name: &str, input: Value) -> ToolCall {
        ToolCall {
            id: "c".into(),
            name: name.into(),
            input,
            cut: None,
        }
    }

    #[test]
    fn who_hears_no_warning_is_given_up() {
        let mut streak = Streak::default();
        let same = call("bash", json!({"command": "ls"}));
        for _ in 1..GIVE_UP_FROM {
            streak.count(&same);
            assert_eq!(streak.gives_up(), None);
        }
        streak.count(&same);
        assert!(streak.gives_up().unwrap().contains("bash 25 times"));
        streak.count(&call("glob", json!({"pattern": "x"})));
        assert_eq!(streak.gives_up(), None);
    }

    #[test]
    fn the_fifth_identical_call_in_a_row_is_warned_about() {
        let mut streak = Streak::default();
        let same = call("bash", json!({"command": "ls"}));
        for _ in 0..4 {
            assert_eq!(streak.count(&same), None);
        }
        assert!(streak.count(&same).unwrap().contains("5 times"));
        assert!(streak.count(&same).is_some());
        assert_eq!(
            streak.count(&call("bash", json!({"command": "ls -l"}))),
            None
        );
        for _ in 0..4 {
            assert_eq!(streak.count(&same), None);
        }
        assert_eq!(streak.count(&call("glob", json!({"command": "ls"}))), None);
        assert_eq!(streak.count(&same), None);
    }
}
