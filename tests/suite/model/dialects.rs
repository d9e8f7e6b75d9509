//! What servers say in many ways, or more often than once: the same tests for every provider.

use std::sync::atomic::AtomicU64;

use pitcrew::model::ModelError;
use serde_json::{Value, json};

use super::{Provider, answering, ask, full, full_told, told};
use crate::support::model_server::{Answer, ModelServer, Protocol};

for_each_provider!(
    too_long_is_known_in_every_dialect,
    what_is_unknown_is_passed_over,
    tokens_are_counted_once,
);

fn too_long_is_known_in_every_dialect(provider: Provider) {
    let error = |error: Value| json!({ "error": error }).to_string();
    for (status, body) in [
        (
            400,
            error(json!({"type": "invalid_request_error", "message": "prompt is too long: 208310 tokens > 200000 maximum"})),
        ),
        (
            400,
            error(json!({"message": "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length"})),
        ),
        (400, error(json!({"code": "context_length_exceeded", "message": "m"}))),
        (
            400,
            json!({"object": "error", "code": 400, "message": "This model's maximum context length is 8192 tokens. However"}).to_string(),
        ),
        (
            400,
            error(json!({"code": 400, "type": "exceed_context_size_error", "message": "m", "n_ctx": 1024})),
        ),
        (
            422,
            json!({"detail": [{"loc": ["body"], "msg": "too many tokens: 9 > 8"}]}).to_string(),
        ),
        (413, "<html>Request Entity Too Large</html>".to_owned()),
    ] {
        let answer = Answer::fail(status).body(&body);
        let server = ModelServer::start(answering(answer));
        let error = ask(&mut *provider.open(&server)).unwrap_err();
        let known = matches!(&error, ModelError::TooLong(why) if why.contains("req_test"));
        assert!(known, "{body}: {error:?}");
    }
}

fn what_is_unknown_is_passed_over(provider: Provider) {
    let whole = full().stream(provider.protocol, &AtomicU64::new(0));
    let whole = String::from_utf8(whole).unwrap();
    let odd = concat!(
        ": a comment\n\n",
        "event: news\ndata: {\"type\":\"news\",\"index\":99}\n\n",
        "id: 7\nretry: 9\n\n",
        "event: ping\r\ndata: {\"type\": \"ping\"}\r\n\r\n",
    );
    // Before every event, the first included.
    let stream = format!("{odd}{}", whole.replace("\n\n", &format!("\n\n{odd}")));
    let server = ModelServer::start(answering(Answer::raw(stream)));
    let reply = ask(&mut *provider.open(&server)).unwrap();
    assert_eq!(told(&reply), full_told());
}

/// One protocol repeats its counts and leaves what was cached out of them; the other has it in.
fn tokens_are_counted_once(provider: Provider) {
    let events = match provider.protocol {
        Protocol::Anthropic => vec![
            json!({"type": "message_start", "message": {"usage": {
                "input_tokens": 7, "output_tokens": 1,
                "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20}}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "x"}}),
            json!({"type": "message_delta", "delta": {}, "usage": {"output_tokens": 5}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
                "usage": {"input_tokens": 7, "output_tokens": 9, "cache_read_input_tokens": null}}),
            json!({"type": "message_stop"}),
        ],
        Protocol::OpenAi => vec![
            json!({"choices": [{"delta": {"content": "x"}}], "usage": null}),
            json!({"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": {
                "prompt_tokens": 127, "completion_tokens": 9}}),
            json!({"choices": [], "usage": {"prompt_tokens": 127, "completion_tokens": 9,
                "prompt_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 20}}}),
        ],
    };
    let events: Vec<String> = events.iter().map(ToString::to_string).collect();
    let stream = format!("data: {}\n\n", events.join("\n\ndata: "));
    let server = ModelServer::start(answering(Answer::raw(stream)));
    let usage = ask(&mut *provider.open(&server)).unwrap().usage;
    let counted = [
        usage.input,
        usage.output,
        usage.cache_read,
        usage.cache_write,
    ];
    assert_eq!(counted, [7, 9, 100, 20]);
}
