//! This test binary, started again as one of its ignored tests: a process over the library that does what no program of ours
//! does alone.

use std::io::Write;
use std::process::Command;

use super::{DEADLINE, Done, Running, wait_until};

const READY: &str = "READY";

/// The command that runs the ignored test of that full name alone.
pub fn again(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--ignored", "--nocapture"]);
    command
}

/// What the parent told a process of this kind; `None` when a person runs ignored tests.
#[expect(
    clippy::disallowed_methods,
    reason = "a test's process has no other way to be told"
)]
pub fn told(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Says a line to the parent. One cut by a kill does not count.
pub fn say(line: &str) {
    let line = format!("{line}\n");
    std::io::stderr().lock().write_all(line.as_bytes()).unwrap();
}

/// What follows `word` in the lines that were said.
pub fn said(stderr: &str, word: &str) -> Vec<String> {
    let lines = stderr.split_inclusive('\n');
    let whole = lines.filter_map(|line| line.strip_suffix('\n'));
    whole
        .filter_map(|line| line.strip_prefix(word))
        .map(|rest| rest.trim_start().to_owned())
        .collect()
}

/// In the process: waits until all others of [`together`] are there, too.
pub fn wait_for_all() {
    say(READY);
    let mut word = String::new();
    std::io::stdin().read_line(&mut word).unwrap();
}

/// Starts all of `commands` and lets them go at the same moment.
pub fn together(commands: Vec<Command>) -> Vec<Running> {
    let mut all: Vec<Running> = commands
        .into_iter()
        .map(|mut command| Running::start(&mut command))
        .collect();
    for process in &all {
        wait_until("all are ready", DEADLINE, || {
            said(&process.stderr(), READY).pop()
        });
    }
    for process in &mut all {
        process.line("go");
    }
    all
}

/// Waits for the good end of all.
pub fn ends(all: Vec<Running>) -> Vec<Done> {
    all.into_iter()
        .map(|process| process.wait(2 * DEADLINE).expect_code(0))
        .collect()
}
