//! What an open directory holds. Entries are told by their names in it, so that none leads through a link.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::dir::{Dir, Type};
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag};
use nix::sys::stat::{FileStat, Mode, SFlag, fstatat};

/// What an entry is, itself if it is a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    /// A directory.
    Dir,
    /// A plain file.
    File,
    /// A link, FIFO, socket or device.
    Other,
}

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its name.
    pub(crate) name: OsString,
    /// What it is.
    pub(crate) kind: EntryKind,
}

/// The entries of `dir` in no order, without itself and its parent.
pub(crate) fn entries(dir: &OwnedFd) -> io::Result<Vec<Entry>> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let mut listing = Dir::openat(dir.as_fd(), ".", flags, Mode::empty())?;
    let mut entries = Vec::new();
    for entry in listing.iter() {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        let kind = match entry.file_type() {
            Some(Type::Directory) => EntryKind::Dir,
            Some(Type::File) => EntryKind::File,
            Some(_) => EntryKind::Other,
            // Some file systems do not say.
            None => match stat(dir, name)? {
                Some(found) => EntryKind::of(&found),
                None => continue,
            },
        };
        entries.push(Entry {
            name: name.to_owned(),
            kind,
        });
    }
    Ok(entries)
}

/// When the entry `name` of `dir` was last changed; `None` if it is gone.
pub(crate) fn changed(dir: &OwnedFd, name: &OsStr) -> Option<SystemTime> {
    stat(dir, name).ok().flatten().map(|found| modified(&found))
}

impl EntryKind {
    /// What `found` says that it is.
    pub(crate) fn of(found: &FileStat) -> Self {
        match SFlag::from_bits_truncate(found.st_mode) & SFlag::S_IFMT {
            SFlag::S_IFDIR => Self::Dir,
            SFlag::S_IFREG => Self::File,
            _ => Self::Other,
        }
    }
}

/// When what `found` tells of was last changed.
pub(crate) fn modified(found: &FileStat) -> SystemTime {
    let seconds = u64::try_from(found.st_mtime).unwrap_or(0);
    let nanos = u32::try_from(found.st_mtime_nsec).unwrap_or(0);
    UNIX_EPOCH + Duration::new(seconds, nanos.min(999_999_999))
}

fn stat(dir: &OwnedFd, name: &OsStr) -> io::Result<Option<FileStat>> {
    match fstatat(dir.as_fd(), name, AtFlags::AT_SYMLINK_NOFOLLOW) {
        Ok(found) => Ok(Some(found)),
        Err(Errno::ENOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
