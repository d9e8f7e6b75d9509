//! Careful reading of small files that anybody may have put there.

use std::fs::{File, Metadata, OpenOptions};
use std::io::Read;
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

fn read_up_to(file: &mut File, bytes: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read(&mut bytes[filled..]) {
            // It was cut since its size was looked at.
            Ok(0) => break,
            Ok(got) => filled += got,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

fn opened(path: &Path) -> Result<Option<(File, Metadata)>, ReadError> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits())
        .open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(match not_plain_by_errno(&error) {
                Some(what) => ReadError::NotPlain {
                    path: path.to_path_buf(),
                    what,
                },
                None => StoreError::new("open", path, error).into(),
            });
        }
    };
    let found = file.metadata().map_err(StoreError::of("look at", path))?;
    match not_plain(&found) {
        Some(what) => Err(ReadError::NotPlain {
            path: path.to_path_buf(),
            what,
        }),
        None => Ok(Some((file, found))),
    }
}

/// What an open without following links tells about the file it refused.
pub(super) fn not_plain_by_errno(error: &std::io::Error) -> Option<&'static str> {
    match error.raw_os_error().map(Errno::from_raw) {
        Some(Errno::ELOOP) => Some("a symbolic link"),
        Some(Errno::ENXIO) => Some("a socket"),
        Some(Errno::EISDIR) => Some("a directory"),
        _ => None,
    }
}

/// What a file is, if it is not a plain file with one name.
pub(super) fn not_plain(metadata: &Metadata) -> Option<&'static str> {
    let kind = metadata.file_type();
    if kind.is_symlink() {
        Some("a symbolic link")
    } else if kind.is_dir() {
        Some("a directory")
    } else if kind.is_fifo() {
        Some("a FIFO")
    } else if !kind.is_file() {
        Some("a device or socket")
    } else if metadata.nlink() > 1 {
        Some("a file with more than one hard link")
    } else {
        None
    }
}
