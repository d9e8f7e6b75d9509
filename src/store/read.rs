//! Careful opening and reading of files that anybody may have put there.
//!
//! Nobody else opens a file to read it (`clippy.toml`): what stands in a file's place may be a FIFO or a device, at which a
//! plain open waits for ever.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::OFlag;

use super::StoreError;

/// Why a file is not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A link, FIFO, device, directory, or a file with more than one hard link.
    #[error("{} is {what}, not a plain file", path.display())]
    NotPlain {
        /// The file.
        path: PathBuf,
        /// What it is instead, such as `a symbolic link`.
        what: &'static str,
    },
    /// Over the size limit.
    #[error("{} has {size} bytes; the limit is {limit}", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// Any other failure.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ReadError {
    /// What is wrong, without the path.
    pub fn why(&self) -> String {
        match self {
            Self::NotPlain { what, .. } => format!("it is {what}, not a plain file"),
            Self::TooLarge { size, limit, .. } => {
                format!("it has {size} bytes; the limit is {limit}")
            }
            Self::Store(error) => error.source.to_string(),
        }
    }
}

/// The UTF-8 byte-order mark, which is no part of any content.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads `path` whole, at most `limit` bytes, without following a link and without blocking on a FIFO; a byte-order
/// mark is dropped. `None` if there is no such file.
pub fn read_plain(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, ReadError> {
    let Some((mut file, found)) = opened(path)? else {
        return Ok(None);
    };
    let size = found.len();
    if size > limit {
        return Err(ReadError::TooLarge {
            path: path.to_path_buf(),
            size,
            limit,
        });
    }
    // What is appended from now on belongs to a later look.
    let mut bytes = vec![0; usize::try_from(size).unwrap_or(0)];
    let read = read_up_to(&mut file, &mut bytes).map_err(StoreError::of("read", path))?;
    bytes.truncate(read);
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    Ok(Some(bytes))
}

/// Opens `path` for reading if it is a plain file; `None` if there is no such file.
pub fn open_plain(path: &Path) -> Result<Option<File>, ReadError> {
    Ok(opened(path)?.map(|(file, _)| file))
}

/// The same with its length in bytes.
pub fn open_sized(path: &Path) -> Result<Option<(File, u64)>, ReadError> {
    Ok(opened(path)?.map(|(file, found)| (file, found.len())))
}

/// The same for reading and for writing at places of its own.
pub fn open_to_change(path: &Path) -> Result<Option<File>, ReadError> {
    let found = opened_with(OpenOptions::new().read(true).write(true), path)?;
    Ok(found.map(|(file, _)| file))
}

/// Opens the directory at `path`; `None` if there is none.
pub fn open_dir(path: &Path) -> Result<Option<File>, StoreError> {
    let mut options = OpenOptions::new();
    let flags = OFlag::O_DIRECTORY | OFlag::O_NONBLOCK;
    options.read(true).custom_flags(flags.bits());
    #[expect(clippy::disallowed_methods, reason = "this file owns opening")]
    match options.open(path) {
        Ok(dir) => Ok(Some(dir)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::new("open", path, error)),
    }
}

/// Opens `path` for writing, made 0600 if it is missing; only a plain file is taken, and it is not cut.
pub fn make_plain(path: &Path) -> Result<File, ReadError> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    let file = open(&mut options, OFlag::O_NOFOLLOW, path)?;
    checked(file, path, not_plain).map(|(file, _)| file)
}

/// Reads at most `limit` bytes of a file of the person's or the system's own, whole; `None` if there is no such file.
///
/// It may be reached through links and have other names, and files of `/proc` may tell no size; anything but a file is
/// refused all the same.
pub fn read_followed(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, ReadError> {
    let file = match open(OpenOptions::new().read(true), OFlag::empty(), path) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    let (file, _) = checked(file, path, not_file)?;
    let mut bytes = Vec::new();
    file.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(StoreError::of("read", path))?;
    if bytes.len() as u64 > limit {
        return Err(ReadError::TooLarge {
            path: path.to_path_buf(),
            size: bytes.len() as u64,
            limit,
        });
    }
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    Ok(Some(bytes))
}

fn read_up_to(file: &mut File, bytes: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read(&mut bytes[filled..]) {
            // It was cut since its size was looked at.
            Ok(0) => break,
            Ok(got) => filled += got,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

fn opened(path: &Path) -> Result<Option<(File, Metadata)>, ReadError> {
    opened_with(OpenOptions::new().read(true), path)
}

fn opened_with(
    options: &mut OpenOptions,
    path: &Path,
) -> Result<Option<(File, Metadata)>, ReadError> {
    match open(options, OFlag::O_NOFOLLOW, path) {
        Ok(file) => checked(file, path, not_plain).map(Some),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Never waits, whatever stands at `path`.
fn open(options: &mut OpenOptions, flags: OFlag, path: &Path) -> Result<File, ReadError> {
    let flags = flags | OFlag::O_NONBLOCK;
    #[expect(clippy::disallowed_methods, reason = "this file owns opening")]
    let opened = options.custom_flags(flags.bits()).open(path);
    opened.map_err(|error| match not_plain_by_errno(&error) {
        Some(what) => ReadError::NotPlain {
            path: path.to_path_buf(),
            what,
        },
        None => StoreError::new("open", path, error).into(),
    })
}

fn is_absent(error: &ReadError) -> bool {
    matches!(error, ReadError::Store(error) if error.source.kind() == io::ErrorKind::NotFound)
}

/// What was opened, if `what_else` has nothing to say against it.
fn checked(
    file: File,
    path: &Path,
    what_else: fn(&Metadata) -> Option<&'static str>,
) -> Result<(File, Metadata), ReadError> {
    let found = file.metadata().map_err(StoreError::of("look at", path))?;
    match what_else(&found) {
        Some(what) => Err(ReadError::NotPlain {
            path: path.to_path_buf(),
            what,
        }),
        None => Ok((file, found)),
    }
}

/// What an open without following links tells about the file it refused.
pub(super) fn not_plain_by_errno(error: &io::Error) -> Option<&'static str> {
    match error.raw_os_error().map(Errno::from_raw) {
        Some(Errno::ELOOP) => Some("a symbolic link"),
        Some(Errno::ENXIO) => Some("a socket"),
        Some(Errno::EISDIR) => Some("a directory"),
        _ => None,
    }
}

/// What a file is, if it is not a plain file with one name.
pub(super) fn not_plain(metadata: &Metadata) -> Option<&'static str> {
    let one_name = metadata.nlink() <= 1;
    not_file(metadata).or((!one_name).then_some("a file with more than one hard link"))
}

/// What it is, if it is no file.
fn not_file(metadata: &Metadata) -> Option<&'static str> {
    let kind = metadata.file_type();
    if kind.is_symlink() {
        Some("a symbolic link")
    } else if kind.is_dir() {
        Some("a directory")
    } else if kind.is_fifo() {
        Some("a FIFO")
    } else if !kind.is_file() {
        Some("a device or socket")
    } else {
        None
    }
}

/// What stands at `path` without opening it, if it is there and no plain file with one name.
pub fn other_than_plain(path: &Path) -> Result<Option<&'static str>, StoreError> {
    match path.symlink_metadata() {
        Ok(found) => Ok(not_plain(&found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::new("look at", path, error)),
    }
}
