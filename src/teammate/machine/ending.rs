//! Stopping: on request, without a lead, by a signal.

use std::time::Duration;

use super::facts::{Cut, Machine, Phase};
use super::{Effect, Final, Part, RoundEnd, Stop, Timer, WaitEnd, WaitKind};
use crate::board::Released;
use crate::process::signals::Signal;
use crate::team::MemberStatus;

/// How long everybody together is waited for when the lead leaves.
const LEAVING: Duration = Duration::from_secs(30);
/// For how long at most a wrap-up's call is put off, as after a connection that broke.
const PUT_OFF: Duration = Duration::from_secs(5);
/// How long what was cut may take to end; whoever sent SIGTERM follows with SIGKILL after 5 s.
const CUT_WAIT: Duration = Duration::from_secs(3);

impl Machine {
    /// `mail`: something waits in the mailbox that was not taken in and would start a round.
    ///
    /// A leaving lead needs no wrap-up of who is at rest and has had its last words told: nothing happened since.
    pub(super) fn hear_stop(&mut self, stop: Stop, mail: bool) -> Vec<Effect> {
        let whole = if stop.leaving {
            LEAVING.min(self.config.shutdown)
        } else {
            self.config.shutdown
        };
        let nothing_since = !mail && !self.news && self.owed.is_none();
        let skip = stop.leaving && nothing_since;
        self.stop = Some(stop);
        let mut effects = vec![
            Effect::Acknowledge,
            Effect::Status(MemberStatus::Stopping),
            Effect::SetTimer(Timer::StopAll, whole * 9 / 10),
        ];
        effects.extend(self.end_wait());
        match self.phase {
            Phase::Rest { .. } | Phase::Choosing if skip => effects.extend(self.finish(None, true)),
            Phase::Rest { .. } | Phase::Choosing => effects.extend(self.wrap_up()),
            Phase::Round if self.put_off => effects.extend(self.cut_what_is_put_off()),
            Phase::Round => effects.push(Effect::SetTimer(Timer::StopTurn, whole / 2)),
            Phase::Cut(Cut::Person) => self.phase = Phase::Cut(Cut::Stop),
            Phase::Cut(
                Cut::Stop | Cut::WrapUp | Cut::NoWrapUp | Cut::LeadLost | Cut::Signal(_),
            )
            | Phase::BeforeWrapUp
            | Phase::WrapUp
            | Phase::Over => {}
        }
        effects
    }

    /// A call that is not being made now is not waited for by one that is to stop.
    pub(super) fn put_off(&mut self, time: Duration) -> Vec<Effect> {
        self.put_off = !time.is_zero();
        match self.phase {
            Phase::Round if self.put_off && self.stop.is_some() => self.cut_what_is_put_off(),
            Phase::WrapUp if time > PUT_OFF => {
                self.phase = Phase::Cut(Cut::NoWrapUp);
                self.cut_to_end("the model's server asks to wait, and the teammate is to stop")
            }
            Phase::Rest { .. }
            | Phase::Choosing
            | Phase::Round
            | Phase::Cut(_)
            | Phase::BeforeWrapUp
            | Phase::WrapUp
            | Phase::Over => Vec::new(),
        }
    }

    fn cut_what_is_put_off(&mut self) -> Vec<Effect> {
        self.phase = Phase::Cut(Cut::Stop);
        self.cut("the teammate was asked to stop while this waited for the model's server")
    }

    /// The thinker is at rest.
    pub(super) fn wrap_up(&mut self) -> Vec<Effect> {
        self.phase = Phase::BeforeWrapUp;
        vec![Effect::TakeMail]
    }

    pub(super) fn begin_wrap_up(&mut self) -> Vec<Effect> {
        self.phase = Phase::WrapUp;
        vec![Effect::WrapUpMode, Effect::Begin(vec![Part::WrapUp])]
    }

    /// The farewell goes out while the name is still there; nothing after it can fail the model's way.
    pub(super) fn finish(&mut self, text: Option<String>, clean: bool) -> Vec<Effect> {
        let mut effects = vec![Effect::Farewell(text)];
        effects.extend(self.give_back(Released::Orderly, None));
        effects.push(Effect::Drain);
        effects.push(Effect::AnswerStop { clean });
        let (status, end) = if clean {
            (MemberStatus::Stopped, Final::Stopped)
        } else {
            (MemberStatus::Failed, Final::WrapUpFailed)
        };
        effects.push(Effect::Status(status));
        effects.push(self.end(end));
        effects
    }

    /// What was cut has ended, or ended by itself just before.
    pub(super) fn after_cut(&mut self, cut: Cut, end: RoundEnd) -> Vec<Effect> {
        match (cut, end) {
            (Cut::Person, end) if self.stop.is_some() => self.after_cut(Cut::Stop, end),
            (Cut::Person, end) => {
                self.phase = Phase::Round;
                self.ended(end)
            }
            (Cut::Stop, RoundEnd::Done(_) | RoundEnd::Interrupted) => self.wrap_up(),
            (Cut::WrapUp | Cut::NoWrapUp, RoundEnd::Done(text)) => self.finish(Some(text), true),
            (
                Cut::Stop,
                RoundEnd::Declined(_)
                | RoundEnd::Unreachable(_)
                | RoundEnd::Hopeless(_)
                | RoundEnd::Full(_),
            )
            // As if it had not been begun.
            | (Cut::WrapUp, RoundEnd::Full(_))
            | (Cut::NoWrapUp, _) => self.finish(None, true),
            (
                Cut::WrapUp,
                RoundEnd::Interrupted
                | RoundEnd::Declined(_)
                | RoundEnd::Unreachable(_)
                | RoundEnd::Hopeless(_),
            ) => self.finish(None, false),
            (Cut::LeadLost, _) => self.lost(),
            (Cut::Signal(signal), _) => self.signalled(signal),
        }
    }

