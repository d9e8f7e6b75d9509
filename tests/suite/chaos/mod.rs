//! Whatever is killed, stopped or starved, whenever: every task is done once in effect, every message is taken in once,
//! every conversation stays valid, nobody is left over.
//!
//! A driver disturbs a team of six at sixty tasks from a seed that it prints. The team works on a small file system of its
//! own, where one can be mounted, so that the disk can be filled. `PITCREW_SOAK=1` goes on with new seeds for an hour
//! (`PITCREW_SOAK_SECS`); `PITCREW_SEED` repeats one.

mod checks;
mod driver;
mod job;
mod small_disk;

use std::time::Duration;

use crate::support::Bed;
use crate::support::facts::now;
use crate::support::model_server::ModelServer;
use driver::Driver;

/// How many times the team is disturbed in one run, at least.
const FAULTS: usize = 40;
/// How long the soak goes on if nothing else is said.
const HOUR: Duration = Duration::from_hours(1);

#[test]
fn whatever_is_killed_nothing_is_lost_and_nobody_is_left() {
    let soak = variable("PITCREW_SOAK").is_some_and(|value| value == "1");
    let Some(seed) = variable("PITCREW_SEED").and_then(|text| text.parse().ok()) else {
        let until = now() + soak_time().filter(|_| soak).unwrap_or_default();
        small_disk::run(rand::random());
        while now() < until {
            small_disk::run(rand::random());
        }
        return;
    };
    small_disk::run(seed);
}

fn soak_time() -> Option<Duration> {
    let Some(text) = variable("PITCREW_SOAK_SECS") else {
        return Some(HOUR);
    };
    text.parse().ok().map(Duration::from_secs)
}

/// One run, started by the test above where its scratch directory is a small file system.
#[test]
#[ignore = "the inner half of the chaos test"]
fn one_run() {
    let Some(seed) = variable(small_disk::SEED).and_then(|text| text.parse().ok()) else {
        return;
    };
    run(seed, variable(small_disk::MOUNTED).is_some());
}

fn run(seed: u64, small: bool) {
    eprintln!("chaos seed {seed}");
    let root = std::sync::Arc::new(std::sync::OnceLock::new());
    let known = std::sync::Arc::clone(&root);
    let server = ModelServer::start(move |ask| {
        let root: &std::path::PathBuf = known.wait();
        job::answer(root, ask)
    });
    let bed = crate::support::job::bed_for(&server);
    settle(&bed);
    root.set(bed.root()).unwrap();
    let mut driver = Driver::start(&bed, seed, small);
    for _ in 0..FAULTS {
        driver.disturb();
    }
    let probes = driver.finish();
    checks::all(&bed, &server, &probes);
}

/// What lets a task be tried as often as it is disturbed.
fn settle(bed: &Bed) {
    let settings = serde_json::json!({
        "maxAttempts": 10_000, "leadGraceSecs": 5, "permissions": {"mode": "bypass"},
    });
    bed.put(
        &bed.home().join(".config/pitcrew/settings.json"),
        &settings.to_string(),
    );
    bed.write("faults", "0\n");
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long and with which seed is said from outside"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
