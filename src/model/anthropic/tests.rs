//! Streams as servers have sent them, and what is read from settings and refusals.

use serde_json::{Value, json};

use super::stream::Building;
use super::{Anthropic, allowed_tokens, auth};
use crate::conversation::Block;
use crate::model::exchange;
use crate::model::failure::Failure;
use crate::model::http::Patience;
use crate::model::{Credentials, Reply, Stop};

fn stream(events: &[Value]) -> Vec<u8> {
    let lines: Vec<String> = events
        .iter()
        .map(|event| format!("event: x\ndata: {event}\n\n"))
        .collect();
    lines.concat().into_bytes()
}

fn read(stream: &[u8]) -> Result<Reply, Failure> {
    let mut building = Building::new("anthropic:m");
    exchange::recorded(stream, &mut building)?;
    Ok(building.into_reply())
}

fn start(index: u64, block: Value) -> Value {
    let mut event = json!({"type": "content_block_start", "index": index});
    event["content_block"] = block;
    event
}

fn delta(index: u64, delta: Value) -> Value {
    let mut event = json!({"type": "content_block_delta", "index": index});
    event["delta"] = delta;
    event
}

fn ending(reason: &str) -> [Value; 2] {
    [
        json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}}),
        json!({"type": "message_stop"}),
    ]
}

/// Everything that a reply can hold.
fn rich() -> Vec<Value> {
    let mut events = vec![
        json!({"type": "message_start", "message": {"usage": {
            "input_tokens": 25, "output_tokens": 1, "cache_read_input_tokens": 3, "cache_creation_input_tokens": null,
        }}}),
        json!({"type": "ping"}),
        start(
            0,
            json!({"type": "thinking", "thinking": "", "signature": ""}),
        ),
        delta(0, json!({"type": "thinking_delta", "thinking": "h"})),
        delta(0, json!({"type": "thinking_delta", "thinking": "m"})),
        delta(0, json!({"type": "signature_delta", "signature": "sig"})),
        json!({"type": "content_block_stop", "index": 0}),
        start(1, json!({"type": "redacted_thinking", "data": "xyz"})),
        start(2, json!({"type": "text", "text": ""})),
        delta(2, json!({"type": "text_delta", "text": "sø 🦀"})),
        delta(2, json!({"type": "citations_delta", "citation": {}})),
        json!({"type": "something_new", "index": 2}),
        start(
            3,
            json!({"type": "tool_use", "id": "t", "name": "bash", "input": {}}),
        ),
        delta(3, json!({"type": "input_json_delta", "partial_json": ""})),
        delta(
            3,
            json!({"type": "input_json_delta", "partial_json": "{\"comm"}),
        ),
        delta(
            3,
            json!({"type": "input_json_delta", "partial_json": "and\":\"é\"}"}),
        ),
    ];
    events.extend(ending("tool_use"));
    events
}

fn told(reply: &Reply) -> Vec<Value> {
    reply
        .content
        .iter()
        .map(|block| match block {
            Block::Text { text } => json!(text),
            Block::ToolUse(call) => json!([call.name, call.input, call.cut.is_some()]),
            Block::Opaque { value, .. } => value.clone(),
            Block::ToolResult { .. } => json!(null),
        })
        .collect()
}

fn rich_told() -> Vec<Value> {
    vec![
        json!({"type": "thinking", "thinking": "hm", "signature": "sig"}),
        json!({"type": "redacted_thinking", "data": "xyz"}),
        json!("sø 🦀"),
        json!(["bash", {"command": "é"}, false]),
    ]
}

#[test]
fn everything_arrives_in_order_to_be_echoed_as_it_came() {
    let reply = read(&stream(&rich())).unwrap();
    assert_eq!(told(&reply), rich_told());
    let usage = reply.usage;
    let counts = [
        usage.input,
        usage.output,
        usage.cache_read,
        usage.cache_write,
    ];
    assert_eq!(counts, [25, 9, 3, 0]);
}

#[test]
fn a_stream_cut_anywhere_is_no_reply() {
    let stream = stream(&rich());
    // The last event lacks only its blank line.
    let marked = stream.len() - "\n\n".len();
    for cut in 0..stream.len() {
        match read(&stream[..cut]) {
            Ok(reply) => {
                assert!(cut >= marked, "at {cut}");
                assert_eq!(told(&reply), rich_told());
            }
            Err(Failure::Broken(_)) => assert!(cut < marked, "at {cut}"),
            Err(failure) => panic!("at {cut}: {failure:?}"),
        }
    }
}

