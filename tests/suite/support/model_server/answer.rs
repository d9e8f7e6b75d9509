//! What a handler answers, and how it goes over the wire.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use pitcrew::clock;
use serde_json::{Value, json};

use super::ask::{Ask, Protocol};
use super::wire::Connection;

#[derive(Debug, Clone)]
enum Body {
    Reply {
        text: String,
        calls: Vec<(String, Value)>,
        stop: Option<String>,
    },
    /// The bytes of the stream as they are.
    Raw(Vec<u8>),
    Failure {
        status: u16,
        headers: Vec<(String, String)>,
        body: Option<String>,
    },
}

#[derive(Debug, Clone, Copy)]
enum Fault {
    None,
    /// The connection is dropped after so many bytes of the stream.
    Cut(usize),
    /// The stream ends, cleanly, after so many bytes.
    End(usize),
    /// Nothing more comes after so many bytes.
    Stall(usize),
    /// The stream comes in pieces of so many bytes.
    Pieces(usize),
    /// Nothing comes for a while after so many bytes of the stream.
    Falter(usize),
    /// The connection is closed after the whole stream.
    HangUp,
}

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    body: Body,
    usage: [u64; 4],
    fault: Fault,
    delay: Duration,
}

impl Answer {
    /// Words.
    pub(crate) fn say(text: &str) -> Self {
        Self::of(Body::Reply {
            text: text.to_owned(),
            calls: Vec::new(),
            stop: None,
        })
    }

    /// A tool call.
    pub(crate) fn call(name: &str, input: Value) -> Self {
        Self::say("").and(name, input)
    }

    /// One more tool call in the same reply.
    pub(crate) fn and(mut self, name: &str, input: Value) -> Self {
        if let Body::Reply { calls, .. } = &mut self.body {
            calls.push((name.to_owned(), input));
        }
        self
    }

    /// Ends for this reason, in the protocol's words.
    pub(crate) fn stopping(mut self, reason: &str) -> Self {
        if let Body::Reply { stop, .. } = &mut self.body {
            *stop = Some(reason.to_owned());
        }
        self
    }

    /// Tokens: uncached input, output, read from and written to the cache.
    pub(crate) fn usage(
        mut self,
        input: u64,
        output: u64,
        cache_read: u64,
        cache_write: u64,
    ) -> Self {
        self.usage = [input, output, cache_read, cache_write];
        self
    }

    /// A status that is no success, with a body as the protocol has it.
    pub(crate) fn fail(status: u16) -> Self {
        Self::of(Body::Failure {
            status,
            headers: Vec::new(),
            body: None,
        })
    }

    /// A failure's header.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        if let Body::Failure { headers, .. } = &mut self.body {
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// A failure's body.
    pub(crate) fn body(mut self, text: &str) -> Self {
        if let Body::Failure { body, .. } = &mut self.body {
            *body = Some(text.to_owned());
        }
        self
    }

