//! One thing that happened.

use serde_json::{Map, Value, json};

use crate::clock::Timestamp;
use crate::mailbox::Message;
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
