//! What servers and proxies send that no document promises: the same tests for every provider.

use std::collections::HashSet;

use pitcrew::conversation::{Block, Usage};
use pitcrew::model::{ModelError, Stop};
use serde_json::{Value, json};

use super::{Provider, answering, ask, full, full_told, told};
use crate::support::model_server::{Answer, ModelServer, Protocol};

for_each_provider!(
    a_web_page_and_a_compressed_body_are_told_in_words,
    a_server_that_does_not_stream_is_understood,
    connections_that_were_closed_meanwhile_cost_no_try,
    odd_fields_are_understood,
    a_reply_that_the_server_gives_up_is_none,
);

fn stream(events: &[Value]) -> Answer {
    let lines = events.iter().map(|event| format!("data: {event}\r\n\r\n"));
    Answer::raw(format!("\u{feff}{}", lines.collect::<String>()))
}

fn a_web_page_and_a_compressed_body_are_told_in_words(provider: Provider) {
    let page = "<html><body>Please log in</body></html>";
    for (header, value, said) in [
        ("content-type", "text/html; charset=utf-8", "a web page"),
        ("content-encoding", "gzip", "compressed (gzip)"),
    ] {
        let answer = Answer::fail(200).body(page).header(header, value);
        let server = ModelServer::start(answering(answer));
        let error = ask(&mut *provider.open(&server)).unwrap_err();
        let ModelError::Retry { why, .. } = &error else {
            panic!("{error:?}")
        };
        for part in [said, provider.base_variable()] {
            assert!(why.contains(part), "{part:?} not in {why}");
        }
    }
    let unreadable = Answer::fail(500)
        .body("\u{1}\u{2}")
        .header("content-encoding", "br");
    let server = ModelServer::start(answering(unreadable));
    let why = ask(&mut *provider.open(&server)).unwrap_err().to_string();
    assert!(
        why.ends_with("the server failed (500) [request req_test]"),
        "{why}"
    );
}

fn a_server_that_does_not_stream_is_understood(provider: Provider) {
    let body = match provider.protocol {
        Protocol::Anthropic => json!({
            "type": "message", "role": "assistant", "stop_reason": "tool_use",
            "content": [
                {"type": "text", "text": "so"},
                {"type": "tool_use", "id": "a", "name": "bash", "input": {"command": "ls"}},
                {"type": "tool_use", "id": "b", "name": "bash", "input": {}},
            ],
            "usage": {"input_tokens": 3, "output_tokens": 2},
        }),
        Protocol::OpenAi => json!({
            "object": "chat.completion",
            "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
                "role": "assistant", "content": "so", "tool_calls": [
                    {"type": "function", "function": {"name": "bash", "arguments": "{\"command\":\"ls\"}"}},
                    {"type": "function", "function": {"name": "bash", "arguments": "{}"}},
                ],
            }}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 2},
        }),
    };
    let server = ModelServer::start(answering(Answer::fail(200).body(&body.to_string())));
    let reply = ask(&mut *provider.open(&server)).unwrap();
    let calls = json!(["so", ["bash", {"command": "ls"}, false], ["bash", {}, false]]);
    assert_eq!(told(&reply), calls);
    assert_eq!((reply.usage.input, reply.usage.output), (3, 2));
    for body in ["{}", "[]", "null", "{\"status\": \"ok\"}"] {
        let server = ModelServer::start(answering(Answer::fail(200).body(body)));
        let error = ask(&mut *provider.open(&server)).unwrap_err();
        assert!(
            matches!(error, ModelError::Retry { .. }),
            "{body}: {error:?}"
        );
    }
}

fn connections_that_were_closed_meanwhile_cost_no_try(provider: Provider) {
    let server = ModelServer::start(answering(full().hanging_up()));
    let mut model = provider.open(&server);
    for _ in 0..10 {
        assert_eq!(told(&ask(&mut *model).unwrap()), full_told());
    }
    assert_eq!(server.connections(), 10);
}

