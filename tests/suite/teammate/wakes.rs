//! A waiting teammate wakes at once, whatever it waits for and whenever that comes: also in the moment in which it begins to
//! wait. A wake that is lost costs half a minute, so none is overlooked here. (SPEC §4.5)
//!
//! `PITCREW_SOAK=1` runs a thousand timings of each kind.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pitcrew::ids::AgentName;
use pitcrew::mailbox::{Kind, inbox};
use pitcrew::request::{Record, RequestKind, RequestStatus};
use serde_json::{Value, json};

use super::played::{Played, alice};
use super::{says, tool, turn};
use crate::support::facts::{now, pause};
use crate::support::{DEADLINE, soak, wait_until};

/// Far less than the slow look that would find what a lost wake left; how quick they are is told, not judged, since a
/// machine may be busy with other tests.
const NEVER_LOST: Duration = Duration::from_secs(20);
/// Around the end of a round, in microseconds.
const EDGE: u64 = 8_000;

/// How many there were: each has pauses of its own.
static LIVES: AtomicU64 = AtomicU64::new(0);

fn timings() -> usize {
    soak(100, 12)
}

/// Runs `life` for all timings together; one that goes on for long would measure how the test reads what has gathered.
fn in_lives(life: impl Fn()) {
    (0..soak(10, 1)).for_each(|_| life());
}

/// Small pauses of any length; the same for the same seed.
struct Pauses(u64);

impl Pauses {
    fn next(&mut self) {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        pause(Duration::from_micros((self.0 >> 33) % EDGE));
    }
}

/// Causes the event and waits until it was acted on, `timings` times.
#[track_caller]
fn each_wakes(what: &str, mut cause: impl FnMut(usize), mut acted: impl FnMut(usize) -> bool) {
    let life = LIVES.fetch_add(1, Ordering::Relaxed);
    let seed = u64::from(std::process::id()) << 16 | life;
    let mut pauses = Pauses(seed);
    let mut took: Vec<Duration> = (0..timings())
        .map(|number| {
            pauses.next();
            let begun = now();
            cause(number);
            wait_until(&format!("{what} {number}, seed {seed}"), DEADLINE, || {
                acted(number).then_some(())
            });
            begun.elapsed()
        })
        .collect();
    took.sort();
    let (median, worst) = (took[took.len() / 2], took[took.len() - 1]);
    eprintln!(
        "{what}: median {median:?}, worst {worst:?} of {}, seed {seed}",
        took.len()
    );
    assert!(worst < NEVER_LOST, "{what}: {took:?}, seed {seed}");
}

fn one_by_one(lead: &Played, kind: &Kind, number: usize) -> bool {
    lead.mail_of(kind).len() > number
}

#[test]
fn by_mail() {
    in_lives(a_life_woken_by_mail);
}

fn a_life_woken_by_mail() {
    let lead = Played::new(&json!([]));
    let _alice = lead.start(&[]);
    lead.wait_for_status("idle");
    each_wakes(
        "mail",
        |_| lead.send(Kind::Message, "go on"),
        |_| {
            inbox::waiting(&lead.workspace, &alice())
                .unwrap()
                .is_empty()
        },
    );
    let all = timings();
    wait_until("the last round's result", DEADLINE, || {
        one_by_one(&lead, &Kind::Result, 0).then_some(())
    });
    assert!(
        lead.calls() <= all as u64,
        "several that wait together make one round"
    );
}

#[test]
fn by_a_task() {
    in_lives(a_life_woken_by_a_task);
}

fn a_life_woken_by_a_task() {
    let done = |number: usize| {
        json!({"when": "[Assignment]", "tools": [
            {"name": "complete_task", "input": {"task_id": "${task}", "result": format!("made {number}")}}
        ]})
    };
    let mut replies: Vec<Value> = (0..timings()).map(done).collect();
    replies.extend((0..timings()).map(|_| says("done")));
    let lead = Played::new(&json!(replies));
    let _alice = lead.start(&[]);
    lead.wait_for_status("idle");
    each_wakes(
        "task",
        |number| {
            if number > 0 {
                // The round before has ended, or is about to.
                wait_until("its result", DEADLINE, || {
                    one_by_one(&lead, &Kind::Result, number - 1).then_some(())
                });
            }
            lead.task(&format!("Task {number}"));
        },
        |number| {
            let name = AgentName::lead();
            let told = inbox::waiting(&lead.workspace, &name).unwrap();
            let claimed = told
                .iter()
                .filter(|message| message.meta("change") == Some("completed"));
            claimed.count() > number
        },
    );
}

/// One round that asks as often as there are timings, and then ends.
fn asks(ask: impl Fn(usize) -> Value) -> Value {
    let mut replies: Vec<Value> = (0..timings()).map(ask).collect();
    replies.push(turn(&[tool(
        "complete_task",
        &json!({"task_id": "${task}"}),
    )]));
    replies.push(says("done"));
    json!(replies)
}

/// Answers the `number`th question as soon as it can be seen, which is before its asker waits.
fn answer(lead: &Played, kind: RequestKind, seen: &mut Vec<Record>, status: RequestStatus) {
    let record = wait_until("the next question", DEADLINE, || {
        lead.requests().open_ones(Some(kind)).unwrap().pop()
    });
    lead.answer(&record, status, "");
    seen.push(record);
}

fn answered_in_the_moment_of_asking(kind: RequestKind, status: RequestStatus, replies: &Value) {
    let lead = Played::new(replies);
    let id = lead.task("Ask");
    let _alice = lead.start(&["--require-plan"][..usize::from(kind == RequestKind::PlanApproval)]);
    let mut seen = Vec::new();
    each_wakes(
        kind.as_str(),
        |_| answer(&lead, kind, &mut seen, status),
        |number| lead.results().len() > number,
    );
    if kind == RequestKind::Permission {
        lead.wait_for_task(&id, "completed");
    }
}

#[test]
fn by_the_answer_to_a_permission_question() {
    let replies = asks(|number| {
        let command = format!("rm -f x{number}");
        turn(&[tool("bash", &json!({ "command": command }))])
    });
    in_lives(|| {
        answered_in_the_moment_of_asking(RequestKind::Permission, RequestStatus::Allowed, &replies);
    });
}

#[test]
fn by_the_decision_on_a_plan() {
    let replies = asks(|number| {
        let plan = json!({"title": format!("plan {number}"), "steps": ["look"]});
        turn(&[tool("submit_plan", &plan)])
    });
    in_lives(|| {
        answered_in_the_moment_of_asking(
            RequestKind::PlanApproval,
            RequestStatus::Rejected,
            &replies,
        );
    });
}

#[test]
fn by_a_request_to_stop_at_the_end_of_its_round() {
    let mut pauses = Pauses(u64::from(std::process::id()));
    for number in 0..soak(100, 3) {
        let lead = Played::new(&json!([says("hello"), says("bye")]));
        let alice = lead.start(&[]);
        lead.wait_for_status("idle");
        lead.send(Kind::Message, "go on");
        lead.letter(&Kind::Result, 1);
        pauses.next();
        let begun = now();
        lead.ask_to_stop(number % 2 == 0);
        lead.letter(&Kind::ShutdownResponse, 1);
        assert!(begun.elapsed() < NEVER_LOST, "{number}");
        let _done = alice.wait(DEADLINE).expect_code(0);
    }
}
