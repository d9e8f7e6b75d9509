//! The walk itself.

use std::io;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;

use super::rules::{self, Rules};
use crate::tool::path::{EntryKind, directory, directory_beneath, entries};

/// Most entries that are looked at in one walk.
const MAX_ENTRIES: usize = 1_000_000;

/// A file or directory that was met.
#[derive(Debug)]
pub(crate) struct Met<'a> {
    /// Its path.
    pub(crate) path: PathBuf,
    /// A plain file, or a directory.
    pub(crate) kind: EntryKind,
    dir: &'a OwnedFd,
}

impl Met<'_> {
    /// When it was last changed, as far as that can be seen.
    pub(crate) fn changed(&self) -> SystemTime {
        let name = self.path.file_name().unwrap_or_default();
        entries::changed(self.dir, name).unwrap_or(SystemTime::UNIX_EPOCH)
    }
}

/// A directory that is still to be looked at, by its path beneath the start.
struct Ahead {
    below: PathBuf,
    /// Of the directory above.
    rules: Rc<Rules>,
}

/// Calls `meet` for the files and directories beneath `start`, a resolved path, in no order, until it breaks. What `rules`,
/// those of the start, ignore is left out, and so is what `left_out` says, with all that is in it. Whether the walk was ended at its bound.
pub(crate) fn visit(
    start: &Path,
    rules: Rc<Rules>,
    left_out: impl Fn(&Path) -> bool,
    mut meet: impl FnMut(Met<'_>) -> ControlFlow<()>,
) -> io::Result<bool> {
    let top = directory(start)?;
    let mut looked_at = 0;
    let mut ahead = vec![Ahead {
        below: PathBuf::new(),
        rules,
    }];
    while let Some(next) = ahead.pop() {
        // One that cannot be entered is left out: it may be gone, or no directory any more.
        let Ok(dir) = directory_beneath(&top, &next.below) else {
            continue;
        };
        let entries = entries(&dir).unwrap_or_default();
        let mut rules = next.rules;
        if !next.below.as_os_str().is_empty()
            && entries.iter().any(|entry| rules::are_in(&entry.name))
        {
            rules = rules.in_dir(&start.join(&next.below));
        }
        for entry in entries {
            looked_at += 1;
            if looked_at > MAX_ENTRIES {
                return Ok(true);
            }
            let is_dir = entry.kind == EntryKind::Dir;
            let below = next.below.join(&entry.name);
            let path = start.join(&below);
            if entry.kind == EntryKind::Other || left_out(&path) || rules.ignore(&path, is_dir) {
                continue;
            }
            if is_dir {
                ahead.push(Ahead {
                    below,
                    rules: Rc::clone(&rules),
                });
            }
            let found = Met {
                path,
                kind: entry.kind,
                dir: &dir,
            };
            if meet(found).is_break() {
                return Ok(false);
            }
        }
    }
    Ok(false)
}
