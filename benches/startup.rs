//! How long a person waits for a program of ours: for a verb that only answers, and for the session's prompt, over a board of
//! 10,000 tasks.
//!
//! `cargo bench --bench startup`; the bars are 10 ms for `lead --version` and 100 ms for the prompt.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench prints its figures, and ends at what it did not expect"
)]

mod support;

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use support::facts::now;
use support::{Bed, DEADLINE, Terminal};

const TASKS: usize = 10_000;
const VERBS: usize = 100;
const SESSIONS: usize = 11;

const AT: &str = "2026-11-30T17:00:00.000Z";
const PROMPT: &str = "lead> ";

fn main() {
    let bed = Bed::new();
    fill(&bed);
    let verbs = (0..VERBS).map(|_| version(&bed)).collect();
    report("lead --version", verbs, "10 ms");
    // As of now nobody has read the board: it has no index yet.
    let model = bed.script(&json!({"agents": {}}));
    println!("prompt over a board never read: {:?}", prompt(&bed, &model));
    let sessions = (0..SESSIONS).map(|_| prompt(&bed, &model)).collect();
    report("prompt", sessions, "100 ms");
}

fn report(what: &str, mut took: Vec<Duration>, bar: &str) {
    took.sort();
    println!(
        "{what}: least {:?}, median {:?}, worst {:?} of {}; bar {bar}",
        took[0],
        took[took.len() / 2],
        took[took.len() - 1],
        took.len()
    );
}

fn version(bed: &Bed) -> Duration {
    let mut lead = bed.lead_command(&["--version"]);
    let begun = now();
    let ended = lead.stdout(Stdio::null()).status().unwrap();
    assert!(ended.success());
    begun.elapsed()
}

/// From the start of a session to a prompt that takes what is typed.
fn prompt(bed: &Bed, model: &str) -> Duration {
    let begun = now();
    let mut terminal = Terminal::start(bed.lead_command(&["--model", model]));
    terminal.wait_for(PROMPT, DEADLINE);
    let took = begun.elapsed();
    terminal.line("/exit");
    assert_eq!(terminal.wait(DEADLINE), Some(0));
    took
}

/// Half of them done, the rest ready.
fn fill(bed: &Bed) {
    for number in 0..TASKS {
        let id = format!("task_{number:08x}");
        let status = if number % 2 == 0 {
            "completed"
        } else {
            "pending"
        };
        let task = json!({
            "id": id, "subject": format!("step {number}"), "description": "", "status": status, "owner": Value::Null,
            "blockedBy": [], "worktree": null, "workVersion": 1, "attempts": 1, "createdAt": AT, "updatedAt": AT,
        });
        bed.write(&format!(".tasks/{id}.json"), &task.to_string());
    }
}
