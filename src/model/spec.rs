//! Which model: `PROVIDER:NAME`, credentials, and opening it.

use serde::{Deserialize, Serialize};

use super::anthropic::Anthropic;
use super::http::Patience;
use super::openai::OpenAi;
use super::peer::Setting;
use super::script::Script;
use super::{Model, address};
use crate::ids;
use crate::workspace::Workspace;

/// The providers by name.
const PROVIDERS: [&str; 4] = ["anthropic", "openai", "ollama", "script"];

/// A model as named by people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ModelSpec {
    /// Messages API.
    Anthropic(String),
    /// Chat Completions.
    OpenAi(String),
    /// Chat Completions of a local Ollama.
    Ollama(String),
    /// Replies from a file; absolute once resolved.
    Script(std::path::PathBuf),
}

impl ModelSpec {
    /// Parses `provider:name`; the error names the providers.
    pub fn parse(text: &str) -> Result<Self, OpenError> {
        let text = text.trim();
        let Some((provider, name)) = text.split_once(':') else {
            return Err(no_model(text, ids::nearest(text, PROVIDERS)));
        };
        let name = name.trim();
        let provider = provider.trim().to_ascii_lowercase();
        if name.is_empty() || name.chars().any(char::is_control) {
            return Err(no_model(text, None));
        }
        match provider.as_str() {
            "anthropic" => Ok(Self::Anthropic(name.to_owned())),
            "openai" => Ok(Self::OpenAi(name.to_owned())),
            "ollama" => Ok(Self::Ollama(name.to_owned())),
            "script" => Ok(Self::Script(name.into())),
            other => Err(unknown_provider(other, name)),
        }
    }

    /// The same in any directory: a script's path is made absolute.
    #[must_use]
    pub fn absolute(self) -> Self {
        match self {
            Self::Script(path) => Self::Script(std::path::absolute(&path).unwrap_or(path)),
            Self::Anthropic(_) | Self::OpenAi(_) | Self::Ollama(_) => self,
        }
    }
}

/// The usual models of the providers whose key is set.
pub fn usual(credentials: &Credentials) -> Vec<ModelSpec> {
    let anthropic = credentials.anthropic_key.is_some() || credentials.anthropic_token.is_some();
    let openai = credentials.openai_key.is_some();
    let anthropic = anthropic.then(|| ModelSpec::Anthropic("claude-sonnet-5-5".to_owned()));
    let openai = openai.then(|| ModelSpec::OpenAi("gpt-5.4".to_owned()));
    anthropic.into_iter().chain(openai).collect()
}

fn no_model(text: &str, nearest: Option<&str>) -> OpenError {
    let example = nearest.unwrap_or("anthropic");
    OpenError::Spec(format!(
        "{text:?} is no model; a model is PROVIDER:NAME with one of the providers {}; name one, such as {example}:NAME",
        PROVIDERS.join(", ")
    ))
}

fn unknown_provider(provider: &str, name: &str) -> OpenError {
    let hint = match ids::nearest(provider, PROVIDERS) {
        Some(near) => format!("did you mean {near}:{name}?"),
        None => format!("name one of them, such as openai:{name}"),
    };
    OpenError::Spec(format!(
        "{provider:?} is no provider of models; known are {}; {hint}",
        PROVIDERS.join(", ")
    ))
}

impl std::fmt::Display for ModelSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Anthropic(name) => write!(f, "anthropic:{name}"),
            Self::OpenAi(name) => write!(f, "openai:{name}"),
            Self::Ollama(name) => write!(f, "ollama:{name}"),
            Self::Script(path) => write!(f, "script:{}", path.display()),
        }
    }
}

impl TryFrom<String> for ModelSpec {
    type Error = OpenError;
    fn try_from(text: String) -> Result<Self, OpenError> {
        Self::parse(&text)
    }
}

impl From<ModelSpec> for String {
    fn from(spec: ModelSpec) -> Self {
        spec.to_string()
    }
}

