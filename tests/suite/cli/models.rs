//! `/model`: another model for the lead in the midst of a conversation.

use serde_json::json;

use crate::support::model_server::{Answer, Ask, ModelServer, Protocol};
use crate::support::{Bed, DEADLINE, Running, wait_until};

fn models(asks: &[Ask]) -> Vec<(Protocol, &str)> {
    asks.iter()
        .map(|ask| (ask.protocol, ask.model.as_str()))
        .collect()
}

#[track_caller]
fn leave(mut lead: Running) {
    lead.line("/exit");
    drop(lead.wait(DEADLINE).expect_code(0));
}

/// From one provider to the other and back, in the midst of a turn and at rest: every request is one that its server takes.
#[test]
fn a_conversation_goes_on_with_another_provider() {
    let server = ModelServer::start(|ask| match ask.step() {
        0 => Answer::call("glob", json!({"pattern": "*"})).and(
            "bash",
            json!({"command": "touch in; until [ -e go ]; do sleep 0.02; done"}),
        ),
        step => Answer::say(&format!("step {step}.")),
    });
    let bed = Bed::git()
        .with_env("ANTHROPIC_API_KEY", "a-key")
        .with_env("OPENAI_API_KEY", "another-key")
        .with_env("ANTHROPIC_BASE_URL", server.anthropic_base())
        .with_env("OPENAI_BASE_URL", server.openai_base());
    let mut lead = bed.start_lead(&[
        "--yes",
        "--model",
        "anthropic:claude-a",
        "--sandbox",
        "preferred",
    ]);
    lead.line("first");
    wait_until("the tool", DEADLINE, || {
        bed.root().join("in").exists().then_some(())
    });
    // Without a terminal a line is read at rest only; the settings of the run stay as they are.
    bed.write("go", "");
    lead.wait_for("step 1.", DEADLINE);
    lead.line("/model openai:gpt-b");
    lead.wait_for(
        "the lead speaks with openai:gpt-b from its next turn on",
        DEADLINE,
    );
    lead.line("second");
    lead.wait_for("step 2.", DEADLINE);
    assert_eq!(
        bed.json(".team/state/session.json").unwrap()["model"],
        "openai:gpt-b"
    );
    lead.line("/model anthropic:claude-a");
    lead.line("third");
    lead.wait_for("step 3.", DEADLINE);
    lead.line("/usage");
    lead.wait_for("lead", DEADLINE);
    leave(lead);
    let asks = server.asks();
    let a = (Protocol::Anthropic, "claude-a");
    assert_eq!(
        models(&asks),
        [a, a, (Protocol::OpenAi, "gpt-b"), a],
        "who was asked"
    );
    server.assert_valid();
    for (ask, words) in asks[2..].iter().zip(["second", "third"]) {
        let all = ask.everything();
        assert!(all.contains("first") && all.contains(words), "{all}");
    }
    let spent = bed.read(".team/state/usage.jsonl");
    let count = |model: &str| spent.lines().filter(|line| line.contains(model)).count();
    assert_eq!((count("claude-a"), count("gpt-b")), (3, 1), "{spent}");
}

#[test]
fn what_is_no_usable_model_is_refused_and_the_lead_goes_on() {
    let bed = Bed::new();
    let model =
        bed.script(&json!({ "agents": { "lead": [{ "text": "One." }, { "text": "Two." }] } }));
    bed.put(&bed.outside("bad.json"), "{\"agents\": 3}");
    let bad = format!("/model script:{}", bed.outside("bad.json").display());
    let mut lead = bed.start_lead(&["--model", &model]);
    lead.line("go");
    lead.wait_for("One.", DEADLINE);
    for (line, why) in [
        ("/model nonsense", "is no model; a model is PROVIDER:NAME"),
        ("/model antropic:x", "did you mean anthropic:x?"),
        ("/model anthropic:x", "ANTHROPIC_API_KEY"),
        (bad.as_str(), "bad.json"),
    ] {
        lead.line(line);
        lead.wait_for(why, DEADLINE);
    }
    lead.wait_for("the lead goes on with script:", DEADLINE);
    lead.line(&format!("/model {model}"));
    lead.wait_for("already", DEADLINE);
    lead.line("/limits cost 5");
    lead.wait_for("has no price", DEADLINE);
    lead.line("on");
    lead.wait_for("Two.", DEADLINE);
    leave(lead);
}

/// What it knows: its own, those that the settings name, and what a local server has.
#[test]
fn the_known_models_are_listed() {
    let server = ModelServer::start(|_| Answer::say("unasked"));
    let bed = Bed::new().with_env("OLLAMA_HOST", server.ollama_host());
    let model = bed.script(&json!({ "agents": { "lead": [] } }));
    let prices = json!({"prices": {"openai:priced": {"input": 1, "output": 1}}});
    bed.put(
        &bed.home().join(".config/pitcrew/settings.json"),
        &prices.to_string(),
    );
    let mut lead = bed.start_lead(&["--model", &model]);
    lead.line("/model");
    for part in [
        &format!("lead       {model}"),
        "  openai:priced",
        "  ollama:listed:8b",
    ] {
        lead.wait_for(part, DEADLINE);
    }
    assert!(!lead.stdout().contains("embed"));
    leave(lead);
}

/// Each script goes on where it was, also in a session that goes on.
#[test]
fn scripts_that_take_turns_say_nothing_twice() {
    let bed = Bed::new();
    let one = bed.script(&json!({ "agents": { "lead": [{ "text": "one A" }, { "text": "one B" }, { "text": "one C" }] } }));
    let other = json!({ "agents": { "lead": [{ "text": "two A" }, { "text": "two B" }] } });
    bed.put(&bed.outside("two.json"), &other.to_string());
    let two = format!("script:{}", bed.outside("two.json").display());
    let say = |lead: &mut Running, wanted: &str| {
        lead.line("go");
        lead.wait_for(wanted, DEADLINE);
    };
    let mut lead = bed.start_lead(&["--model", &one]);
    say(&mut lead, "one A");
    lead.line(&format!("/model {two}"));
    say(&mut lead, "two A");
    lead.line(&format!("/model {one}"));
    say(&mut lead, "one B");
    leave(lead);
    let mut lead = bed.start_lead(&["--model", &two, "--continue"]);
    say(&mut lead, "two B");
    lead.line(&format!("/model {one}"));
    say(&mut lead, "one C");
    leave(lead);
}
