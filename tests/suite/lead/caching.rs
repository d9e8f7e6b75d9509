//! A long round pays for each token about once: what a cache of prefixes would have to read anew.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::scripts::RUN;
use crate::support::Bed;
use crate::support::model_server::{Answer, Ask, ModelServer, Protocol};

const TURNS: usize = 40;
/// How many blocks before a mark a cache looks back.
const LOOK_BACK: usize = 20;

/// The blocks of a request in the order in which they are cached, each with whether the cache is told to keep what ends there.
fn blocks(ask: &Ask) -> Vec<(String, bool)> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let messages = list(&ask.body["messages"]).into_iter();
    let all: Vec<Value> = match ask.protocol {
        Protocol::Anthropic => list(&ask.body["tools"])
            .into_iter()
            .chain(list(&ask.body["system"]))
            .chain(messages.flat_map(|message| list(&message["content"])))
            .collect(),
        Protocol::OpenAi => list(&ask.body["tools"])
            .into_iter()
            .chain(messages)
            .collect(),
    };
    all.into_iter()
        .map(|mut block| {
            let fields = block.as_object_mut().unwrap();
            let told = fields.remove("cache_control").is_some();
            // The others keep everything by themselves.
            (block.to_string(), told || ask.protocol == Protocol::OpenAi)
        })
        .collect()
}

/// Bytes of all requests together that no earlier one had left in the cache, and bytes of the last.
fn read_anew(asks: &[Ask]) -> (usize, usize) {
    let mut kept: HashSet<String> = HashSet::new();
    let (mut anew, mut last) = (0, 0);
    for ask in asks {
        let blocks = blocks(ask);
        let prefix = |count: usize| -> String {
            blocks[..count]
                .iter()
                .map(|(text, _)| text.as_str())
                .collect()
        };
        let ends = (1..=blocks.len()).filter(|&count| blocks[count - 1].1);
        let found = ends
            .clone()
            .flat_map(|end| (end.saturating_sub(LOOK_BACK)..=end).rev())
            .filter(|&count| kept.contains(&prefix(count)))
            .max();
        last = prefix(blocks.len()).len();
        anew += last - found.map_or(0, |count| prefix(count).len());
        kept.extend(ends.map(prefix));
    }
    (anew, last)
}

fn pays_once(model: &str) {
    let server = ModelServer::start(|ask| match ask.step() {
        TURNS => Answer::say("done"),
        step => Answer::say("so")
            .and("glob", json!({"pattern": format!("{step}*")}))
            .and(
                "todo_write",
                json!({"items": [{"text": format!("{step}"), "status": "pending"}]}),
            ),
    });
    let bed = Bed::git()
        .with_env("ANTHROPIC_API_KEY", "a-key")
        .with_env("ANTHROPIC_BASE_URL", server.anthropic_base())
        .with_env("OPENAI_BASE_URL", server.openai_base());
    let _done = bed
        .start_lead(&["-p", "go", "--model", model])
        .wait(RUN)
        .expect_code(0);
    let asks = server.asks();
    assert_eq!(asks.len(), TURNS + 1);
    let (anew, last) = read_anew(&asks);
    assert!(
        anew <= last + last / 10,
        "{anew} bytes for a conversation of {last}"
    );
}

#[test]
fn each_token_is_paid_for_about_once_over_anthropic() {
    pays_once("anthropic:m");
}

#[test]
fn each_token_is_paid_for_about_once_over_openai() {
    pays_once("openai:m");
}