/// Keys and addresses, read from the environment by `config::env` only, handed to teammates through a pipe, and never
/// printed: `Debug` shows which are set.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Credentials {
    /// `ANTHROPIC_API_KEY`, sent as `x-api-key`.
    pub anthropic_key: Option<String>,
    /// `ANTHROPIC_AUTH_TOKEN`, sent as bearer when there is no key.
    pub anthropic_token: Option<String>,
    /// `ANTHROPIC_BASE_URL`.
    pub anthropic_base: Option<String>,
    /// `OPENAI_API_KEY`.
    pub openai_key: Option<String>,
    /// `OPENAI_BASE_URL`.
    pub openai_base: Option<String>,
    /// `OLLAMA_HOST`.
    pub ollama_host: Option<String>,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials")
            .field("anthropic_key", &self.anthropic_key.is_some())
            .field("anthropic_token", &self.anthropic_token.is_some())
            .field("anthropic_base", &shown(self.anthropic_base.as_ref()))
            .field("openai_key", &self.openai_key.is_some())
            .field("openai_base", &shown(self.openai_base.as_ref()))
            .field("ollama_host", &shown(self.ollama_host.as_ref()))
            .finish()
    }
}

/// An address without the password that it may hold.
fn shown(address: Option<&String>) -> Option<&str> {
    address.map(|address| address::server(address))
}

/// Why a model cannot be used: a usage error, exit code 2.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// Not `provider:name` with a known provider.
    #[error("{0}")]
    Spec(String),
    /// The provider's key is not set.
    #[error("{0}")]
    MissingKey(String),
    /// No server can be where a setting says.
    #[error("{0}")]
    Address(String),
    /// The script file is missing or wrong; the text names file, agent and position.
    #[error("{0}")]
    Script(String),
}

/// Opens a model for `agent`. A script is read and checked whole; nothing is asked of any server.
pub fn open(
    spec: &ModelSpec,
    credentials: &Credentials,
    workspace: &Workspace,
    agent: &str,
) -> Result<Box<dyn Model>, OpenError> {
    let patience = Patience::default();
    Ok(match spec {
        ModelSpec::Anthropic(name) => {
            Box::new(Anthropic::open(name, credentials, agent, patience)?)
        }
        ModelSpec::OpenAi(name) => Box::new(OpenAi::open(name, credentials, agent, patience)?),
        ModelSpec::Ollama(name) => Box::new(OpenAi::ollama(name, credentials, agent, patience)?),
        ModelSpec::Script(path) => Box::new(Script::open(path, workspace, agent)?),
    })
}

/// A key as given in `variable`: without the blanks around it, none if nothing is left, refused if it cannot be sent.
pub(super) fn key(variable: &str, given: Option<&str>) -> Result<Option<String>, OpenError> {
    let Some(key) = given.map(str::trim).filter(|key| !key.is_empty()) else {
        return Ok(None);
    };
    if key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(Some(key.to_owned()));
    }
    Err(OpenError::MissingKey(format!(
        "{variable} is no key; it holds blanks or characters that cannot be sent; set {variable} again"
    )))
}

/// An address as a person set it, none if it is blank.
pub(super) fn base(given: Option<&str>) -> Option<&str> {
    given.map(str::trim).filter(|base| !base.is_empty())
}

