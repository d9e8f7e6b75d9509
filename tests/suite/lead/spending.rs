//! What a team may cost, and the conversations it can go on with (SPEC §9.3, §9.5).

use serde_json::{Value, json};

use super::scripts::*;
use crate::support::Bed;
use crate::support::model_server::{Answer, ModelServer};

/// Asks for a tool again and again, another one each time, until it is told to end.
fn spending() -> ModelServer {
    ModelServer::start(|ask| {
        if ask.newest().contains("That is all.") {
            return Answer::say("Well then.");
        }
        Answer::call("glob", json!({"pattern": format!("{}*", ask.turn)}))
    })
}

/// A call of this server has ten tokens in and five out: it costs ten.
fn priced(server: &ModelServer) -> Bed {
    let bed = Bed::git()
        .with_env("OPENAI_BASE_URL", server.openai_base())
        .with_env("PITCREW_MODEL", "openai:m");
    bed.put(
        &bed.home().join(".config/pitcrew/settings.json"),
        r#"{"prices": {"openai:m": {"input": 1000000, "output": 0}}}"#,
    );
    bed
}

fn go(bed: &Bed, more: &[&str]) -> crate::support::Done {
    let args = [&["-p", "go", "--output-format", "json"], more].concat();
    bed.start_lead(&args).wait(RUN)
}

fn cost(bed: &Bed) -> Value {
    let usage = bed.lead(&["usage", "--json"]).expect_code(0).json();
    assert_eq!(usage["total"]["cost"], usage["agents"]["lead"]["cost"]);
    usage["total"]["cost"].clone()
}

#[test]
fn a_limit_on_cost_ends_the_run_and_holds_when_the_session_goes_on() {
    let server = spending();
    let bed = priced(&server);
    let result = go(&bed, &["--max-cost", "35"]).expect_code(3).json();
    assert_eq!(result["status"], "limit", "{result:#}");
    assert_eq!(result["usage"]["total"]["cost"], 40.0);
    assert_eq!(server.asks().len(), 4);
    assert_eq!(cost(&bed), 40.0);
    let shown = bed.lead(&["usage"]).expect_code(0).stdout;
    assert!(shown.contains("40.0000"), "{shown}");

    let _done = go(&bed, &["--continue"]).expect_code(3);
    assert_eq!(server.asks().len(), 4, "no call beyond the limit");

    let lines = "/limits\n/limits cost 100\nThat is all.\n/exit\n";
    let done = bed.lead_fed(&["--continue"], lines).expect_code(0);
    for part in ["40.0000 of 35", "40.0000 of 100", "Well then."] {
        assert!(
            done.stdout.contains(part),
            "{part:?} not in {}",
            done.stdout
        );
    }
    assert_eq!(server.asks().len(), 5);
    server.assert_valid();
}

#[test]
fn a_limit_on_cost_without_a_price_is_a_mistake_at_the_start() {
    let bed = Bed::git();
    let model = bed.script(&script_of(vec![], vec![]));
    let before = bed.listing();
    bed.lead(&["-p", "go", "--max-cost", "1", "--model", &model])
        .expect_usage_error("has no price");
    bed.lead(&["-p", "go", "--max-cost", "much", "--model", &model])
        .expect_usage_error("a cost is a number");
    assert_eq!(bed.listing(), before);
    let bed = bed.with_env("PITCREW_MODEL", model);
    let _done = bed.lead(&["-p", "go"]).expect_code(0);
    assert_eq!(cost(&bed), Value::Null, "without a price no cost");
}

#[test]
fn sessions_are_listed_and_any_of_them_can_be_gone_on_with() {
    let server = ModelServer::start(|ask| {
        let before = ask.everything().matches("Say ").count();
        Answer::say(&format!("{before} so far"))
    });
    let bed = priced(&server);
    let none = bed.lead(&["sessions", "--json"]).expect_code(0).json();
    assert_eq!(none, json!([]));
    let say = |words: &str, more: &[&str]| {
        let done = bed.lead(&[&["-p", words], more].concat()).expect_code(0);
        done.stdout.trim().to_owned()
    };
    assert_eq!(say("Say one", &[]), "1 so far");
    assert_eq!(say("Say two\nor more", &[]), "1 so far");
    let listed = bed.lead(&["sessions", "--json"]).expect_code(0).json();
    let words: Vec<&Value> = (0..2).map(|n| &listed[n]["firstWords"]).collect();
    assert_eq!(words, ["Say two\nor more", "Say one"]);
    assert_eq!(
        (&listed[0]["current"], &listed[1]["current"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(say("Say three", &["--continue"]), "2 so far");
    let first = listed[1]["id"].as_str().unwrap();
    assert_eq!(say("Say four", &["--resume", first]), "2 so far");
    let shown = bed.lead(&["sessions"]).expect_code(0).stdout;
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), 3, "{shown}");
    assert!(
        lines[1].contains(first) && lines[1].contains("Say one"),
        "{shown}"
    );
    bed.lead(&["-p", "go", "--resume", "ses_00000000"])
        .expect_usage_error("lead sessions");
    server.assert_valid();
}

#[test]
fn who_names_no_model_gets_one_that_the_ollama_has() {
    let server = ModelServer::start(|_| Answer::say("I am here."));
    let bed = Bed::git().with_env("OLLAMA_HOST", server.ollama_host());
    let done = bed.lead(&["-p", "go"]).expect_code(0);
    assert_eq!(done.stdout, "I am here.\n");
    assert_eq!(server.asks()[0].model, "listed:8b");
}