    /// A stream of exactly these bytes.
    pub(crate) fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self::of(Body::Raw(bytes.into()))
    }

    /// The connection is dropped after so many bytes of the stream.
    pub(crate) fn cut_at(mut self, bytes: usize) -> Self {
        self.fault = Fault::Cut(bytes);
        self
    }

    /// The stream ends, cleanly, after so many bytes.
    pub(crate) fn ending_at(mut self, bytes: usize) -> Self {
        self.fault = Fault::End(bytes);
        self
    }

    /// Nothing more comes after so many bytes.
    pub(crate) fn stalling_at(mut self, bytes: usize) -> Self {
        self.fault = Fault::Stall(bytes);
        self
    }

    /// Nothing comes for a while after so many bytes of the stream.
    pub(crate) fn faltering_at(mut self, bytes: usize) -> Self {
        self.fault = Fault::Falter(bytes);
        self
    }

    /// The stream comes in pieces of so many bytes, whatever characters they cut.
    pub(crate) fn in_pieces(mut self, bytes: usize) -> Self {
        self.fault = Fault::Pieces(bytes.max(1));
        self
    }

    /// The connection is closed once all is said.
    pub(crate) fn hanging_up(mut self) -> Self {
        self.fault = Fault::HangUp;
        self
    }

    /// Comes after a while, or when the server ends.
    pub(crate) fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// The bytes of the stream as `protocol` has them.
    pub(crate) fn stream(&self, protocol: Protocol, ids: &AtomicU64) -> Vec<u8> {
        match &self.body {
            Body::Raw(bytes) => bytes.clone(),
            Body::Failure { .. } => Vec::new(),
            Body::Reply { text, calls, stop } => {
                let events = match protocol {
                    Protocol::Anthropic => self.anthropic(text, calls, stop.as_deref(), ids),
                    Protocol::OpenAi => self.openai(text, calls, stop.as_deref(), ids),
                };
                events.into_bytes()
            }
        }
    }

    fn of(body: Body) -> Self {
        Self {
            body,
            usage: [10, 5, 0, 0],
            fault: Fault::None,
            delay: Duration::ZERO,
        }
    }

    /// Sends it; whether the connection goes on.
    pub(super) fn send(
        &self,
        ask: &Ask,
        ids: &AtomicU64,
        connection: &mut Connection,
        stopped: &AtomicBool,
    ) -> bool {
        let until = clock::instant() + self.delay;
        while clock::instant() < until && !stopped.load(Ordering::Acquire) {
            std::thread::sleep(Duration::from_millis(1));
        }
        if let Body::Failure {
            status,
            headers,
            body,
        } = &self.body
        {
            let body = body
                .clone()
                .unwrap_or_else(|| failure(ask.protocol, *status));
            connection.reply(*status, headers, body.as_bytes());
            return true;
        }
        let stream = self.stream(ask.protocol, ids);
        let until = |bytes: usize| &stream[..bytes.min(stream.len())];
        match self.fault {
            Fault::None => connection.stream(&stream),
            Fault::End(bytes) => connection.stream(until(bytes)),
            Fault::Cut(bytes) => {
                connection.begin_stream();
                connection.piece_if_any(until(bytes));
                return false;
            }
            Fault::Falter(bytes) => {
                let (first, rest) = stream.split_at(bytes.min(stream.len()));
                connection.begin_stream();
                connection.piece_if_any(first);
                std::thread::sleep(Duration::from_millis(60));
                connection.piece_if_any(rest);
                connection.piece(&[]);
            }
            Fault::HangUp => {
                connection.stream(&stream);
                return false;
            }
            Fault::Stall(bytes) => {
                connection.begin_stream();
                connection.piece_if_any(until(bytes));
                while !connection.hung_up(Duration::from_millis(50)) {
                    if stopped.load(Ordering::Acquire) {
                        break;
                    }
                }
                return false;
            }
            Fault::Pieces(size) => {
                connection.begin_stream();
                stream
                    .chunks(size)
                    .for_each(|piece| connection.piece(piece));
                connection.piece(&[]);
            }
        }
        true
    }

    fn anthropic(
        &self,
        text: &str,
        calls: &[(String, Value)],
        stop: Option<&str>,
        ids: &AtomicU64,
    ) -> String {
        let [input, output, read, written] = self.usage;
        let mut events = vec![
            json!({"type": "message_start", "message": {
                "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
                "stop_reason": null, "usage": {
                    "input_tokens": input, "output_tokens": 1,
                    "cache_read_input_tokens": read, "cache_creation_input_tokens": written,
                },
            }}),
            json!({"type": "ping"}),
        ];
        let mut index = 0;
        let mut block = |start: Value, deltas: Vec<Value>| {
            events.push(
                json!({"type": "content_block_start", "index": index, "content_block": start}),
            );
            events.extend(deltas.into_iter().map(
                |delta| json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ));
            events.push(json!({"type": "content_block_stop", "index": index}));
            index += 1;
        };
        if !text.is_empty() {
            let deltas = halves(text).map(|half| json!({"type": "text_delta", "text": half}));
            block(json!({"type": "text", "text": ""}), deltas.into());
        }
        for (name, input) in calls {
            let id = format!("toolu_{}", ids.fetch_add(1, Ordering::Relaxed));
            let arguments = input.to_string();
            let [first, second] = halves(&arguments);
            let deltas = ["", first, second];
            let deltas =
                deltas.map(|part| json!({"type": "input_json_delta", "partial_json": part}));
            let start = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
            block(start, deltas.into());
        }
        let reason = stop.unwrap_or(if calls.is_empty() {
            "end_turn"
        } else {
            "tool_use"
        });
        events.push(json!({"type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": null},
            "usage": {"output_tokens": output},
        }));
        events.push(json!({"type": "message_stop"}));
        let lines: Vec<String> = events
            .iter()
            .map(|event| {
                let name = event["type"].as_str().unwrap_or_default();
                format!("event: {name}\ndata: {event}\n\n")
            })
            .collect();
        lines.concat()
    }

    fn openai(
        &self,
        text: &str,
        calls: &[(String, Value)],
        stop: Option<&str>,
        ids: &AtomicU64,
    ) -> String {
        let [input, output, read, written] = self.usage;
        let chunk = |delta: Value, finish: Option<&str>| {
            json!({"id": "c1", "object": "chat.completion.chunk", "choices": [
                {"index": 0, "delta": delta, "finish_reason": finish},
            ]})
        };
        let mut chunks = vec![chunk(json!({"role": "assistant", "content": ""}), None)];
        if !text.is_empty() {
            chunks.extend(halves(text).map(|half| chunk(json!({"content": half}), None)));
        }
        for (index, (name, input)) in calls.iter().enumerate() {
            let id = format!("call_{}", ids.fetch_add(1, Ordering::Relaxed));
            let start = json!({"index": index, "id": id, "type": "function",
                "function": {"name": name, "arguments": ""}});
            chunks.push(chunk(json!({"tool_calls": [start]}), None));
            chunks.extend(halves(&input.to_string()).map(|half| {
                let more = json!({"index": index, "function": {"arguments": half}});
                chunk(json!({"tool_calls": [more]}), None)
            }));
        }
        let reason = stop.unwrap_or(if calls.is_empty() {
            "stop"
        } else {
            "tool_calls"
        });
        chunks.push(chunk(json!({}), Some(reason)));
        chunks.push(json!({"choices": [], "usage": {
            "prompt_tokens": input + read + written, "completion_tokens": output,
            "prompt_tokens_details": {"cached_tokens": read, "cache_write_tokens": written},
        }}));
        let mut lines: Vec<String> = chunks
            .iter()
            .map(|chunk| format!("data: {chunk}\n\n"))
            .collect();
        lines.push("data: [DONE]\n\n".to_owned());
        lines.concat()
    }
}

fn halves(text: &str) -> [&str; 2] {
    let middle = text.floor_char_boundary(text.len() / 2);
    let (first, second) = text.split_at(middle);
    [first, second]
}

/// A failure's body as the protocol has it.
fn failure(protocol: Protocol, status: u16) -> String {
    let kind = match status {
        401 => "authentication_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    };
    let message = format!("a test's {status}");
    match protocol {
        Protocol::Anthropic => {
            json!({"type": "error", "error": {"type": kind, "message": message}})
        }
        Protocol::OpenAi => json!({"error": {"type": kind, "message": message, "code": null}}),
    }
    .to_string()
}