/// That `variable` says where a server is, as far as it is set: refused if none can be at `base`, which is not shown, since
/// it may be a key put in the wrong place. `example` is one that could be.
pub(super) fn setting(
    variable: &'static str,
    base: Option<&str>,
    example: &str,
) -> Result<Setting, OpenError> {
    match base.and_then(address::fault) {
        None => Ok(Setting {
            variable,
            is_set: base.is_some(),
        }),
        Some(fault) => Err(OpenError::Address(format!(
            "{variable} is no address of a server; {fault}; set it like {variable}={example}, or unset it"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_named_by_provider_and_name() {
        for (text, spec) in [
            (
                "anthropic:claude-x",
                ModelSpec::Anthropic("claude-x".to_owned()),
            ),
            (
                " OpenAI: org/m:free ",
                ModelSpec::OpenAi("org/m:free".to_owned()),
            ),
            ("ollama:qwen3:8b", ModelSpec::Ollama("qwen3:8b".to_owned())),
            ("script:a/b.json", ModelSpec::Script("a/b.json".into())),
        ] {
            let parsed = ModelSpec::parse(text).unwrap();
            assert_eq!(parsed, spec, "{text}");
            assert_eq!(ModelSpec::parse(&parsed.to_string()).unwrap(), spec);
        }
    }

    #[test]
    fn what_is_no_model_is_told_what_would_be() {
        for (text, parts) in [
            (
                "",
                vec!["PROVIDER:NAME", "anthropic, openai, ollama, script"],
            ),
            ("openai", vec!["openai:NAME"]),
            ("openai:", vec!["PROVIDER:NAME"]),
            (
                "antropic:x",
                vec!["anthropic, openai, ollama, script", "mean anthropic:x?"],
            ),
            ("zebra:x", vec!["\"zebra\"", "such as openai:x"]),
        ] {
            let error = ModelSpec::parse(text).unwrap_err().to_string();
            for part in parts {
                assert!(error.contains(part), "{text}: {error}");
            }
        }
    }

    #[test]
    fn an_impossible_address_is_told_with_its_variable_and_not_shown() {
        let scratch = tempfile::tempdir().unwrap();
        let workspace = Workspace::at(scratch.path().to_owned());
        let open = |spec: &str, base: &str| {
            let base = Some(base.to_owned());
            let credentials = Credentials {
                anthropic_key: Some("k".to_owned()),
                anthropic_base: base.clone(),
                openai_base: base.clone(),
                ollama_host: base,
                ..Credentials::default()
            };
            let spec = ModelSpec::parse(spec).unwrap();
            super::open(&spec, &credentials, &workspace, "lead").map(drop)
        };
        for (spec, variable) in [
            ("anthropic:m", "ANTHROPIC_BASE_URL"),
            ("openai:m", "OPENAI_BASE_URL"),
            ("ollama:m", "OLLAMA_HOST"),
        ] {
            for base in [
                "http://host:99999",
                "http://sk-secret:1x",
                "ftp://sk-secret",
            ] {
                let Err(OpenError::Address(error)) = open(spec, base) else {
                    panic!("{spec} {base}")
                };
                assert_eq!(error.matches(variable).count(), 2, "{error}");
                assert!(!error.contains("sk-secret"), "{error}");
            }
            assert_eq!(open(spec, "http://127.0.0.1:1"), Ok(()), "{spec}");
        }
        assert!(open("openai:m", "sk-secret").is_err());
        assert_eq!(
            open("ollama:m", "box"),
            Ok(()),
            "its host may be a bare name"
        );
        for blank in ["", " "] {
            assert_eq!(open("anthropic:m", blank), Ok(()), "{blank:?} is none");
        }
    }

    #[test]
    fn a_missing_key_is_told_with_its_variable() {
        let scratch = tempfile::tempdir().unwrap();
        let workspace = Workspace::at(scratch.path().to_owned());
        let open = |spec: &str, credentials: &Credentials| {
            let spec = ModelSpec::parse(spec).unwrap();
            super::open(&spec, credentials, &workspace, "lead")
                .map(|model| model.name().to_owned())
                .map_err(|error| error.to_string())
        };
        let none = Credentials::default();
        assert!(
            open("anthropic:x", &none)
                .unwrap_err()
                .contains("set ANTHROPIC_API_KEY")
        );
        assert!(
            open("openai:x", &none)
                .unwrap_err()
                .contains("set OPENAI_API_KEY")
        );
        assert_eq!(open("ollama:x", &none).unwrap(), "ollama:x");
        let local = Credentials {
            openai_base: Some("http://127.0.0.1:1/v1".to_owned()),
            ..Credentials::default()
        };
        assert_eq!(open("openai:x", &local).unwrap(), "openai:x");
        let torn = Credentials {
            anthropic_key: Some("sk a\nb".to_owned()),
            ..Credentials::default()
        };
        let error = open("anthropic:x", &torn).unwrap_err();
        assert!(
            error.contains("ANTHROPIC_API_KEY") && !error.contains("sk a"),
            "{error}"
        );
    }
}
