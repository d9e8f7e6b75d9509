//! Streams as servers have sent them.

use serde_json::{Value, json};

use super::OpenAi;
use super::stream::Building;
use crate::conversation::{Block, Usage};
use crate::model::exchange;
use crate::model::failure::Failure;
use crate::model::http::Patience;
use crate::model::{Credentials, Reply, Stop};

fn stream(chunks: &[Value]) -> String {
    let lines: Vec<String> = chunks
        .iter()
        .map(|chunk| format!("data: {chunk}\n\n"))
        .collect();
    lines.concat()
}

fn read(stream: &str) -> Result<Reply, Failure> {
    read_bytes(stream.as_bytes())
}

fn read_bytes(stream: &[u8]) -> Result<Reply, Failure> {
    let mut building = Building::new("openai:m");
    exchange::recorded(stream, &mut building)?;
    Ok(building.into_reply())
}

fn chunk(delta: &Value, finish: Option<&str>) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
}

fn arguments(index: u64, more: &str) -> Value {
    json!({"tool_calls": [{"index": index, "function": {"arguments": more}}]})
}

/// Reasoning, words, two calls, usage.
fn rich() -> Vec<Value> {
    let begun = |index: u64, id: &str, name: &str| {
        json!({"tool_calls": [
            {"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}},
        ]})
    };
    vec![
        chunk(&json!({"role": "assistant", "content": null}), None),
        chunk(&json!({"reasoning_content": "h"}), None),
        chunk(&json!({"reasoning_content": "m"}), None),
        chunk(&json!({"content": "sø 🦀"}), None),
        chunk(&begun(0, "a", "ls"), None),
        chunk(&begun(1, "b", "cat"), None),
        chunk(&arguments(1, "{\"path\":"), None),
        chunk(&arguments(0, "{}"), None),
        chunk(&arguments(1, "\"é\"}"), None),
        chunk(&json!({}), Some("tool_calls")),
        json!({"choices": [], "usage": {"prompt_tokens": 30, "completion_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": 20}}}),
    ]
}

fn told(reply: &Reply) -> Vec<Value> {
    reply
        .content
        .iter()
        .map(|block| match block {
            Block::Text { text } => json!(text),
            Block::ToolUse(call) => json!([call.name, call.input]),
            Block::Opaque { value, .. } => value.clone(),
            Block::ToolResult { .. } => json!(null),
        })
        .collect()
}

fn rich_told() -> Vec<Value> {
    vec![
        json!({"reasoning_content": "hm"}),
        json!("sø 🦀"),
        json!(["ls", {}]),
        json!(["cat", {"path": "é"}]),
    ]
}

#[test]
fn everything_arrives_with_or_without_an_end_mark() {
    for end in ["data: [DONE]\n\n", "data:[DONE]", ""] {
        let reply = read(&(stream(&rich()) + end)).unwrap();
        assert_eq!(told(&reply), rich_told());
        assert_eq!(
            reply.usage,
            Usage {
                input: 10,
                output: 5,
                cache_read: 20,
                cache_write: 0
            }
        );
    }
}

#[test]
fn a_stream_cut_anywhere_before_its_reason_is_no_reply() {
    let whole = stream(&rich()) + "data: [DONE]\n\n";
    let reason = whole.find("\"finish_reason\":\"tool_calls\"").unwrap();
    for cut in 0..whole.len() {
        match read_bytes(&whole.as_bytes()[..cut]) {
            Ok(reply) => {
                assert!(cut > reason, "at {cut}");
                assert_eq!(told(&reply), rich_told(), "at {cut}");
            }
            Err(Failure::Broken(_)) => assert!(cut < reason + 40, "at {cut}"),
            Err(failure) => panic!("at {cut}: {failure:?}"),
        }
    }
}

