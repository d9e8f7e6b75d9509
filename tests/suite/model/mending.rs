//! Refusals that a provider mends by itself, once, and remembers.

use std::sync::Arc;

use pitcrew::cancel::Cancel;
use pitcrew::conversation::{Block, Message, Role};
use pitcrew::model::{Model, ModelError, Reply};
use serde_json::{Value, json};

use super::{ANTHROPIC, OPENAI, Provider, ask, ask_with, call, user};
use crate::support::model_server::{Answer, Ask, ModelServer};

/// Asks with a history in which the model thought and called a tool.
fn ask_on(model: &mut dyn Model, provider: Provider, value: Value) -> Result<Reply, ModelError> {
    let thought = Block::Opaque {
        origin: provider.spec.to_owned(),
        value,
    };
    let messages = [
        user("go"),
        Message {
            role: Role::Assistant,
            content: vec![thought, call("a", json!({}))],
        },
        Message {
            role: Role::User,
            content: vec![Block::ToolResult {
                tool_use_id: "a".to_owned(),
                content: "done".to_owned(),
                is_error: false,
            }],
        },
    ];
    ask_with(model, &messages, &Arc::new(Cancel::new()), &mut |_| {})
}

fn refusing(
    message: &'static str,
    refused: impl Fn(&Ask) -> bool + Send + Sync + 'static,
) -> ModelServer {
    ModelServer::start(move |ask| {
        if refused(ask) {
            let body = json!({"error": {"type": "invalid_request_error", "message": message}});
            Answer::fail(400).body(&body.to_string())
        } else {
            Answer::say("ok")
        }
    })
}

fn sends(ask: &Ask, text: &str) -> bool {
    ask.body.to_string().contains(text)
}

#[test]
fn thinking_bound_to_another_conversation_is_left_out() {
    let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
    let server = refusing(
        "messages.1.content.0: Invalid `signature` in `thinking` block.",
        |ask| sends(ask, "\"signature\""),
    );
    let mut model = ANTHROPIC.open(&server);
    for _ in 0..2 {
        ask_on(&mut *model, ANTHROPIC, thinking.clone()).unwrap();
    }
    assert_eq!(server.asks().len(), 3, "asked again once, then it is known");
    server.assert_valid();
}

#[test]
fn an_output_limit_that_is_too_high_is_lowered() {
    let server = refusing(
        "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for m",
        |ask| ask.body["max_tokens"].as_u64() > Some(8192),
    );
    let mut model = ANTHROPIC.open(&server);
    ask(&mut *model).unwrap();
    ask(&mut *model).unwrap();
    let limits: Vec<Value> = server
        .asks()
        .iter()
        .map(|ask| ask.body["max_tokens"].clone())
        .collect();
    assert_eq!(limits, [32_000, 8192, 8192]);
}

#[test]
fn reasoning_is_turned_off_where_it_excludes_tools() {
    let server = refusing(
        "Function tools with reasoning_effort are not supported for m in /v1/chat/completions.",
        |ask| ask.body["reasoning_effort"] != "none",
    );
    let mut model = OPENAI.open(&server);
    ask(&mut *model).unwrap();
    ask(&mut *model).unwrap();
    assert_eq!(server.asks().len(), 3);
}

#[test]
fn reasoning_is_sent_back_as_it_came_and_empty_where_it_must_be() {
    let server = refusing(
        "Missing reasoning_content field in the assistant message at message index 1",
        |ask| !sends(ask, "\"reasoning_content\""),
    );
    let mut model = OPENAI.open(&server);
    ask_on(&mut *model, OPENAI, json!({"reasoning_content": "hm"})).unwrap();
    assert!(sends(&server.asks()[0], "\"reasoning_content\":\"hm\""));
    ask_on(&mut *model, OPENAI, json!({})).unwrap();
    assert_eq!(server.asks().len(), 3);
    assert!(sends(&server.asks()[2], "\"reasoning_content\":\"\""));
    server.assert_valid();
}

#[test]
fn what_cannot_be_mended_is_refused_at_once() {
    for provider in [ANTHROPIC, OPENAI] {
        let server = refusing("thinking, reasoning_effort: no", |_| true);
        let mut model = provider.open(&server);
        let refused = ask(&mut *model).unwrap_err();
        assert!(matches!(refused, ModelError::Refused(_)), "{refused:?}");
        assert_eq!(server.asks().len(), 2, "asked again once");
    }
}
