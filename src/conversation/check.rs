//! Whether a conversation may be put before a model: the rules of [`super::message`], as a pure function.

use std::collections::HashSet;

use super::{Block, Message, Role};

/// Says where and how `messages` breaks the rules. An unanswered call at the end is a breach.
pub fn validity(messages: &[Message]) -> Result<(), String> {
    let mut calls = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        let expected = if at % 2 == 0 {
            Role::User
        } else {
            Role::Assistant
        };
        if message.role != expected {
            return Err(format!("message {at} is not the {expected:?}'s"));
        }
        let fault = match message.role {
            Role::User => results(&message.content, std::mem::take(&mut calls)),
            Role::Assistant => asked(&message.content).map(|asked| calls = asked),
        };
        fault.map_err(|fault| format!("message {at}: {fault}"))?;
    }
    match calls.into_iter().next() {
        Some(id) => Err(format!("the call {id} has no result")),
        None => Ok(()),
    }
}

/// A user message answers exactly `calls`, first of all.
fn results(content: &[Block], mut calls: HashSet<&str>) -> Result<(), String> {
    let mut texts = 0;
    for block in content {
        match block {
            Block::ToolResult { tool_use_id, .. } if texts > 0 => {
                return Err(format!("the result of {tool_use_id} stands after a text"));
            }
            Block::ToolResult { tool_use_id, .. } => {
                if !calls.remove(tool_use_id.as_str()) {
                    return Err(format!("{tool_use_id} is answered without being asked"));
                }
            }
            Block::Text { text } if text.trim().is_empty() => return Err("blank text".to_owned()),
            Block::Text { .. } => texts += 1,
            Block::ToolUse(call) => return Err(format!("the user calls {}", call.name)),
            Block::Opaque { .. } => return Err("a provider's block of the user".to_owned()),
        }
    }
    if let Some(id) = calls.into_iter().next() {
        return Err(format!("the call {id} has no result"));
    }
    if content.is_empty() {
        return Err("no content".to_owned());
    }
    Ok(())
}

/// An assistant message says or asks something; the ids it asks under.
fn asked(content: &[Block]) -> Result<HashSet<&str>, String> {
    let mut calls = HashSet::new();
    let mut texts = 0;
    for block in content {
        match block {
            Block::Text { text } if text.trim().is_empty() => return Err("blank text".to_owned()),
            Block::Text { .. } => texts += 1,
            Block::ToolUse(call) => {
                if call.id.is_empty() || !calls.insert(call.id.as_str()) {
                    return Err(format!("the id {:?} does not name one call", call.id));
                }
                if call.cut.is_none() && !call.input.is_object() {
                    return Err(format!("the input of {} is not an object", call.id));
                }
            }
            Block::Opaque { .. } => {}
            Block::ToolResult { tool_use_id, .. } => {
                return Err(format!("the assistant answers {tool_use_id}"));
            }
        }
    }
    if texts == 0 && calls.is_empty() {
        return Err("nothing said and nothing asked".to_owned());
    }
    Ok(calls)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::conversation::ToolCall;

    fn user(content: Vec<Block>) -> Message {
        Message {
            role: Role::User,
            content,
        }
    }

    fn assistant(content: Vec<Block>) -> Message {
        Message {
            role: Role::Assistant,
            content,
        }
    }

    fn call(id: &str) -> Block {
        Block::ToolUse(ToolCall {
            id: id.to_owned(),
            name: "bash".to_owned(),
            input: json!({}),
            cut: None,
        })
    }

    fn result(id: &str) -> Block {
        Block::ToolResult {
            tool_use_id: id.to_owned(),
            content: String::new(),
            is_error: false,
        }
    }

    #[test]
    fn valid_conversations_pass() {
        let go = || user(vec![Block::text("go")]);
        for messages in [
            vec![],
            vec![go()],
            vec![go(), assistant(vec![Block::text("done")])],
            vec![
                go(),
                assistant(vec![Block::text("so"), call("a"), call("b")]),
                user(vec![result("b"), result("a"), Block::text("news")]),
            ],
        ] {
            assert_eq!(validity(&messages), Ok(()), "{messages:?}");
        }
    }

    #[test]
    fn each_rule_is_held() {
        let go = || user(vec![Block::text("go")]);
        let with_array = Block::ToolUse(ToolCall {
            id: "a".to_owned(),
            name: "bash".to_owned(),
            input: json!([]),
            cut: None,
        });
        for messages in [
            vec![assistant(vec![Block::text("first")])],
            vec![go(), go()],
            vec![user(vec![])],
            vec![user(vec![Block::text(" \n")])],
            vec![user(vec![result("a")])],
            vec![user(vec![call("a")])],
            vec![go(), assistant(vec![])],
            vec![go(), assistant(vec![Block::text("")])],
            vec![go(), assistant(vec![result("a")])],
            vec![go(), assistant(vec![call("a")])],
            vec![go(), assistant(vec![call("a")]), go()],
            vec![go(), assistant(vec![call("")]), user(vec![result("")])],
            vec![go(), assistant(vec![with_array]), user(vec![result("a")])],
            vec![
                go(),
                assistant(vec![call("a"), call("a")]),
                user(vec![result("a")]),
            ],
            vec![
                go(),
                assistant(vec![call("a"), call("b")]),
                user(vec![result("a")]),
            ],
            vec![
                go(),
                assistant(vec![call("a")]),
                user(vec![result("a"), result("a")]),
            ],
            vec![
                go(),
                assistant(vec![call("a")]),
                user(vec![Block::text("x"), result("a")]),
            ],
            vec![
                go(),
                assistant(vec![Block::Opaque {
                    origin: "anthropic:x".to_owned(),
                    value: json!({}),
                }]),
            ],
        ] {
            assert!(validity(&messages).is_err(), "{messages:?}");
        }
    }
}
