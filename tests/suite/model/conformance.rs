//! The same tests for every provider.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use pitcrew::cancel::Cancel;
use pitcrew::clock;
use pitcrew::conversation::{Block, Message, Role, ToolCall, Usage};
use pitcrew::model::{Gate, ModelError, Progress, Request, Stop, retry};
use pitcrew::workspace::Workspace;
use serde_json::json;

use super::{KEY, OLLAMA, Provider, answering, ask, ask_with, call, full, full_told, told, user};
use crate::support::DEADLINE;
use crate::support::model_server::{Answer, ModelServer, Protocol};

for_each_provider!(
    a_reply_arrives_whole,
    characters_may_be_cut_anywhere,
    a_stream_cut_anywhere_is_an_error_or_whole,
    any_conversation_is_sent_valid,
    failures_are_told_by_what_to_do,
    failures_after_a_good_status_break_the_stream,
    a_call_that_was_cut_must_not_run,
    refusals_leave_nothing_behind,
    a_cancel_is_heard_at_once,
    a_cancel_is_heard_while_it_connects,
    retries_keep_the_servers_pause,
    connections_are_kept,
    nobody_there_is_a_broken_connection,
    what_speaks_no_tls_is_refused_with_the_way_out,
);

fn a_reply_arrives_whole(provider: Provider) {
    let server = ModelServer::start(answering(full()));
    let mut model = provider.open(&server);
    let mut streamed = String::new();
    let cancel = Arc::new(Cancel::new());
    let reply = ask_with(&mut *model, &[user("go")], &cancel, &mut |progress| {
        if let Progress::Text(text) = progress {
            streamed.push_str(&text);
        }
    })
    .unwrap();
    assert_eq!(told(&reply), full_told());
    assert_eq!(streamed, "sø 🦀, 好\n");
    assert_eq!(reply.stop, Stop::End);
    assert_eq!(
        reply.usage,
        Usage {
            input: 7,
            output: 9,
            cache_read: 100,
            cache_write: 20
        }
    );
    server.assert_valid();
    let asked = &server.asks()[0];
    assert_eq!((asked.agent.as_str(), asked.model.as_str()), ("alice", "m"));
    assert_eq!(asked.tools, ["bash"]);
    assert_eq!(asked.system, "You are a test.\n\nNow.");
}

fn characters_may_be_cut_anywhere(provider: Provider) {
    for size in [1, 2, 3, 5, 7, 64] {
        let server = ModelServer::start(answering(full().in_pieces(size)));
        let reply = ask(&mut *provider.open(&server)).unwrap();
        assert_eq!(told(&reply), full_told(), "in pieces of {size}");
    }
}

fn a_stream_cut_anywhere_is_an_error_or_whole(provider: Provider) {
    let length = full().stream(provider.protocol, &AtomicU64::new(0)).len();
    // Every byte is tried beside the parsers; here a few go over real connections.
    let place = |turn: usize| turn / 2 * 29;
    let server = ModelServer::start(move |ask| match ask.turn % 2 {
        0 => full().cut_at(place(ask.turn)),
        _ => full().ending_at(place(ask.turn)),
    });
    let mut model = provider.open(&server);
    let (mut whole, mut tried) = (0, 0);
    let turns = (0..).take_while(|&turn| place(turn) < length);
    for turn in turns {
        tried += 1;
        match ask(&mut *model) {
            Ok(reply) => {
                assert_eq!(told(&reply), full_told(), "at {}", place(turn));
                whole += 1;
            }
            Err(ModelError::Retry { status: None, .. }) => {}
            Err(error) => panic!("at {}: {error:?}", place(turn)),
        }
    }
    assert!(whole < tried / 4, "{whole} of {tried} streams were whole");
}

