//! The turn machine by tables.

use std::time::Duration;

use serde_json::json;

use super::{Answered, Effect, Event, Room, Shorter, State, Turn};
use crate::agent::Happening;
use crate::conversation::{Block, Compaction, ToolCall, Usage};
use crate::model::{ModelError, Progress, Reply, Stop};
use crate::tool::Outcome;

fn call(id: &str) -> ToolCall {
    ToolCall {
        id: id.into(),
        name: "bash".into(),
        input: json!({ "command": id }),
        cut: None,
    }
}

fn reply(content: Vec<Block>, stop: Stop) -> Reply {
    Reply {
        content,
        stop,
        usage: Usage {
            output: 7,
            ..Usage::default()
        },
        note: Some(json!(1)),
    }
}

fn asks_for(ids: &[&str]) -> Reply {
    let content = ids.iter().map(|id| Block::ToolUse(call(id))).collect();
    reply(content, Stop::End)
}

fn says(text: &str) -> Reply {
    reply(vec![Block::text(text)], Stop::End)
}

fn outcome(content: &str) -> Outcome {
    Outcome {
        content: content.into(),
        is_error: false,
        held: false,
    }
}

/// Effects in short: what a table can show.
fn short(effects: &[Effect]) -> Vec<String> {
    effects
        .iter()
        .map(|effect| match effect {
            Effect::RecordReply { content, .. } => format!("reply {}", content.len()),
            Effect::RecordResult(Answered {
                call,
                content,
                is_error,
            }) => {
                let failed = if *is_error { "!" } else { "" };
                format!("result {}{failed} {content}", call.id)
            }
            Effect::RecordInterrupted(why) => format!("interrupted {why}"),
            Effect::RecordNudge => "nudge".into(),
            Effect::Call(Room::Look) => "call".into(),
            Effect::Call(room) => format!("call {room:?}"),
            Effect::RecordShorter(_) => "shorter".into(),
            Effect::Run(call) => format!("run {}", call.id),
            Effect::EndTurn => "end".into(),
            Effect::RecordTold(_) | Effect::Consult(..) => format!("{effect:?}"),
            Effect::Cancel => "cancel".into(),
            Effect::Tell(happening) => match happening {
                Happening::Delta(_) => "~delta".into(),
                Happening::Text(_) => "~text".into(),
                Happening::Retrying { .. } => "~retrying".into(),
                Happening::Asking => "~asking".into(),
                Happening::Called(usage) => format!("~called {}", usage.output),
                Happening::ToolStarted(call) => format!("~started {}", call.id),
                Happening::ToolEnded { call, .. } => format!("~ended {}", call.id),
                Happening::Unopposed | Happening::Boundary => "~boundary".into(),
                Happening::Shortened => "~shortened".into(),
                Happening::NotShortened(_) => "~not shortened".into(),
                Happening::RoundOver(text) => format!("~over {text}"),
                Happening::Declined(_) => "~declined".into(),
                Happening::Failed(_) => "~failed".into(),
                Happening::Interrupted => "~interrupted".into(),
            },
        })
        .collect()
}

/// A machine driven by events that carry its present epoch.
struct Driven(Turn);

impl Driven {
    fn new() -> Self {
        Self(Turn::new([]))
    }

    fn calling() -> Self {
        let mut driven = Self::new();
        assert_eq!(driven.on(Event::Begin), ["call"]);
        driven
    }

    fn running(ids: &[&str]) -> Self {
        let mut driven = Self::calling();
        driven.replied(asks_for(ids));
        driven
    }

    fn on(&mut self, event: Event) -> Vec<String> {
        short(&self.0.on(event))
    }

    fn replied(&mut self, reply: Reply) -> Vec<String> {
        self.on(Event::Replied(self.0.epoch(), reply))
    }

    fn shortened(&mut self, summed_up: bool) -> Vec<String> {
        let shorter = Shorter {
            cut: Compaction {
                whole: 0,
                kept: None,
            },
            text: None,
            spent: summed_up.then(|| (Usage::default(), None)),
        };
        self.on(Event::Shortened(self.0.epoch(), shorter))
    }

    fn too_long(&mut self) -> Vec<String> {
        let error = ModelError::TooLong("9 > 8".into());
        self.on(Event::CallFailed(self.0.epoch(), error))
    }

    fn ran(&mut self, outcome: Outcome) -> Vec<String> {
        self.on(Event::Ran(self.0.epoch(), outcome))
    }

