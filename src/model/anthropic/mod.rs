//! The Messages API.

mod request;
mod stream;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::asked::{Source, Window};
use super::exchange;
use super::failure::{Answer, Failure};
use super::http::{Http, Patience, Post};
use super::peer::Peer;
use super::{Credentials, Model, ModelError, OpenError, Progress, Reply, Request, address, spec};
use crate::cancel::Cancel;
use request::Shape;
use stream::Building;

/// Where the API is if nobody says otherwise.
const BASE: &str = "https://api.anthropic.com";
/// What says otherwise.
const BASE_VARIABLE: &str = "ANTHROPIC_BASE_URL";
/// The version of the API that is spoken.
const VERSION: &str = "2023-06-01";
/// Generated tokens that are asked for, thinking included; lowered to what the server allows.
const MAX_TOKENS: u64 = 32_000;

/// A model of the Messages API.
pub(super) struct Anthropic {
    name: String,
    url: String,
    headers: Vec<(&'static str, String)>,
    http: Http,
    peer: Peer,
    shape: Shape,
    window: Window,
}

impl Anthropic {
    /// Opens `model` for `agent`.
    pub(super) fn open(
        model: &str,
        credentials: &Credentials,
        agent: &str,
        patience: Patience,
    ) -> Result<Self, OpenError> {
        let (variable, secret, auth) = auth(credentials)?;
        let name = format!("anthropic:{model}");
        let base = spec::base(credentials.anthropic_base.as_deref());
        let setting = spec::setting(BASE_VARIABLE, base, BASE)?;
        let url = address::anthropic(base.unwrap_or(BASE));
        let mut headers = vec![("anthropic-version", VERSION.to_owned()), auth];
        if secret.starts_with("sk-ant-oat") {
            headers.push(("anthropic-beta", "oauth-2025-04-20".to_owned()));
        }
        let source = Source::Models(address::model(&url, model), headers.clone());
        Ok(Self {
            http: Http::new(&url, agent, patience),
            peer: Peer::new(&name, &url, Some((variable, secret))).set_by(setting),
            shape: Shape {
                model: model.to_owned(),
                max_tokens: MAX_TOKENS,
                bare: 0,
            },
            name,
            url,
            headers,
            window: Window::of(model, source, agent),
        })
    }

    /// Changes what is sent so that a refusal does not come again; whether there was anything to change.
    fn mend(&mut self, answer: &Answer, messages: usize) -> bool {
        if answer.status != 400 {
            return false;
        }
        let text = &answer.said.message;
        if let Some(allowed) = allowed_tokens(text).filter(|&most| most < self.shape.max_tokens) {
            self.shape.max_tokens = allowed;
            return true;
        }
        let about_thinking = text.contains("thinking") || text.contains("signature");
        if about_thinking && self.shape.bare < messages {
            self.shape.bare = messages;
            return true;
        }
        false
    }
}

type Auth = (&'static str, String, (&'static str, String));

fn auth(credentials: &Credentials) -> Result<Auth, OpenError> {
    if let Some(key) = spec::key("ANTHROPIC_API_KEY", credentials.anthropic_key.as_deref())? {
        return Ok(("ANTHROPIC_API_KEY", key.clone(), ("x-api-key", key)));
    }
    let token = credentials.anthropic_token.as_deref();
    if let Some(token) = spec::key("ANTHROPIC_AUTH_TOKEN", token)? {
        let bearer = format!("Bearer {token}");
        return Ok(("ANTHROPIC_AUTH_TOKEN", token, ("authorization", bearer)));
    }
    Err(OpenError::MissingKey(
        "no key for anthropic; ANTHROPIC_API_KEY is not set, nor ANTHROPIC_AUTH_TOKEN; \
         set ANTHROPIC_API_KEY"
            .to_owned(),
    ))
}

/// The most generated tokens, from `max_tokens: 32000 > 8192, which is the maximum …`.
fn allowed_tokens(text: &str) -> Option<u64> {
    let (_, after) = text.split_once("max_tokens: ")?;
    let (asked, after) = after.split_once(" > ")?;
    asked.parse::<u64>().ok()?;
    let digits = after.split(|ch: char| !ch.is_ascii_digit()).next()?;
    digits.parse().ok().filter(|&most| most > 0)
}

impl Model for Anthropic {
    fn name(&self) -> &str {
        &self.name
    }

    fn window(&mut self) -> u64 {
        self.window.tokens()
    }

    fn known_window(&self) -> u64 {
        self.window.known()
    }

    fn call(
        &mut self,
        request: &Request<'_>,
        cancel: &Arc<Cancel>,
        on: &mut dyn FnMut(Progress),
    ) -> Result<Reply, ModelError> {
        let messages = request.messages.len();
        // Fewer than before: the conversation was made shorter, and what it holds of thinking is newer than that.
        self.shape.bare = self.shape.bare.min(messages);
        loop {
            let post = Post {
                url: self.url.clone(),
                headers: self.headers.clone(),
                body: request::body(&self.shape, &self.name, request),
            };
            let mut building = Building::new(&self.name);
            match exchange::run(&mut self.http, post, &mut building, cancel, on) {
                Ok(()) => return Ok(building.into_reply()),
                Err(Failure::Answer(answer)) if self.mend(&answer, messages) => {}
                Err(failure) => {
                    self.window.learn(&failure);
                    return Err(failure.into_error(&self.peer));
                }
            }
        }
    }
}
