//! One event of the timeline in words: of which kind it is, and what there is to say. Not safe for a terminal yet. Pure.

use serde_json::{Map, Value};

use super::requests;
use crate::cli::front::render;
use crate::conversation::ToolCall;
use crate::request::{Record, RequestStatus};
use crate::timeline::Happened;

/// Its kind, in at most seven letters.
pub(super) fn kind(what: &Happened) -> &'static str {
    match what {
        Happened::Began { .. } => "begins",
        Happened::Text(_) => "says",
        Happened::ToolUse { .. } => "calls",
        Happened::ToolResult { ok: true, .. } => "got",
        Happened::ToolResult { .. } => "failed",
        Happened::Interrupted(_) => "cut",
        Happened::Message(_) => "writes",
        Happened::Task { .. } => "task",
        Happened::Teammate(_) => "starts",
        Happened::Request(record) if record.status == RequestStatus::Pending => "asks",
        Happened::Request(_) => "decides",
        Happened::Usage(_) => "used",
        Happened::Log(text) => match text.split(' ').next() {
            Some("WARN") => "warns",
            Some("ERROR") => "errs",
            _ => "log",
        },
    }
}

/// What there is to say of it.
pub(super) fn text(what: &Happened) -> String {
    match what {
        Happened::Began { session: Some(id) } => format!("session {id}"),
        Happened::Began { session: None } => "a conversation".to_owned(),
        Happened::Text(text) => text.trim().to_owned(),
        Happened::ToolUse { id, name, input } => render::tool_call(&ToolCall {
            id: id.clone(),
            name: name.clone(),
            input: input.clone(),
            cut: None,
        }),
        Happened::ToolResult { output, .. } => output.trim().to_owned(),
        Happened::Interrupted(why) => why.clone(),
        Happened::Message(message) => {
            let kind = serde_json::to_value(&message.kind).unwrap_or_default();
            let kind = kind.as_str().unwrap_or_default().replace('_', " ");
            format!("→ {} {kind}: {}", message.to, message.content.trim())
        }
        Happened::Task { task, change } => changed(task, change),
        Happened::Teammate(member) => format!("as {} on {}", member.role, member.model),
        Happened::Request(record) => asked(record),
        Happened::Usage(usage) => used(usage),
        Happened::Log(text) => {
            let level = ["WARN ", "ERROR "]
                .iter()
                .find_map(|level| text.strip_prefix(level));
            level.unwrap_or(text).to_owned()
        }
    }
}

/// Its kind with all that there is to say.
pub(super) fn whole(what: &Happened) -> String {
    match what {
        Happened::ToolUse { name, input, .. } => format!("{} {name} {input:#}", kind(what)),
        _ => format!("{} {}", kind(what), text(what)),
    }
}

fn asked(record: &Record) -> String {
    let (word, id) = (requests::word(record.kind), &record.request_id);
    if record.status == RequestStatus::Pending {
        return format!("{word} {id}: {}", requests::about(record));
    }
    let said = record.feedback.as_deref();
    let said = said.map_or_else(String::new, |said| format!(": {said}"));
    format!("{word} {id} of {} {}{said}", record.sender, record.status)
}

fn used(usage: &Map<String, Value>) -> String {
    let number = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or(0);
    let (input, cached) = (number("input"), number("cacheRead") + number("cacheWrite"));
    format!("{input} + {cached} cached in, {} out", number("output"))
}

fn changed(task: &Map<String, Value>, change: &Value) -> String {
    let text = |key: &str| task.get(key).and_then(Value::as_str).unwrap_or("-");
    format!("{} {}: {}", text("id"), step(change), text("subject"))
}

/// What a change of a task comes to.
fn step(change: &Value) -> String {
    let new = |key: &str| change.pointer(&format!("/{key}/new"));
    let owner = new("owner").and_then(Value::as_str);
    match (
        change.pointer("/status/old"),
        new("status").and_then(Value::as_str),
    ) {
        (Some(Value::Null), Some(_)) => return "new".to_owned(),
        (_, Some("in_progress")) => {
            return format!("claimed by {}", owner.unwrap_or("somebody"));
        }
        (Some(old), Some("pending")) if old == "in_progress" => return "given back".to_owned(),
        (_, Some(status)) => return status.to_owned(),
        (_, None) => {}
    }
    match new("verified").and_then(Value::as_bool) {
        Some(true) => return "verified".to_owned(),
        Some(false) => return "not verified".to_owned(),
        None => {}
    }
    let pairs = change.as_object().into_iter().flatten();
    let changed: Vec<String> = pairs
        .map(|(key, pair)| format!("{key} {} → {}", plain(&pair["old"]), plain(&pair["new"])))
        .collect();
    changed.join(", ")
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_change_of_a_task_is_told_by_what_it_comes_to() {
        for (change, wanted) in [
            (
                json!({"status": {"old": null, "new": "pending"}, "attempts": {"old": null, "new": 0}}),
                "new",
            ),
            (
                json!({"status": {"old": "pending", "new": "in_progress"}, "owner": {"old": null, "new": "alice"}}),
                "claimed by alice",
            ),
            (json!({"verified": {"old": null, "new": true}}), "verified"),
            (
                json!({"verified": {"old": true, "new": false}}),
                "not verified",
            ),
            (
                json!({"status": {"old": "in_progress", "new": "completed"}, "verified": {"old": null, "new": true}}),
                "completed",
            ),
            (
                json!({"status": {"old": "in_progress", "new": "pending"}, "owner": {"old": "alice", "new": null}}),
                "given back",
            ),
            (
                json!({"assignee": {"old": null, "new": "bob"}}),
                "assignee - → bob",
            ),
        ] {
            assert_eq!(step(&change), wanted, "{change}");
        }
    }
}
