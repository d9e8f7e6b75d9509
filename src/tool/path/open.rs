//! Opening a resolved path without following a link.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, openat};
use nix::sys::stat::{FileStat, Mode, fchmod, fstat, fstatat, mkdirat};

/// An open directory and a name in it, which may not exist.
#[derive(Debug)]
pub(crate) struct Opened {
    dir: OwnedFd,
    name: OsString,
    real: PathBuf,
}

#[cfg(target_os = "linux")]
const ENTER: OFlag = OFlag::O_PATH
    .union(OFlag::O_DIRECTORY)
    .union(OFlag::O_NOFOLLOW)
    .union(OFlag::O_CLOEXEC);
#[cfg(not(target_os = "linux"))]
const ENTER: OFlag = OFlag::O_RDONLY
    .union(OFlag::O_DIRECTORY)
    .union(OFlag::O_NOFOLLOW)
    .union(OFlag::O_CLOEXEC);

impl Opened {
    /// The parent directory of `real`, a resolved path, entered step by step; missing directories are made if `make`.
    pub(crate) fn parent_of(real: &Path, make: bool) -> io::Result<Self> {
        let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else {
            return Err(io::ErrorKind::IsADirectory.into());
        };
        Ok(Self {
            dir: enter(&root()?, parent, make)?,
            name: name.to_owned(),
            real: real.to_path_buf(),
        })
    }

    /// What stands there, itself if it is a link; `None` if nothing does.
    pub(crate) fn found(&self) -> io::Result<Option<FileStat>> {
        let name = self.name.as_os_str();
        match fstatat(self.dir.as_fd(), name, AtFlags::AT_SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(found)),
            Err(Errno::ENOENT) => Ok(None),
            Err(error) => Err(explained(error)),
        }
    }

    /// The file, for reading; `None` if there is none. Never blocks on a FIFO, never follows a link.
    pub(crate) fn file(&self) -> io::Result<Option<File>> {
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        match openat(
            self.dir.as_fd(),
            self.name.as_os_str(),
            flags,
            Mode::empty(),
        ) {
            Ok(fd) => Ok(Some(File::from(fd))),
            Err(Errno::ENOENT) => Ok(None),
            Err(error) => Err(explained(error)),
        }
    }

    /// The file's bytes and permission bits, if it is a plain file of at most `limit` bytes; `None` if there is none.
    pub(crate) fn content(&self, limit: u64) -> io::Result<Option<(Vec<u8>, u32)>> {
        use std::os::unix::fs::PermissionsExt;
        let Some(file) = self.file()? else {
            return Ok(None);
        };
        let meta = file.metadata()?;
        if !meta.is_file() {
            return Err(io::Error::other(if meta.is_dir() {
                "it is a directory"
            } else {
                "it is not a plain file"
            }));
        }
        let mut bytes = Vec::new();
        file.take(limit + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            return Err(io::Error::other(format!(
                "it has more than {limit} bytes; use bash for files of that size"
            )));
        }
        Ok(Some((bytes, meta.permissions().mode() & 0o7777)))
    }

    /// The permission bits that a new file gets: those of its directory without execution.
    #[cfg_attr(
        target_os = "linux",
        expect(clippy::useless_conversion, reason = "mode_t is 16 bits wide on macOS")
    )]
    pub(crate) fn mode_of_new(&self) -> io::Result<u32> {
        Ok(u32::from(fstat(self.dir.as_fd())?.st_mode) & 0o666)
    }

    /// A path for functions that take one. On Linux it goes through the open directory, so nobody can put another in its
    /// place; elsewhere it is the resolved path.
    pub(crate) fn path(&self) -> PathBuf {
        let through = PathBuf::from(format!("/proc/self/fd/{}", self.dir.as_raw_fd()));
        if cfg!(target_os = "linux") && through.exists() {
            through.join(&self.name)
        } else {
            self.real.clone()
        }
    }
}

/// Where every walk of a resolved path begins.
fn root() -> io::Result<OwnedFd> {
    #[expect(clippy::disallowed_methods, reason = "the root is a directory")]
    Ok(File::open("/")?.into())
}

/// The directory `real`, a resolved path, entered step by step.
pub(crate) fn directory(real: &Path) -> io::Result<OwnedFd> {
    enter(&root()?, real, false)
}

/// The same for `below` in an open directory.
pub(crate) fn directory_beneath(dir: &OwnedFd, below: &Path) -> io::Result<OwnedFd> {
    enter(dir, below, false)
}

fn enter(from: &OwnedFd, path: &Path, make: bool) -> io::Result<OwnedFd> {
    let mut dir = from.try_clone()?;
    for part in path.components() {
        let Component::Normal(name) = part else {
            continue;
        };
        dir = match openat(dir.as_fd(), name, ENTER, Mode::empty()) {
            Ok(next) => next,
            Err(Errno::ENOENT) if make => make_dir(&dir, name)?,
            Err(error) => return Err(explained(error)),
        };
    }
    Ok(dir)
}

/// A new directory has its parent's permission bits: the umask of this process is the runtime's, not the project's.
fn make_dir(parent: &OwnedFd, name: &std::ffi::OsStr) -> io::Result<OwnedFd> {
    let mode = Mode::from_bits_truncate(fstat(parent.as_fd())?.st_mode & 0o777);
    match mkdirat(parent.as_fd(), name, mode) {
        Err(Errno::EEXIST) => {
            return openat(parent.as_fd(), name, ENTER, Mode::empty()).map_err(explained);
        }
        result => result?,
    }
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let dir = openat(parent.as_fd(), name, flags, Mode::empty()).map_err(explained)?;
    fchmod(dir.as_fd(), mode)?;
    Ok(dir)
}

fn explained(error: Errno) -> io::Error {
    match error {
        Errno::ELOOP => io::Error::other("a link was put in its place meanwhile; try again"),
        Errno::ENOTDIR => io::Error::other("a part of it is no directory"),
        Errno::ENXIO => io::Error::other("it is not a plain file"),
        other => other.into(),
    }
}
