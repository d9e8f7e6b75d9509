//! What a whole team may use: however many call at once, it is overshot by no more than the calls in flight, also after
//! everything was killed (SPEC §9.5).

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::scripts::RUN;
use crate::support::facts::{processes_in, send};
use crate::support::model_server::{Answer, Ask, ModelServer};
use crate::support::{Bed, DEADLINE, Done, wait_until};

const NAMES: [&str; 3] = ["ann", "bob", "cid"];
/// Lead and teammates: each has at most one call in flight.
const AGENTS: usize = NAMES.len() + 1;
/// How many calls each of the limits is worth.
const CALLS: usize = 20;
/// Input, output, read from and written to the cache, of each call.
const USED: [u64; 4] = [10, 5, 3, 2];
/// What a call costs at the prices of [`bed`].
const COST: f64 = 10.0 + 0.3 + 4.0;

/// The lead starts everybody; they look for files for ever.
fn busy(ask: &Ask) -> Answer {
    let [input, output, read, written] = USED;
    let answer = match (ask.agent.as_str(), ask.step()) {
        ("lead", 0) => {
            let members = NAMES.map(|name| json!({"name": name, "role": "coder"}));
            let team = json!({"members": members, "rationale": "many hands"});
            Answer::call("propose_team", team)
        }
        ("lead", 1) => NAMES
            .iter()
            .fold(Answer::say("I start them."), |answer, name| {
                let member = json!({"name": name, "role": "coder", "prompt": "Look around."});
                answer.and("spawn_teammate", member)
            }),
        ("lead", _) => Answer::say("They are at work."),
        (_, step) => Answer::call("list_tasks", json!({"nothing": step})),
    };
    answer.usage(input, output, read, written)
}

fn bed(server: &ModelServer, model: &str) -> Bed {
    let bed = Bed::git()
        .with_env("ANTHROPIC_API_KEY", "a-key")
        .with_env("ANTHROPIC_BASE_URL", server.anthropic_base())
        .with_env("OPENAI_BASE_URL", server.openai_base())
        .with_env("PITCREW_MODEL", model);
    let price = json!({"input": 1e6, "output": 0, "cacheRead": 1e5, "cacheWrite": 2e6});
    bed.put(
        &bed.home().join(".config/pitcrew/settings.json"),
        &json!({"prices": { model: price }}).to_string(),
    );
    bed
}

fn go(bed: &Bed, more: &[&str]) -> Done {
    let args = [&["-p", "go", "--yes", "--output-format", "json"], more].concat();
    bed.start_lead(&args).wait(RUN)
}

/// The calls of `usage.jsonl`, which is what is printed, too: all of them, each counted and priced as it was.
fn counted(bed: &Bed) -> usize {
    let lines = bed.read(".team/state/usage.jsonl");
    let calls: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let fields = ["input", "output", "cacheRead", "cacheWrite"];
    for call in &calls {
        assert_eq!(fields.map(|field| call[field].as_u64().unwrap()), USED);
    }
    let printed = bed.lead(&["usage", "--json"]).expect_code(0).json();
    let count = calls.len();
    let of = |spent: &Value, field: &str| spent[field].as_u64().unwrap();
    let total = &printed["total"];
    assert_eq!(of(total, "calls"), count as u64);
    for (field, used) in fields.into_iter().zip(USED) {
        assert_eq!(of(total, field), used * count as u64, "{field}");
    }
    let cost = total["cost"].as_f64().unwrap();
    assert!(
        (cost - COST * f64::from(u32::try_from(count).unwrap())).abs() < 1e-6,
        "{cost}"
    );
    let agents = printed["agents"].as_object().unwrap();
    let of_agents: u64 = agents.values().map(|spent| of(spent, "calls")).sum();
    assert_eq!(of_agents, count as u64);
    count
}

fn holds_for_all(model: &str, limit: &[&str]) {
    let server = ModelServer::start(busy);
    let bed = bed(&server, model);
    let result = go(&bed, limit).expect_code(3).json();
    assert_eq!(result["status"], "limit", "{result:#}");
    let asked = server.asks().len();
    assert!((CALLS..CALLS + AGENTS).contains(&asked), "{asked} calls");
    assert!(counted(&bed) <= asked);
    server.assert_valid();
    let _done = go(&bed, &["--continue"]).expect_code(3);
    assert_eq!(
        server.asks().len(),
        asked,
        "no call when the session goes on"
    );
    bed.assert_no_process_left();
}

#[test]
fn a_limit_on_calls_holds_for_all_together() {
    holds_for_all("anthropic:m", &["--max-turns", "20"]);
}

#[test]
fn a_limit_on_tokens_holds_for_all_together_and_reading_a_cache_is_free() {
    holds_for_all("openai:m", &["--max-tokens", "340"]);
}

#[test]
fn a_limit_on_cost_holds_for_all_together_and_a_cache_has_its_prices() {
    holds_for_all("anthropic:m", &["--max-cost", "285.9"]);
}

#[test]
fn a_limit_on_time_ends_all_of_them() {
    let server = ModelServer::start(busy);
    let bed = bed(&server, "openai:m");
    let result = go(&bed, &["--max-time", "2"]).expect_code(3).json();
    assert_eq!(result["status"], "limit", "{result:#}");
    let _calls = counted(&bed);
    bed.assert_no_process_left();
}

#[test]
fn a_limit_holds_after_everybody_was_killed() {
    let server = ModelServer::start(busy);
    let bed = bed(&server, "openai:m");
    let mut running = bed.start_lead(&["-p", "go", "--yes", "--max-turns", "20"]);
    server.wait_for_asks(CALLS / 2);
    running.signal(Signal::SIGKILL);
    wait_until("the lead is gone", DEADLINE, || running.has_ended());
    for (pid, _) in processes_in(&bed.root()) {
        send(pid, Signal::SIGKILL);
    }
    let result = go(&bed, &["--continue"]).expect_code(3).json();
    assert_eq!(result["status"], "limit", "{result:#}");
    let asked = server.asks().len();
    // What was in flight when they died is in no record.
    assert!(asked < CALLS + 2 * AGENTS, "{asked} calls");
    let counted = counted(&bed);
    assert!((CALLS..CALLS + AGENTS).contains(&counted), "{counted}");
    server.assert_valid();
    bed.assert_no_process_left();
}
