//! strace, which tells the system calls of one thread, makes them fail, or kills the process at one of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::actor::{Actor, Outcome};
use crate::support::{DEADLINE, Running, wait_until};

/// Calls that change files or lead to it; those that a system does not have are passed over.
const CALLS: &str = "?open,?openat,?close,?mkdir,?mkdirat,?write,?pwrite64,?writev,?ftruncate,\
    ?fsync,?fdatasync,?rename,?renameat,?renameat2,?link,?linkat,?unlink,?unlinkat,?flock";

/// What happens at calls of one name.
pub(super) struct Injection<'a> {
    pub(super) call: &'a str,
    /// In strace's words: `signal=SIGKILL`, or `error=EIO`.
    pub(super) what: &'a str,
    /// The first call that it happens at, counted from 1.
    pub(super) from: u32,
    /// Whether it goes on happening.
    pub(super) on: bool,
}

/// Whether strace can be used here; if not, says so on standard error.
pub fn is_there(test: &str) -> bool {
    let why = if !cfg!(target_os = "linux") {
        "there is no strace on this system"
    } else if !traces() {
        "strace is not installed or may not trace"
    } else {
        return true;
    };
    eprintln!("skipped: {test}: {why}");
    false
}

#[expect(clippy::disallowed_methods, reason = "a test owns its children")]
fn traces() -> bool {
    let tried = Command::new("strace")
        .args(["-qq", "-o", "/dev/null", "true"])
        .output();
    tried.is_ok_and(|done| done.status.success())
}

/// Lets `actor` act; how often it made each call.
pub(super) fn calls(actor: Actor, log: &Path) -> BTreeMap<String, u32> {
    assert_eq!(act_under(actor, log, &[]), Outcome::Done);
    let mut calls = BTreeMap::new();
    for line in std::fs::read_to_string(log).unwrap().lines() {
        if let Some((name, _)) = line.split_once('(') {
            *calls.entry(name.to_owned()).or_default() += 1;
        }
    }
    calls
}

/// Lets `actor` act under `injection`; how that ended. `None` if the act made fewer such calls this time, as one that
/// depends on the moment may; the first is always made.
pub(super) fn hinder(actor: Actor, log: &Path, injection: &Injection<'_>) -> Option<Outcome> {
    let Injection {
        call,
        what,
        from,
        on,
    } = injection;
    let on = if *on { "+" } else { "" };
    let inject = format!("inject={call}:{what}:when={from}{on}");
    let outcome = act_under(actor, log, &["-e", &inject]);
    let text = std::fs::read_to_string(log).unwrap();
    let hit = outcome == Outcome::Killed || text.contains("(INJECTED)");
    assert!(hit || *from > 1, "{inject} met no call:\n{text}");
    hit.then_some(outcome)
}

fn act_under(actor: Actor, log: &Path, options: &[&str]) -> Outcome {
    let thread = actor.thread;
    let mut command = Command::new("strace");
    command
        .args(["-qq", "-e", &format!("trace={CALLS}"), "-o"])
        .arg(log)
        .args(options)
        .args(["-p", &thread.to_string()]);
    let strace = Running::start(&mut command);
    let status = PathBuf::from(format!("/proc/{thread}/status"));
    wait_until("strace is attached", DEADLINE, || {
        let text = std::fs::read_to_string(&status).ok()?;
        let tracer = text
            .lines()
            .find_map(|line| line.strip_prefix("TracerPid:"))?;
        (tracer.trim() != "0").then_some(())
    });
    let outcome = actor.act();
    drop(strace.wait(DEADLINE));
    outcome
}
