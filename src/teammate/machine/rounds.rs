//! Turn boundaries, and how rounds end.

use std::time::Duration;

use super::facts::{Cut, Held, Machine, Phase};
use super::{Announcement, Effect, Final, Outcome, Part, Reason, RoundEnd, Timer};
use crate::board::Released;
use crate::team::MemberStatus;

/// How long no task is claimed after the model could not be reached in all tries; doubled with each time in a row.
const COOL_DOWN: Duration = Duration::from_secs(30);
/// The longest that this becomes.
const LONGEST_COOL_DOWN: Duration = Duration::from_mins(10);

impl Machine {
    pub(super) fn boundary(&mut self) -> Vec<Effect> {
        match self.phase {
            Phase::Round if self.stop.is_some() => {
                let mut effects = vec![Effect::RestAtBoundary];
                effects.extend(self.wrap_up());
                effects
            }
            Phase::Round if !self.lead => {
                self.owed.get_or_insert_default();
                self.phase = Phase::Rest { settled: true };
                vec![Effect::RestAtBoundary]
            }
            Phase::Round => vec![Effect::TakeMail],
            Phase::WrapUp if self.limited || self.held_back => {
                let mut effects = vec![Effect::RestAtBoundary];
                effects.extend(self.finish(None, true));
                effects
            }
            Phase::WrapUp => vec![Effect::NextTurn],
            Phase::Cut(cut) => {
                let mut effects = vec![Effect::RestAtBoundary];
                effects.extend(self.after_cut(cut, RoundEnd::Interrupted));
                effects
            }
            Phase::Rest { .. } | Phase::Choosing | Phase::BeforeWrapUp | Phase::Over => Vec::new(),
        }
    }

    pub(super) fn round_over(&mut self, end: RoundEnd) -> Vec<Effect> {
        match self.phase {
            Phase::Round if self.stop.is_some() => self.after_cut(Cut::Stop, end),
            Phase::Round => self.ended(end),
            Phase::Cut(cut) => self.after_cut(cut, end),
            Phase::WrapUp => self.after_cut(Cut::WrapUp, end),
            Phase::Rest { .. } | Phase::Choosing | Phase::BeforeWrapUp | Phase::Over => Vec::new(),
        }
    }

    /// What came meanwhile is looked for once more before it becomes idle.
    pub(super) fn unopposed(&mut self) -> Vec<Effect> {
        self.idle_asks = 0;
        match self.phase {
            Phase::Round if self.stop.is_some() => self.wrap_up(),
            Phase::Round => self.come_to_rest(),
            Phase::Cut(cut) => self.after_cut(cut, RoundEnd::Interrupted),
            Phase::Rest { .. }
            | Phase::Choosing
            | Phase::BeforeWrapUp
            | Phase::WrapUp
            | Phase::Over => Vec::new(),
        }
    }

    pub(super) fn ended(&mut self, end: RoundEnd) -> Vec<Effect> {
        if matches!(end, RoundEnd::Done(_)) {
            self.outages = 0;
        } else {
            // To go on would bring the same.
            self.idle_asks = 0;
        }
        match end {
            RoundEnd::Done(text) => self.done(text),
            RoundEnd::Declined(why) => self.failed(why, Released::Failed),
            RoundEnd::Unreachable(why) => {
                let pause = COOL_DOWN.saturating_mul(1 << self.outages.min(10));
                self.outages += 1;
                self.cooling = true;
                let pause = pause.min(LONGEST_COOL_DOWN);
                let mut effects = vec![Effect::SetTimer(Timer::CoolDown, pause)];
                // That its server is down is no failure of the task: the attempt does not count.
                effects.extend(self.failed(why, Released::Orderly));
                effects
            }
            RoundEnd::Hopeless(why) | RoundEnd::Full(why) => {
                let mut effects = vec![Effect::ErrorReport(why.clone())];
                effects.extend(self.give_back(Released::Failed, Some(why.clone())));
                effects.push(Effect::Status(MemberStatus::Failed));
                effects.push(self.end(Final::Failed(why)));
                effects
            }
            RoundEnd::Interrupted => {
                self.reminded = None;
                self.announce(Reason::Waiting, Outcome::Interrupted);
                self.come_to_rest()
            }
        }
    }

    fn done(&mut self, text: String) -> Vec<Effect> {
        let before = self.reminded.clone();
        match self.held {
            Held::Nothing => self.report(text),
            Held::Over(outcome) => {
                let mut effects = vec![
                    Effect::Result(joined(before, text)),
                    Effect::CloseAssignment,
                ];
                self.forget_task();
                self.announce(Reason::Done, outcome);
                effects.extend(self.come_to_rest());
                effects
            }
            Held::Open if self.plan_pending || self.asked => self.report(joined(before, text)),
            Held::Open if before.is_none() => {
                self.reminded = Some(text.clone());
                self.owed = Some(vec![Part::Reminder]);
                let mut effects = vec![Effect::Keep(text)];
                effects.extend(self.come_to_rest());
                effects
            }
            Held::Open => {
                let text = joined(before, text);
                let note = (!text.trim().is_empty()).then(|| text.clone());
                let mut effects = vec![Effect::Result(text)];
                effects.extend(self.give_back(Released::Failed, note));
                self.announce(Reason::Blocked, Outcome::Released);
                effects.extend(self.come_to_rest());
                effects
            }
        }
    }

    /// A round that leaves everything as it is: talk without a task, or a wait.
    fn report(&mut self, text: String) -> Vec<Effect> {
        let waits = self.asked || (self.plan_pending && self.held == Held::Open);
        let reason = if waits { Reason::Waiting } else { Reason::Done };
        self.reminded = None;
        self.announce(reason, Outcome::None);
        let mut effects = vec![Effect::Result(text)];
        effects.extend(self.come_to_rest());
        effects
    }

    fn failed(&mut self, why: String, released: Released) -> Vec<Effect> {
        let outcome = match self.held {
            Held::Nothing => Outcome::None,
            Held::Open => Outcome::Released,
            Held::Over(outcome) => outcome,
        };
        let mut effects = vec![Effect::ErrorReport(why.clone())];
        effects.extend(self.give_back(released, Some(why)));
        self.announce(Reason::Error, outcome);
        effects.extend(self.come_to_rest());
        effects
    }

    /// Releases the task if it is still this teammate's, and forgets it.
    pub(super) fn give_back(&mut self, why: Released, note: Option<String>) -> Vec<Effect> {
        let mut effects = Vec::new();
        if self.held == Held::Open {
            effects.push(Effect::Release { why, note });
        }
        if self.held != Held::Nothing {
            effects.push(Effect::CloseAssignment);
        }
        self.forget_task();
        effects
    }

    fn forget_task(&mut self) {
        self.held = Held::Nothing;
        self.reminded = None;
        self.asked = false;
        self.plan_pending = false;
    }

    pub(super) fn announce(&mut self, reason: Reason, outcome: Outcome) {
        self.announce = Some(Announcement { reason, outcome });
    }
}

/// The text of the round before the reminder, and the reminder's.
pub(super) fn joined(before: Option<String>, text: String) -> String {
    match before {
        Some(before) if before.trim().is_empty() || before == text => text,
        Some(before) if text.trim().is_empty() => before,
        Some(before) => format!("{before}\n\n{text}"),
        None => text,
    }
}
