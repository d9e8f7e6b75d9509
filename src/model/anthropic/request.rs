//! The body of a request (POST /v1/messages). Pure, and the same bytes for the same conversation, so that it can be cached.
//!
//! No sampling parameter, `thinking` or `tool_choice` is ever sent: newer models refuse them.

use serde_json::{Map, Value, json};

use crate::conversation::{Block, Role, ToolCall, ToolSpec};
use crate::model::Request;
use crate::model::turns::{self, NO_OUTPUT, Turn};

/// What requests look like besides their content.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    /// The model's name.
    pub(super) model: String,
    /// Most tokens to be generated.
    pub(super) max_tokens: u64,
    /// How many messages from the beginning are sent without the provider's own blocks.
    pub(super) bare: usize,
}

/// The body as JSON. `origin` marks the provider's own blocks that may be echoed.
pub(super) fn body(shape: &Shape, origin: &str, request: &Request<'_>) -> Vec<u8> {
    let turns = turns::turns(request.messages, origin, shape.bare);
    let mut body = Map::new();
    body.insert("model".to_owned(), shape.model.as_str().into());
    body.insert("max_tokens".to_owned(), shape.max_tokens.into());
    if !request.tools.is_empty() {
        let tools: Vec<Value> = request.tools.iter().map(tool).collect();
        body.insert("tools".to_owned(), tools.into());
    }
    let system = system(request.system);
    if !system.is_empty() {
        body.insert("system".to_owned(), system.into());
    }
    body.insert("messages".to_owned(), messages(&turns).into());
    body.insert("stream".to_owned(), true.into());
    Value::Object(body).to_string().into_bytes()
}

fn tool(tool: &ToolSpec) -> Value {
    json!({"name": tool.name, "description": tool.description, "input_schema": tool.schema})
}

/// Marked for the cache after the part that never changes, and at the end.
fn system(parts: &[String]) -> Vec<Value> {
    let mut blocks: Vec<Value> = parts
        .iter()
        .filter(|part| !part.trim().is_empty())
        .map(|part| json!({"type": "text", "text": part}))
        .collect();
    if let Some(first) = blocks.first_mut() {
        mark(first);
    }
    if let Some(last) = blocks.last_mut() {
        mark(last);
    }
    blocks
}

/// Marked for the cache at the ends of the last two user messages: what the last call wrote, this one reads.
fn messages(turns: &[Turn<'_>]) -> Vec<Value> {
    let mut messages: Vec<Value> = turns
        .iter()
        .map(|turn| {
            let role = match turn.role {
                Role::User => "user",
                Role::Assistant => "assistant",
            };
            let content: Vec<Value> = turn.blocks.iter().map(|block| self::block(block)).collect();
            json!({"role": role, "content": content})
        })
        .collect();
    messages
        .iter_mut()
        .rev()
        .filter(|message| message["role"] == "user")
        .take(2)
        .filter_map(|message| message["content"].as_array_mut()?.last_mut())
        .for_each(mark);
    messages
}

fn mark(block: &mut Value) {
    block["cache_control"] = json!({"type": "ephemeral"});
}

fn block(block: &Block) -> Value {
    match block {
        Block::Text { text } => json!({"type": "text", "text": text}),
        Block::ToolUse(call) => tool_use(call),
        Block::ToolResult {
            tool_use_id,
            content,
            is_error,
        } => {
            let content = if content.trim().is_empty() {
                NO_OUTPUT
            } else {
                content.as_str()
            };
            let mut result = json!({
                "type": "tool_result",
                "tool_use_id": turns::wire_id(tool_use_id),
                "content": content,
            });
            if *is_error {
                result["is_error"] = true.into();
            }
            result
        }
        Block::Opaque { value, .. } => value.clone(),
    }
}

fn tool_use(call: &ToolCall) -> Value {
    let input = match &call.input {
        input @ Value::Object(_) => input.clone(),
        _ => json!({}),
    };
    json!({
        "type": "tool_use",
        "id": turns::wire_id(&call.id),
        "name": turns::wire_name(&call.name),
        "input": input,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::Message;

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

    fn opaque(origin: &str) -> Block {
        Block::Opaque {
            origin: origin.to_owned(),
            value: json!({"type": "thinking", "thinking": "", "signature": "s"}),
        }
    }

    fn sent(bare: usize) -> Value {
        let call = |id: &str, input: Value, cut: Option<&str>| {
            Block::ToolUse(ToolCall {
                id: id.to_owned(),
                name: "ba sh".to_owned(),
                input,
                cut: cut.map(str::to_owned),
            })
        };
        let result = |id: &str, content: &str, is_error| Block::ToolResult {
            tool_use_id: id.to_owned(),
            content: content.to_owned(),
            is_error,
        };
        let messages = [
            user(vec![Block::text("go")]),
            assistant(vec![
                opaque("anthropic:m"),
                opaque("anthropic:other"),
                call("a:1", json!({"x": 1}), None),
                call("b", Value::Null, Some("cut")),
            ]),
            user(vec![
                result("a:1", "", false),
                result("b", "cut", true),
                Block::text("news"),
            ]),
        ];
        let tools = [ToolSpec {
            name: "bash",
            description: "d".to_owned(),
            schema: json!({"type": "object"}),
        }];
        let shape = Shape {
            model: "m".to_owned(),
            max_tokens: 9,
            bare,
        };
        let request = Request {
            system: &["fixed".to_owned(), " ".to_owned(), "now".to_owned()],
            messages: &messages,
            tools: &tools,
            task: None,
        };
        serde_json::from_slice(&body(&shape, "anthropic:m", &request)).unwrap()
    }

    #[test]
    fn a_request_is_what_the_api_asks_for() {
        let mark = json!({"type": "ephemeral"});
        let id = turns::wire_id("a:1");
        assert_eq!(
            sent(0),
            json!({
                "model": "m",
                "max_tokens": 9,
                "tools": [{"name": "bash", "description": "d", "input_schema": {"type": "object"}}],
                "system": [
                    {"type": "text", "text": "fixed", "cache_control": mark},
                    {"type": "text", "text": "now", "cache_control": mark},
                ],
                "messages": [
                    {"role": "user", "content": [{"type": "text", "text": "go", "cache_control": mark}]},
                    {"role": "assistant", "content": [
                        {"type": "thinking", "thinking": "", "signature": "s"},
                        {"type": "tool_use", "id": id, "name": "ba_sh", "input": {"x": 1}},
                        {"type": "tool_use", "id": "b", "name": "ba_sh", "input": {}},
                    ]},
                    {"role": "user", "content": [
                        {"type": "tool_result", "tool_use_id": id, "content": "(no output)"},
                        {"type": "tool_result", "tool_use_id": "b", "content": "cut", "is_error": true},
                        {"type": "text", "text": "news", "cache_control": mark},
                    ]},
                ],
                "stream": true,
            })
        );
    }

    #[test]
    fn a_bare_history_has_no_blocks_of_the_provider() {
        assert_eq!(sent(2)["messages"][1]["content"][0]["type"], "tool_use");
    }
}
