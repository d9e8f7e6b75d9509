//! The beginning: what a predecessor of that name has left is brought to its end, once, before anything new begins.

use super::facts::{Held, Machine};
use super::rounds::joined;
use super::{Effect, Outcome, Part, Reason, Start};
use crate::board::Released;

impl Machine {
    pub(super) fn started(&mut self, start: Start) -> Vec<Effect> {
        self.lead = start.lead;
        self.news = start.news;
        self.plan_pending = start.plan_pending;
        self.asked = start.asked;
        if start.task {
            self.held = Held::Open;
        }
        let mut owed = owed(&start);
        let mut effects = self.left_over(start, owed.contains(&Part::Reminder));
        if self.held != Held::Open {
            owed.retain(|part| *part != Part::Reminder);
        }
        self.owed = (!owed.is_empty()).then_some(owed);
        if self.lead {
            effects.extend(self.choose());
            return effects;
        }
        effects.push(Effect::SayNoLead);
        effects.extend(self.lead_gone());
        effects.extend(self.settle());
        effects
    }

    /// The words of the last round, of which nobody knows whether they were sent: `open` if they left the task open that
    /// is to be reminded of.
    fn left_over(&mut self, start: Start, open: bool) -> Vec<Effect> {
        let before = start.reminded;
        match (start.last_words, open) {
            (None, _) => {
                self.reminded = before.filter(|_| start.task);
                Vec::new()
            }
            (Some(words), false) => vec![Effect::LateResult(joined(before, words))],
            (Some(words), true) if before.is_none() => {
                self.reminded = Some(words.clone());
                vec![Effect::Keep(words)]
            }
            (Some(words), true) => {
                let text = joined(before, words);
                let mut effects = vec![Effect::LateResult(text.clone())];
                effects.extend(self.give_back(Released::Failed, Some(text)));
                self.announce(Reason::Blocked, Outcome::Released);
                effects
            }
        }
    }
}

/// What the first round begins with.
fn owed(start: &Start) -> Vec<Part> {
    let mut owed = Vec::new();
    if start.prompt {
        owed.push(Part::Prompt);
    }
    if start.unfinished {
        owed.push(Part::Restarted);
    }
    let waits = start.plan_pending || start.asked;
    match (start.task, start.told, start.unfinished) {
        (true, false, _) => owed.push(Part::Assignment),
        (true, true, false) if !waits => owed.push(Part::Reminder),
        (true, true, _) | (false, ..) => {}
    }
    owed
}
