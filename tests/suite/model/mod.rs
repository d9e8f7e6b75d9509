//! Every provider against a server, over real connections.

macro_rules! for_each_provider {
    ($($test:ident),* $(,)?) => {
        for_each_provider!(@in anthropic, ANTHROPIC, $($test),*);
        for_each_provider!(@in openai, OPENAI, $($test),*);
        for_each_provider!(@in ollama, OLLAMA, $($test),*);
    };
    (@in $name:ident, $provider:ident, $($test:ident),*) => {
        mod $name {
            $(
                #[test]
                fn $test() {
                    super::$test($crate::model::$provider);
                }
            )*
        }
    };
}

mod conformance;
mod cuts;
mod dialects;
mod mending;
mod odd;
mod windows;

use std::sync::Arc;

use pitcrew::cancel::Cancel;
use pitcrew::conversation::{Block, Message, Role, ToolCall, ToolSpec};
use pitcrew::model::{Credentials, Model, ModelError, ModelSpec, Progress, Reply, Request, open};
use pitcrew::workspace::Workspace;
use serde_json::{Value, json};

use crate::support::model_server::{Answer, Ask, ModelServer, Protocol};

const KEY: &str = "sk-a-test-key";

/// A provider under test.
#[derive(Clone, Copy)]
struct Provider {
    spec: &'static str,
    protocol: Protocol,
}

const ANTHROPIC: Provider = Provider {
    spec: "anthropic:m",
    protocol: Protocol::Anthropic,
};
const OPENAI: Provider = Provider {
    spec: "openai:m",
    protocol: Protocol::OpenAi,
};
const OLLAMA: Provider = Provider {
    spec: "ollama:m",
    protocol: Protocol::OpenAi,
};

impl Provider {
    fn open(self, server: &ModelServer) -> Box<dyn Model> {
        self.opened(Credentials {
            anthropic_base: Some(server.anthropic_base()),
            openai_base: Some(server.openai_base()),
            ollama_host: Some(server.ollama_host()),
            ..Credentials::default()
        })
    }

    fn open_at(self, base: &str) -> Box<dyn Model> {
        let base = Some(base.to_owned());
        self.opened(Credentials {
            anthropic_base: base.clone(),
            openai_base: base.clone(),
            ollama_host: base,
            ..Credentials::default()
        })
    }

    fn opened(self, bases: Credentials) -> Box<dyn Model> {
        let credentials = Credentials {
            anthropic_key: Some(KEY.to_owned()),
            openai_key: Some(KEY.to_owned()),
            ..bases
        };
        let spec = ModelSpec::parse(self.spec).unwrap();
        open(
            &spec,
            &credentials,
            &Workspace::at("/nowhere".into()),
            "alice",
        )
        .unwrap()
    }

    /// What says where its server is.
    fn base_variable(self) -> &'static str {
        match self.spec {
            "anthropic:m" => "ANTHROPIC_BASE_URL",
            "openai:m" => "OPENAI_BASE_URL",
            _ => "OLLAMA_HOST",
        }
    }

    /// The protocol's word for a reply that reached its output limit.
    fn length(self) -> &'static str {
        match self.protocol {
            Protocol::Anthropic => "max_tokens",
            Protocol::OpenAi => "length",
        }
    }
}

fn user(text: &str) -> Message {
    Message {
        role: Role::User,
        content: vec![Block::text(text)],
    }
}

fn call(id: &str, input: Value) -> Block {
    Block::ToolUse(ToolCall {
        id: id.to_owned(),
        name: "bash".to_owned(),
        input,
        cut: None,
    })
}

fn ask_with(
    model: &mut dyn Model,
    messages: &[Message],
    cancel: &Arc<Cancel>,
    on: &mut dyn FnMut(Progress),
) -> Result<Reply, ModelError> {
    let tools = [ToolSpec {
        name: "bash",
        description: "Runs a command.".to_owned(),
        schema: json!({"type": "object", "properties": {"command": {"type": "string"}}}),
    }];
    let request = Request {
        system: &["You are a test.".to_owned(), "Now.".to_owned()],
        messages,
        tools: &tools,
        task: None,
    };
    model.call(&request, cancel, on)
}

fn ask(model: &mut dyn Model) -> Result<Reply, ModelError> {
    ask_with(model, &[user("go")], &Arc::new(Cancel::new()), &mut |_| {})
}

fn answering(answer: Answer) -> impl Fn(&Ask) -> Answer + Send + Sync {
    move |_| answer.clone()
}

/// Words and calls with characters of every width.
fn full() -> Answer {
    Answer::say("sø 🦀, 好\n")
        .and("bash", json!({"command": "echo 'é🦀' \"\\\""}))
        .and("bash", json!({}))
        .usage(7, 9, 100, 20)
}

/// What a reply says and asks, ids left out.
fn told(reply: &Reply) -> Value {
    reply
        .content
        .iter()
        .map(|block| match block {
            Block::Text { text } => json!(text),
            Block::ToolUse(call) => json!([call.name, call.input, call.cut.is_some()]),
            Block::ToolResult { .. } | Block::Opaque { .. } => json!(null),
        })
        .collect()
}

fn full_told() -> Value {
    json!([
        "sø 🦀, 好\n",
        ["bash", {"command": "echo 'é🦀' \"\\\""}, false],
        ["bash", {}, false],
    ])
}