    pub(super) fn lead_gone(&mut self) -> Vec<Effect> {
        self.lead = false;
        if self.config.by_person {
            Vec::new()
        } else {
            vec![Effect::SetTimer(Timer::LeadGrace, self.config.lead_grace)]
        }
    }

    pub(super) fn lead_came(&mut self) -> Vec<Effect> {
        self.lead = true;
        let mut effects = vec![Effect::ClearTimer(Timer::LeadGrace)];
        if let Phase::Rest { .. } = self.phase {
            effects.push(Effect::Look);
        }
        effects
    }

    pub(super) fn signal(&mut self, signal: Signal) -> Vec<Effect> {
        let interrupts_only = signal == Signal::Interrupt && !self.config.by_person;
        match self.phase {
            Phase::Round if interrupts_only => {
                // One that is to stop wraps up all the same.
                let stops = self.stop.is_some();
                self.phase = Phase::Cut(if stops { Cut::Stop } else { Cut::Person });
                self.cut("a person interrupted it")
            }
            Phase::Over => Vec::new(),
            Phase::Rest { .. }
            | Phase::Choosing
            | Phase::Round
            | Phase::Cut(_)
            | Phase::BeforeWrapUp
            | Phase::WrapUp
                if interrupts_only =>
            {
                Vec::new()
            }
            Phase::Round
            | Phase::WrapUp
            | Phase::Cut(Cut::Person | Cut::Stop | Cut::WrapUp | Cut::NoWrapUp | Cut::LeadLost) => {
                self.phase = Phase::Cut(Cut::Signal(signal));
                self.cut_to_end("the teammate was told to end")
            }
            Phase::Rest { .. }
            | Phase::Choosing
            | Phase::BeforeWrapUp
            | Phase::Cut(Cut::Signal(_)) => self.signalled(signal),
        }
    }

    pub(super) fn timed_out(&mut self, timer: Timer) -> Vec<Effect> {
        match (timer, &self.phase) {
            // They run from a request to stop on.
            (Timer::StopTurn | Timer::StopAll, _) if self.stop.is_none() => Vec::new(),
            (Timer::StopTurn | Timer::StopAll, Phase::Round) => {
                self.phase = Phase::Cut(Cut::Stop);
                self.cut("the teammate was asked to stop, and this took too long")
            }
            (Timer::StopAll, Phase::WrapUp) => {
                self.phase = Phase::Cut(Cut::WrapUp);
                self.cut_to_end("the wrap-up took too long")
            }
            (
                Timer::StopAll,
                Phase::Cut(Cut::Person | Cut::Stop | Cut::NoWrapUp)
                | Phase::Rest { .. }
                | Phase::Choosing
                | Phase::BeforeWrapUp,
            ) => self.finish(None, false),
            (Timer::Cut, Phase::Cut(cut)) => {
                let cut = *cut;
                self.after_cut(cut, RoundEnd::Interrupted)
            }
            (Timer::Answer, _) if self.wait == Some(WaitKind::Permission) => {
                self.wait = None;
                vec![Effect::EndWait(WaitEnd::Unanswered)]
            }
            (Timer::LeadGrace, _) if self.lead || self.stop.is_some() => Vec::new(),
            (Timer::LeadGrace, Phase::Round | Phase::Cut(Cut::Person)) => {
                self.phase = Phase::Cut(Cut::LeadLost);
                self.cut_to_end("the lead is gone and none came back")
            }
            (Timer::LeadGrace, Phase::Rest { .. } | Phase::Choosing) => self.lost(),
            (Timer::CoolDown | Timer::HeldBack, phase) => {
                let at_rest = matches!(phase, Phase::Rest { .. });
                if timer == Timer::HeldBack {
                    self.held_back = false;
                } else {
                    self.cooling = false;
                }
                if at_rest {
                    vec![Effect::Look]
                } else {
                    Vec::new()
                }
            }
            (
                Timer::StopTurn | Timer::StopAll | Timer::Cut | Timer::LeadGrace | Timer::Answer,
                _,
            ) => Vec::new(),
        }
    }

    fn cut(&mut self, why: &'static str) -> Vec<Effect> {
        let mut effects = self.end_wait();
        effects.push(Effect::Interrupt(why));
        effects
    }

    /// Like [`Self::cut`], but this process will end, whether or not what was cut does.
    fn cut_to_end(&mut self, why: &'static str) -> Vec<Effect> {
        let mut effects = self.cut(why);
        effects.push(Effect::SetTimer(Timer::Cut, CUT_WAIT));
        effects
    }

    fn end_wait(&mut self) -> Vec<Effect> {
        self.wait
            .take()
            .map(|_| Effect::EndWait(WaitEnd::Stopping))
            .into_iter()
            .collect()
    }

    fn lost(&mut self) -> Vec<Effect> {
        let mut effects = self.give_back(Released::Orderly, None);
        effects.push(Effect::Status(MemberStatus::Failed));
        effects.push(self.end(Final::LeadLost));
        effects
    }

    fn signalled(&mut self, signal: Signal) -> Vec<Effect> {
        let mut effects = self.give_back(Released::Orderly, None);
        if self.stop.is_some() {
            effects.push(Effect::AnswerStop { clean: false });
        }
        effects.push(Effect::Status(MemberStatus::Stopped));
        effects.push(self.end(Final::Signalled(signal)));
        effects
    }
}
