//! One thing that happened.

use serde_json::{Map, Value, json};

use crate::clock::Timestamp;
use crate::mailbox::{Kind, Message};
use crate::request::Record;
use crate::team::Member;

/// One thing that happened, as its source tells it.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// When.
    pub at: Timestamp,
    /// Whose doing it was, as far as the source says.
    pub agent: String,
    /// What.
    pub what: Happened,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Happened {
    /// A conversation began, in this session if it is a lead's.
    Began {
        /// The session.
        session: Option<String>,
    },
    /// A model said this.
    Text(String),
    /// A model asked for a tool.
    ToolUse {
        /// The call's id.
        id: String,
        /// The tool.
        name: String,
        /// Its arguments.
        input: Value,
    },
    /// A tool has ended.
    ToolResult {
        /// The call's id.
        id: String,
        /// Whether it succeeded.
        ok: bool,
        /// What it said.
        output: String,
    },
    /// A round was cut.
    Interrupted(String),
    /// A message was sent.
    Message(Message),
    /// A task changed.
    Task {
        /// The task after it, as far as the journal tells.
        task: Map<String, Value>,
        /// What changed.
        change: Value,
    },
    /// A teammate was started.
    Teammate(Box<Member>),
    /// A request was made or answered.
    Request(Box<Record>),
    /// A model was called.
    Usage(Map<String, Value>),
    /// A process said something about itself.
    Log(String),
}

impl Event {
    /// An object like those of `--output-format stream-json`.
    pub fn json(&self) -> Value {
        let (name, fields) = match &self.what {
            Happened::Began { session } => ("init", json!({ "session": session })),
            Happened::Text(text) => ("text", json!({ "text": text })),
            Happened::ToolUse { id, name, input } => (
                "tool_use",
                json!({ "id": id, "name": name, "input": input }),
            ),
            Happened::ToolResult { id, ok, output } => (
                "tool_result",
                json!({ "id": id, "ok": ok, "output": output }),
            ),
            Happened::Interrupted(why) => ("interrupted", json!({ "text": why })),
            Happened::Message(message) => ("message", json!({ "message": message })),
            Happened::Task { task, change } => ("task", json!({ "task": task, "change": change })),
            Happened::Teammate(member) => ("teammate", json!({ "teammate": member })),
            Happened::Request(record) => ("request", json!({ "request": record })),
            Happened::Usage(usage) => ("usage", json!({ "usage": usage })),
            Happened::Log(text) => ("log", json!({ "text": text })),
        };
        let mut all = Map::new();
        all.insert("event".to_owned(), name.into());
        all.insert("at".to_owned(), json!(self.at));
        all.insert("agent".to_owned(), self.agent.clone().into());
        if let Value::Object(fields) = fields {
            all.extend(fields);
        }
        Value::Object(all)
    }
}

impl Happened {
    /// Whether this says nothing that another event does not say better: counts of tokens, answers of tools that worked, mail
    /// that only moves a request or tells of the board, and the runtime's own routine.
    pub fn is_routine(&self) -> bool {
        match self {
            Self::Usage(_) | Self::ToolResult { ok: true, .. } => true,
            Self::Message(message) => is_told_elsewhere(message),
            Self::Log(text) => {
                let level = text.split(' ').next().unwrap_or_default();
                matches!(level, "INFO" | "DEBUG" | "TRACE")
            }
            Self::Began { .. }
            | Self::Text(_)
            | Self::ToolUse { .. }
            | Self::ToolResult { .. }
            | Self::Interrupted(_)
            | Self::Task { .. }
            | Self::Teammate(_)
            | Self::Request(_) => false,
        }
    }
}

fn is_told_elsewhere(message: &Message) -> bool {
    let notice = matches!(
        message.kind,
        Kind::IdleNotification | Kind::TaskNotification
    );
    message.kind.is_control() || (notice && !message.starts_round())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_elsewhere_is_routine_and_what_went_wrong_never_is() {
        let message = |kind: &str, fields: Value| {
            Happened::Message(
                serde_json::from_value(json!({
                    "id": "msg_1", "from": "alice", "to": "lead", "type": kind, "content": "x", "timestamp": 1,
                    "metadata": fields,
                }))
                .unwrap(),
            )
        };
        for (what, routine) in [
            (message("result", json!({})), false),
            (message("permission_request", json!({})), true),
            (
                message("idle_notification", json!({"reason": "done"})),
                true,
            ),
            (
                message("idle_notification", json!({"reason": "error"})),
                false,
            ),
            (Happened::Log("INFO resumed".to_owned()), true),
            (Happened::Log("WARN a server hangs".to_owned()), false),
            (Happened::Log("thread panicked".to_owned()), false),
            (Happened::Text("INFO".to_owned()), false),
        ] {
            assert_eq!(what.is_routine(), routine, "{what:?}");
        }
    }
}