fn any_conversation_is_sent_valid(provider: Provider) {
    let server = ModelServer::start(answering(Answer::say("ok")));
    let mut model = provider.open(&server);
    let assistant = |content| Message {
        role: Role::Assistant,
        content,
    };
    let result = |id: &str, content: &str, is_error| Block::ToolResult {
        tool_use_id: id.to_owned(),
        content: content.to_owned(),
        is_error,
    };
    let thought = |origin: &str| Block::Opaque {
        origin: origin.to_owned(),
        value: json!({"type": "thinking", "thinking": "hm", "signature": "s"}),
    };
    let cut = Block::ToolUse(ToolCall {
        id: "weird:id/1".to_owned(),
        name: "no such tool!".to_owned(),
        input: json!("torn"),
        cut: Some("cut".to_owned()),
    });
    let messages = [
        user("go"),
        assistant(vec![
            thought(provider.spec),
            thought("anthropic:other"),
            Block::text("so"),
            call("a", json!({"command": "x"})),
            cut,
        ]),
        Message {
            role: Role::User,
            content: vec![
                result("a", "", false),
                result("weird:id/1", " \n", true),
                Block::text("[Messages]"),
            ],
        },
        assistant(vec![thought("anthropic:other")]),
        user("and"),
        assistant(vec![call("b", json!({}))]),
        Message {
            role: Role::User,
            content: vec![result("b", "fine", false)],
        },
    ];
    ask_with(
        &mut *model,
        &messages,
        &Arc::new(Cancel::new()),
        &mut |_| {},
    )
    .unwrap();
    server.assert_valid();
    let asked = &server.asks()[0];
    assert_eq!((asked.step(), asked.newest().as_str()), (2, "fine"));
    assert_eq!(asked.results(), [("fine".to_owned(), false)]);
    assert!(asked.everything().contains("[Messages]"));
}

fn failures_are_told_by_what_to_do(provider: Provider) {
    let server = ModelServer::start(|ask| match ask.turn {
        0 => Answer::fail(429).header("retry-after", "3"),
        1 => Answer::fail(529),
        2 => Answer::fail(500).body("<html>bad gateway</html>"),
        3 => Answer::fail(401).body(&format!("{{\"error\":{{\"message\":\"bad key {KEY}\"}}}}")),
        4 => Answer::fail(404),
        5 => {
            Answer::fail(400).body("{\"error\":{\"message\":\"prompt is too long: 9 tokens > 8\"}}")
        }
        6 => Answer::fail(429)
            .body("{\"error\":{\"code\":\"insufficient_quota\",\"message\":\"m\"}}"),
        7 => Answer::fail(307).header("location", "http://elsewhere/"),
        8 => Answer::fail(503).header("x-should-retry", "false"),
        9 => Answer::fail(400).header("x-should-retry", "true"),
        10 => Answer::fail(503).header("retry-after", "Sun, 01 Jan 2090 00:00:00 GMT"),
        _ => {
            Answer::fail(200).body("{\"error\":{\"type\":\"overloaded_error\",\"message\":\"m\"}}")
        }
    });
    let mut model = provider.open(&server);
    let mut fail = || ask(&mut *model).unwrap_err();
    let secs = Duration::from_secs;
    for (status, after) in [(429, Some(secs(3))), (529, None), (500, None)] {
        let ModelError::Retry {
            why,
            status: given,
            after: pause,
        } = fail()
        else {
            panic!("{status} is not tried again")
        };
        assert_eq!((given, pause), (Some(status), after));
        assert!(
            why.contains(provider.spec) && why.contains("req_test"),
            "{why}"
        );
    }
    let refused = fail().to_string();
    assert!(refused.contains("bad key"), "{refused}");
    if provider.spec != OLLAMA.spec {
        assert!(
            refused.contains("_API_KEY") && !refused.contains(KEY),
            "{refused}"
        );
    }
    assert!(matches!(fail(), ModelError::Refused(why) if why.contains("no such model")));
    assert!(matches!(fail(), ModelError::TooLong(_)));
    assert!(matches!(fail(), ModelError::Refused(why) if why.contains("budget")));
    assert!(matches!(fail(), ModelError::Refused(why) if why.contains("http://elsewhere/")));
    assert!(matches!(fail(), ModelError::Refused(_)));
    assert!(matches!(
        fail(),
        ModelError::Retry {
            status: Some(400),
            ..
        }
    ));
    // A date, of which no more than a day is believed.
    let day = Duration::from_hours(24);
    assert!(matches!(fail(), ModelError::Retry { after: Some(pause), .. } if pause == day));
    assert!(matches!(
        fail(),
        ModelError::Retry {
            status: Some(529),
            ..
        }
    ));
}

