//! Looking at all files of `.tasks` at once: for whoever starts cold, and to see changes that no journal tells of.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::file;
use crate::ids::TaskId;
use crate::store::{StoreError, atomic};

/// How often a directory that changes under the reading is read again: a replaced file may be passed over meanwhile.
const LOOKS: usize = 3;

/// What stands in the directory.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Files named like tasks.
    pub(super) tasks: Vec<TaskId>,
    /// Stems of files named almost like tasks.
    pub(super) misnamed: Vec<String>,
    /// Temporary files of ours.
    pub(super) leftovers: Vec<String>,
}

/// The names in `dir`, sorted; a missing directory is an empty board.
pub(super) fn names(dir: &Path) -> Result<Names, StoreError> {
    let failed = |error| StoreError::new("read the directory", dir, error);
    let mut found = Names::default();
    for _ in 0..LOOKS {
        let before = stamp(dir)?;
        let entries = match std::fs::read_dir(dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => break,
            entries => entries.map_err(failed)?,
        };
        for entry in entries {
            let name = entry.map_err(failed)?.file_name();
            let Some(name) = name.to_str() else { continue };
            match file::id_of(name) {
                Some(Ok(id)) => found.tasks.push(id),
                Some(Err(stem)) => found.misnamed.push(stem.to_owned()),
                None if is_leftover(name) => found.leftovers.push(name.to_owned()),
                None => {}
            }
        }
        if stamp(dir)? == before {
            break;
        }
    }
    for list in [&mut found.misnamed, &mut found.leftovers] {
        list.sort();
        list.dedup();
    }
    found.tasks.sort();
    found.tasks.dedup();
    Ok(found)
}

fn is_leftover(name: &str) -> bool {
    atomic::is_leftover(name) && (name.starts_with(".task_") || name.starts_with("..index."))
}

/// Deletes temporary files. Only under the board's lock: nobody else is writing one then.
pub(super) fn sweep(dir: &Path, leftovers: &[String]) {
    for name in leftovers {
        // One that cannot be deleted harms nobody.
        std::fs::remove_file(dir.join(name)).ok();
    }
}

/// The directory's modification time in nanoseconds; `None` if there is none.
pub(super) fn stamp(dir: &Path) -> Result<Option<u64>, StoreError> {
    match dir.metadata() {
        Ok(found) => Ok(Some(nanoseconds(found.mtime(), found.mtime_nsec()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::new("look at", dir, error)),
    }
}

/// The same of a directory that is open; `None` if it was removed.
pub(super) fn stamp_of(dir: &File) -> io::Result<Option<u64>> {
    let found = dir.metadata()?;
    Ok((found.nlink() > 0).then(|| nanoseconds(found.mtime(), found.mtime_nsec())))
}

/// How a task file looked when it was last read. No field alone is enough: inodes are used again at once, and a quick
/// rewrite keeps size and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Look {
    modified: u64,
    changed: u64,
    size: u64,
    inode: u64,
}

impl Look {
    pub(super) fn of(path: &Path) -> Option<Self> {
        path.symlink_metadata().ok().map(|found| Self::from(&found))
    }
}

impl From<&Metadata> for Look {
    fn from(found: &Metadata) -> Self {
        Self {
            modified: nanoseconds(found.mtime(), found.mtime_nsec()),
            changed: nanoseconds(found.ctime(), found.ctime_nsec()),
            size: found.size(),
            inode: found.ino(),
        }
    }
}

fn nanoseconds(seconds: i64, nanoseconds: i64) -> u64 {
    let seconds = u64::try_from(seconds).unwrap_or(0);
    seconds * 1_000_000_000 + u64::try_from(nanoseconds).unwrap_or(0)
}
