//! What the models say: a lead that makes sixty tasks in layers and keeps six teammates there, teammates that append
//! their task's number to a ledger through a command that does so once per number.
//!
//! Nothing is remembered between calls: each reply follows from the conversation and the files, as after a restart.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::FAULTS;
use crate::support::model_server::{Answer, Ask, Part};

pub(super) const TASKS: usize = 60;
const LAYER: usize = 10;
pub(super) const TEAM: [&str; 6] = ["w1", "w2", "w3", "w4", "w5", "w6"];

pub(super) fn answer(root: &Path, ask: &Ask) -> Answer {
    if ask.agent == "lead" {
        lead(root, ask)
    } else {
        worker(ask)
    }
}

fn lead(root: &Path, ask: &Ask) -> Answer {
    if ask.step() == 0 {
        let members: Vec<Value> = TEAM
            .iter()
            .map(|name| json!({"name": name, "role": "clerk"}))
            .collect();
        return Answer::call(
            "propose_team",
            json!({"members": members, "rationale": "many hands"}),
        );
    }
    if let Some(layer) = next_layer(root) {
        return layer;
    }
    let absent: Vec<&str> = TEAM
        .into_iter()
        .filter(|name| is_absent(root, name))
        .collect();
    if absent.is_empty() || last_calls(ask).contains(&"spawn_teammate") {
        return Answer::say("Noted.");
    }
    absent.iter().fold(Answer::say(""), |answer, name| {
        let input = json!({"name": name, "role": "clerk", "prompt": "Do what is on the board."});
        answer.and("spawn_teammate", input)
    })
}

/// Makes what is missing of the first layer that is not whole; each task waits for two of the layer before.
fn next_layer(root: &Path) -> Option<Answer> {
    let made = tasks(root);
    let first = (1..=TASKS).find(|number| !made.contains_key(number))?;
    let layer = (first - 1) / LAYER;
    let numbers = layer * LAYER + 1..=(layer + 1) * LAYER;
    let calls = numbers.filter(|number| !made.contains_key(number));
    Some(calls.fold(Answer::say(""), |answer, number| {
        let before = [number.checked_sub(LAYER), number.checked_sub(LAYER - 1)];
        let before: Vec<&String> = before
            .into_iter()
            .flatten()
            .filter_map(|number| made.get(&number).map(|(id, _)| id))
            .collect();
        let input = json!({
            "subject": format!("step {number}"), "description": format!("ledger {number}."), "blockedBy": before,
        });
        answer.and("create_task", input)
    }))
}

/// Ids and statuses of the tasks on the board, by number.
pub(super) fn tasks(root: &Path) -> BTreeMap<usize, (String, String)> {
    let Ok(entries) = std::fs::read_dir(root.join(".tasks")) else {
        return BTreeMap::new();
    };
    let words = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    entries
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|end| end == "json"))
        .filter_map(|entry| {
            let task: Value = serde_json::from_slice(&std::fs::read(entry.path()).ok()?).ok()?;
            let number = task["subject"].as_str()?.strip_prefix("step ")?;
            Some((
                number.parse().ok()?,
                (words(&task["id"]), words(&task["status"])),
            ))
        })
        .collect()
}

/// Whether it was never started or has ended for good.
fn is_absent(root: &Path, name: &str) -> bool {
    let record = root.join(format!(".team/state/members/{name}.json"));
    let Ok(bytes) = std::fs::read(record) else {
        return true;
    };
    let member: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    matches!(member["status"].as_str(), Some("stopped" | "failed"))
}

fn last_calls(ask: &Ask) -> Vec<&str> {
    let last = ask.messages.iter().rev().find(|said| !said.by_user);
    let parts = last.map_or(&[][..], |said| &said.parts);
    parts
        .iter()
        .filter_map(|part| match part {
            Part::Call { name, .. } => Some(name.as_str()),
            Part::Text(_) | Part::Result { .. } => None,
        })
        .collect()
}

fn worker(ask: &Ask) -> Answer {
    let newest = ask.newest();
    if newest.contains("asked to stop") {
        return Answer::say("Goodbye.");
    }
    let Some((number, id)) = assignment(ask) else {
        return Answer::say("Noted.");
    };
    match (last_calls(ask).first(), ask.results().first()) {
        (Some(&"bash"), Some((text, false))) if text.contains(&format!("ledger {number} ok")) => {
            Answer::call(
                "complete_task",
                json!({"task_id": id, "result": "in the ledger"}),
            )
        }
        (Some(&"complete_task"), Some((_, false))) => Answer::say("Done."),
        (Some(&"complete_task"), Some((why, true))) => {
            Answer::say(&format!("Not completed: {why}"))
        }
        (Some(&"bash"), Some((why, true))) if why.contains("you have no task") => {
            Answer::say("It is no longer mine.")
        }
        _ if is_completed(ask) || newest.contains("no longer your assignment") => {
            Answer::say("Noted.")
        }
        _ => Answer::call("bash", json!({"command": command(number, ask.step())})),
    }
}

/// The last assignment that this conversation tells of: the task's number and its id.
fn assignment(ask: &Ask) -> Option<(usize, &str)> {
    let (_, rest) = ask.assignment()?.1.split_once("ledger ")?;
    let number = rest.split('.').next()?.parse().ok()?;
    Some((number, ask.assigned_task()?))
}

/// Whether a call to complete the last assignment has succeeded.
fn is_completed(ask: &Ask) -> bool {
    let Some((from, _)) = ask.assignment() else {
        return false;
    };
    let parts = || ask.messages[from..].iter().flat_map(|said| &said.parts);
    let calls: Vec<&String> = parts()
        .filter_map(|part| match part {
            Part::Call { id, name, .. } if name == "complete_task" => Some(id),
            Part::Call { .. } | Part::Text(_) | Part::Result { .. } => None,
        })
        .collect();
    parts()
        .any(|part| matches!(part, Part::Result { id, is_error: false, .. } if calls.contains(&id)))
}

/// Waits until enough has gone wrong, then writes the number unless it stands there. No two tries are the same command:
/// the runtime refuses a call that is repeated over and over.
fn command(number: usize, step: usize) -> String {
    let due = (number - 1) * FAULTS / TASKS;
    format!(
        ": try {step}\n\
         until [ \"$(cat faults 2>/dev/null || echo 0)\" -ge {due} ]; do sleep 0.05; done\n\
         flock ledger.lock sh -c 'grep -qx {number} ledger 2>/dev/null || echo {number} >>ledger' && echo ledger {number} ok"
    )
}
