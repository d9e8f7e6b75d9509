//! At rest: looking, taking mail in, claiming, beginning a round, becoming idle.

use super::facts::{Held, Machine, Phase};
use super::{Effect, Found, Part, Stop, WaitEnd, WaitKind};
use crate::team::MemberStatus;

/// How often in a row hooks may keep it from becoming idle.
const IDLE_ASKS: u32 = 3;

impl Machine {
    pub(super) fn found(&mut self, found: &Found) -> Vec<Effect> {
        if let (Some(stop), None) = (&found.stop, &self.stop) {
            return self.hear_stop(stop.clone(), found.mail);
        }
        match self.phase {
            Phase::Rest { settled } => {
                let work = self.owed.is_some()
                    || self.news
                    || found.mail
                    || (found.offered && self.may_claim());
                match (self.may_call() && work, settled) {
                    (true, _) => self.choose(),
                    (false, false) => self.settle(),
                    (false, true) => Vec::new(),
                }
            }
            Phase::Round if self.wait == Some(WaitKind::Plan) && found.talk => {
                self.wait = None;
                vec![
                    Effect::EndWait(WaitEnd::StillPending),
                    Effect::Status(MemberStatus::Working),
                ]
            }
            Phase::Round
            | Phase::Choosing
            | Phase::Cut(_)
            | Phase::BeforeWrapUp
            | Phase::WrapUp
            | Phase::Over => Vec::new(),
        }
    }

    pub(super) fn taken(&mut self, news: bool, stop: Option<Stop>) -> Vec<Effect> {
        self.news |= news;
        if news {
            self.asked = false;
        }
        if let (Some(stop), None) = (stop, &self.stop) {
            let at_boundary = self.phase == Phase::Round;
            let mut effects = self.hear_stop(stop, false);
            if at_boundary {
                effects.push(Effect::RestAtBoundary);
                effects.extend(self.wrap_up());
            }
            return effects;
        }
        match self.phase {
            Phase::Round if self.stop.is_some() => {
                let mut effects = vec![Effect::RestAtBoundary];
                effects.extend(self.wrap_up());
                effects
            }
            Phase::Choosing if self.stop.is_some() => self.wrap_up(),
            Phase::Choosing if !self.may_call() => self.settle(),
            Phase::Choosing if self.owed.is_some() || self.news => {
                let parts = self.owed.take().unwrap_or_default();
                self.begin(parts)
            }
            Phase::Choosing if self.may_claim() => vec![Effect::Claim],
            Phase::Choosing => self.settle(),
            Phase::Round if self.limited => {
                self.owed.get_or_insert_default();
                let mut effects = vec![Effect::RestAtBoundary];
                effects.extend(self.settle());
                effects
            }
            Phase::Round => {
                self.news = false;
                vec![Effect::NextTurn]
            }
            Phase::BeforeWrapUp if self.limited || self.held_back => self.finish(None, true),
            Phase::BeforeWrapUp => self.begin_wrap_up(),
            Phase::Rest { .. } | Phase::Cut(_) | Phase::WrapUp | Phase::Over => Vec::new(),
        }
    }

    pub(super) fn claimed(&mut self, got: bool) -> Vec<Effect> {
        if got {
            self.held = Held::Open;
        }
        match (&self.phase, got) {
            (Phase::Choosing, true) if !self.may_call() => {
                self.owed = Some(vec![Part::Assignment]);
                self.settle()
            }
            (Phase::Choosing, true) => self.begin(vec![Part::Assignment]),
            (Phase::Choosing, false) => self.settle(),
            (
                Phase::Rest { .. }
                | Phase::Round
                | Phase::Cut(_)
                | Phase::BeforeWrapUp
                | Phase::WrapUp
                | Phase::Over,
                _,
            ) => Vec::new(),
        }
    }

    /// Status first: between it and the take-in nobody may conclude that nothing moves.
    pub(super) fn choose(&mut self) -> Vec<Effect> {
        self.phase = Phase::Choosing;
        vec![Effect::Status(MemberStatus::Working), Effect::TakeMail]
    }

    pub(super) fn begin(&mut self, parts: Vec<Part>) -> Vec<Effect> {
        if parts.contains(&Part::Reminder) {
            self.reminded.get_or_insert_default();
        }
        self.phase = Phase::Round;
        self.news = false;
        self.announce = None;
        self.idle_asks = if self.config.idle_hooks { IDLE_ASKS } else { 0 };
        vec![Effect::Begin(parts)]
    }

    /// A round has ended: whether there is more is looked up before anything is called idle.
    pub(super) fn come_to_rest(&mut self) -> Vec<Effect> {
        if !self.may_call() {
            return self.settle();
        }
        self.phase = Phase::Rest { settled: false };
        vec![Effect::Look]
    }

    pub(super) fn settle(&mut self) -> Vec<Effect> {
        let waits = self.plan_pending && self.held == Held::Open;
        if self.idle_asks > 0 && !waits && self.may_call() {
            self.idle_asks -= 1;
            self.phase = Phase::Round;
            return vec![Effect::ConsultIdle];
        }
        self.phase = Phase::Rest { settled: true };
        let status = if waits {
            MemberStatus::WaitingApproval
        } else {
            MemberStatus::Idle
        };
        let mut effects = vec![Effect::Status(status)];
        effects.extend(self.announce.take().map(Effect::Announce));
        effects
    }
}
