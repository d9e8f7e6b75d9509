//! A reply as its events build it up. Whole only with `message_stop`.

use serde_json::{Value, json};

use crate::conversation::{Block, Usage};
use crate::model::exchange;
use crate::model::failure::Failure;
use crate::model::{Progress, Reply, Stop, calls};

enum Part {
    Text(String),
    Call {
        id: String,
        name: String,
        /// The input as the start gave it, for servers that send no deltas.
        whole: Value,
        /// The input as its deltas give it.
        json: String,
    },
    /// Echoed as it is, if all of it was understood.
    Opaque {
        value: Value,
        understood: bool,
    },
}

/// See the module.
pub(super) struct Building {
    origin: String,
    /// As they began, each under the index that the server gave it: some give the same to several.
    parts: Vec<(u64, Part)>,
    usage: Usage,
    stop: String,
    details: Value,
    whole: bool,
}

impl Building {
    /// Nothing has come yet; `origin` marks blocks that only this model may see again.
    pub(super) fn new(origin: &str) -> Self {
        Self {
            origin: origin.to_owned(),
            parts: Vec::new(),
            usage: Usage::default(),
            stop: String::new(),
            details: Value::Null,
            whole: false,
        }
    }

    /// The reply, once whole.
    pub(super) fn into_reply(mut self) -> Reply {
        self.parts.sort_by_key(|(index, _)| *index);
        let stop = stop(&self.stop, &self.details);
        let cut = matches!(stop, Stop::MaxTokens | Stop::ContextFull);
        let last = self.parts.len().saturating_sub(1);
        let origin = self.origin;
        let mut content: Vec<Block> = self
            .parts
            .into_iter()
            .enumerate()
            .filter_map(|(at, (_, part))| block(part, cut && at == last, &origin))
            .collect();
        calls::with_ids(content.iter_mut().filter_map(|block| match block {
            Block::ToolUse(call) => Some(call),
            Block::Text { .. } | Block::ToolResult { .. } | Block::Opaque { .. } => None,
        }));
        if matches!(stop, Stop::Refusal(_)) {
            content.clear();
        }
        Reply {
            content,
            stop,
            usage: self.usage,
            note: None,
        }
    }

    /// Counters are cumulative: the newest wins.
    fn count(&mut self, usage: &Value) {
        for (name, counter) in [
            ("input_tokens", &mut self.usage.input),
            ("output_tokens", &mut self.usage.output),
            ("cache_read_input_tokens", &mut self.usage.cache_read),
            ("cache_creation_input_tokens", &mut self.usage.cache_write),
        ] {
            if let Some(count) = usage[name].as_u64() {
                *counter = count;
            }
        }
    }

    fn part(&mut self, index: Option<u64>) -> Option<&mut Part> {
        let of = |place: &u64| index.is_none_or(|index| *place == index);
        let newest = self.parts.iter_mut().rev();
        let mut fitting = newest.filter(|(place, _)| of(place));
        fitting.next().map(|(_, part)| part)
    }

    fn next_index(&self) -> u64 {
        self.parts.last().map_or(0, |(index, _)| index + 1)
    }

    fn start(&mut self, event: &Value, on: &mut dyn FnMut(Progress)) {
        let index = event["index"].as_u64();
        let index = index.unwrap_or_else(|| self.next_index());
        let block = &event["content_block"];
        let part = match block["type"].as_str() {
            Some("text") => {
                let text = word(&block["text"]);
                if !text.is_empty() {
                    on(Progress::Text(text.clone()));
                }
                Part::Text(text)
            }
            Some("tool_use") => Part::Call {
                id: word(&block["id"]),
                name: word(&block["name"]),
                whole: block["input"].clone(),
                json: String::new(),
            },
            _ => Part::Opaque {
                value: block.clone(),
                understood: block.is_object(),
            },
        };
        self.parts.push((index, part));
    }

    /// A whole message, of a server that does not stream.
    fn message(&mut self, message: &Value, on: &mut dyn FnMut(Progress)) {
        for block in message["content"].as_array().into_iter().flatten() {
            self.start(&json!({ "content_block": block }), on);
        }
        self.count(&message["usage"]);
        self.end(message);
        self.whole = true;
    }