#[test]
fn servers_that_are_nearly_compatible_are_understood() {
    // No ping, no event names, no input in the start of a call, an end mark of the other protocol.
    let mut events = vec![
        start(0, json!({"type": "tool_use", "id": "a", "name": "ls"})),
        start(
            1,
            json!({"type": "tool_use", "id": "a", "name": "cat", "input": {"path": "x"}}),
        ),
        delta(2, json!({"type": "text_delta", "text": "late"})),
        start(3, json!({"type": "hologram", "data": 1})),
        delta(3, json!({"type": "hologram_delta", "data": 2})),
        start(4, json!({"type": "text", "text": " "})),
    ];
    events.extend(ending("whatever"));
    let stream = [
        stream(&events[..events.len() - 1]),
        b"data: [DONE]\n\n".to_vec(),
        stream(&events[events.len() - 1..]),
    ];
    let reply = read(&stream.concat()).unwrap();
    assert_eq!(
        told(&reply),
        [
            json!(["ls", {}, false]),
            json!(["cat", {"path": "x"}, false]),
            json!("late")
        ]
    );
    let ids: Vec<&str> = reply
        .content
        .iter()
        .filter_map(|block| match block {
            Block::ToolUse(call) => Some(call.id.as_str()),
            _ => None,
        })
        .collect();
    assert_ne!(ids[0], ids[1]);
}

#[test]
fn every_reason_to_stop_is_known() {
    for (reason, stop) in [
        ("end_turn", Stop::End),
        ("stop_sequence", Stop::End),
        ("max_tokens", Stop::MaxTokens),
        ("model_context_window_exceeded", Stop::ContextFull),
        ("pause_turn", Stop::Pause),
    ] {
        let events = ending(reason);
        assert_eq!(read(&stream(&events)).unwrap().stop, stop, "{reason}");
    }
    let refused = read(&stream(&ending("refusal"))).unwrap().stop;
    assert!(matches!(refused, Stop::Refusal(why) if !why.is_empty()));
}

#[test]
fn an_error_in_either_protocols_shape_is_told() {
    for event in [
        json!({"type": "error", "error": {"type": "overloaded_error"}}),
        json!({"error": {"code": 500, "message": "m", "type": "server_error"}}),
    ] {
        assert!(matches!(read(&stream(&[event])), Err(Failure::Told(_))));
    }
    let orphan = delta(7, json!({"type": "input_json_delta", "partial_json": "{"}));
    assert!(matches!(read(&stream(&[orphan])), Err(Failure::Broken(_))));
}

#[test]
fn the_allowed_output_is_read_from_the_refusal() {
    for (text, allowed) in [
        (
            "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for x",
            Some(8192),
        ),
        ("max_tokens: must be positive", None),
        ("max_tokens: a > 5", None),
        ("prompt is too long: 9 tokens > 8 maximum", None),
    ] {
        assert_eq!(allowed_tokens(text), allowed, "{text}");
    }
}

#[test]
fn the_key_goes_before_the_token_and_one_is_needed() {
    let with = |key: Option<&str>, token: Option<&str>| {
        auth(&Credentials {
            anthropic_key: key.map(str::to_owned),
            anthropic_token: token.map(str::to_owned),
            ..Credentials::default()
        })
    };
    assert_eq!(
        with(Some("k"), Some("t")).unwrap().2,
        ("x-api-key", "k".to_owned())
    );
    assert_eq!(
        with(Some(" "), Some("t\n")).unwrap().2,
        ("authorization", "Bearer t".to_owned())
    );
    let missing = with(None, None).unwrap_err().to_string();
    assert!(missing.ends_with("set ANTHROPIC_API_KEY"), "{missing}");
}

#[test]
fn a_token_of_a_login_is_sent_as_one() {
    let headers = |token: &str| {
        let credentials = Credentials {
            anthropic_token: Some(token.to_owned()),
            ..Credentials::default()
        };
        let opened = Anthropic::open("m", &credentials, "alice", Patience::default()).unwrap();
        opened.headers
    };
    let beta = ("anthropic-beta", "oauth-2025-04-20".to_owned());
    let login = headers("sk-ant-oat01-x");
    assert!(login.contains(&beta), "{login:?}");
    assert!(login.contains(&("authorization", "Bearer sk-ant-oat01-x".to_owned())));
    assert!(!headers("another").contains(&beta));
}
