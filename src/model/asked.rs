//! How many tokens a model's window has, asked of its server where the protocol offers that.
//!
//! Nothing depends on an answer: without one the window stays what the table of names says ([`window::of`]), until the
//! server calls a conversation too long. An agent asks before its first call, and a few times more if nothing was heard.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::failure::Failure;
use super::http::user_agent;
use super::{address, window};
use crate::clock;

/// How long all that is asked at once may take, so that a call begins or is cancelled within a second.
const WAIT: Duration = Duration::from_millis(900);
/// How often it is asked.
const TRIES: u32 = 3;
/// Where lists of models say it, the size in force before the largest possible one.
const FIELDS: [&str; 6] = [
    "max_model_len",
    "loaded_context_length",
    "context_length",
    "context_window",
    "max_context_length",
    "max_input_tokens",
];

/// A model's window as far as it is known.
pub(super) struct Window {
    tokens: u64,
    asking: Option<Asking>,
}

/// Whom to ask.
pub(super) enum Source {
    /// An Ollama, by its root address.
    Ollama(String),
    /// A list of models, or one of them, with the headers of a request.
    Models(String, Vec<(&'static str, String)>),
}

/// What was heard.
#[derive(Debug, PartialEq, Eq)]
enum Heard {
    /// What holds.
    Is(u64),
    /// What holds unless the server was set up to use less.
    AtMost(u64),
    /// The server does not tell.
    Nothing,
    /// No answer.
    Silence,
}

struct Asking {
    source: Source,
    model: String,
    agent: ureq::Agent,
    tries: u32,
}

impl Window {
    /// By the name alone.
    pub(super) fn by_name(model: &str) -> Self {
        Self {
            tokens: window::of(model),
            asking: None,
        }
    }

    /// To be asked of `source` by `agent`. A server elsewhere is not asked about a model whose name says it.
    pub(super) fn of(model: &str, source: Source, agent: &str) -> Self {
        let (url, always) = match &source {
            Source::Ollama(root) => (root, true),
            Source::Models(url, _) => (url, address::is_loopback(url)),
        };
        if window::known(model).is_some() && !always {
            return Self::by_name(model);
        }
        let asking = Asking {
            agent: asker(url, agent),
            source,
            model: model.to_owned(),
            tries: TRIES,
        };
        Self {
            asking: Some(asking),
            ..Self::by_name(model)
        }
    }

    /// Tokens, as far as is known.
    pub(super) fn known(&self) -> u64 {
        self.tokens
    }

    /// Tokens; asks if that is due, which takes less than a second.
    pub(super) fn tokens(&mut self) -> u64 {
        let Some(asking) = &mut self.asking else {
            return self.tokens;
        };
        asking.tries -= 1;
        let heard = asking.ask();
        let over = asking.tries == 0 || matches!(heard, Heard::Is(_) | Heard::Nothing);
        if let Heard::Is(tokens) | Heard::AtMost(tokens) = heard {
            self.tokens = tokens;
        }
        if over {
            self.asking = None;
        }
        self.tokens
    }

    /// Learns from a call that failed.
    pub(super) fn learn(&mut self, failure: &Failure) {
        if let Some(tokens) = failure.window() {
            self.tokens = tokens;
            self.asking = None;
        }
    }
}

/// Connections to the server of `url`, without a proxy where it is this machine, and without following it elsewhere.
pub(super) fn asker(url: &str, agent: &str) -> ureq::Agent {
    let mut config = ureq::Agent::config_builder().user_agent(user_agent(agent));
    if address::is_loopback(url) {
        config = config.proxy(None);
    }
    config.max_redirects(0).build().new_agent()
}

impl Asking {
    fn ask(&self) -> Heard {
        let until = clock::instant() + WAIT;
        match &self.source {
            Source::Models(url, headers) => match self.get(url, headers, until) {
                Some(body) => listed(&body, &self.model).map_or(Heard::Nothing, Heard::Is),
                None => Heard::Silence,
            },
            Source::Ollama(root) => {
                let running = self.get(&format!("{root}/api/ps"), &[], until);
                if let Some(tokens) = running.and_then(|body| loaded(&body, &self.model)) {
                    return Heard::Is(tokens);
                }
                let url = format!("{root}/api/show");
                let body = json!({"model": self.model}).to_string();
                let request = self
                    .agent
                    .post(url)
                    .config()
                    .timeout_global(Some(left(until)));
                json_of(request.build().send(body)).map_or(Heard::Silence, |body| shown(&body))
            }
        }
    }

    fn get(&self, url: &str, headers: &[(&'static str, String)], until: Instant) -> Option<Value> {
        let mut request = self.agent.get(url);
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        json_of(
            request
                .config()
                .timeout_global(Some(left(until)))
                .build()
                .call(),
        )
    }
}

fn left(until: Instant) -> Duration {
    let least = Duration::from_millis(1);
    until.saturating_duration_since(clock::instant()).max(least)
}

/// A refusal is an answer that says nothing.
fn json_of(answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Option<Value> {
    match answer {
        Ok(mut answer) => {
            let body = answer.body_mut().read_to_vec().ok()?;
            Some(serde_json::from_slice(&body).unwrap_or_default())
        }
        Err(ureq::Error::StatusCode(400..500)) => Some(Value::Null),
        Err(_) => None,
    }
}

/// From a list of models in which `model` is named or the only one, or from that model itself.
fn listed(body: &Value, model: &str) -> Option<u64> {
    let one = match body["data"].as_array().map(Vec::as_slice) {
        Some([only]) => only,
        Some(models) => models.iter().find(|one| one["id"] == model)?,
        None => body,
    };
    let fields = FIELDS.iter().map(|field| &one[*field]);
    positive(fields.chain([&one["meta"]["n_ctx"]]))
}

/// From an Ollama's list of loaded models.
fn loaded(body: &Value, model: &str) -> Option<u64> {
    let latest = format!("{model}:latest");
    let models = body["models"].as_array()?;
    let one = models
        .iter()
        .find(|one| one["name"] == model || one["name"] == *latest)?;
    positive([&one["context_length"]])
}

/// From what an Ollama knows of a model: the size set for it, else the largest that it can have.
fn shown(body: &Value) -> Heard {
    let parameters = body["parameters"].as_str().unwrap_or_default();
    let set = parameters.lines().find_map(|line| {
        let tokens: u64 = line.trim().strip_prefix("num_ctx")?.trim().parse().ok()?;
        (tokens > 0).then_some(tokens)
    });
    if let Some(tokens) = set {
        return Heard::Is(tokens);
    }
    let architecture = body["model_info"]["general.architecture"].as_str();
    let field = format!("{}.context_length", architecture.unwrap_or_default());
    positive([&body["model_info"][field]]).map_or(Heard::Nothing, Heard::AtMost)
}

fn positive<'a>(values: impl IntoIterator<Item = &'a Value>) -> Option<u64> {
    let mut values = values.into_iter().filter_map(Value::as_u64);
    values.find(|&tokens| tokens > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_of_telling_is_read() {
        for (body, tokens) in [
            (
                json!({"data": [{"id": "m", "max_model_len": 32_768}]}),
                Some(32_768),
            ),
            (
                json!({"data": [{"id": "x", "context_length": 1}, {"id": "m", "context_length": 8_192}]}),
                Some(8_192),
            ),
            (
                json!({"data": [{"id": "gguf", "meta": {"n_ctx": 4_096}}]}),
                Some(4_096),
            ),
            (
                json!({"data": [{"id": "x"}, {"id": "y", "context_length": 1}]}),
                None,
            ),
            (
                json!({"data": [{"id": "m", "loaded_context_length": 4_096, "max_context_length": 9_999}]}),
                Some(4_096),
            ),
            (
                json!({"id": "m", "max_input_tokens": 200_000}),
                Some(200_000),
            ),
            (json!({"data": [{"id": "m", "max_model_len": 0}]}), None),
            (json!({"data": "m"}), None),
            (Value::Null, None),
        ] {
            assert_eq!(listed(&body, "m"), tokens, "{body}");
        }
        for (body, tokens) in [
            (
                json!({"models": [{"name": "m:latest", "context_length": 4_096}]}),
                Some(4_096),
            ),
            (
                json!({"models": [{"name": "m:8b", "context_length": 4_096}]}),
                None,
            ),
            (json!({"models": []}), None),
        ] {
            assert_eq!(loaded(&body, "m"), tokens, "{body}");
        }
        let info = json!({"general.architecture": "qwen3", "qwen3.context_length": 40_960});
        for (body, heard) in [
            (
                json!({"parameters": "stop \"x\"\nnum_ctx    8192", "model_info": info}),
                Heard::Is(8_192),
            ),
            (
                json!({"parameters": "num_ctx many", "model_info": info}),
                Heard::AtMost(40_960),
            ),
            (
                json!({"model_info": {"qwen3.context_length": 40_960}}),
                Heard::Nothing,
            ),
            (Value::Null, Heard::Nothing),
        ] {
            assert_eq!(shown(&body), heard, "{body}");
        }
    }
}