fn failures_after_a_good_status_break_the_stream(provider: Provider) {
    let overloaded =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "m"}});
    let too_long = json!({"error": {"code": "context_length_exceeded", "message": "m"}});
    let mut streams: Vec<(Vec<u8>, Option<u16>)> = vec![
        (format!("data: {overloaded}\n\n").into(), Some(529)),
        (
            format!("event: error\r\ndata: {overloaded}\r\n").into(),
            Some(529),
        ),
        (
            b"data: {\"error\":{\"code\":502,\"message\":\"m\"}}\n\n".into(),
            Some(502),
        ),
        (b"data: {torn\n\n".into(), None),
        (b"data: {\"a\":\"\xff\xfe\"}\n\n".into(), None),
        (b"<html>not a stream</html>".into(), None),
        (b"".into(), None),
    ];
    let begun = full().stream(provider.protocol, &AtomicU64::new(0));
    let late = [
        &begun[..begun.len() / 2],
        format!("\n\ndata: {overloaded}\n\n").as_bytes(),
    ]
    .concat();
    streams.push((late, None));
    for (stream, expected) in streams {
        let server = ModelServer::start(answering(Answer::raw(stream.clone())));
        let error = ask(&mut *provider.open(&server)).unwrap_err();
        let ModelError::Retry { status, .. } = error else {
            panic!("{:?}: {error:?}", String::from_utf8_lossy(&stream))
        };
        if expected.is_some() {
            assert_eq!(status, expected);
        }
    }
    let server = ModelServer::start(answering(Answer::raw(format!("data: {too_long}\n\n"))));
    let error = ask(&mut *provider.open(&server)).unwrap_err();
    assert!(matches!(error, ModelError::TooLong(_)), "{error:?}");
}

fn a_call_that_was_cut_must_not_run(provider: Provider) {
    let whole = Answer::call("bash", json!({"command": "rm -r old"})).stopping(provider.length());
    let server = ModelServer::start(answering(whole));
    let reply = ask(&mut *provider.open(&server)).unwrap();
    assert_eq!(reply.stop, Stop::MaxTokens);
    assert_eq!(
        told(&reply),
        json!([["bash", {"command": "rm -r old"}, false]])
    );

    for arguments in ["", "{\\\"command\\\": \\\"rm"] {
        let stream = match provider.protocol {
            Protocol::Anthropic => format!(
                concat!(
                    "data: {{\"type\":\"content_block_start\",\"index\":0,\"content_block\":",
                    "{{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"bash\",\"input\":{{}}}}}}\n\n",
                    "data: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":",
                    "{{\"type\":\"input_json_delta\",\"partial_json\":\"{}\"}}}}\n\n",
                    "data: {{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":\"max_tokens\"}}}}\n\n",
                    "data: {{\"type\":\"message_stop\"}}\n\n",
                ),
                arguments
            ),
            Protocol::OpenAi => format!(
                concat!(
                    "data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{{\"index\":0,\"id\":\"a\",",
                    "\"function\":{{\"name\":\"bash\",\"arguments\":\"{}\"}}}}]}},",
                    "\"finish_reason\":\"length\"}}]}}\n\n",
                ),
                arguments
            ),
        };
        let server = ModelServer::start(answering(Answer::raw(stream)));
        let reply = ask(&mut *provider.open(&server)).unwrap();
        assert_eq!(told(&reply), json!([["bash", {}, true]]), "{arguments}");
    }
}

fn refusals_leave_nothing_behind(provider: Provider) {
    let stream = match provider.protocol {
        Protocol::Anthropic => concat!(
            "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3}}}\n\n",
            "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"I\"}}\n\n",
            "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"refusal\",\"stop_details\":{\"type\":\"refusal\",\"category\":\"cyber\",\"explanation\":\"not this\"}},\"usage\":{\"output_tokens\":2}}\n\n",
            "data: {\"type\":\"message_stop\"}\n\n",
        ),
        Protocol::OpenAi => concat!(
            "data: {\"choices\":[{\"delta\":{\"content\":\"I\"}}]}\n\n",
            "data: {\"choices\":[{\"delta\":{\"refusal\":\"not \"}}]}\n\n",
            "data: {\"choices\":[{\"delta\":{\"refusal\":\"this\"},\"finish_reason\":\"stop\"}]}\n\n",
            "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}\n\n",
        ),
    };
    let server = ModelServer::start(answering(Answer::raw(stream)));
    let reply = ask(&mut *provider.open(&server)).unwrap();
    assert!(
        matches!(&reply.stop, Stop::Refusal(why) if why.contains("not this")),
        "{reply:?}"
    );
    assert!(reply.content.is_empty());
    assert_eq!((reply.usage.input, reply.usage.output), (3, 2));
}

