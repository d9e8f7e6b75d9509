//! `--output-format stream-json`: each thing that happens as one object on a line (SPEC §14).

use serde_json::{Map, Value, json};

use crate::clock::Timestamp;
use crate::lead::Shown;

/// The event of an item, if it is one.
pub fn event(item: &Shown) -> Option<Value> {
    let (name, agent, fields) = match item {
        Shown::Started {
            session,
            root,
            model,
            resumed,
        } => (
            "init",
            "lead".to_owned(),
            json!({ "session": session, "root": root, "model": model, "resumed": resumed }),
        ),
        Shown::Text(text) => ("text", "lead".to_owned(), json!({ "text": text })),
        Shown::ToolUse(call) => (
            "tool_use",
            "lead".to_owned(),
            json!({ "id": call.id, "name": call.name, "input": call.input }),
        ),
        Shown::ToolResult { call, output, ok } => (
            "tool_result",
            "lead".to_owned(),
            json!({ "id": call.id, "ok": ok, "output": output }),
        ),
        Shown::Mail(message) => (
            "message",
            message.from.clone(),
            json!({ "message": message }),
        ),
        Shown::Task(news) => (
            "task",
            news.by.clone(),
            json!({ "task": news.task, "change": news.change }),
        ),
        Shown::Teammate(news) => {
            let mut member = json!(news.member);
            member["alive"] = news.alive.into();
            (
                "teammate",
                news.member.name.to_string(),
                json!({ "teammate": member, "note": news.note }),
            )
        }
        Shown::RequestOpened(record) | Shown::RequestClosed(record) => (
            "request",
            record.sender.to_string(),
            json!({ "request": record }),
        ),
        Shown::Error(text) => ("error", "lead".to_owned(), json!({ "text": text })),
        Shown::Recovered(_)
        | Shown::Delta(_)
        | Shown::Interrupted
        | Shown::Retrying { .. }
        | Shown::Held(_)
        | Shown::Working(_)
        | Shown::Mode(_)
        | Shown::Used(_)
        | Shown::Notice(_)
        | Shown::View(_)
        | Shown::Shell { .. }
        | Shown::Leaving(_)
        | Shown::AskedElsewhere(_)
        | Shown::LineTaken
        | Shown::Prompt(_) => return None,
    };
    Some(named(name, &agent, fields))
}

/// The last event: the object of `json` with the common fields.
pub fn result(object: Value) -> Value {
    named("result", "lead", object)
}

fn named(event: &str, agent: &str, fields: Value) -> Value {
    let mut all = Map::new();
    all.insert("event".to_owned(), event.into());
    all.insert("at".to_owned(), json!(Timestamp::now()));
    all.insert("agent".to_owned(), agent.into());
    if let Value::Object(fields) = fields {
        all.extend(fields);
    }
    Value::Object(all)
}
