//! What agents cost that wait: real teammates, idle beneath a lead that the bench plays. What they cost while nothing
//! happens, and while one of them gets mail.
//!
//! `cargo bench --bench agents`; the table and what it means: docs/performance.md.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench prints, and ends at what it did not expect"
)]

#[expect(dead_code, reason = "each bench needs a part of it")]
mod measure;
mod support;

use std::time::Duration;

use pitcrew::clock::Timestamp;
use pitcrew::ids::{AgentName, SessionId};
use pitcrew::mailbox::{Kind, Message, Post};
use pitcrew::store::Durability;
use pitcrew::team::{LeadPresence, Roster, Session};
use pitcrew::workspace::Workspace;
use serde_json::json;

use measure::{Asked, Bench, Row};
use support::{Bed, DEADLINE, Running, wait_until};

pub(crate) const BENCHES: [Bench; 3] = [
    (
        "processor time a message, 64 waiting / 1 waiting",
        "≤ 3",
        a_message,
    ),
    (
        "wake-ups in the second after one message",
        "none",
        after_one,
    ),
    ("64 idle agents", "< 0.5 % of a core", idle),
];

fn main() {
    run(std::env::args().skip(1));
}

pub(crate) fn run(words: impl IntoIterator<Item = String>) {
    measure::run_on_disk(&Asked::new(words), &BENCHES);
}

/// Teammates that wait for work, and the lead that they see.
struct Crew {
    agents: Vec<Running>,
    _lead: LeadPresence,
    post: Post,
    _bed: Bed,
}

impl Crew {
    fn new(size: usize) -> Self {
        let bed = Bed::git();
        let workspace = Workspace::at(bed.root());
        let lead = LeadPresence::take(&workspace).unwrap().unwrap();
        let session = Session {
            id: SessionId::random(),
            generation: 1,
            pid: std::process::id(),
            model: String::new(),
            started_at: Timestamp::now(),
            unattended: false,
            person_at: None,
            status: "idle".to_owned(),
            stalled: std::collections::BTreeMap::new(),
            settings: json!({ "model": bed.script(&json!({ "agents": {} })) }),
        };
        session.save(&workspace, Durability::Process).unwrap();
        let roster = Roster::new(workspace.clone(), Durability::Process);
        let agents: Vec<Running> = (0..size)
            .map(|nr| {
                let name = format!("a{nr}");
                // As a lead does before it starts one.
                let record = json!({
                    "name": name, "role": "", "model": "", "status": "starting", "pid": null,
                    "startedAt": Timestamp::now(), "task": null,
                });
                roster
                    .put(&serde_json::from_value(record).unwrap())
                    .unwrap();
                let mut agent = bed.start_teammate(&["--name", &name, "--keys-on-stdin"]);
                agent.line("{}");
                agent.end_input();
                agent
            })
            .collect();
        for nr in 0..size {
            let record = format!(".team/state/members/a{nr}.json");
            wait_until("an idle agent", DEADLINE, || {
                (bed.json(&record)?["status"] == "idle").then_some(())
            });
        }
        Self {
            agents,
            _lead: lead,
            post: Post::new(workspace, Durability::Process),
            _bed: bed,
        }
    }

    /// Microseconds of processor time that all of them had so far.
    fn cpu(&self) -> f64 {
        let nanoseconds: f64 = self
            .each("schedstat")
            .filter_map(|text| text.split(' ').next()?.parse::<f64>().ok())
            .sum();
        nanoseconds / 1e3
    }

    /// How often a thread of theirs fell asleep so far.
    fn sleeps(&self) -> u64 {
        self.each("status")
            .filter_map(|text| {
                let line = text
                    .lines()
                    .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
                line.trim().parse::<u64>().ok()
            })
            .sum()
    }

    /// A file of every thread's directory below `/proc`.
    fn each(&self, file: &str) -> impl Iterator<Item = String> {
        self.agents.iter().flat_map(move |agent| {
            let threads = std::fs::read_dir(format!("/proc/{}/task", agent.pid())).unwrap();
            threads.filter_map(move |thread| {
                std::fs::read_to_string(thread.ok()?.path().join(file)).ok()
            })
        })
    }

    /// Tells the first one something that starts no round, and gives it time to look.
    fn tell(&self) {
        let to = AgentName::parse("a0").unwrap();
        let told = Message::new(&AgentName::lead(), &to, Kind::StatusUpdate, "All is well.");
        self.post.deliver(&told).unwrap();
        pause(8);
    }
}

fn pause(ms: u64) {
    std::thread::sleep(Duration::from_millis(ms));
}

fn a_message(asked: &Asked, spot: &Row) {
    let [one, many] = [1, asked.times(64, 2)].map(|size| {
        let (crew, messages) = (Crew::new(size), asked.times(100, 2));
        pause(300);
        let before = crew.cpu();
        (0..messages).for_each(|_| crew.tell());
        pause(100);
        (crew.cpu() - before) / f64::from(u32::try_from(messages).unwrap())
    });
    spot.ratio(many, one, "µs");
}

fn after_one(_: &Asked, spot: &Row) {
    let crew = Crew::new(1);
    pause(300);
    crew.tell();
    pause(100);
    let before = crew.sleeps();
    pause(1_000);
    let woken = crew.sleeps() - before;
    spot.fact(&woken.to_string());
}

fn idle(asked: &Asked, spot: &Row) {
    let crew = Crew::new(asked.times(64, 2));
    pause(1_000);
    let ms = asked.times(10_000, 200);
    let before = crew.cpu();
    pause(u64::try_from(ms).unwrap());
    let used = crew.cpu() - before;
    let share = used / f64::from(u32::try_from(ms).unwrap()) / 10.0;
    let measured = format!("{share:.3} % of a core");
    spot.fact(&measured);
}