/// Blocks and calls under one number, nulls, kinds and reasons that nobody knows, no counts, no ids or the same ones.
fn odd_events(protocol: Protocol) -> Vec<Value> {
    match protocol {
        Protocol::Anthropic => {
            let start = |block: Value| json!({"type": "content_block_start", "index": 0, "content_block": block});
            let delta =
                |delta: Value| json!({"type": "content_block_delta", "index": 0, "delta": delta});
            vec![
                json!({"type": "message_start", "message": {"usage": null}}),
                start(json!({"type": "text", "text": null})),
                delta(json!({"type": "text_delta", "text": null})),
                delta(json!({"type": "text_delta", "text": "so"})),
                start(json!({"type": "hologram", "data": null})),
                delta(json!({"type": "hologram_delta", "data": 1})),
                start(json!({"type": "tool_use", "id": "", "name": "bash", "input": null})),
                delta(json!({"type": "input_json_delta", "partial_json": null})),
                start(json!({"type": "tool_use", "id": "a", "name": "bash", "input": {"n": 1}})),
                start(json!({"type": "tool_use", "id": "a", "name": "bash"})),
                delta(json!({"type": "input_json_delta", "partial_json": "{\"n\":2}"})),
                json!({"type": "content_block_stop"}),
                json!({"type": "message_delta", "delta": {"stop_reason": null}, "usage": null}),
                json!({"type": "message_delta", "delta": {"stop_reason": "boredom"}}),
                json!({"type": "message_stop", "news": 1}),
            ]
        }
        Protocol::OpenAi => {
            let chunk = |index: u64, delta: Value| {
                json!({"choices": [
                    {"index": index, "delta": delta, "finish_reason": null, "logprobs": null},
                ], "usage": null, "error": ""})
            };
            let call = |id: Value, arguments: Value| {
                json!({"tool_calls": [
                    {"index": 0, "id": id, "function": {"name": "bash", "arguments": arguments}},
                ]})
            };
            vec![
                json!({"choices": null}),
                chunk(
                    0,
                    json!({"role": null, "content": null, "tool_calls": null}),
                ),
                chunk(0, json!({"content": "so"})),
                chunk(1, json!({"content": "another choice"})),
                json!({"choices": [
                    {"index": 1, "delta": {"content": "of two"}},
                    {"index": 0, "delta": {"content": ""}},
                ]}),
                chunk(0, call(json!(""), json!({}))),
                chunk(0, call(json!("a"), json!({"n": 1}))),
                json!({"choices": [{"delta": call(json!("a2"), json!("{\"n\":2}"))}]}),
                chunk(1, json!({"content": "."})),
                json!({"choices": [{"index": 1, "delta": {}, "finish_reason": "length"}]}),
                json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "boredom"}]}),
            ]
        }
    }
}

fn odd_fields_are_understood(provider: Provider) {
    let server = ModelServer::start(answering(stream(&odd_events(provider.protocol))));
    let reply = ask(&mut *provider.open(&server)).unwrap();
    let calls = match provider.protocol {
        Protocol::Anthropic => json!([{}, {"n": 1}, {"n": 2}]),
        // A call without an id is the one that gets it next.
        Protocol::OpenAi => json!([{"n": 1}, {"n": 2}]),
    };
    let told = told(&reply);
    let inputs: Value = told.as_array().unwrap()[1..]
        .iter()
        .map(|call| call[1].clone())
        .collect();
    assert_eq!((&told[0], inputs), (&json!("so"), calls));
    assert_eq!((reply.stop, reply.usage), (Stop::End, Usage::default()));
    let ids: HashSet<&str> = reply
        .content
        .iter()
        .filter_map(|block| match block {
            Block::ToolUse(call) => Some(call.id.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(ids.len() + 1, reply.content.len());
    assert!(!ids.contains(""));
}

fn a_reply_that_the_server_gives_up_is_none(provider: Provider) {
    let begun = match provider.protocol {
        Protocol::Anthropic => vec![
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "I"}}),
            json!({"type": "error", "error": {"type": "authentication_error", "message": "no more"}}),
        ],
        Protocol::OpenAi => vec![
            json!({"choices": [{"delta": {"content": "I"}}]}),
            json!({"error": {"code": 401, "message": "no more"}, "choices": []}),
        ],
    };
    let server = ModelServer::start(answering(stream(&begun)));
    let error = ask(&mut *provider.open(&server)).unwrap_err();
    assert!(
        matches!(&error, ModelError::Refused(why) if why.contains("the key is not accepted")),
        "{error:?}"
    );
    if provider.protocol == Protocol::OpenAi {
        let choice = |more: Value| {
            let mut choice = json!({"delta": {"content": "I"}});
            choice
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            stream(&[json!({"choices": [choice]})])
        };
        for more in [
            json!({"finish_reason": "error"}),
            json!({"finish_reason": "stop", "error": {"code": 502, "message": "m"}}),
        ] {
            let server = ModelServer::start(answering(choice(more)));
            let error = ask(&mut *provider.open(&server)).unwrap_err();
            assert!(matches!(error, ModelError::Retry { .. }), "{error:?}");
        }
    }
}
