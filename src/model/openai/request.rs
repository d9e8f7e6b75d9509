//! The body of a request (POST /chat/completions). Pure, and the same bytes for the same conversation.

use serde_json::{Map, Value, json};

use super::dialect::{Dialect, Server};
use crate::conversation::{Block, Role, ToolCall, ToolSpec};
use crate::model::Request;
use crate::model::turns::{self, NO_OUTPUT, Turn};

/// The key under which OpenRouter sends the parts of a model's reasoning, and wants them back.
pub(super) const DETAILS: &str = "reasoning_details";
/// The keys under which servers send a model's reasoning, and want it back.
pub(super) const REASONING: [&str; 2] = ["reasoning_content", "reasoning"];

/// The body as JSON. `origin` marks the provider's own blocks that may be echoed.
pub(super) fn body(model: &str, dialect: &Dialect, origin: &str, request: &Request<'_>) -> Vec<u8> {
    let mut messages: Vec<Value> = system(request.system).into_iter().collect();
    for turn in turns::turns(request.messages, origin, 0) {
        match turn.role {
            Role::User => user(&turn, &mut messages),
            Role::Assistant => messages.push(assistant(&turn, dialect)),
        }
    }
    let mut body = Map::new();
    body.insert("model".to_owned(), model.into());
    body.insert("messages".to_owned(), messages.into());
    if !request.tools.is_empty() {
        let tools: Vec<Value> = request.tools.iter().map(tool).collect();
        body.insert("tools".to_owned(), tools.into());
    }
    body.insert("stream".to_owned(), true.into());
    if dialect.stream_options {
        body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    if dialect.no_reasoning {
        body.insert("reasoning_effort".to_owned(), "none".into());
    }
    Value::Object(body).to_string().into_bytes()
}

fn tool(tool: &ToolSpec) -> Value {
    json!({"type": "function", "function": {
        "name": tool.name, "description": tool.description, "parameters": tool.schema,
    }})
}

/// One message: several break the templates of some models.
fn system(parts: &[String]) -> Option<Value> {
    let parts: Vec<&str> = parts
        .iter()
        .map(|part| part.trim())
        .filter(|part| !part.is_empty())
        .collect();
    (!parts.is_empty()).then(|| json!({"role": "system", "content": parts.join("\n\n")}))
}

/// One `tool` message for each result, then the texts as one `user` message.
fn user(turn: &Turn<'_>, messages: &mut Vec<Value>) {
    for block in &turn.blocks {
        if let Block::ToolResult {
            tool_use_id,
            content,
            is_error,
        } = block
        {
            let content = match (content.trim().is_empty(), is_error) {
                (true, _) => NO_OUTPUT.to_owned(),
                (false, true) => format!("Error: {content}"),
                (false, false) => content.clone(),
            };
            messages.push(json!({
                "role": "tool", "tool_call_id": turns::wire_id(tool_use_id), "content": content,
            }));
        }
    }
    let text = text(turn);
    if !text.is_empty() {
        messages.push(json!({"role": "user", "content": text}));
    }
}

fn assistant(turn: &Turn<'_>, dialect: &Dialect) -> Value {
    let calls: Vec<Value> = turn
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::ToolUse(call) => Some(tool_call(call)),
            Block::Text { .. } | Block::ToolResult { .. } | Block::Opaque { .. } => None,
        })
        .collect();
    let text = text(turn);
    let content = if text.is_empty() && dialect.server == Server::OpenAi {
        Value::Null
    } else {
        text.into()
    };
    let mut message = Map::new();
    message.insert("role".to_owned(), "assistant".into());
    message.insert("content".to_owned(), content);
    if !calls.is_empty() {
        if dialect.server == Server::Other {
            reasoning(turn, dialect, &mut message);
        }
        message.insert("tool_calls".to_owned(), calls.into());
    }
    Value::Object(message)
}

fn reasoning(turn: &Turn<'_>, dialect: &Dialect, message: &mut Map<String, Value>) {
    for block in &turn.blocks {
        if let Block::Opaque { value, .. } = block {
            for key in REASONING.into_iter().chain([DETAILS]) {
                if let Some(thought) = value.get(key) {
                    message.insert(key.to_owned(), thought.clone());
                }
            }
        }
    }
    if dialect.always_reasoning {
        message.entry(REASONING[0]).or_insert_with(|| "".into());
    }
}

