//! What the processes that this one descends from were started with, read in `/proc` (Linux; elsewhere nothing is seen).

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;

use super::strays::state_and_parent;

/// More than the kernel lets a process start with: one read takes a file whole. Only what is read becomes memory.
const LARGEST: usize = 8 * 1024 * 1024;

/// How often a way up is begun anew that broke off because a process on it ended.
const ROUNDS: usize = 16;

/// The values that `variable` had in the environment of each process that this one descends from, nearest first, as far as
/// those can be seen. A process that left its parent was adopted by whoever guards what that had started, and descends from
/// there.
pub fn inherited(variable: &str) -> Vec<OsString> {
    let mut buffer = vec![0; LARGEST];
    let mut found = Vec::new();
    for _ in 0..ROUNDS {
        if climb(variable, &mut buffer, &mut found).is_some() {
            break;
        }
    }
    found
}

/// Adds what is found on the way up; `None` if the way broke off before the top.
fn climb(variable: &str, buffer: &mut [u8], found: &mut Vec<OsString>) -> Option<()> {
    let mut pid = std::process::id();
    loop {
        // A process whose first thread has ended looks like a zombie and can still have children.
        let (_, parent) = state_and_parent(of_process(pid, "stat", buffer)?)?;
        if parent == 0 {
            return Some(());
        }
        pid = parent;
        let environment = of_process(pid, "environ", buffer).unwrap_or_default();
        found.extend(values(environment, variable));
    }
}

/// The values that `variable` had in the environment that `pid` was started with, as far as that can be seen.
#[cfg(target_os = "linux")]
pub(super) fn started_with(pid: u32, variable: &str) -> Vec<OsString> {
    let mut buffer = vec![0; LARGEST];
    let environment = of_process(pid, "environ", &mut buffer).unwrap_or_default();
    values(environment, variable).collect()
}

/// Whether the first word of `pid`'s command line is `name`.
#[cfg(target_os = "linux")]
pub(super) fn is_named(pid: u32, name: &str) -> bool {
    let mut buffer = [0; 256];
    let words = of_process(pid, "cmdline", &mut buffer).unwrap_or_default();
    words.split(|byte| *byte == 0).next() == Some(name.as_bytes())
}

fn values<'a>(environment: &'a [u8], variable: &'a str) -> impl Iterator<Item = OsString> + 'a {
    environment
        .split(|byte| *byte == 0)
        .filter_map(|pair| pair.strip_prefix(variable.as_bytes())?.strip_prefix(b"="))
        .map(|value| OsString::from_vec(value.to_vec()))
}

#[expect(clippy::disallowed_methods, reason = "the kernel makes these files")]
fn of_process<'a>(pid: u32, file: &str, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    let mut file = File::open(format!("/proc/{pid}/{file}")).ok()?;
    let length = file.read(buffer).ok()?;
    Some(&buffer[..length])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_of_an_environment_is_found_and_no_other_variable() {
        let environment = b"A=1\0AB=2\0XA=3\0A=x=y\0A\0A=\xff\0";
        let found: Vec<OsString> = values(environment, "A").collect();
        let wanted = [&b"1"[..], b"x=y", b"\xff"].map(|value| OsString::from_vec(value.to_vec()));
        assert_eq!(found, wanted);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_way_up_ends_at_the_top() {
        let mut found = Vec::new();
        assert!(climb("PATH", &mut vec![0; LARGEST], &mut found).is_some());
    }
}
