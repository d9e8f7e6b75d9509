//! How large a model's window is, as its server says.

use serde_json::json;

use super::{ANTHROPIC, OLLAMA, OPENAI, answering, ask};
use crate::support::model_server::{Answer, ModelServer};

/// What is taken where nothing is known.
const UNKNOWN: u64 = 128_000;

fn server() -> ModelServer {
    ModelServer::start(answering(Answer::say("ok")))
}

#[test]
fn a_server_that_lists_its_models_is_believed() {
    let server = server();
    let models = json!({"data": [{"id": "m", "max_model_len": 8_192}]});
    server.tell("/v1/models", &models);
    server.tell("/v1/models/m", &json!({"max_input_tokens": 300_000}));
    assert_eq!(OPENAI.open(&server).window(), 8_192);
    assert_eq!(ANTHROPIC.open(&server).window(), 300_000);
}

#[test]
fn an_ollama_says_what_a_model_can_have_and_then_what_it_has() {
    let server = server();
    let info = json!({"general.architecture": "a", "a.context_length": 40_960});
    server.tell("/api/show", &json!({"model_info": info}));
    let mut model = OLLAMA.open(&server);
    assert_eq!(model.window(), 40_960);
    ask(&mut *model).unwrap();
    let loaded = json!({"models": [{"name": "m:latest", "context_length": 4_096}]});
    server.tell("/api/ps", &loaded);
    assert_eq!(model.window(), 4_096);
    server.tell("/api/ps", &json!({}));
    assert_eq!(model.window(), 4_096, "it is asked no more");
}

#[test]
fn without_an_answer_the_default_holds_until_a_call_is_too_long() {
    for provider in [ANTHROPIC, OPENAI, OLLAMA] {
        let server =
            ModelServer::start(answering(Answer::fail(400).body(
                r#"{"error": {"message": "prompt is too long: 9000 tokens > 8192 maximum"}}"#,
            )));
        let mut model = provider.open(&server);
        assert_eq!(model.window(), UNKNOWN, "{}", provider.spec);
        ask(&mut *model).unwrap_err();
        assert_eq!(model.window(), 8_192, "{}", provider.spec);
    }
    let gone = server();
    let mut model = OPENAI.open(&gone);
    drop(gone);
    for _ in 0..5 {
        assert_eq!(model.window(), UNKNOWN);
    }
}