    fn end(&mut self, told: &Value) {
        if let Some(reason) = told["stop_reason"].as_str() {
            reason.clone_into(&mut self.stop);
        }
        if told["stop_details"].is_object() {
            self.details = told["stop_details"].clone();
        }
    }

    fn delta(&mut self, event: &Value, on: &mut dyn FnMut(Progress)) -> Result<(), Failure> {
        let index = event["index"].as_u64();
        let delta = &event["delta"];
        let kind = delta["type"].as_str().unwrap_or_default();
        if kind == "text_delta" {
            if self.part(index).is_none() {
                let index = index.unwrap_or_else(|| self.next_index());
                self.parts.push((index, Part::Text(String::new())));
            }
            if let (Some(Part::Text(text)), Some(more)) = (self.part(index), delta["text"].as_str())
            {
                text.push_str(more);
                on(Progress::Text(more.to_owned()));
            }
            return Ok(());
        }
        match (kind, self.part(index)) {
            ("input_json_delta", Some(Part::Call { json, .. })) => {
                json.push_str(delta["partial_json"].as_str().unwrap_or_default());
            }
            ("input_json_delta", None) => {
                return Err(Failure::Broken(
                    "the stream goes on with a call that it never began".to_owned(),
                ));
            }
            ("thinking_delta", Some(Part::Opaque { value, .. })) => {
                append(value, "thinking", &delta["thinking"]);
            }
            ("signature_delta", Some(Part::Opaque { value, .. })) => {
                append(value, "signature", &delta["signature"]);
            }
            (_, Some(Part::Opaque { understood, .. })) => *understood = false,
            _ => {}
        }
        Ok(())
    }
}

impl exchange::Building for Building {
    fn event(&mut self, data: &[u8], on: &mut dyn FnMut(Progress)) -> Result<bool, Failure> {
        if data.trim_ascii() == b"[DONE]" {
            return Ok(false);
        }
        let event = exchange::json(data)?;
        match event["type"].as_str() {
            Some("message_start") => self.count(&event["message"]["usage"]),
            Some("content_block_start") => self.start(&event, on),
            Some("content_block_delta") => self.delta(&event, on)?,
            Some("message_delta") => {
                self.count(&event["usage"]);
                self.end(&event["delta"]);
            }
            Some("message_stop") => self.whole = true,
            Some("message") => self.message(&event, on),
            _ if !event["error"].is_null() => return Err(Failure::Told(event)),
            _ => {}
        }
        Ok(self.whole)
    }

    fn may_end(&self) -> bool {
        self.whole
    }
}

fn block(part: Part, cut: bool, origin: &str) -> Option<Block> {
    match part {
        Part::Text(text) => (!text.trim().is_empty()).then_some(Block::Text { text }),
        Part::Call {
            id,
            name,
            whole,
            json,
        } => {
            let given = whole.as_object().is_some_and(|fields| !fields.is_empty());
            let arguments = if json.trim().is_empty() && given {
                whole.to_string()
            } else {
                json
            };
            Some(Block::ToolUse(calls::call(id, name, &arguments, cut)))
        }
        Part::Opaque { value, understood } => understood.then(|| Block::Opaque {
            origin: origin.to_owned(),
            value,
        }),
    }
}

fn stop(reason: &str, details: &Value) -> Stop {
    match reason {
        "max_tokens" => Stop::MaxTokens,
        "model_context_window_exceeded" => Stop::ContextFull,
        "pause_turn" => Stop::Pause,
        "refusal" => {
            let parts = [&details["category"], &details["explanation"]];
            let why: Vec<&str> = parts.iter().filter_map(|part| part.as_str()).collect();
            Stop::Refusal(if why.is_empty() {
                "the model refused without a reason".to_owned()
            } else {
                format!("the model refused: {}", why.join(": "))
            })
        }
        _ => Stop::End,
    }
}

fn append(block: &mut Value, key: &str, more: &Value) {
    if let Some(fields) = block.as_object_mut() {
        let text = fields.entry(key).or_insert_with(|| Value::from(""));
        *text = Value::from(word(text) + more.as_str().unwrap_or_default());
    }
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
