//! What commands of a former run have left running, found by what they were started with (Linux; elsewhere nothing is
//! found).
//!
//! Where commands have no process namespace of their own and their guard was killed together with everybody above it, what
//! they had detached belongs to nobody. It still has the environment that it was started with.

use std::ffi::OsStr;

#[cfg(target_os = "linux")]
use std::collections::BTreeSet;

#[cfg(target_os = "linux")]
use super::{ancestors, guard::GUARD_NAME, strays::ProcessTable};

/// How often is looked again for what was started meanwhile.
#[cfg(target_os = "linux")]
const ROUNDS: usize = 50;

/// Every process that was started with a value of `variable` for which `is_ours` holds, unless it is this one, one of
/// `living`, a guard, or descends from one of these: a guard ends what is beneath it itself. `living` is asked after the
/// processes were listed, so that whoever came up meanwhile is not among those.
#[cfg(target_os = "linux")]
pub fn abandoned(
    variable: &str,
    is_ours: impl Fn(&OsStr) -> bool,
    living: impl Fn() -> Vec<u32>,
) -> Vec<u32> {
    let mut found = strangers(&living);
    found.retain(|pid| {
        let values = ancestors::started_with(*pid, variable);
        values.iter().any(|value| is_ours(value))
    });
    found
}

/// Kills all of [`abandoned`], and what these start meanwhile; returns how many.
#[cfg(target_os = "linux")]
pub fn end_abandoned(
    variable: &str,
    is_ours: impl Fn(&OsStr) -> bool,
    living: impl Fn() -> Vec<u32>,
) -> usize {
    let mut ended = BTreeSet::new();
    for _ in 0..ROUNDS {
        let mut found = strangers(&living);
        found.retain(|pid| end_if(*pid, variable, &is_ours));
        let before = ended.len();
        ended.extend(found);
        if ended.len() == before {
            break;
        }
    }
    ended.len()
}

/// Nothing is found.
#[cfg(not(target_os = "linux"))]
pub fn abandoned(_: &str, _: impl Fn(&OsStr) -> bool, _: impl Fn() -> Vec<u32>) -> Vec<u32> {
    Vec::new()
}

/// Nothing is found.
#[cfg(not(target_os = "linux"))]
pub fn end_abandoned(_: &str, _: impl Fn(&OsStr) -> bool, _: impl Fn() -> Vec<u32>) -> usize {
    0
}

/// All processes but this one, `living`, guards, and what descends from these.
#[cfg(target_os = "linux")]
fn strangers(living: &impl Fn() -> Vec<u32>) -> Vec<u32> {
    let table = ProcessTable::read();
    let mut kept = BTreeSet::from([std::process::id()]);
    kept.extend(living());
    let is_guard = |pid: &u32| ancestors::is_named(*pid, GUARD_NAME);
    kept.extend(table.all().filter(is_guard));
    let beneath: Vec<u32> = kept
        .iter()
        .flat_map(|pid| table.descendants(*pid))
        .collect();
    kept.extend(beneath);
    table.all().filter(|pid| !kept.contains(pid)).collect()
}

/// Whether `pid` was such a process and is ended. The descriptor is taken first: what is read afterwards under the pid of a
/// process that has gone may be another's, but then the signal meets nobody.
#[cfg(target_os = "linux")]
fn end_if(pid: u32, variable: &str, is_ours: &impl Fn(&OsStr) -> bool) -> bool {
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
    let handle = i32::try_from(pid)
        .ok()
        .and_then(Pid::from_raw)
        .and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    let Some(handle) = handle else { return false };
    let values = ancestors::started_with(pid, variable);
    values.iter().any(|value| is_ours(value)) && pidfd_send_signal(handle, Signal::KILL).is_ok()
}