/// Arguments are JSON text, and valid: servers parse what they get back.
fn tool_call(call: &ToolCall) -> Value {
    let arguments = match &call.input {
        input @ Value::Object(_) => input.to_string(),
        _ => "{}".to_owned(),
    };
    json!({
        "id": turns::wire_id(&call.id),
        "type": "function",
        "function": {"name": turns::wire_name(&call.name), "arguments": arguments},
    })
}

fn text(turn: &Turn<'_>) -> String {
    let texts: Vec<&str> = turn
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Text { text } => Some(text.as_str()),
            Block::ToolUse(_) | Block::ToolResult { .. } | Block::Opaque { .. } => None,
        })
        .collect();
    texts.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::Message;

    fn sent(dialect: &Dialect, tools: &[ToolSpec]) -> Value {
        let message = |role, content| Message { role, content };
        let call = |id: &str, input: Value, cut: Option<&str>| {
            Block::ToolUse(ToolCall {
                id: id.to_owned(),
                name: "bash".to_owned(),
                input,
                cut: cut.map(str::to_owned),
            })
        };
        let result = |id: &str, content: &str, is_error| Block::ToolResult {
            tool_use_id: id.to_owned(),
            content: content.to_owned(),
            is_error,
        };
        let thought = |origin: &str| Block::Opaque {
            origin: origin.to_owned(),
            value: json!({"reasoning": "hm"}),
        };
        let messages = [
            message(Role::User, vec![Block::text("go"), Block::text("now")]),
            message(
                Role::Assistant,
                vec![
                    thought("openai:m"),
                    thought("openai:other"),
                    call("a", json!({"x": 1}), None),
                    call("b", Value::Null, Some("cut")),
                ],
            ),
            message(
                Role::User,
                vec![
                    result("a", " ", false),
                    result("b", "cut", true),
                    Block::text("news"),
                ],
            ),
            message(
                Role::Assistant,
                vec![thought("openai:m"), Block::text("ok")],
            ),
            message(Role::User, vec![Block::text("on")]),
        ];
        let request = Request {
            system: &["fixed".to_owned(), "\n".to_owned(), "now".to_owned()],
            messages: &messages,
            tools,
            task: None,
        };
        serde_json::from_slice(&body("m", dialect, "openai:m", &request)).unwrap()
    }

    fn calls() -> Value {
        json!([
            {"id": "a", "type": "function", "function": {"name": "bash", "arguments": "{\"x\":1}"}},
            {"id": "b", "type": "function", "function": {"name": "bash", "arguments": "{}"}},
        ])
    }

    #[test]
    fn a_request_is_what_servers_take() {
        let tools = [ToolSpec {
            name: "bash",
            description: "d".to_owned(),
            schema: json!({"type": "object"}),
        }];
        assert_eq!(
            sent(&Dialect::of("http://h/v1"), &tools),
            json!({
                "model": "m",
                "messages": [
                    {"role": "system", "content": "fixed\n\nnow"},
                    {"role": "user", "content": "go\n\nnow"},
                    {"role": "assistant", "content": "", "reasoning": "hm", "tool_calls": calls()},
                    {"role": "tool", "tool_call_id": "a", "content": "(no output)"},
                    {"role": "tool", "tool_call_id": "b", "content": "Error: cut"},
                    {"role": "user", "content": "news"},
                    {"role": "assistant", "content": "ok"},
                    {"role": "user", "content": "on"},
                ],
                "tools": [{"type": "function", "function": {
                    "name": "bash", "description": "d", "parameters": {"type": "object"},
                }}],
                "stream": true,
                "stream_options": {"include_usage": true},
            })
        );
    }

    #[test]
    fn openai_itself_is_spoken_to_in_its_own_way() {
        let mut dialect = Dialect::of("https://api.openai.com/v1/chat/completions");
        dialect.no_reasoning = true;
        dialect.stream_options = false;
        let sent = sent(&dialect, &[]);
        assert_eq!(
            sent["messages"][2],
            json!({"role": "assistant", "content": null, "tool_calls": calls()})
        );
        assert_eq!(sent["reasoning_effort"], "none");
        assert!(sent.get("tools").is_none() && sent.get("stream_options").is_none());
    }

    #[test]
    fn reasoning_is_shown_even_if_there_was_none_where_that_is_wanted() {
        let mut dialect = Dialect::of("http://h/v1");
        dialect.always_reasoning = true;
        let assistant = &sent(&dialect, &[])["messages"][2];
        assert_eq!(assistant["reasoning_content"], "");
        assert_eq!(assistant["reasoning"], "hm");
    }
}