    fn ended(&mut self, result: Result<(), String>) -> Vec<String> {
        self.on(Event::Ended(self.0.epoch(), result))
    }
}

#[test]
fn a_round_with_tools_is_recorded_in_order() {
    let mut turn = Driven::calling();
    assert_eq!(
        turn.replied(asks_for(&["a", "b"])),
        ["reply 2", "~called 7", "run a"]
    );
    assert_eq!(turn.ran(outcome("1")), ["result a 1", "~ended a", "run b"]);
    assert_eq!(turn.ran(outcome("2")), ["result b 2", "~ended b", "end"]);
    assert_eq!(turn.ended(Ok(())), ["~boundary"]);
    assert_eq!(turn.on(Event::Begin), ["call"]);
    assert_eq!(
        turn.replied(says("done")),
        ["reply 1", "~called 7", "~text", "~over done"]
    );
    assert_eq!(*turn.0.state(), State::Rest);
}

#[test]
fn held_results_wait_for_the_turns_end() {
    for (end, expected) in [
        (Ok(()), "result a made"),
        (
            Err("board is locked".to_owned()),
            "result a! board is locked",
        ),
    ] {
        let mut turn = Driven::running(&["a", "b"]);
        let held = Outcome {
            held: true,
            ..outcome("made")
        };
        assert_eq!(turn.ran(held), ["run b"]);
        assert_eq!(turn.ran(outcome("2")), ["result b 2", "~ended b", "end"]);
        assert_eq!(turn.ended(end), [expected, "~ended a", "~boundary"]);
    }
}

#[test]
fn cut_and_repeated_calls_are_answered_and_never_run() {
    let mut turn = Driven::calling();
    let mut cut = call("a");
    cut.cut = Some("not JSON".into());
    let content = vec![Block::ToolUse(cut), Block::ToolUse(call("b"))];
    assert_eq!(
        turn.replied(reply(content, Stop::End)),
        [
            "reply 2",
            "~called 7",
            "~started a",
            "result a! not JSON",
            "~ended a",
            "run b"
        ]
    );

    let mut turn = Driven::calling();
    let effects = turn.replied(reply(vec![Block::ToolUse(call("a"))], Stop::MaxTokens));
    assert!(effects[3].starts_with("result a! not run: the reply reached the output limit"));
    assert_eq!(effects.last().unwrap(), "end");

    let mut turn = Driven(Turn::new(vec![call("same"); 3]));
    turn.on(Event::Begin);
    assert!(
        turn.replied(asks_for(&["same"]))
            .contains(&"run same".into())
    );
    turn.ran(outcome(""));
    turn.ended(Ok(()));
    turn.on(Event::Begin);
    let effects = turn.replied(asks_for(&["same"]));
    assert!(effects[3].contains("5 times in a row"), "{effects:?}");
    assert_eq!(effects.last().unwrap(), "end");
}

#[test]
fn an_interrupted_call_leaves_nothing_of_its_reply() {
    for finish in [
        Event::CallFailed(1, ModelError::Cancelled),
        Event::Replied(1, asks_for(&["a"])),
    ] {
        let mut turn = Driven::calling();
        assert_eq!(turn.on(Event::Interrupt("stop".into())), ["cancel"]);
        assert!(turn.on(Event::Interrupt("again".into())).is_empty());
        assert!(
            turn.on(Event::Progressed(1, Progress::Text("late".into())))
                .is_empty()
        );
        let effects = turn.on(finish);
        assert_eq!(
            effects[effects.len() - 2..],
            ["interrupted stop", "~interrupted"]
        );
        assert!(!effects.iter().any(|effect| effect.starts_with("run")));
        assert_eq!(*turn.0.state(), State::Rest);
    }
}

#[test]
fn an_interrupted_tool_answers_all_calls_of_its_turn() {
    let mut turn = Driven::running(&["a", "b"]);
    assert_eq!(turn.on(Event::Interrupt("stop".into())), ["cancel"]);
    let killed = Outcome {
        is_error: true,
        ..outcome("killed")
    };
    assert_eq!(
        turn.ran(killed),
        [
            "result a! interrupted: stop; it may have had effects\nkilled",
            "~ended a",
            "~started b",
            "result b! not run: stop",
            "~ended b",
            "end"
        ]
    );
    assert_eq!(turn.ended(Ok(())), ["interrupted stop", "~interrupted"]);
    assert_eq!(turn.on(Event::Begin), ["call"]);
}

