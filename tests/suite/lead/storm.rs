//! A hundred turns over a server that fails in every way that it may. `PITCREW_SOAK=1` tries twenty seeds of each protocol.

use std::sync::Mutex;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::json;

use super::scripts::RUN;
use crate::support::Bed;
use crate::support::facts::soak;
use crate::support::model_server::{Answer, Ask, ModelServer};

const TURNS: usize = 100;
/// The first of the seeds.
const SEED: u64 = 0x5eed_0007;

/// Two calls that leave a mark each; after the last turn the end.
fn wanted(ask: &Ask, turns: usize) -> Answer {
    let step = ask.step();
    if step == turns {
        return Answer::say("All is well. 好");
    }
    let mark = |half: &str| json!({"command": format!("echo {step}{half} é >> marks")});
    Answer::say("Weiter — 次へ")
        .and("bash", mark("a"))
        .and("bash", mark("b"))
}

/// What may go wrong with it, by luck. The last failures of the server are bounded by the client's tries: a call that failed
/// five times is answered.
fn stormy(wanted: Answer, luck: u32, before: u32) -> Answer {
    let soon = "retry-after-ms";
    if before >= 5 {
        return wanted;
    }
    match luck {
        0..10 => Answer::fail(429).header(soon, "5"),
        10..20 => Answer::fail(529).header(soon, "5"),
        20..30 => Answer::fail(500)
            .header(soon, "5")
            .body("<html>bad gateway</html>"),
        30..33 => wanted.cut_at(usize::try_from(luck).unwrap_or(0) * 7),
        33..36 => wanted.ending_at(150),
        36..38 => wanted.after(Duration::from_millis(60)),
        38..40 => wanted.faltering_at(usize::try_from(luck).unwrap_or(0) * 5),
        40..70 => wanted.in_pieces(1 + usize::try_from(luck % 5).unwrap_or(0)),
        _ => wanted,
    }
}

fn weather(model: &str, turns: usize) {
    for seed in (SEED..).take(soak(20, 1)) {
        storm(model, turns, seed);
    }
}

fn storm(model: &str, turns: usize, seed: u64) {
    let sky = Mutex::new((StdRng::seed_from_u64(seed), usize::MAX, 0));
    let server = ModelServer::start(move |ask| {
        let mut sky = sky.lock().unwrap();
        let (luck, last, before) = &mut *sky;
        if *last == ask.step() {
            *before += 1;
        } else {
            (*last, *before) = (ask.step(), 0);
        }
        stormy(wanted(ask, turns), luck.random_range(0..100), *before)
    });
    let bed = Bed::git()
        .with_env("ANTHROPIC_API_KEY", "a-key")
        .with_env("ANTHROPIC_BASE_URL", server.anthropic_base())
        .with_env("OPENAI_BASE_URL", server.openai_base())
        .with_env("OLLAMA_HOST", server.ollama_host());
    let args = ["-p", "go", "--model", model, "--output-format", "json"];
    let result = bed.start_lead(&args).wait(RUN).expect_code(0).json();
    assert_eq!(result["result"], "All is well. 好");
    server.assert_valid();
    let expected: Vec<String> = (0..turns)
        .flat_map(|step| ["a", "b"].map(|half| format!("{step}{half} é")))
        .collect();
    let marks = bed.read("marks");
    assert_eq!(
        marks.lines().collect::<Vec<_>>(),
        expected,
        "each tool ran once, in order; seed {seed:#x}"
    );
    assert!(server.asks().len() > turns + turns / 5, "there was a storm");
    let calls = &result["usage"]["agents"]["lead"]["calls"];
    assert_eq!(calls, turns + 1, "what failed is not counted");
}

#[test]
fn a_storm_loses_no_turn_and_runs_no_tool_twice_over_anthropic() {
    weather("anthropic:m", TURNS);
}

#[test]
fn a_storm_loses_no_turn_and_runs_no_tool_twice_over_openai() {
    weather("openai:m", TURNS);
}

#[test]
fn a_storm_loses_no_turn_and_runs_no_tool_twice_over_ollama() {
    // The same protocol as before, at another address.
    weather("ollama:m", TURNS / 4);
}
