//! The only caller of rename and sync: whole files, old or new, never mixed.

use std::fs::{DirBuilder, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

use nix::errno::Errno;
use nix::unistd::AccessFlags;
use tempfile::NamedTempFile;

use super::fault::{self, Point};
use super::{Durability, StoreError, read};
use crate::workspace::RUNTIME_DIRS;

/// Makes `dir` and its missing parents, 0700, but for the workspace itself: what holds a directory of the runtime is made by
/// people, and where they moved or removed it nothing comes up again.
///
/// Each new directory is synced into its parent, whatever the durability: it happens once in a workspace's life.
pub fn ensure_dir(dir: &Path) -> Result<(), StoreError> {
    if dir.is_dir() {
        return Ok(());
    }
    let parent = parent_of(dir);
    if !RUNTIME_DIRS.iter().any(|name| dir.ends_with(name)) {
        ensure_dir(parent)?;
    }
    match DirBuilder::new().mode(0o700).create(dir) {
        Ok(()) => sync_parent(dir, Durability::Power),
        // Somebody else was quicker.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && dir.is_dir() => Ok(()),
        Err(error) => Err(StoreError::new("make the directory", dir, error)),
    }
}

/// Replaces `path` (0600): temporary file beside it, write, sync, rename, sync of the directory.
///
/// After a crash at any step the path holds the old or the new bytes; leftovers are named `.<file name>.<random>.tmp`.
/// After an error the path holds the old bytes, except that an error of the last sync leaves the new ones.
/// A missing directory is made.
pub fn replace(path: &Path, bytes: &[u8], durability: Durability) -> Result<(), StoreError> {
    let parent = Parent::open(path, durability)?;
    written_beside(path, bytes, durability)?
        .persist(path)
        .map_err(|refused| StoreError::new("replace", path, refused.error))?;
    fault::here(Point::Renamed);
    parent.sync()
}

/// The same for a file of the project: it gets the permission bits `mode`.
pub fn replace_with_mode(
    path: &Path,
    bytes: &[u8],
    mode: u32,
    durability: Durability,
) -> Result<(), StoreError> {
    let parent = Parent::open(path, durability)?;
    let file = written_beside(path, bytes, durability)?;
    file.as_file()
        .set_permissions(Permissions::from_mode(mode))
        .map_err(StoreError::of("set the permissions of", path))?;
    file.persist(path)
        .map_err(|refused| StoreError::new("replace", path, refused.error))?;
    parent.sync()
}

/// Creates `path` with `bytes` exclusively: an existing file is an error of kind `AlreadyExists` and stays as it is.
///
/// A reader never sees it half-written. A missing directory is made.
pub fn create_new(path: &Path, bytes: &[u8], durability: Durability) -> Result<(), StoreError> {
    let parent = Parent::open(path, durability)?;
    written_beside(path, bytes, durability)?
        .persist_noclobber(path)
        .map_err(|refused| StoreError::new("create", path, refused.error))?;
    fault::here(Point::Renamed);
    parent.sync()
}

/// Refuses a file or directory that this process may not write to; a missing one is no obstacle.
pub fn check_writable(path: &Path) -> Result<(), StoreError> {
    match nix::unistd::access(path, AccessFlags::W_OK) {
        Ok(()) | Err(Errno::ENOENT) => Ok(()),
        Err(error) => Err(StoreError::new("write to", path, error.into())),
    }
}

/// Renames `from` to `to` and syncs the directories.
pub fn rename(from: &Path, to: &Path, durability: Durability) -> Result<(), StoreError> {
    let (old, new) = (
        Parent::open(from, durability)?,
        Parent::open(to, durability)?,
    );
    #[expect(clippy::disallowed_methods, reason = "this file owns rename")]
    std::fs::rename(from, to).map_err(StoreError::of("rename", from))?;
    new.sync()?;
    if old.path == new.path {
        return Ok(());
    }
    old.sync()
}

/// Whether `name` is that of a temporary file left behind by [`replace`] or [`create_new`].
pub fn is_leftover(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(LEFTOVER)
}

const LEFTOVER: &str = ".tmp";

/// A temporary file beside `path` that holds `bytes`, on disk as far as `durability` asks. Deleted unless persisted.
fn written_beside(
    path: &Path,
    bytes: &[u8],
    durability: Durability,
) -> Result<NamedTempFile, StoreError> {
    let name = path
        .file_name()
        .ok_or_else(|| StoreError::new("write", path, io::ErrorKind::InvalidInput.into()))?;
    let mut prefix = std::ffi::OsString::from(".");
    prefix.push(name);
    prefix.push(".");
    let dir = parent_of(path);
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(LEFTOVER);
    let made = match builder.tempfile_in(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            ensure_dir(dir)?;
            builder.tempfile_in(dir)
        }
        made => made,
    };
    let mut file = made.map_err(StoreError::of("make a temporary file beside", path))?;
    fault::here(Point::TempMade);
    file.write_all(bytes)
        .map_err(StoreError::of("write", path))?;
    fault::here(Point::TempWritten);
    sync_data(file.as_file(), path, durability)?;
    fault::here(Point::TempSynced);
    Ok(file)
}

/// Syncs `file`'s bytes and size, if `durability` asks for it.
pub fn sync_data(file: &File, path: &Path, durability: Durability) -> Result<(), StoreError> {
    match durability {
        Durability::Process => Ok(()),
        #[expect(clippy::disallowed_methods, reason = "this file owns syncing")]
        Durability::Power => file.sync_data().map_err(StoreError::of("sync", path)),
    }
}

/// Syncs the directory that holds `path`, if `durability` asks for it.
pub fn sync_parent(path: &Path, durability: Durability) -> Result<(), StoreError> {
    Parent::open(path, durability)?.sync()
}

/// The directory that holds a file, opened before a change of it that would have to be taken back if it could not be
/// opened after; not at all if nothing is to be synced.
struct Parent<'a> {
    path: &'a Path,
    opened: Option<File>,
}

impl<'a> Parent<'a> {
    /// The parent of `path`, made if it is missing.
    fn open(path: &'a Path, durability: Durability) -> Result<Self, StoreError> {
        let path = parent_of(path);
        let opened = match durability {
            Durability::Process => None,
            Durability::Power => Some(open_dir(path)?),
        };
        Ok(Self { path, opened })
    }

    fn sync(&self) -> Result<(), StoreError> {
        let Some(dir) = &self.opened else {
            return Ok(());
        };
        #[expect(clippy::disallowed_methods, reason = "this file owns syncing")]
        match dir.sync_all() {
            // Some file systems cannot sync a directory and need not.
            Err(error) if error.raw_os_error() == Some(Errno::EINVAL as i32) => Ok(()),
            synced => synced.map_err(StoreError::of("sync", self.path)),
        }
    }
}

fn open_dir(dir: &Path) -> Result<File, StoreError> {
    if let Some(opened) = read::open_dir(dir)? {
        return Ok(opened);
    }
    ensure_dir(dir)?;
    read::open_dir(dir)?.ok_or_else(|| StoreError::new("open", dir, io::ErrorKind::NotFound.into()))
}

/// The directory that holds `path`; the current one for a bare name.
fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
