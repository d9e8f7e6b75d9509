//! Asking the person's hooks at a round's end, and before the owner becomes idle: one that blocks makes the round go on.

use super::machine::Kind;
use super::record::interrupted;
use super::{Effect, State, Turn, Work};
use crate::agent::Happening;
use crate::policy::HookEvent;

/// How often in a row a round goes on because a hook wants it to.
const MOST: u32 = 3;

/// What follows if no hook blocks.
#[derive(Debug, Clone, PartialEq)]
pub enum Then {
    /// The round is over, with this text.
    Over(String),
    /// The owner may become idle.
    Idle,
}

impl Then {
    fn event(&self) -> HookEvent {
        match self {
            Self::Over(_) => HookEvent::Stop,
            Self::Idle => HookEvent::TeammateIdle,
        }
    }

    fn happening(self) -> Happening {
        match self {
            Self::Over(text) => Happening::RoundOver(text),
            Self::Idle => Happening::Unopposed,
        }
    }
}

impl Turn {
    /// The same with hooks that are asked at a round's end.
    #[must_use]
    pub fn with_stop_hooks(mut self, has: bool) -> Self {
        self.stop_hooks = has;
        self
    }

    /// The model has no more to do. The state is [`State::Rest`].
    pub(super) fn over(&mut self, text: String) -> Effect {
        let then = Then::Over(text);
        if self.stop_hooks && self.round.kind == Kind::Work && self.round.went_on < MOST {
            self.consult(then)
        } else {
            Effect::Tell(then.happening())
        }
    }

    pub(super) fn consult_idle(&mut self) -> Vec<Effect> {
        if self.state == State::Rest {
            vec![self.consult(Then::Idle)]
        } else {
            Vec::new()
        }
    }

    fn consult(&mut self, then: Then) -> Effect {
        self.epoch += 1;
        let (event, text) = (then.event(), self.round.last_text.clone());
        self.state = State::Consulting(then);
        Effect::Consult(event, text)
    }

    /// `blocked`: what the hook says that blocks. Limits, stops and mail are looked at before the round goes on.
    pub(super) fn consulted(&mut self, blocked: Option<String>) -> Vec<Effect> {
        match std::mem::replace(&mut self.state, State::Rest) {
            State::Consulting(then) => match blocked {
                None => vec![Effect::Tell(then.happening())],
                Some(why) => {
                    self.round.went_on += 1;
                    self.state = State::Boundary;
                    vec![Effect::RecordTold(why), Effect::Tell(Happening::Boundary)]
                }
            },
            State::Cutting {
                why,
                work: Work::Consult,
            } => interrupted(why),
            unmoved @ (State::Rest
            | State::Calling
            | State::Running { .. }
            | State::Ending
            | State::Boundary
            | State::Cutting {
                work: Work::Call | Work::Tool { .. } | Work::End,
                ..
            }) => {
                self.state = unmoved;
                Vec::new()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Event;
    use super::*;
    use crate::conversation::{Block, Usage};
    use crate::model::{Reply, Stop};

    fn said(turn: &mut Turn, text: &str) -> Vec<Effect> {
        let reply = Reply {
            content: vec![Block::text(text)],
            stop: Stop::End,
            usage: Usage::default(),
            note: None,
        };
        turn.on(Event::Replied(turn.epoch(), reply))
    }

    fn answer(turn: &mut Turn, blocked: Option<&str>) -> Vec<Effect> {
        turn.on(Event::Consulted(turn.epoch(), blocked.map(str::to_owned)))
    }

    fn asked() -> Turn {
        let mut turn = Turn::new([]).with_stop_hooks(true);
        turn.on(Event::Begin);
        let effects = said(&mut turn, "done");
        let asks = Effect::Consult(HookEvent::Stop, "done".into());
        assert_eq!(effects.last(), Some(&asks));
        turn
    }

    #[test]
    fn a_round_is_over_when_no_hook_blocks() {
        let mut turn = asked();
        let over = Effect::Tell(Happening::RoundOver("done".into()));
        assert_eq!(answer(&mut turn, None), [over]);
        assert_eq!(*turn.state(), State::Rest);
    }

    #[test]
    fn a_round_goes_on_three_times_and_the_next_begins_anew() {
        let mut turn = asked();
        for time in 1..=3 {
            let effects = answer(&mut turn, Some("not yet"));
            let told = Effect::RecordTold("not yet".into());
            assert_eq!(effects, [told, Effect::Tell(Happening::Boundary)]);
            turn.on(Event::Begin);
            let last = said(&mut turn, "still done").pop().unwrap();
            let asks = matches!(last, Effect::Consult(..));
            assert_eq!(asks, time < 3, "{last:?}");
        }
        assert_eq!(*turn.state(), State::Rest);
        turn.on(Event::Begin);
        let last = said(&mut turn, "again").pop().unwrap();
        assert!(matches!(last, Effect::Consult(..)), "{last:?}");
    }

    #[test]
    fn an_interrupt_ends_the_hook_and_a_late_answer_is_ignored() {
        let mut turn = asked();
        let early = turn.epoch() - 1;
        assert_eq!(turn.on(Event::Consulted(early, None)), []);
        assert_eq!(turn.on(Event::Interrupt("cut".into())), [Effect::Cancel]);
        let effects = answer(&mut turn, Some("not yet"));
        assert_eq!(effects.last(), Some(&Effect::Tell(Happening::Interrupted)));
        assert_eq!(*turn.state(), State::Rest);
        assert_eq!(answer(&mut turn, Some("late")), []);
    }

    #[test]
    fn at_rest_the_owner_may_ask_whether_it_may_be_idle() {
        let mut turn = Turn::new([]);
        let asks = Effect::Consult(HookEvent::TeammateIdle, String::new());
        assert_eq!(turn.on(Event::ConsultIdle), [asks]);
        assert_eq!(turn.on(Event::ConsultIdle), [], "it is busy");
        let free = Effect::Tell(Happening::Unopposed);
        assert_eq!(answer(&mut turn, None), [free]);
    }
}