fn a_cancel_is_heard_at_once(provider: Provider) {
    let server = ModelServer::start(|ask| match ask.turn {
        0 => full().after(Duration::from_mins(10)),
        1 => full().stalling_at(0),
        _ => full().stalling_at(200),
    });
    let mut model = provider.open(&server);
    for turn in 1..=3 {
        let cancel = Arc::new(Cancel::new());
        let began = std::thread::scope(|scope| {
            let cancelling = Arc::clone(&cancel);
            let server = &server;
            let canceller = scope.spawn(move || {
                server.wait_for_asks(turn);
                let began = clock::instant();
                cancelling.cancel();
                began
            });
            let outcome = ask_with(&mut *model, &[user("go")], &cancel, &mut |_| {});
            assert_eq!(outcome, Err(ModelError::Cancelled));
            canceller.join().unwrap()
        });
        assert!(began.elapsed() < 2 * DEADLINE);
    }
    let cancelled = Arc::new(Cancel::new());
    cancelled.cancel();
    let outcome = ask_with(&mut *model, &[user("go")], &cancelled, &mut |_| {});
    assert_eq!(outcome, Err(ModelError::Cancelled));
    assert_eq!(server.asks().len(), 3);
}

/// To a server that is silent where TLS should begin.
fn a_cancel_is_heard_while_it_connects(provider: Provider) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("https://{}", listener.local_addr().unwrap());
    let mut model = provider.open_at(&base);
    let cancel = Arc::new(Cancel::new());
    std::thread::scope(|scope| {
        let cancelling = Arc::clone(&cancel);
        scope.spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.read_exact(&mut [0; 5]).unwrap();
            cancelling.cancel();
            // It hangs up.
            while stream.read(&mut [0; 512]).is_ok_and(|length| length > 0) {}
        });
        let outcome = ask_with(&mut *model, &[user("go")], &cancel, &mut |_| {});
        assert_eq!(outcome, Err(ModelError::Cancelled));
    });
}

fn retries_keep_the_servers_pause(provider: Provider) {
    let server = ModelServer::start(|ask| match ask.turn {
        0 => Answer::fail(529).header("retry-after-ms", "20"),
        1 => Answer::fail(429).header("retry-after", "0.01"),
        _ => Answer::say("at last"),
    });
    let mut model = provider.open(&server);
    let messages = [user("go")];
    let request = Request {
        system: &[],
        messages: &messages,
        tools: &[],
        task: None,
    };
    let mut waits = Vec::new();
    let scratch = tempfile::tempdir().unwrap();
    let workspace = Workspace::at(scratch.path().canonicalize().unwrap());
    let reply = retry::call(
        &mut *model,
        &request,
        &Gate::new(&workspace, provider.spec, "alice"),
        &|| false,
        &Arc::new(Cancel::new()),
        &mut |progress| {
            if let Progress::Retrying { wait, .. } = progress {
                waits.push(wait);
            }
        },
    )
    .unwrap();
    assert_eq!(told(&reply), json!(["at last"]));
    let asked = [20, 10].map(Duration::from_millis);
    assert_eq!(waits, asked);
    let asks = server.asks();
    let kept = asks.windows(2).map(|pair| pair[1].came - pair[0].came);
    assert!(kept.zip(asked).all(|(kept, asked)| kept >= asked));
}

fn connections_are_kept(provider: Provider) {
    const CALLS: usize = 20;
    let server = ModelServer::start(answering(full()));
    let mut model = provider.open(&server);
    for _ in 0..CALLS {
        ask(&mut *model).unwrap();
    }
    assert!(server.connections() < CALLS, "{}", server.connections());
}

fn nobody_there_is_a_broken_connection(provider: Provider) {
    let server = ModelServer::start(answering(full()));
    let address = server.ollama_host();
    let mut model = provider.open(&server);
    drop(server);
    // The listener's thread lets go of the port in its own time.
    let error = loop {
        match ask(&mut *model) {
            Err(error) => break error,
            Ok(_) => std::thread::yield_now(),
        }
    };
    let ModelError::Retry { why, .. } = error else {
        panic!("{error:?}")
    };
    let way = format!(
        "check that the server runs there, and {}",
        provider.base_variable()
    );
    assert!(
        (why.contains(&address) && why.contains(&way)) || why.contains("the stream broke"),
        "{why}"
    );
}

fn what_speaks_no_tls_is_refused_with_the_way_out(provider: Provider) {
    // Speaks, but no TLS.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("https://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            stream
                .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                .unwrap();
            // Until the client has read that and hangs up.
            while stream.read(&mut [0; 512]).is_ok_and(|length| length > 0) {}
        }
    });
    let no_tls = ask(&mut *provider.open_at(&base)).unwrap_err();
    let ModelError::Refused(why) = no_tls else {
        panic!("{no_tls:?}")
    };
    for part in [
        provider.spec,
        "no secure connection",
        provider.base_variable(),
    ] {
        assert!(why.contains(part), "{part:?} not in {why}");
    }
}
