//! Chat Completions, as served by OpenAI, Ollama and many others.

mod details;
mod dialect;
mod request;
mod slots;
mod spoken;
mod stream;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::asked::{Source, Window};
use super::exchange;
use super::failure::Failure;
use super::http::{Http, Patience, Post};
use super::peer::Peer;
use super::{Credentials, Model, ModelError, OpenError, Progress, Reply, Request, address, spec};
use crate::cancel::Cancel;
use dialect::{Dialect, Server};
use stream::Building;

/// Where OpenAI itself is.
const BASE: &str = "https://api.openai.com/v1";
/// What says where another server is.
const BASE_VARIABLE: &str = "OPENAI_BASE_URL";
/// What says where an Ollama is.
const HOST_VARIABLE: &str = "OLLAMA_HOST";
/// What local servers that want no key are told.
const NO_KEY: &str = "no-key";

/// A model of a server that speaks Chat Completions.
pub(super) struct OpenAi {
    name: String,
    model: String,
    url: String,
    headers: Vec<(&'static str, String)>,
    http: Http,
    peer: Peer,
    dialect: Dialect,
    window: Window,
}

impl OpenAi {
    /// Opens `model` of OpenAI or of the server at `OPENAI_BASE_URL`, which may want no key.
    pub(super) fn open(
        model: &str,
        credentials: &Credentials,
        agent: &str,
        patience: Patience,
    ) -> Result<Self, OpenError> {
        let key = spec::key("OPENAI_API_KEY", credentials.openai_key.as_deref())?;
        let base = spec::base(credentials.openai_base.as_deref());
        let key = match (key, base) {
            (Some(key), _) => key,
            (None, Some(_)) => NO_KEY.to_owned(),
            (None, None) => {
                return Err(OpenError::MissingKey(
                    "no key for openai; OPENAI_API_KEY is not set; \
                     set OPENAI_API_KEY, or OPENAI_BASE_URL to a server that wants none"
                        .to_owned(),
                ));
            }
        };
        let setting = spec::setting(BASE_VARIABLE, base, BASE)?;
        let url = address::openai(base.unwrap_or(BASE));
        let name = format!("openai:{model}");
        let bearer = format!("Bearer {key}");
        let peer = Peer::new(&name, &url, Some(("OPENAI_API_KEY", key))).set_by(setting);
        let mut opened = Self::at(url, peer, model, agent, patience);
        opened.headers = vec![("authorization", bearer)];
        if let Server::Other = opened.dialect.server {
            let source = Source::Models(address::models(&opened.url), opened.headers.clone());
            opened.window = Window::of(model, source, agent);
        }
        Ok(opened)
    }

    /// Opens `model` of the Ollama at `OLLAMA_HOST`.
    pub(super) fn ollama(
        model: &str,
        credentials: &Credentials,
        agent: &str,
        patience: Patience,
    ) -> Result<Self, OpenError> {
        let given = spec::base(credentials.ollama_host.as_deref());
        let root = address::ollama(given);
        let setting = spec::setting(
            HOST_VARIABLE,
            given.map(|_| root.as_str()),
            "127.0.0.1:11434",
        )?;
        let url = format!("{root}/v1/chat/completions");
        let peer = Peer::new(&format!("ollama:{model}"), &url, None).set_by(setting);
        Ok(Self {
            window: Window::of(model, Source::Ollama(root), agent),
            ..Self::at(url, peer, model, agent, patience)
        })
    }

    fn at(url: String, peer: Peer, model: &str, agent: &str, patience: Patience) -> Self {
        Self {
            http: Http::new(&url, agent, patience),
            dialect: Dialect::of(&url),
            model: model.to_owned(),
            window: Window::by_name(model),
            headers: Vec::new(),
            name: peer.model().to_owned(),
            peer,
            url,
        }
    }
}

impl Model for OpenAi {
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
        loop {
            let post = Post {
                url: self.url.clone(),
                headers: self.headers.clone(),
                body: request::body(&self.model, &self.dialect, &self.name, request),
            };
            let tools = request.tools.iter().map(|tool| tool.name);
            let mut building = match self.dialect.server {
                Server::OpenAi => Building::new(&self.name),
                Server::Other => Building::new(&self.name).speaking(tools.collect()),
            };
            match exchange::run(&mut self.http, post, &mut building, cancel, on) {
                Ok(()) => return Ok(building.into_reply()),
                Err(Failure::Answer(answer)) if self.dialect.mend(&answer) => {}
                Err(failure) => {
                    self.window.learn(&failure);
                    return Err(failure.into_error(&self.peer));
                }
            }
        }
    }
}
