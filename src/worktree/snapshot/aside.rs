//! New objects beside the repository's own until a snapshot is whole. One that is cut, or whose team is killed, leaves no
//! half-written object or pack among them.
//!
//! The directory is named as git names its own of that kind, so that `git prune` takes away one that was left.

use std::fs::Metadata;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use crate::clock;
use crate::store::{Durability, StoreError, atomic};

const PREFIX: &str = "tmp_objdir-pitcrew-";
/// Longer than anybody keeps objects there.
const LEFT_BEHIND: Duration = Duration::from_hours(1);

/// A directory for objects, taken away when it is dropped.
pub(super) struct Aside {
    dir: tempfile::TempDir,
    objects: PathBuf,
}

impl Aside {
    /// Beside those in `objects`, in the same file system. Takes away what killed ones have left.
    pub(super) fn of(objects: PathBuf) -> io::Result<Self> {
        for entry in std::fs::read_dir(&objects)?.flatten() {
            let is_ours = entry.file_name().as_bytes().starts_with(PREFIX.as_bytes());
            if is_ours && entry.metadata().is_ok_and(|meta| is_left_behind(&meta)) {
                std::fs::remove_dir_all(entry.path()).ok();
            }
        }
        let dir = tempfile::Builder::new()
            .prefix(PREFIX)
            .tempdir_in(&objects)?;
        Ok(Self { dir, objects })
    }

    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Moves everything that is there among the repository's own objects; of a pack the index, which makes it known, last.
    pub(super) fn take_in(&self) -> Result<(), StoreError> {
        let failed = |source| StoreError {
            action: "read",
            path: self.dir.path().to_owned(),
            source,
        };
        for entry in std::fs::read_dir(self.dir.path()).map_err(failed)? {
            let from = entry.map_err(failed)?;
            if !from.file_type().map_err(failed)?.is_dir() {
                continue;
            }
            let to = self.objects.join(from.file_name());
            self.make(&to).map_err(failed)?;
            let entries = std::fs::read_dir(from.path()).map_err(failed)?;
            let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            files.sort_by_key(|path| path.extension().is_some_and(|ending| ending == "idx"));
            for file in files {
                let to = to.join(file.file_name().unwrap_or_default());
                if !to.exists() {
                    atomic::rename(&file, &to, Durability::Process)?;
                }
            }
        }
        Ok(())
    }

    /// For everybody whom the repository is for.
    fn make(&self, dir: &Path) -> io::Result<()> {
        match std::fs::create_dir(dir) {
            Ok(()) => {
                let all = std::fs::metadata(&self.objects)?;
                std::fs::set_permissions(dir, all.permissions())
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn is_left_behind(meta: &Metadata) -> bool {
    let changed = meta.modified().ok();
    let changed = changed.and_then(|changed| changed.duration_since(UNIX_EPOCH).ok());
    let now = Duration::from_millis(clock::now_ms());
    changed.is_some_and(|changed| changed + LEFT_BEHIND < now)
}