#[test]
fn comments_and_parts_and_odd_places_are_understood() {
    let stream = concat!(
        ": OPENROUTER PROCESSING\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}}]}\r\n\r\n",
        ": keep-alive\n",
        "data: {\"choices\":[{\"delta\":null,\"message\":{\"content\":\"b\"}}],\"usage\":null}\n\n",
        "data: {\"obfuscation\":\"zzz\",\"choices\":[{\"delta\":{\"content\":\"\",\"reasoning\":\"r\"},",
        "\"finish_reason\":\"stop\",\"usage\":{\"prompt_tokens\":4,\"completion_tokens\":1,\"prompt_cache_hit_tokens\":3}}]}\n\n",
    );
    let reply = read(stream).unwrap();
    assert_eq!(told(&reply), [json!("ab")]);
    assert_eq!((reply.usage.input, reply.usage.cache_read), (1, 3));
}

#[test]
fn calls_count_whatever_the_reason_says() {
    let call = json!({"tool_calls": [{"function": {"name": "ls", "arguments": {}}}]});
    let reply = read(&stream(&[chunk(&call, Some("stop"))])).unwrap();
    assert_eq!(
        (told(&reply), reply.stop),
        (vec![json!(["ls", {}])], Stop::End)
    );
    let reply = read(&stream(&[chunk(&json!({}), Some("tool_calls"))])).unwrap();
    assert_eq!((told(&reply), reply.stop), (vec![], Stop::End));
}

#[test]
fn filters_limits_and_errors_are_known() {
    let stopped = |reason| read(&stream(&[chunk(&json!({"content": "x"}), Some(reason))])).unwrap();
    assert!(matches!(stopped("content_filter").stop, Stop::Refusal(_)));
    assert!(stopped("content_filter").content.is_empty());
    assert_eq!(stopped("length").stop, Stop::MaxTokens);
    for error in [
        json!({"error": {"code": 502, "message": "m"}, "choices": [{"finish_reason": "error"}]}),
        json!({"error": "words"}),
        json!({"object": "error", "message": "m", "code": 400}),
    ] {
        assert!(matches!(read(&stream(&[error])), Err(Failure::Told(_))));
    }
    let harmless = json!({"error": null, "choices": [{"delta": {}, "finish_reason": "stop"}]});
    assert!(read(&stream(&[harmless])).is_ok());
}

#[test]
fn a_call_in_words_is_one_where_models_are_small() {
    let words = r#"{"name": "ls", "arguments": {"path": "."}}"#;
    let stream = stream(&[
        chunk(&json!({"content": "```json\n"}), None),
        chunk(&json!({"content": format!("{words}\n```")}), Some("stop")),
    ]);
    let mut building = Building::new("openai:m").speaking(vec!["ls"]);
    exchange::recorded(stream.as_bytes(), &mut building).unwrap();
    let reply = building.into_reply();
    assert_eq!(told(&reply), [json!(["ls", {"path": "."}])]);
    let told = told(&read(&stream).unwrap());
    assert!(
        told[0].is_string(),
        "OpenAI's own models mean what they say"
    );
}

#[test]
fn the_parts_of_reasoning_go_back_with_the_calls() {
    let part = |text: &str| {
        json!({"reasoning": text, "reasoning_details": [
            {"type": "reasoning.text", "index": 0, "text": text},
        ]})
    };
    let call = json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "ls", "arguments": "{}"}}]});
    let chunks = [
        chunk(&part("h"), None),
        chunk(&part("m"), None),
        chunk(&call, Some("tool_calls")),
    ];
    let reply = read(&stream(&chunks)).unwrap();
    let echoed = json!({"reasoning": "hm", "reasoning_details": [
        {"type": "reasoning.text", "index": 0, "text": "hm"},
    ]});
    assert_eq!(told(&reply), [echoed, json!(["ls", {}])]);
}

#[test]
fn a_server_that_wants_no_key_gets_one_that_is_none() {
    let credentials = Credentials {
        openai_base: Some("http://127.0.0.1:1".to_owned()),
        ..Credentials::default()
    };
    let opened = OpenAi::open("m", &credentials, "alice", Patience::default()).unwrap();
    let bearer = ("authorization", "Bearer no-key".to_owned());
    assert_eq!(opened.headers, [bearer]);
}
