//! What the machine remembers.

use std::time::Duration;

use super::{Announcement, Config, Effect, Event, Final, Outcome, Part, Stop, Timer, WaitKind};
use crate::process::signals::Signal;

/// See the module.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts that hold or not beside the phase, each by itself"
)]
pub struct Machine {
    pub(super) config: Config,
    pub(super) phase: Phase,
    pub(super) lead: bool,
    pub(super) held: Held,
    /// A round must begin with these as soon as one may.
    pub(super) owed: Option<Vec<Part>>,
    /// Something taken in, and not put before the model, starts a round.
    pub(super) news: bool,
    /// The text of the round before, while the reminder's round runs.
    pub(super) reminded: Option<String>,
    /// An answer to a question is awaited.
    pub(super) asked: bool,
    pub(super) plan_pending: bool,
    pub(super) wait: Option<WaitKind>,
    /// The team has used up what it may.
    pub(super) limited: bool,
    /// Its model's provider asked everybody to wait.
    pub(super) held_back: bool,
    /// The call of the round under way waits until it may be made, or made again.
    pub(super) put_off: bool,
    /// Its model could not be reached: it claims nothing for a while.
    pub(super) cooling: bool,
    /// How often in a row its model could not be reached.
    pub(super) outages: u32,
    /// How often the hooks are still asked before it becomes idle.
    pub(super) idle_asks: u32,
    /// To be said when it becomes idle.
    pub(super) announce: Option<Announcement>,
    pub(super) stop: Option<Stop>,
}

/// Where the teammate stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Phase {
    /// At rest; whether that was written and announced.
    Rest { settled: bool },
    /// At rest with status `working`, about to begin something.
    Choosing,
    /// A round is under way.
    Round,
    /// What ran was told to stop, for this reason.
    Cut(Cut),
    /// About to begin the wrap-up.
    BeforeWrapUp,
    /// The wrap-up round is under way.
    WrapUp,
    /// Ended.
    Over,
}

/// Why a round is being cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// By a person; the teammate lives on.
    Person,
    /// It takes too long to stop.
    Stop,
    /// The wrap-up takes too long.
    WrapUp,
    /// The wrap-up's call cannot be made: as if it had not been begun.
    NoWrapUp,
    /// No lead came back.
    LeadLost,
    /// By a signal.
    Signal(Signal),
}

/// Its assignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    /// None.
    Nothing,
    /// Its own and in progress.
    Open,
    /// No longer its own; the directory is until the round ends.
    Over(Outcome),
}

impl Machine {
    /// A teammate that has not begun.
    pub fn new(config: Config) -> Self {
        Self {
            config,
            phase: Phase::Choosing,
            lead: false,
            held: Held::Nothing,
            owed: None,
            news: false,
            reminded: None,
            asked: false,
            plan_pending: false,
            wait: None,
            limited: false,
            held_back: false,
            put_off: false,
            cooling: false,
            outages: 0,
            idle_asks: 0,
            announce: None,
            stop: None,
        }
    }

    /// The request to stop that it follows.
    pub fn stop(&self) -> Option<&Stop> {
        self.stop.as_ref()
    }

    /// Whether a look should ask the board for offered tasks.
    pub fn wants_task(&self) -> bool {
        let at_rest = matches!(self.phase, Phase::Rest { .. } | Phase::Choosing);
        at_rest && self.may_claim()
    }

    pub(super) fn may_claim(&self) -> bool {
        self.may_call_now() && self.held == Held::Nothing && !self.cooling && self.stop.is_none()
    }

    /// Whether a model call that began now would be made at once.
    pub(super) fn may_call_now(&self) -> bool {
        self.may_call() && !self.held_back
    }

    /// Whether a round may begin or go on.
    pub(super) fn may_call(&self) -> bool {
        self.lead && !self.limited
    }

    /// One step. What does not fit changes nothing.
    pub fn on(&mut self, event: Event) -> Vec<Effect> {
        if self.phase == Phase::Over {
            return Vec::new();
        }
        match event {
            Event::Started(start) => self.started(start),
            Event::Found(found) => self.found(&found),
            Event::Taken { news, stop } => self.taken(news, stop),
            Event::Claimed(got) => self.claimed(got),
            Event::ToolClaimed => {
                self.held = Held::Open;
                self.reminded = None;
                Vec::new()
            }
            Event::TaskOver(outcome) => {
                if self.held == Held::Open {
                    self.held = Held::Over(outcome);
                }
                Vec::new()
            }
            Event::Asked => {
                self.asked = true;
                Vec::new()
            }
            Event::Boundary => {
                self.put_off = false;
                self.boundary()
            }
            Event::RoundOver(end) => {
                self.put_off = false;
                self.round_over(end)
            }
            Event::PutOff(time) => self.put_off(time),
            Event::Unopposed => self.unopposed(),
            Event::WaitBegan(kind) => self.wait_began(kind),
            Event::WaitOver => self.wait_over(),
            Event::PlanSettled => {
                self.plan_pending = false;
                Vec::new()
            }
            Event::Limit(limited) => {
                self.limited = limited;
                Vec::new()
            }
            Event::HeldBack(time) => self.held_back(time),
            Event::LeadGone => self.lead_gone(),
            Event::LeadCame => self.lead_came(),
            Event::Signal(signal) => self.signal(signal),
            Event::TimedOut(timer) => self.timed_out(timer),
        }
    }

    fn held_back(&mut self, time: Duration) -> Vec<Effect> {
        self.held_back = !time.is_zero();
        vec![if self.held_back {
            Effect::SetTimer(Timer::HeldBack, time)
        } else {
            Effect::ClearTimer(Timer::HeldBack)
        }]
    }

    pub(super) fn end(&mut self, how: Final) -> Effect {
        self.phase = Phase::Over;
        Effect::End(how)
    }
}
