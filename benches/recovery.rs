//! A lead that starts again over a large workspace whose team was killed: how long until it asks its first question, and
//! how much memory it took. The bars are 2 s and 100 MiB.
//!
//! 10,000 tasks (8 of them in progress for the dead), 10,000 archived and 1,000 waiting messages, 8 dead teammates.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench prints its figures, and reads what the kernel makes"
)]

mod support;

use std::time::Duration;

use serde_json::{Value, json};
use support::Bed;
use support::facts::now;

const TASKS: usize = 10_000;
const DEAD: usize = 8;
const ARCHIVED: usize = 10_000;
const WAITING: usize = 1_000;
const RUNS: usize = 5;
const AT: &str = "2026-11-30T17:00:00.000Z";

fn main() {
    let mut runs: Vec<(Duration, u64)> = (0..RUNS).map(|_| restarted()).collect();
    runs.sort();
    let (worst, _) = runs[RUNS - 1];
    let memory = runs.iter().map(|(_, kib)| kib).max().copied();
    println!(
        "{TASKS} tasks, {ARCHIVED} archived and {WAITING} waiting messages, {DEAD} dead teammates: ready after {:?} \
         (worst {worst:?}), at most {} MiB",
        runs[RUNS / 2].0,
        memory.unwrap_or_default() / 1024
    );
}

/// A first start over the files of a team that was killed; time to the first question, and the most memory in KiB.
fn restarted() -> (Duration, u64) {
    let bed = Bed::new();
    let model = bed.script(&json!({"agents": {}}));
    board(&bed);
    team(&bed, &model);
    mail(&bed);
    let begun = now();
    let lead = bed.start_lead(&["--model", &model]);
    lead.wait_for("Start them again", Duration::from_mins(1));
    let took = begun.elapsed();
    (took, most_memory(lead.pid()))
}

fn board(bed: &Bed) {
    for number in 0..TASKS {
        let id = format!("task_{number:08x}");
        let (status, owner) = match number {
            0..DEAD => ("in_progress", json!(format!("m{number}"))),
            DEAD..5_000 => ("pending", Value::Null),
            _ => ("completed", Value::Null),
        };
        let task = json!({
            "id": id, "subject": format!("step {number}"), "description": "", "status": status, "owner": owner,
            "blockedBy": [], "worktree": null, "workVersion": 1, "attempts": 1, "createdAt": AT, "updatedAt": AT,
        });
        bed.write(&format!(".tasks/{id}.json"), &task.to_string());
    }
}

fn team(bed: &Bed, model: &str) {
    for number in 0..DEAD {
        let member = json!({
            "name": format!("m{number}"), "role": "coder", "model": model, "status": "working", "pid": 1,
            "startedAt": AT, "task": format!("task_{number:08x}"), "turns": 4, "startedBy": "lead",
        });
        let path = format!(".team/state/members/m{number}.json");
        bed.write(&path, &member.to_string());
    }
}

fn mail(bed: &Bed) {
    let message = |number: usize| {
        json!({
            "id": format!("msg_{number:016x}"), "from": "m1", "to": "lead", "type": "status_update",
            "content": "x".repeat(200), "timestamp": 1_764_522_000_123_u64, "acknowledgedAt": AT,
        })
    };
    let lines = |from: usize, count: usize| -> String {
        let lines = (from..from + count).map(|number| format!("{}\n", message(number)));
        lines.collect()
    };
    bed.write(".mailboxes/lead.jsonl", &lines(0, WAITING));
    bed.write(".team/state/archive/lead.jsonl", &lines(WAITING, ARCHIVED));
}

/// The high-water mark of a process, in KiB; 0 where the system does not tell.
fn most_memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .unwrap_or_default()
}
