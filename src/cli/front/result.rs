//! The result of a headless run as one object (SPEC §14).

use serde_json::{Value, json};

use crate::board::Entry;
use crate::cli::place::Place;
use crate::cli::verbs::usage;
use crate::lead::SessionResult;

/// `status`, `result`, `tasks`, `teammates`, `usage`, `duration_ms`, `session`.
pub fn object(place: &Place, result: &SessionResult) -> Value {
    let roster = place.roster();
    let tasks: Vec<Value> = result
        .tasks
        .iter()
        .map(|entry| match entry {
            Entry::Task(task) => json!(task),
            Entry::Damaged { id, why, .. } => json!({ "id": id, "damaged": why, "ready": false }),
        })
        .collect();
    let teammates: Vec<Value> = result
        .teammates
        .iter()
        .map(|member| {
            let mut value = json!(member);
            value["alive"] = roster.is_alive(&member.name).into();
            value
        })
        .collect();
    json!({
        "status": result.status.as_str(),
        "result": result.result,
        "tasks": tasks,
        "teammates": teammates,
        "usage": usage::json(&result.usage, &result.prices),
        "duration_ms": u64::try_from(result.duration.as_millis()).unwrap_or(u64::MAX),
        "session": result.session,
    })
}
