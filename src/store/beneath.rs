//! Changing files beneath a directory in which somebody else may put what he likes: every step down is taken without
//! following a link, so nothing outside of it is ever touched.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, openat, renameat};
use nix::sys::stat::{Mode, mkdirat};
use nix::unistd::{UnlinkatFlags, unlinkat};

use super::atomic::sync_data;
use super::{Durability, StoreError};

/// A directory held open.
#[derive(Debug)]
pub struct Beneath {
    dir: OwnedFd,
    /// For errors only.
    path: PathBuf,
}

const ENTER: OFlag = OFlag::O_RDONLY
    .union(OFlag::O_DIRECTORY)
    .union(OFlag::O_NOFOLLOW)
    .union(OFlag::O_CLOEXEC);

impl Beneath {
    /// Opens `path`, the way to which is trusted.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let dir = openat(AT_FDCWD, path, ENTER, Mode::empty()).map_err(failed("open", path))?;
        Ok(Self {
            dir,
            path: path.to_path_buf(),
        })
    }

    /// The directory `name` in it; `None` if there is none.
    pub fn enter(&self, name: &str) -> Result<Option<Self>, StoreError> {
        let path = self.path.join(name);
        match openat(self.dir.as_fd(), name, ENTER, Mode::empty()) {
            Ok(dir) => Ok(Some(Self { dir, path })),
            Err(Errno::ENOENT) => Ok(None),
            Err(error) => Err(failed("open the directory", &path)(error)),
        }
    }

    /// The same, made 0700 if there is none.
    pub fn make(&self, name: &str) -> Result<Self, StoreError> {
        if let Some(found) = self.enter(name)? {
            return Ok(found);
        }
        let path = self.path.join(name);
        match mkdirat(self.dir.as_fd(), name, Mode::S_IRWXU) {
            Ok(()) | Err(Errno::EEXIST) => {}
            Err(error) => return Err(failed("make the directory", &path)(error)),
        }
        let found = self.enter(name)?;
        found.ok_or_else(|| failed("open the directory", &path)(Errno::ENOENT))
    }

    /// Replaces the file `name` in it (0600) whole.
    pub fn replace(
        &self,
        name: &str,
        bytes: &[u8],
        durability: Durability,
    ) -> Result<(), StoreError> {
        let path = self.path.join(name);
        let temporary = format!(".{name}.{:016x}.tmp", rand::random::<u64>());
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_CLOEXEC;
        let private = Mode::S_IRUSR | Mode::S_IWUSR;
        let opened = openat(self.dir.as_fd(), temporary.as_str(), flags, private);
        let mut file = File::from(opened.map_err(failed("make a temporary file beside", &path))?);
        let written = file
            .write_all(bytes)
            .map_err(StoreError::of("write", &path))
            .and_then(|()| sync_data(&file, &path, durability))
            .and_then(|()| {
                renameat(self.dir.as_fd(), temporary.as_str(), self.dir.as_fd(), name)
                    .map_err(failed("replace", &path))
            });
        if written.is_err() {
            drop(self.remove(&temporary));
        }
        written
    }

    /// Removes the file `name` in it, if there is one.
    pub fn remove(&self, name: &str) -> Result<(), StoreError> {
        let path = self.path.join(name);
        match unlinkat(
            self.dir.as_fd(),
            OsStr::new(name),
            UnlinkatFlags::NoRemoveDir,
        ) {
            Ok(()) | Err(Errno::ENOENT) => Ok(()),
            Err(error) => Err(failed("remove", &path)(error)),
        }
    }
}

fn failed<'a>(action: &'static str, path: &'a Path) -> impl FnOnce(Errno) -> StoreError + use<'a> {
    move |error| {
        let source = match error {
            // As the kernel says it of a link that is not followed.
            Errno::ELOOP | Errno::ENOTDIR => io::Error::other("it is no directory"),
            other => other.into(),
        };
        StoreError::new(action, path, source)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn files_are_replaced_and_removed_through_directories() {
        let scratch = tempfile::tempdir().unwrap();
        let top = Beneath::open(scratch.path()).unwrap();
        assert!(top.enter("a").unwrap().is_none());
        let inner = top.make("a").unwrap().make("b").unwrap();
        for text in ["one", "two"] {
            inner
                .replace("f", text.as_bytes(), Durability::Process)
                .unwrap();
            let found = std::fs::read_to_string(scratch.path().join("a/b/f")).unwrap();
            assert_eq!(found, text);
        }
        inner.remove("f").unwrap();
        inner.remove("f").unwrap();
        let left = std::fs::read_dir(scratch.path().join("a/b")).unwrap();
        assert_eq!(left.count(), 0);
    }

    #[test]
    fn a_link_is_not_followed_anywhere() {
        let scratch = tempfile::tempdir().unwrap();
        let (outside, inside) = (
            scratch.path().join("outside"),
            scratch.path().join("inside"),
        );
        std::fs::create_dir(&outside).unwrap();
        std::fs::create_dir(&inside).unwrap();
        let victim = File::options()
            .create(true)
            .write(true)
            .truncate(false)
            .to_owned();
        victim.open(outside.join("victim")).unwrap();
        symlink(&outside, inside.join("dir")).unwrap();
        symlink(outside.join("victim"), inside.join("file")).unwrap();
        let top = Beneath::open(&inside).unwrap();
        top.enter("dir").unwrap_err();
        top.make("dir").unwrap_err();
        top.replace("file", b"x", Durability::Process).unwrap();
        let kept = std::fs::metadata(outside.join("victim")).unwrap();
        assert_eq!(kept.len(), 0, "the link's target was written to");
        assert_eq!(std::fs::read_to_string(inside.join("file")).unwrap(), "x");
    }
}
