//! One line of each kind of file to events; pure. `Err`: it cannot be read. No events: nothing that is shown.

use serde_json::{Map, Value};

use super::{Event, Happened};
use crate::clock::Timestamp;
use crate::conversation::{Block, Record};
use crate::mailbox::Message;

/// The line of a file cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unreadable;

/// The outcome of a line.
pub(super) type Parsed = Result<Vec<Event>, Unreadable>;

/// What a line is read as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Form {
    /// A line of the board's journal.
    Journal,
    /// A message of an archive.
    Archive,
    /// A record of this agent's conversation.
    Transcript(String),
    /// A line of `usage.jsonl`.
    Usage,
    /// A line of this agent's log; one without a time of its own belongs to the time given.
    Log(String, Timestamp),
}

impl Form {
    /// Reads a line.
    pub(super) fn parse(&mut self, line: &[u8]) -> Parsed {
        match self {
            Self::Journal => journal(line),
            Self::Archive => archive(line),
            Self::Transcript(agent) => transcript(agent, line),
            Self::Usage => usage(line),
            Self::Log(agent, last) => Ok(vec![log(agent, last, line)]),
        }
    }
}

fn object(line: &[u8]) -> Result<Map<String, Value>, Unreadable> {
    serde_json::from_slice(line).map_err(|_| Unreadable)
}

/// Takes `at` and the text under `who` out of an object.
fn common(object: &mut Map<String, Value>, who: &str) -> Result<(Timestamp, String), Unreadable> {
    let mut text = |key: &str| match object.shift_remove(key) {
        Some(Value::String(text)) => Ok(text),
        _ => Err(Unreadable),
    };
    let at = Timestamp::parse(&text("at")?).ok_or(Unreadable)?;
    Ok((at, text(who)?))
}

fn journal(line: &[u8]) -> Parsed {
    let mut fields = object(line)?;
    let (at, agent) = common(&mut fields, "by")?;
    fields.shift_remove("seq").ok_or(Unreadable)?;
    let change = fields.shift_remove("change").unwrap_or_default();
    let Some(id) = fields.shift_remove("task") else {
        // More changed than could be named.
        return Ok(Vec::new());
    };
    let mut task = Map::new();
    task.insert("id".to_owned(), id);
    task.extend(fields);
    let what = Happened::Task { task, change };
    Ok(vec![Event { at, agent, what }])
}

fn archive(line: &[u8]) -> Parsed {
    let message: Message = serde_json::from_slice(line).map_err(|_| Unreadable)?;
    Ok(vec![sent(message)])
}

/// The sending of a message.
pub(super) fn sent(message: Message) -> Event {
    Event {
        at: Timestamp::from_ms(message.timestamp),
        agent: message.from.clone(),
        what: Happened::Message(message),
    }
}

/// What is put before the model is told by the other files already, but for the words of the person.
fn transcript(agent: &str, line: &[u8]) -> Parsed {
    let record: Record = serde_json::from_slice(line).map_err(|_| Unreadable)?;
    let mut agent = agent.to_owned();
    let (at, what) = match record {
        Record::User {
            text,
            by: Some(by),
            at,
            ..
        } => {
            agent = by.to_string();
            (at, vec![Happened::Text(text)])
        }
        Record::Start { session, at, .. } => (at, vec![Happened::Began { session }]),
        Record::Assistant { content, at, .. } => {
            (at, content.into_iter().filter_map(said).collect())
        }
        Record::Result {
            tool_use_id,
            content,
            is_error,
            at,
        } => {
            let what = Happened::ToolResult {
                id: tool_use_id,
                ok: !is_error,
                output: content,
            };
            (at, vec![what])
        }
        Record::Interrupted { why, at } => (at, vec![Happened::Interrupted(why)]),
        _ => return Ok(Vec::new()),
    };
    let event = |what| Event {
        at,
        agent: agent.clone(),
        what,
    };
    Ok(what.into_iter().map(event).collect())
}

fn said(block: Block) -> Option<Happened> {
    match block {
        Block::Text { text } => Some(Happened::Text(text)),
        Block::ToolUse(call) => Some(Happened::ToolUse {
            id: call.id,
            name: call.name,
            input: call.input,
        }),
        Block::ToolResult { .. } | Block::Opaque { .. } => None,
    }
}

fn usage(line: &[u8]) -> Parsed {
    let mut fields = object(line)?;
    let (at, agent) = common(&mut fields, "agent")?;
    let what = Happened::Usage(fields);
    Ok(vec![Event { at, agent, what }])
}

