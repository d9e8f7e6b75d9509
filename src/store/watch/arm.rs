//! Which watch stands for which file, and how it is set up again after the file came, went, or was replaced.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

use super::stamp::{Stamp, is_remote};

/// How changes of one file are noticed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Armed {
    /// By a watch on the file.
    File,
    /// The file is missing; by a watch on its nearest existing ancestor.
    Ancestor(PathBuf),
    /// By comparing its state.
    Compared(Stamp),
}

/// All watches of a process. Its methods wait for notify's thread, so that thread must never wait for whoever holds this.
#[derive(Debug)]
pub(super) struct Arms {
    system: Option<RecommendedWatcher>,
    files: HashMap<PathBuf, Armed>,
    /// How many missing files each directory is watched for.
    ancestors: HashMap<PathBuf, usize>,
}

impl Arms {
    /// `system` is `None` where nothing is to be asked of it.
    pub(super) fn new(system: Option<RecommendedWatcher>) -> Self {
        Self {
            system,
            files: HashMap::new(),
            ancestors: HashMap::new(),
        }
    }

    /// Sets up the watch of `path` again, whatever stood before. `Err` says why it is only compared from now on.
    pub(super) fn arm(&mut self, path: &Path) -> Result<(), String> {
        let before = self.disarm(path);
        let (armed, refusal) = match self.try_arm(path) {
            Ok(armed) => (armed, None),
            Err(why) => {
                // The stamp of before stays: what happened since is a difference.
                let stamp = match before {
                    Some(Armed::Compared(stamp)) => stamp,
                    _ => Stamp::of(path),
                };
                (Armed::Compared(stamp), why)
            }
        };
        self.files.insert(path.to_path_buf(), armed);
        refusal.map_or(Ok(()), Err)
    }

    /// Takes the watch of `path` away.
    pub(super) fn disarm(&mut self, path: &Path) -> Option<Armed> {
        let armed = self.files.remove(path)?;
        match &armed {
            Armed::File => self.drop_watch(path),
            Armed::Ancestor(dir) => self.release_ancestor(dir),
            Armed::Compared(_) => {}
        }
        Some(armed)
    }

    /// Lets go of the system's watcher, which ends its thread once the caller drops what is returned.
    pub(super) fn shut(&mut self) -> Option<RecommendedWatcher> {
        self.files.clear();
        self.system.take()
    }

    /// Every watched file.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        self.files.keys().cloned().collect()
    }

    /// Whether `path` is watched.
    pub(super) fn holds(&self, path: &Path) -> bool {
        self.files.contains_key(path)
    }

    /// Whether any file is only compared.
    pub(super) fn compares(&self) -> bool {
        self.files
            .values()
            .any(|armed| matches!(armed, Armed::Compared(_)))
    }

    /// The compared files whose state differs from the last look.
    pub(super) fn differing(&mut self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for (path, armed) in &mut self.files {
            if let Armed::Compared(stamp) = armed {
                let now = Stamp::of(path);
                if *stamp != now {
                    *stamp = now;
                    found.push(path.clone());
                }
            }
        }
        found
    }

    /// `Err(None)`: to be compared, and nothing to say about it.
    fn try_arm(&mut self, path: &Path) -> Result<Armed, Option<String>> {
        if self.system.is_none() {
            return Err(None);
        }
        if is_remote(path) {
            return Err(Some("the file system is a network file system".to_owned()));
        }
        loop {
            match self.add_watch(path) {
                Ok(()) => return Ok(Armed::File),
                Err(Missing::Gone) => {}
                Err(Missing::Refused(why)) => return Err(Some(why)),
            }
            let dir = self.watch_ancestor(path)?;
            if path.symlink_metadata().is_err() {
                return Ok(Armed::Ancestor(dir));
            }
            // It came while its directory was being armed.
            self.release_ancestor(&dir);
        }
    }

    fn watch_ancestor(&mut self, path: &Path) -> Result<PathBuf, Option<String>> {
        for dir in path.ancestors().skip(1) {
            if let Some(count) = self.ancestors.get_mut(dir) {
                *count += 1;
                // Again, for it may have been deleted and made anew.
                match self.add_watch(dir) {
                    Ok(()) => return Ok(dir.to_path_buf()),
                    Err(_) => self.release_ancestor(dir),
                }
                continue;
            }
            match self.add_watch(dir) {
                Ok(()) => {
                    self.ancestors.insert(dir.to_path_buf(), 1);
                    return Ok(dir.to_path_buf());
                }
                Err(Missing::Gone) => {}
                Err(Missing::Refused(why)) => return Err(Some(why)),
            }
        }
        Err(Some(format!("no directory of {} exists", path.display())))
    }

    fn release_ancestor(&mut self, dir: &Path) {
        let Some(count) = self.ancestors.get_mut(dir) else {
            return;
        };
        *count -= 1;
        if *count == 0 {
            self.ancestors.remove(dir);
            self.drop_watch(dir);
        }
    }

    fn add_watch(&mut self, path: &Path) -> Result<(), Missing> {
        let Some(system) = &mut self.system else {
            return Err(Missing::Refused("it is closed".to_owned()));
        };
        system
            .watch(path, RecursiveMode::NonRecursive)
            .map_err(|error| match error.kind {
                notify::ErrorKind::PathNotFound => Missing::Gone,
                notify::ErrorKind::Io(ref io) if is_absence(io) => Missing::Gone,
                notify::ErrorKind::MaxFilesWatch => Missing::Refused(
                    "the limit of watched files (fs.inotify.max_user_watches) is used up"
                        .to_owned(),
                ),
                _ => Missing::Refused(error.to_string()),
            })
    }

    fn drop_watch(&mut self, path: &Path) {
        if let Some(system) = &mut self.system {
            // It is gone already if the file is.
            system.unwatch(path).ok();
        }
    }
}

/// Why there is no watch.
enum Missing {
    Gone,
    Refused(String),
}

fn is_absence(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
    )
}
