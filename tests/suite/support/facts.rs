//! Waiting for facts with a deadline, and what can be seen of processes. The only place in the tests that sleeps.

use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// How long a fact may take that should come at once; generous, since many tests run side by side.
pub const DEADLINE: Duration = Duration::from_mins(1);

/// Looks until `fact` gives something; panics with `what` after `deadline`.
#[track_caller]
pub fn wait_until<T>(what: &str, deadline: Duration, mut fact: impl FnMut() -> Option<T>) -> T {
    let until = now() + deadline;
    loop {
        if let Some(found) = fact() {
            return found;
        }
        assert!(now() < until, "not within {deadline:?}: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Lets some time pass, for tests of timings.
pub fn pause(time: Duration) {
    std::thread::sleep(time);
}

/// How often a loop runs: `whole` with `PITCREW_SOAK=1`, else `short`.
#[expect(
    clippy::disallowed_methods,
    reason = "the person running the tests says so"
)]
pub fn soak(whole: usize, short: usize) -> usize {
    if std::env::var_os("PITCREW_SOAK").is_some() {
        whole
    } else {
        short
    }
}

/// Monotonic time, for tests that measure.
#[expect(clippy::disallowed_methods, reason = "tests measure from outside")]
pub fn now() -> Instant {
    Instant::now()
}

/// Pids with their command lines of all processes that name `dir` in their command line or work beneath it, zombies and
/// this process left out. Linux only; elsewhere none are seen.
pub fn processes_in(dir: &Path) -> Vec<(u32, String)> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let named = dir.to_string_lossy();
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| *pid != std::process::id())
        .filter_map(|pid| {
            let command = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            let works_there = std::fs::read_link(format!("/proc/{pid}/cwd"))
                .is_ok_and(|cwd| cwd.starts_with(dir));
            (command.contains(named.as_ref()) || works_there).then_some((pid, command))
        })
        .collect()
}

/// Sends `signal` to one process; one that is gone is no error.
#[expect(clippy::disallowed_methods, reason = "tests kill from outside")]
pub fn send(pid: u32, signal: Signal) {
    if let Ok(pid) = i32::try_from(pid) {
        let _ = kill(Pid::from_raw(pid), signal);
    }
}