#[test]
fn silence_after_results_is_nudged_once_and_then_the_end() {
    let mut turn = Driven::running(&["a"]);
    turn.ran(outcome("1"));
    turn.ended(Ok(()));
    turn.on(Event::Begin);
    let silence = || reply(Vec::new(), Stop::End);
    assert_eq!(turn.replied(silence())[2..], ["nudge", "~boundary"]);
    assert_eq!(turn.on(Event::Begin), ["call"]);
    assert_eq!(turn.replied(silence()), ["reply 0", "~called 7", "~over "]);

    let mut turn = Driven::calling();
    assert_eq!(turn.replied(silence()), ["reply 0", "~called 7", "~over "]);
}

#[test]
fn the_round_ends_with_the_last_words_said_in_it() {
    let mut turn = Driven::calling();
    let content = vec![Block::text("almost"), Block::ToolUse(call("a"))];
    turn.replied(reply(content, Stop::End));
    turn.ran(outcome(""));
    turn.ended(Ok(()));
    turn.on(Event::Begin);
    turn.replied(reply(Vec::new(), Stop::End));
    turn.on(Event::Begin);
    let effects = turn.replied(reply(Vec::new(), Stop::End));
    assert_eq!(effects.last().unwrap(), "~over almost");
}

#[test]
fn refusals_and_failures_end_the_round_and_pauses_are_bounded() {
    let mut turn = Driven::calling();
    let refusal = reply(vec![Block::text("I ca")], Stop::Refusal("no".into()));
    assert_eq!(turn.replied(refusal), ["reply 0", "~called 7", "~declined"]);
    turn.on(Event::Begin);
    let epoch = turn.0.epoch();
    let failed = Event::CallFailed(epoch, ModelError::Refused("bad key".into()));
    assert_eq!(turn.on(failed), ["~failed"]);
    turn.on(Event::Begin);
    let pause = || reply(vec![Block::text("…")], Stop::Pause);
    let mut calls = 0;
    while turn.replied(pause()).last().unwrap() == "~boundary" {
        assert_eq!(turn.on(Event::Begin), ["call"]);
        calls += 1;
    }
    assert_eq!(calls, 8);
    assert_eq!(*turn.0.state(), State::Rest);
}

#[test]
fn a_conversation_is_made_shorter_as_a_turn_of_its_own() {
    let mut turn = Driven::calling();
    let done = ["shorter", "~called 0", "~shortened", "~boundary"];
    assert_eq!(turn.shortened(true), done);
    assert_eq!(turn.on(Event::Begin), ["call Enough"]);
    assert_eq!(turn.replied(says("ok")).last().unwrap(), "~over ok");
    assert_eq!(turn.on(Event::Begin), ["call"]);
    assert_eq!(
        turn.shortened(false),
        ["shorter", "~shortened", "~boundary"]
    );
}

#[test]
fn what_the_server_calls_too_long_is_made_shorter_once() {
    let mut turn = Driven::calling();
    assert_eq!(turn.too_long(), ["call Make"]);
    turn.shortened(true);
    assert_eq!(turn.on(Event::Begin), ["call Enough"]);
    assert_eq!(turn.too_long(), ["~failed"]);

    let mut turn = Driven::calling();
    turn.shortened(false);
    turn.on(Event::Begin);
    assert_eq!(turn.too_long(), ["call Make"], "it was not enough");
    assert_eq!(turn.too_long(), ["~failed"], "it cannot be");

    let mut turn = Driven::calling();
    let full = reply(Vec::new(), Stop::ContextFull);
    assert_eq!(turn.replied(full.clone()).last().unwrap(), "~boundary");
    assert_eq!(turn.on(Event::Begin), ["call Make"]);
    turn.shortened(true);
    turn.on(Event::Begin);
    assert_eq!(turn.replied(full), ["reply 0", "~called 7", "~failed"]);
}

#[test]
fn in_a_last_round_the_model_is_asked_for_nothing_else() {
    let last = || {
        let mut turn = Driven::new();
        assert_eq!(turn.on(Event::BeginLast), ["call Alone"]);
        turn
    };
    assert_eq!(last().too_long(), ["~failed"]);
    let full = reply(Vec::new(), Stop::ContextFull);
    assert_eq!(last().replied(full), ["reply 0", "~called 7", "~failed"]);
    let mut turn = last();
    turn.shortened(false);
    assert_eq!(turn.on(Event::Begin), ["call Enough"]);
    turn.replied(asks_for(&["a"]));
    turn.ran(outcome(""));
    turn.ended(Ok(()));
    assert_eq!(turn.on(Event::Begin), ["call Alone"]);
    turn.replied(says("bye"));
    assert_eq!(turn.on(Event::Begin), ["call"]);
}