/// A line of a log begins with its time; what does not, such as a panic's, belongs to the one before.
fn log(agent: &str, last: &mut Timestamp, line: &[u8]) -> Event {
    let text = String::from_utf8_lossy(line);
    let (first, rest) = text.split_once(' ').unwrap_or((&text, ""));
    let text = match Timestamp::parse(first) {
        Some(at) => {
            *last = at;
            rest.trim_start()
        }
        None => &*text,
    };
    Event {
        at: *last,
        agent: agent.to_owned(),
        what: Happened::Log(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: &str = "2025-11-30T17:00:00.123Z";

    fn events(mut form: Form, line: &str) -> Vec<Value> {
        let parsed = form.parse(line.as_bytes()).unwrap();
        parsed.iter().map(Event::json).collect()
    }

    #[test]
    fn each_kind_of_line_becomes_its_events() {
        let alice = || "alice".to_owned();
        for (form, line, wanted) in [
            (
                Form::Journal,
                format!(
                    r#"{{"seq":4,"at":"{AT}","by":"bob","task":"task_00000001","change":{{}},"status":"pending"}}"#
                ),
                format!(
                    r#"[{{"event":"task","at":"{AT}","agent":"bob","task":{{"id":"task_00000001","status":"pending"}},"change":{{}}}}]"#
                ),
            ),
            (
                Form::Journal,
                format!(r#"{{"seq":5,"at":"{AT}","by":"outside","change":{{}},"rescan":true}}"#),
                "[]".to_owned(),
            ),
            (
                Form::Transcript(alice()),
                format!(
                    r#"{{"type":"assistant","content":[{{"type":"text","text":"hi"}},{{"type":"tool_use","id":"c","name":"bash","input":{{}}}}],"usage":{{"input":1,"output":1,"cacheRead":0,"cacheWrite":0}},"at":"{AT}"}}"#
                ),
                format!(
                    r#"[{{"event":"text","at":"{AT}","agent":"alice","text":"hi"}},{{"event":"tool_use","at":"{AT}","agent":"alice","id":"c","name":"bash","input":{{}}}}]"#
                ),
            ),
            (
                Form::Transcript(alice()),
                format!(r#"{{"type":"user","text":"told","at":"{AT}"}}"#),
                "[]".to_owned(),
            ),
            (
                Form::Transcript("lead".to_owned()),
                format!(r#"{{"type":"user","text":"go","by":"user","at":"{AT}"}}"#),
                format!(r#"[{{"event":"text","at":"{AT}","agent":"user","text":"go"}}]"#),
            ),
            (
                Form::Transcript(alice()),
                format!(
                    r#"{{"type":"result","tool_use_id":"c","content":"out","is_error":true,"at":"{AT}"}}"#
                ),
                format!(
                    r#"[{{"event":"tool_result","at":"{AT}","agent":"alice","id":"c","ok":false,"output":"out"}}]"#
                ),
            ),
            (
                Form::Usage,
                format!(r#"{{"at":"{AT}","agent":"alice","model":"m","input":3}}"#),
                format!(
                    r#"[{{"event":"usage","at":"{AT}","agent":"alice","usage":{{"model":"m","input":3}}}}]"#
                ),
            ),
            (
                Form::Log(alice(), Timestamp::from_ms(0)),
                format!("{AT}  INFO started"),
                format!(r#"[{{"event":"log","at":"{AT}","agent":"alice","text":"INFO started"}}]"#),
            ),
        ] {
            let wanted: Vec<Value> = serde_json::from_str(&wanted).unwrap();
            assert_eq!(events(form, &line), wanted, "{line}");
        }
    }

    #[test]
    fn lines_that_are_something_else_are_unreadable_and_logs_never_are() {
        for line in [
            "",
            "garbage",
            "[]",
            "{}",
            "\"at\"",
            r#"{"at":"noon","by":"x","agent":"x"}"#,
        ] {
            for mut form in [
                Form::Journal,
                Form::Archive,
                Form::Transcript("a".into()),
                Form::Usage,
            ] {
                assert_eq!(
                    form.parse(line.as_bytes()),
                    Err(Unreadable),
                    "{form:?} {line}"
                );
            }
        }
        let mut log = Form::Log("a".into(), Timestamp::from_ms(7));
        let first = log.parse(b"thread panicked \xff").unwrap();
        assert_eq!(first[0].at, Timestamp::from_ms(7));
        drop(log.parse(AT.as_bytes()).unwrap());
        let after = log.parse(b"at src/x.rs").unwrap();
        assert_eq!(after[0].at.to_string(), AT);
    }
}
