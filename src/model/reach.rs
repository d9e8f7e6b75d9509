//! Whether a server of the person's own answers and has the model, before anybody is told to work with it.
//!
//! One small question that costs nothing; a key goes nowhere but where each call would bring it. Providers at their public
//! addresses are not asked.

use std::time::Duration;

use serde_json::Value;

use super::asked::asker;
use super::{Credentials, ModelSpec, address, spec};

/// How long it is asked.
const WAIT: Duration = Duration::from_secs(2);
/// Most models that are named.
const NAMED: usize = 5;

/// What a server was asked, and how it is told of.
struct Question {
    url: String,
    bearer: Option<String>,
    model: String,
    /// Who is asked, with the address.
    server: String,
    /// What a person does where it does not answer.
    remedy: &'static str,
    /// What a person does where it lacks MODEL.
    missing: &'static str,
    /// Where the names stand in the answer.
    list: (&'static str, &'static str),
}

/// What stands in the way of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// It.
    pub what: String,
    /// What a person does about it.
    pub remedy: String,
}

/// The server that answers, in words; `None` if there is nobody to be asked.
pub fn reach(model: &ModelSpec, credentials: &Credentials) -> Result<Option<String>, Obstacle> {
    let Some(question) = question(model, credentials) else {
        return Ok(None);
    };
    let mut request = asker(&question.url, "lead").get(&question.url);
    if let Some(bearer) = &question.bearer {
        request = request.header("authorization", bearer);
    }
    let config = request.config().timeout_global(Some(WAIT));
    let answer = config.http_status_as_error(false).build().call();
    let mut answer = answer.map_err(|error| Obstacle {
        what: format!("{} does not answer: {error}", question.server),
        remedy: question.remedy.to_owned(),
    })?;
    let status = answer.status().as_u16();
    let body = answer.body_mut().read_to_vec().unwrap_or_default();
    question.judge(status, &body)?;
    Ok(Some(question.server))
}

fn question(model: &ModelSpec, credentials: &Credentials) -> Option<Question> {
    match model {
        ModelSpec::Ollama(name) => {
            let root = address::ollama(spec::base(credentials.ollama_host.as_deref()));
            Some(Question {
                server: format!("the Ollama at {}", address::server(&root)),
                url: format!("{root}/api/tags"),
                bearer: None,
                model: name.clone(),
                remedy: "start it, or set OLLAMA_HOST to where it listens",
                missing: "`ollama pull MODEL` brings it",
                list: ("models", "name"),
            })
        }
        ModelSpec::OpenAi(name) => {
            let base = spec::base(credentials.openai_base.as_deref())?;
            let url = address::models(&address::openai(base));
            let key = spec::key("OPENAI_API_KEY", credentials.openai_key.as_deref());
            Some(Question {
                server: format!("the server at {}", address::server(&url)),
                bearer: key.ok().flatten().map(|key| format!("Bearer {key}")),
                url,
                model: name.clone(),
                remedy: "start it, or set OPENAI_BASE_URL to where it listens",
                missing: "name one of those that it has",
                list: ("data", "id"),
            })
        }
        ModelSpec::Anthropic(_) | ModelSpec::Script(_) => None,
    }
}

impl Question {
    /// Not every server lists its models; one that does not may have any.
    fn judge(&self, status: u16, body: &[u8]) -> Result<(), Obstacle> {
        let Self { server, model, .. } = self;
        let obstacle = |what: String, remedy: String| Err(Obstacle { what, remedy });
        match status {
            401 | 403 => {
                return obstacle(
                    format!("{server} does not accept the key ({status})"),
                    "set OPENAI_API_KEY to one that it knows".to_owned(),
                );
            }
            500.. => {
                let what = format!("{server} answers {status}");
                return obstacle(what, "its own log says why".to_owned());
            }
            _ => {}
        }
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let (list, name) = self.list;
        let Some(list) = body[list].as_array() else {
            return Ok(());
        };
        let names: Vec<&str> = list.iter().filter_map(|one| one[name].as_str()).collect();
        let latest = format!("{model}:latest");
        let has = |name: &&str| name == model || *name == latest;
        if names.iter().any(has) || names.len() < list.len() {
            return Ok(());
        }
        let more = if names.len() > NAMED {
            ", and more"
        } else {
            ""
        };
        let what = match names.as_slice() {
            [] => format!("{server} has no models yet"),
            names => {
                let first = names[..names.len().min(NAMED)].join(", ");
                format!("{server} has no {model}, but {first}{more}")
            }
        };
        obstacle(what, self.missing.replace("MODEL", model))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(model: &ModelSpec, status: u16, body: &str) -> Option<String> {
        let credentials = Credentials {
            openai_base: Some("http://me:secret@127.0.0.1:8000/v1".to_owned()),
            ollama_host: Some("127.0.0.1:9".to_owned()),
            ..Credentials::default()
        };
        let question = question(model, &credentials).unwrap();
        let judged = question.judge(status, body.as_bytes());
        let Obstacle { what, remedy } = judged.err()?;
        Some(format!("{what}; {remedy}"))
    }

    #[test]
    fn an_answer_says_what_stands_in_the_way() {
        let ollama = ModelSpec::Ollama("qwen3".to_owned());
        let openai = ModelSpec::OpenAi("qwen3".to_owned());
        for (model, status, body, wanted) in [
            (
                &ollama,
                200,
                r#"{"models":[{"name":"qwen3:latest"}]}"#,
                None,
            ),
            (
                &ollama,
                200,
                r#"{"models":[{"name":"llama"}]}"#,
                Some(
                    "the Ollama at 127.0.0.1:9 has no qwen3, but llama; `ollama pull qwen3` brings it",
                ),
            ),
            (
                &ollama,
                200,
                r#"{"models":[]}"#,
                Some("the Ollama at 127.0.0.1:9 has no models yet; `ollama pull qwen3` brings it"),
            ),
            (&openai, 200, r#"{"data":[{"id":"qwen3"}]}"#, None),
            (
                &openai,
                200,
                r#"{"data":[{"id":"a"},{"id":"b"}]}"#,
                Some(
                    "the server at 127.0.0.1:8000 has no qwen3, but a, b; name one of those that it has",
                ),
            ),
            (&openai, 404, "not found", None),
            (&openai, 200, "<html>", None),
            (
                &openai,
                401,
                "{}",
                Some(
                    "the server at 127.0.0.1:8000 does not accept the key (401); set OPENAI_API_KEY to one that it knows",
                ),
            ),
            (
                &openai,
                503,
                "",
                Some("the server at 127.0.0.1:8000 answers 503; its own log says why"),
            ),
        ] {
            assert_eq!(
                judged(model, status, body).as_deref(),
                wanted,
                "{status} {body}"
            );
        }
    }

    #[test]
    fn providers_at_their_public_addresses_are_not_asked() {
        let credentials = Credentials {
            openai_key: Some("k".to_owned()),
            anthropic_key: Some("k".to_owned()),
            ..Credentials::default()
        };
        for model in ["openai:m", "anthropic:m", "script:/nothing"] {
            let model = ModelSpec::parse(model).unwrap();
            assert_eq!(reach(&model, &credentials), Ok(None));
        }
    }
}
