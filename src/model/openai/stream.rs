//! A reply as its chunks build it up. Whole with `[DONE]`, or at the stream's end once a finish reason has come.

use serde_json::{Map, Value, json};

use super::details::Details;
use super::request::REASONING;
use super::slots::Slots;
use super::spoken;
use crate::conversation::{Block, Usage};
use crate::model::exchange;
use crate::model::failure::Failure;
use crate::model::{Progress, Reply, Stop};

/// See the module.
pub(super) struct Building {
    origin: String,
    /// The index of the choice that is listened to: the first.
    choice: Option<u64>,
    text: String,
    /// The key under which reasoning came, and the reasoning.
    reasoning: Option<(&'static str, String)>,
    calls: Slots,
    refusal: String,
    finish: String,
    usage: Usage,
    /// `reasoning_details`, as OpenRouter wants them back.
    details: Details,
    /// Tools that a model may call in words.
    spoken: Vec<&'static str>,
}

impl Building {
    /// Nothing has come yet; `origin` marks blocks that only this model may see again.
    pub(super) fn new(origin: &str) -> Self {
        Self {
            origin: origin.to_owned(),
            choice: None,
            text: String::new(),
            reasoning: None,
            calls: Slots::default(),
            refusal: String::new(),
            finish: String::new(),
            usage: Usage::default(),
            details: Details::default(),
            spoken: Vec::new(),
        }
    }

    /// The same for a server of models that may write a call of one of `tools` instead of making it.
    pub(super) fn speaking(self, tools: Vec<&'static str>) -> Self {
        Self {
            spoken: tools,
            ..self
        }
    }

    /// The reply, once whole. Calls run whatever the finish reason says of them: servers differ.
    pub(super) fn into_reply(mut self) -> Reply {
        if self.calls.is_empty() && self.refusal.is_empty() {
            self.hear_spoken_calls();
        }
        let stop = match self.finish.as_str() {
            _ if !self.refusal.is_empty() => {
                Stop::Refusal(format!("the model refused: {}", self.refusal))
            }
            "content_filter" => {
                Stop::Refusal("the server's content filter stopped the reply".to_owned())
            }
            "length" => Stop::MaxTokens,
            _ => Stop::End,
        };
        let mut content = Vec::new();
        if !matches!(stop, Stop::Refusal(_)) {
            // Servers want reasoning back with calls only.
            let mut echo = Map::new();
            if let Some((key, reasoning)) = self.reasoning {
                echo.insert(key.to_owned(), reasoning.into());
            }
            echo.extend(self.details.into_field());
            if !echo.is_empty() && !self.calls.is_empty() {
                content.push(Block::Opaque {
                    origin: self.origin,
                    value: echo.into(),
                });
            }
            let text = spoken::after_thinking(&self.text);
            if !text.trim().is_empty() {
                content.push(Block::text(text));
            }
            let calls = self.calls.into_calls(stop == Stop::MaxTokens);
            content.extend(calls.into_iter().map(Block::ToolUse));
        }
        Reply {
            content,
            stop,
            usage: self.usage,
            note: None,
        }
    }

    fn hear_spoken_calls(&mut self) {
        let text = spoken::after_thinking(&self.text);
        let spoken = spoken::calls(text, &self.spoken);
        for (index, (name, arguments)) in (0_u64..).zip(&spoken) {
            let function = json!({"name": name, "arguments": arguments});
            self.calls
                .push(&json!({"index": index, "function": function}));
        }
        if !spoken.is_empty() {
            self.text.clear();
        }
    }

    /// The part of a chunk that is ours; null if there is none. Whoever sends several choices numbers them.
    fn choice<'a>(&mut self, choices: &'a Value) -> &'a Value {
        let number = |choice: &Value| choice["index"].as_u64().unwrap_or(0);
        let all = choices.as_array().map_or(&[][..], Vec::as_slice);
        if let (None, Some(first)) = (self.choice, all.first()) {
            self.choice = Some(number(first));
        }
        let own = all
            .iter()
            .find(|choice| Some(number(choice)) == self.choice);
        own.unwrap_or(&Value::Null)
    }

    /// A whole message, of a server that does not stream: each of its calls is one.
    fn message(&mut self, message: &Value, on: &mut dyn FnMut(Progress)) {
        let mut message = message.clone();
        let calls = message["tool_calls"].as_array_mut();
        for (index, call) in (0_u64..).zip(calls.into_iter().flatten()) {
            if let Value::Object(call) = call {
                call.insert("index".to_owned(), index.into());
            }
        }
        self.delta(&message, on);
    }

    fn delta(&mut self, delta: &Value, on: &mut dyn FnMut(Progress)) {
        for text in texts(&delta["content"]) {
            self.text.push_str(text);
            on(Progress::Text(text.to_owned()));
        }
        for key in REASONING {
            if let Some(more) = delta[key].as_str() {
                let (_, reasoning) = self.reasoning.get_or_insert((key, String::new()));
                reasoning.push_str(more);
                break;
            }
        }
        self.details.push(&delta["reasoning_details"]);
        if let Some(more) = delta["refusal"].as_str() {
            self.refusal.push_str(more);
        }
        if let Some(calls) = delta["tool_calls"].as_array() {
            for call in calls {
                self.calls.push(call);
            }
        }
    }
}

impl exchange::Building for Building {
    fn event(&mut self, data: &[u8], on: &mut dyn FnMut(Progress)) -> Result<bool, Failure> {
        if data.trim_ascii_start().starts_with(b"[DONE]") {
            return Ok(true);
        }
        let chunk = exchange::json(data)?;
        if is_told(&chunk["error"]) || chunk["object"] == "error" {
            return Err(Failure::Told(chunk));
        }
        let choice = self.choice(&chunk["choices"]);
        for usage in [&chunk["usage"], &choice["usage"]] {
            if usage.is_object() {
                self.usage = count(usage);
            }
        }
        if is_told(&choice["error"]) {
            return Err(Failure::Told(choice.clone()));
        }
        if choice["delta"].is_object() {
            self.delta(&choice["delta"], on);
        } else if choice["message"].is_object() {
            self.message(&choice["message"], on);
        }
        match choice["finish_reason"].as_str() {
            Some("error") => {
                let why = "the server gave the reply up with an error";
                return Err(Failure::Broken(why.to_owned()));
            }
            Some(reason) => reason.clone_into(&mut self.finish),
            None => {}
        }
        Ok(false)
    }

    fn may_end(&self) -> bool {
        !self.finish.is_empty()
    }
}

/// Whether a field tells of an error at all.
fn is_told(error: &Value) -> bool {
    match error {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::Bool(true) | Value::Array(_) | Value::Object(_) => true,
    }
}

/// Text as a string, or as the texts of parts.
fn texts(content: &Value) -> Vec<&str> {
    let texts = match content {
        Value::String(text) => vec![text.as_str()],
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect(),
        _ => Vec::new(),
    };
    texts.into_iter().filter(|text| !text.is_empty()).collect()
}

/// Cached tokens are among the prompt's here; in [`Usage`] they are not.
fn count(usage: &Value) -> Usage {
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let details = &usage["prompt_tokens_details"];
    let cache_read = details["cached_tokens"]
        .as_u64()
        .unwrap_or_else(|| number(&usage["prompt_cache_hit_tokens"]));
    let cache_write = number(&details["cache_write_tokens"]);
    Usage {
        input: number(&usage["prompt_tokens"])
            .saturating_sub(cache_read)
            .saturating_sub(cache_write),
        output: number(&usage["completion_tokens"]),
        cache_read,
        cache_write,
    }
}