#[test]
fn at_rest_it_is_made_shorter_when_asked_and_that_is_all() {
    let mut turn = Driven::new();
    assert_eq!(turn.on(Event::Shorten), ["call Make"]);
    assert_eq!(turn.shortened(true), ["shorter", "~called 0", "~shortened"]);
    assert_eq!(*turn.0.state(), State::Rest);
    turn.on(Event::Shorten);
    assert_eq!(turn.too_long(), ["~not shortened"]);
    turn.on(Event::Shorten);
    turn.on(Event::Interrupt("stop".into()));
    assert_eq!(
        turn.shortened(false),
        ["shorter", "~shortened", "interrupted stop", "~interrupted"]
    );
    assert_eq!(turn.on(Event::Begin), ["call Enough"]);
}

type MakeState = fn() -> Driven;
type MakeEvent = fn(u64) -> Event;

const STATES: [(&str, MakeState); 8] = [
    ("rest", Driven::new),
    ("calling", Driven::calling),
    ("running", || Driven::running(&["a", "b"])),
    ("ending", ending),
    ("boundary", || {
        let mut turn = ending();
        turn.ended(Ok(()));
        turn
    }),
    ("cutting a call", || cut(Driven::calling())),
    ("cutting a tool", || cut(Driven::running(&["a", "b"]))),
    ("cutting the end", || cut(ending())),
];

fn ending() -> Driven {
    let mut turn = Driven::running(&["a"]);
    turn.ran(outcome(""));
    turn
}

fn cut(mut turn: Driven) -> Driven {
    turn.on(Event::Interrupt("stop".into()));
    turn
}

/// Each event with the states that it moves.
const EVENTS: [(&str, MakeEvent, &[&str]); 12] = [
    ("begin", |_| Event::Begin, &["rest", "boundary"]),
    ("begin last", |_| Event::BeginLast, &["rest"]),
    ("rest", |_| Event::Rest, &["boundary"]),
    (
        "interrupt",
        |_| Event::Interrupt(String::new()),
        &["calling", "running", "ending"],
    ),
    ("shorten", |_| Event::Shorten, &["rest"]),
    (
        "shortened",
        |epoch| {
            let cut = Compaction {
                whole: 0,
                kept: None,
            };
            let (text, spent) = (None, None);
            Event::Shortened(epoch, Shorter { cut, text, spent })
        },
        &["calling", "cutting a call"],
    ),
    (
        "progressed",
        |epoch| {
            let (why, wait) = (String::new(), Duration::ZERO);
            Event::Progressed(epoch, Progress::Retrying { why, wait })
        },
        &["calling"],
    ),
    (
        "replied",
        |epoch| Event::Replied(epoch, says("x")),
        &["calling", "cutting a call"],
    ),
    (
        "failed",
        |epoch| Event::CallFailed(epoch, ModelError::Cancelled),
        &["calling", "cutting a call"],
    ),
    (
        "started",
        |epoch| Event::Started(epoch, call("a")),
        &["running", "cutting a tool"],
    ),
    (
        "ran",
        |epoch| Event::Ran(epoch, outcome("")),
        &["running", "cutting a tool"],
    ),
    (
        "ended",
        |epoch| Event::Ended(epoch, Ok(())),
        &["ending", "cutting the end"],
    ),
];

/// Every state against every event: what does not fit, and whatever is late, changes nothing.
#[test]
fn what_does_not_fit_changes_nothing() {
    for (state, make_state) in STATES {
        for (event, make_event, fits) in EVENTS {
            let mut turn = make_state();
            let (epoch, before) = (turn.0.epoch(), turn.0.state().clone());
            let effects = turn.0.on(make_event(epoch));
            let moved = !effects.is_empty() || *turn.0.state() != before;
            assert_eq!(moved, fits.contains(&state), "{event} in {state}");

            let mut turn = make_state();
            let late = make_event(epoch.wrapping_sub(1));
            let ours = ["begin", "begin last", "rest", "interrupt", "shorten"];
            if !ours.contains(&event) {
                assert!(turn.0.on(late).is_empty(), "late {event} in {state}");
                assert_eq!(*turn.0.state(), before, "late {event} in {state}");
            }
        }
    }
}
