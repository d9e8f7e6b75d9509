//! The result of a headless run as one object (SPEC §14).

use std::time::Duration;

use serde_json::{Value, json};

use crate::board::Entry;
use crate::cli::place::Place;
use crate::cli::verbs::usage;
use crate::lead::{EndStatus, SessionResult};
use crate::team::usage::spent;
use crate::team::{Member, Session};

/// `status`, `result`, `tasks`, `teammates`, `usage`, `duration_ms`, `session`.
pub fn object(place: &Place, result: &SessionResult) -> Value {
    json!({
        "status": result.status.as_str(),
        "result": said(result),
        "tasks": tasks(&result.tasks),
        "teammates": teammates(place, &result.teammates),
        "usage": usage::json(&result.usage, &result.prices),
        "duration_ms": milliseconds(result.duration),
        "session": result.session,
    })
}

/// The lead's last text; without one, why there is none.
fn said(result: &SessionResult) -> &str {
    let why = result.failure.as_deref().unwrap_or_default();
    if result.result.is_empty() {
        why
    } else {
        &result.result
    }
}

/// The same of a run that broke, with `why` as its result: as much as the files tell. `session` is null if there was none yet.
pub fn of_broken(place: &Place, why: &str, duration: Duration) -> Value {
    let session = Session::load(&place.workspace);
    let session = session.filter(|session| session.pid == std::process::id());
    let session = session.map(|session| session.id);
    let board = place.board().ok().and_then(|board| board.list().ok());
    let spent = session
        .as_ref()
        .and_then(|id| spent(&place.workspace, Some(id.as_str())).ok());
    let prices = place.in_force().map(|settings| settings.prices);
    json!({
        "status": EndStatus::Failed.as_str(),
        "result": why,
        "tasks": tasks(&board.unwrap_or_default()),
        "teammates": teammates(place, &place.roster().list().unwrap_or_default()),
        "usage": usage::json(&spent.unwrap_or_default(), &prices.unwrap_or_default()),
        "duration_ms": milliseconds(duration),
        "session": session,
    })
}

fn tasks(entries: &[Entry]) -> Vec<Value> {
    let each = entries.iter().map(|entry| match entry {
        Entry::Task(task) => json!(task),
        Entry::Damaged { id, why, .. } => json!({ "id": id, "damaged": why, "ready": false }),
    });
    each.collect()
}

fn teammates(place: &Place, members: &[Member]) -> Vec<Value> {
    let roster = place.roster();
    let each = members.iter().map(|member| {
        let mut value = json!(member);
        value["alive"] = roster.is_alive(&member.name).into();
        value
    });
    each.collect()
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
