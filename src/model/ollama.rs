//! What an Ollama has, for who names no model.

use std::time::Duration;

use serde::Deserialize;

use super::http::user_agent;
use super::{Credentials, address};

/// How long it is asked.
const WAIT: Duration = Duration::from_secs(1);

#[derive(Deserialize)]
struct Tags {
    models: Vec<Tag>,
}

#[derive(Deserialize)]
struct Tag {
    name: String,
}

/// The models of the Ollama at `OLLAMA_HOST` that can talk, the one changed last first; `None` if none answers within a second.
pub fn listed(credentials: &Credentials) -> Option<Vec<String>> {
    let root = address::ollama(credentials.ollama_host.as_deref());
    let mut config = ureq::Agent::config_builder()
        .user_agent(user_agent("lead"))
        .timeout_global(Some(WAIT));
    if address::is_loopback(&root) {
        config = config.proxy(None);
    }
    let agent = config.build().new_agent();
    let mut answer = agent.get(format!("{root}/api/tags")).call().ok()?;
    let body = answer.body_mut().read_to_vec().ok()?;
    Some(talking(&body))
}

/// Those that only embed are left out; what cannot be read lists none.
fn talking(body: &[u8]) -> Vec<String> {
    let tags = serde_json::from_slice::<Tags>(body).map_or_else(|_| Vec::new(), |tags| tags.models);
    tags.into_iter()
        .map(|tag| tag.name)
        .filter(|name| !name.contains("embed"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_embeds_is_not_listed() {
        let body = br#"{"models": [{"name": "nomic-embed-text:latest", "size": 1}, {"name": "qwen3:8b"}]}"#;
        assert_eq!(talking(body), ["qwen3:8b"]);
        for body in [&b"{}"[..], b"<html>", b"{\"models\": null}"] {
            assert!(talking(body).is_empty());
        }
    }
}
