//! Whatever comes in whatever order, late, twice or from nowhere: what must hold of a teammate does.

use std::time::Duration;

use proptest::prelude::*;

use super::super::{Effect, Event, Found, Machine, Outcome, RoundEnd, Start, Timer, WaitKind};
use super::{LED, MAIL, NOTHING, OFFER, config, stop};
use crate::process::signals::Signal;
use crate::team::MemberStatus;

fn events() -> Vec<Event> {
    let words = || "words".to_owned();
    let mut events = vec![
        Event::Found(MAIL),
        Event::Found(OFFER),
        Event::Found(NOTHING),
        Event::Claimed(true),
        Event::Claimed(false),
        Event::ToolClaimed,
        Event::TaskOver(Outcome::Completed),
        Event::TaskOver(Outcome::TakenAway),
        Event::Asked,
        Event::Boundary,
        Event::Unopposed,
        Event::WaitOver,
        Event::PlanSettled,
        Event::Limit(true),
        Event::Limit(false),
        Event::HeldBack(Duration::from_secs(5)),
        Event::HeldBack(Duration::ZERO),
        Event::LeadGone,
        Event::LeadCame,
        Event::PutOff(Duration::from_mins(1)),
        Event::PutOff(Duration::ZERO),
        Event::WaitBegan(WaitKind::Plan),
        Event::WaitBegan(WaitKind::Permission),
    ];
    for leaving in [false, true] {
        let asked = Some(stop(leaving));
        events.push(Event::Found(Found {
            stop: asked.clone(),
            ..MAIL
        }));
        events.extend([false, true].map(|news| Event::Taken {
            news,
            stop: asked.clone(),
        }));
    }
    events.extend([false, true].map(|news| Event::Taken { news, stop: None }));
    events.extend(
        [
            RoundEnd::Done(words()),
            RoundEnd::Declined(words()),
            RoundEnd::Unreachable(words()),
            RoundEnd::Hopeless(words()),
            RoundEnd::Full(words()),
            RoundEnd::Interrupted,
        ]
        .map(Event::RoundOver),
    );
    events.extend([Signal::Interrupt, Signal::Terminate, Signal::HangUp].map(Event::Signal));
    events.extend(
        [
            Timer::StopTurn,
            Timer::StopAll,
            Timer::LeadGrace,
            Timer::Cut,
            Timer::Answer,
            Timer::CoolDown,
            Timer::HeldBack,
        ]
        .map(Event::TimedOut),
    );
    events
}

/// What was done so far, as far as the rules ask for it.
#[derive(Default)]
struct Done {
    ended: usize,
    acknowledged: usize,
    answered: usize,
    farewells: usize,
    idle_notices_in_a_row: usize,
    lead: bool,
}

impl Done {
    fn take(&mut self, effects: &[Effect]) -> Result<(), TestCaseError> {
        for (at, effect) in effects.iter().enumerate() {
            match effect {
                Effect::End(_) => {
                    self.ended += 1;
                    prop_assert_eq!(at + 1, effects.len(), "the end is the last: {:?}", effects);
                }
                Effect::Acknowledge => self.acknowledged += 1,
                Effect::Farewell(_) => {
                    self.farewells += 1;
                    prop_assert_eq!(self.answered, 0, "the farewell comes before the answer");
                }
                Effect::AnswerStop { .. } => {
                    self.answered += 1;
                    prop_assert!(self.acknowledged > 0, "only what was heard is answered");
                }
                Effect::Announce(_) => {
                    self.idle_notices_in_a_row += 1;
                    let idle = &effects[at.saturating_sub(1)];
                    prop_assert!(
                        matches!(
                            idle,
                            Effect::Status(MemberStatus::Idle | MemberStatus::WaitingApproval)
                        ),
                        "idle is written before it is said: {:?}",
                        effects
                    );
                }
                Effect::Begin(_) => {
                    self.idle_notices_in_a_row = 0;
                    prop_assert!(
                        self.lead || self.acknowledged > 0,
                        "nothing new without a lead"
                    );
                }
                _ => {}
            }
        }
        prop_assert!(self.ended <= 1 && self.farewells <= 1 && self.answered <= 1);
        prop_assert!(self.acknowledged <= 1 && self.idle_notices_in_a_row <= 1);
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn it_ends_once_answers_once_and_is_idle_once(
        task in any::<bool>(),
        by_person in any::<bool>(),
        chosen in proptest::collection::vec(proptest::sample::select(events()), 0..60),
    ) {
        let mut machine = Machine::new(config(by_person));
        let mut done = Done { lead: true, ..Done::default() };
        done.take(&machine.on(Event::Started(Start { task, ..LED })))?;
        for event in chosen {
            match event {
                Event::LeadCame => done.lead = true,
                Event::LeadGone => done.lead = false,
                _ => {}
            }
            let over = done.ended > 0;
            let effects = machine.on(event);
            done.take(&effects)?;
            if over {
                prop_assert!(effects.is_empty(), "after the end: {:?}", effects);
            }
        }
    }

    /// Whatever happened before, a request to stop ends it once its deadlines have run out.
    #[test]
    fn a_stop_always_ends(
        before in proptest::collection::vec(proptest::sample::select(events()), 0..30),
    ) {
        let mut machine = Machine::new(config(false));
        let mut ended = false;
        let mut on = |event: Event| {
            let effects = machine.on(event);
            ended |= effects.iter().any(|effect| matches!(effect, Effect::End(_)));
            ended
        };
        on(Event::Started(LED));
        for event in before {
            on(event);
        }
        on(Event::Found(Found { stop: Some(stop(false)), ..NOTHING }));
        for _ in 0..2 {
            for event in [
                Event::Taken { news: false, stop: None },
                Event::Claimed(false),
                Event::TimedOut(Timer::StopTurn),
                Event::TimedOut(Timer::StopAll),
                Event::TimedOut(Timer::Cut),
            ] {
                on(event);
            }
        }
        prop_assert!(on(Event::TimedOut(Timer::StopAll)));
    }
}
