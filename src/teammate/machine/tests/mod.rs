//! The machine by stories: each line is an event and what it must lead to, in order.

mod any_order;
mod ending;
mod starting;
mod working;

use std::time::Duration;

use super::{Config, Effect, Event, Found, Machine, RoundEnd, Start, Stop};
use crate::board::Released;
use crate::ids::RequestId;

fn config(by_person: bool) -> Config {
    Config {
        by_person,
        lead_grace: Duration::from_mins(1),
        shutdown: Duration::from_mins(2),
        permission_wait: Some(Duration::from_secs(5)),
        idle_hooks: false,
    }
}

fn stop(leaving: bool) -> Stop {
    Stop {
        request: RequestId::parse("req_00000001").unwrap(),
        leaving,
    }
}

fn asked_to_stop(leaving: bool) -> Event {
    Event::Found(Found {
        stop: Some(stop(leaving)),
        ..Found::default()
    })
}

const MAIL: Found = Found {
    mail: true,
    talk: true,
    offered: false,
    stop: None,
};
const OFFER: Found = Found {
    mail: false,
    talk: false,
    offered: true,
    stop: None,
};
const NOTHING: Found = Found {
    mail: false,
    talk: false,
    offered: false,
    stop: None,
};

fn taken(news: bool) -> Event {
    Event::Taken { news, stop: None }
}

fn done(text: &str) -> Event {
    Event::RoundOver(RoundEnd::Done(text.into()))
}

/// Effects in short.
fn short(effect: &Effect) -> String {
    match effect {
        Effect::Status(status) => format!("={status:?}"),
        Effect::Begin(parts) => format!("begin {parts:?}"),
        Effect::EndWait(why) => format!("end wait {why:?}"),
        Effect::Result(text) => format!("result {text}"),
        Effect::LateResult(text) => format!("late result {text}"),
        Effect::Keep(text) => format!("keep {text}"),
        Effect::Farewell(text) => format!("farewell {}", text.as_deref().unwrap_or("-")),
        Effect::ErrorReport(why) => format!("error {why}"),
        Effect::Announce(said) => format!("idle {:?} {:?}", said.reason, said.outcome),
        Effect::Release { why, note } => {
            let why = match why {
                Released::Orderly => "orderly",
                Released::Failed => "failed",
                Released::NotAgain => "not again",
                Released::ByPerson => "by person",
            };
            format!("release {why} {}", note.as_deref().unwrap_or("-"))
        }
        Effect::AnswerStop { clean } => format!("answer stop clean={clean}"),
        Effect::SetTimer(timer, after) => format!("timer {timer:?} {}", after.as_secs()),
        Effect::ClearTimer(timer) => format!("no timer {timer:?}"),
        Effect::Interrupt(_) => "interrupt".into(),
        Effect::End(end) => format!("end {end:?}"),
        Effect::Look
        | Effect::TakeMail
        | Effect::Claim
        | Effect::NextTurn
        | Effect::ConsultIdle
        | Effect::RestAtBoundary
        | Effect::CloseAssignment
        | Effect::Acknowledge
        | Effect::WrapUpMode
        | Effect::Drain
        | Effect::SayNoLead => format!("{effect:?}"),
    }
}

struct Told(Machine);

impl Told {
    fn new(start: Start) -> Self {
        Self::of(false, start)
    }

    fn of(by_person: bool, start: Start) -> Self {
        let mut told = Self(Machine::new(config(by_person)));
        told.on(Event::Started(start));
        told
    }

    /// Settled at rest, without a task.
    fn idle() -> Self {
        let mut told = Self::new(LED);
        told.on(taken(false));
        told.expect(Event::Claimed(false), &["=Idle"]);
        told
    }

    /// In a round with a task of its own.
    fn working() -> Self {
        let mut told = Self::idle();
        told.on(Event::Found(OFFER));
        told.on(taken(false));
        told.expect(Event::Claimed(true), &["begin [Assignment]"]);
        told
    }

    fn on(&mut self, event: Event) -> Vec<String> {
        self.0.on(event).iter().map(short).collect()
    }

    #[track_caller]
    fn expect(&mut self, event: Event, effects: &[&str]) -> &mut Self {
        let said = format!("{event:?}");
        assert_eq!(self.on(event), effects, "{said}");
        self
    }
}

const LED: Start = Start {
    lead: true,
    prompt: false,
    task: false,
    told: false,
    unfinished: false,
    news: false,
    plan_pending: false,
    asked: false,
    last_words: None,
    reminded: None,
};
