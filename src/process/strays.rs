//! Descendants that no longer belong to anybody, found in `/proc`.
//!
//! Linux only. Elsewhere nothing is found: macOS has no subreaper, so orphans there belong to launchd and are out of reach.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use nix::sys::signal::Signal;

use super::{child, reaper};

/// How often [`kill_strays`] looks again for what was started while it killed, 1 ms apart.
const ROUNDS: usize = 500;

/// Kills every descendant of this process that is not a registered child (adopted leftovers); returns how many.
///
/// A process only adopts its orphaned descendants after [`super::harden::harden`]; before it none is a stray, whoever else
/// in a program that links this library may have started it. Bounded to about half a second against
/// something that forks faster than it can be killed.
pub fn kill_strays() -> usize {
    if !reaper::adopts() {
        return 0;
    }
    let us = std::process::id();
    let mut killed = BTreeSet::new();
    for _ in 0..ROUNDS {
        // Held while they are killed: nobody reaps an adopted child meanwhile, so its pid cannot have become another's, and
        // no child is between its fork and its registration.
        let registry = reaper::hold();
        let table = ProcessTable::read();
        let strays: Vec<u32> = table
            .children(us)
            .filter(|pid| !registry.has(*pid))
            .flat_map(|pid| table.with_descendants(pid))
            .collect();
        kill_all(&strays);
        drop(registry);
        if strays.is_empty() {
            break;
        }
        killed.extend(strays);
        std::thread::sleep(Duration::from_millis(1));
    }
    killed.len()
}

/// Kills each of `pids`.
pub(super) fn kill_all(pids: &[u32]) {
    for pid in pids {
        child::signal_process(*pid, Signal::SIGKILL);
    }
}

/// Who is whose child, without zombies: those only wait to be reaped. A snapshot that may be old by the time it is used.
#[derive(Debug, Default)]
pub(super) struct ProcessTable {
    children: HashMap<u32, Vec<u32>>,
}

impl ProcessTable {
    #[cfg(target_os = "linux")]
    pub(super) fn read() -> Self {
        let mut table = Self::default();
        let Ok(entries) = std::fs::read_dir("/proc") else {
            return table;
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            #[expect(clippy::disallowed_methods, reason = "the kernel makes this file")]
            let stat = std::fs::read(entry.path().join("stat")).unwrap_or_default();
            if let Some(parent) = parent_in_stat(&stat) {
                table.children.entry(parent).or_default().push(pid);
            }
        }
        table
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn read() -> Self {
        Self::default()
    }

    /// Everybody but the first, whose parent is nobody.
    #[cfg(target_os = "linux")]
    pub(super) fn all(&self) -> impl Iterator<Item = u32> + '_ {
        let children = self.children.iter().filter(|(parent, _)| **parent != 0);
        children.flat_map(|(_, children)| children.iter().copied())
    }

    /// The children of `pid`.
    pub(super) fn children(&self, pid: u32) -> impl Iterator<Item = u32> + '_ {
        self.children.get(&pid).into_iter().flatten().copied()
    }

    /// Everything beneath `pid`, parents first.
    pub(super) fn descendants(&self, pid: u32) -> Vec<u32> {
        let mut found = self.with_descendants(pid);
        found.remove(0);
        found
    }

    fn with_descendants(&self, pid: u32) -> Vec<u32> {
        let mut found = vec![pid];
        let mut next = 0;
        while let Some(parent) = found.get(next).copied() {
            found.extend(self.children(parent).filter(|child| *child != pid));
            next += 1;
        }
        found
    }
}

/// The parent's pid in the text of `/proc/<pid>/stat`; `None` for a zombie. The command's name stands in parentheses and may
/// hold anything, parentheses and spaces too.
#[cfg(any(test, target_os = "linux"))]
fn parent_in_stat(stat: &[u8]) -> Option<u32> {
    let (state, parent) = state_and_parent(stat)?;
    (!matches!(state, "Z" | "X")).then_some(parent)
}

/// The same with the state's letter, for zombies too.
pub(super) fn state_and_parent(stat: &[u8]) -> Option<(&str, u32)> {
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let mut fields = std::str::from_utf8(&stat[after_name..])
        .ok()?
        .split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    Some((state, parent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stat_line_is_read_from_behind_the_name() {
        let table: [(&[u8], Option<u32>); 6] = [
            (b"7 (sh) S 3 7 7 0", Some(3)),
            (b"7 (a) Z 9 (b) R) S 3 7", Some(3)),
            (b"7 (\xff\xfe) R 12 7", Some(12)),
            (b"7 (sh) Z 3 7 7 0", None),
            (b"7 (sh)", None),
            (b"", None),
        ];
        for (stat, parent) in table {
            assert_eq!(parent_in_stat(stat), parent, "{}", stat.escape_ascii());
        }
    }

    #[test]
    fn descendants_come_with_those_of_their_own() {
        let mut table = ProcessTable::default();
        for (parent, child) in [(1, 2), (2, 3), (3, 4), (2, 5), (6, 7)] {
            table.children.entry(parent).or_default().push(child);
        }
        assert_eq!(table.descendants(2), [3, 5, 4]);
        assert_eq!(table.descendants(4), [0; 0]);
        assert_eq!(table.with_descendants(6), [6, 7]);
    }
}
