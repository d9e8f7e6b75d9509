//! Tests of the store: hostile files, contention within one process, and everything that a watch must survive.
#![expect(
    clippy::disallowed_methods,
    reason = "tests put files there as a stranger would"
)]

mod atomic;
mod jsonl;
mod lock;
mod read;
mod watch;

use std::time::Duration;

/// Waits until `fact` holds, at most 10 s.
fn eventually(what: &str, mut fact: impl FnMut() -> bool) {
    let deadline = crate::clock::instant() + Duration::from_secs(10);
    while !fact() {
        assert!(crate::clock::instant() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Names in `dir`, sorted.
fn names(dir: &std::path::Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
