//! A mailbox as a file: appended to by anybody, emptied in place by its owner, both under its lock.
//!
//! It is never renamed or removed: whoever watches it would be left watching nothing. Links, FIFOs and files with
//! a second name are refused, and so is a directory of mailboxes that is a link.

use std::cmp::Ordering;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};

use super::SendError;
use super::message::MAX_MESSAGE;
use crate::store::fault::{self, Point};
use crate::store::jsonl::{self, Chunk};
use crate::store::lock::{FileLock, LOCK_WAIT, LockError, LockFile};
use crate::store::read::{self, ReadError};
use crate::store::{Durability, StoreError, atomic};
use crate::workspace::Workspace;

/// How much of a mailbox is held at once while hashing.
const BLOCK: usize = 64 * 1024;

/// A mailbox locked by its owner.
#[must_use]
#[derive(Debug)]
pub(super) struct LockedFile<'a> {
    path: &'a Path,
    lock: FileLock,
}

/// Mailboxes kept open from one sending to the next. Each is taken out for as long as it is locked: two locks on one
/// open file would not exclude each other.
#[derive(Debug, Default)]
pub(super) struct Kept(Mutex<Vec<(PathBuf, Arc<LockFile>)>>);

/// How many stay open.
const MOST_KEPT: usize = 8;

impl Kept {
    /// Locks the mailbox at `path`, made if it is missing, for appending.
    ///
    /// One that was kept is still the file at `path`, so the way to it need not be looked at again.
    fn lock(&self, workspace: &Workspace, path: &Path) -> Result<FileLock, SendError> {
        if let Some(file) = self.take(path)
            && let Some(lock) = FileLock::still(file, path, LOCK_WAIT)?
        {
            return Ok(lock);
        }
        is_plain_above(workspace)?;
        Ok(FileLock::exclusive_append(path, LOCK_WAIT)?)
    }

    fn take(&self, path: &Path) -> Option<Arc<LockFile>> {
        let mut files = self.files();
        let nr = files.iter().position(|(kept, _)| kept == path)?;
        Some(files.swap_remove(nr).1)
    }

    /// Keeps a file that is not locked any more.
    fn put(&self, path: &Path, file: Arc<LockFile>) {
        let mut files = self.files();
        if files.len() == MOST_KEPT {
            files.remove(0);
        }
        files.push((path.to_path_buf(), file));
    }

    fn files(&self) -> MutexGuard<'_, Vec<(PathBuf, Arc<LockFile>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Appends `line` to the mailbox at `path`; synced when this returns. The sync comes after the unlock, so that senders do
/// not queue for the disk.
pub(super) fn append(
    workspace: &Workspace,
    path: &Path,
    line: &[u8],
    durability: Durability,
    kept: &Kept,
) -> Result<(), SendError> {
    let lock = kept.lock(workspace, path)?;
    let begin = jsonl::append_locked(&lock, path, line)?;
    let file = lock.kept();
    drop(lock);
    fault::here(Point::MailAppended);
    // The directory was synced when the lock made the file.
    if let Err(error) = atomic::sync_data(file.file(), path, durability) {
        take_back(file, path, begin, line);
        return Err(error.into());
    }
    kept.put(path, file);
    Ok(())
}

/// Takes back a line that could not be synced, unless its reader was quicker. If that fails too the line stays: the
/// sender was told of an error, and the message's id makes a retry harmless.
fn take_back(file: Arc<LockFile>, path: &Path, begin: u64, line: &[u8]) {
    if let Ok(lock) = FileLock::exclusive_again(file, path, LOCK_WAIT) {
        jsonl::take_line_back(lock.file(), begin, line).ok();
    }
}

/// Refuses a directory of mailboxes that leads elsewhere; answers whether there is one.
fn is_plain_above(workspace: &Workspace) -> Result<bool, StoreError> {
    let dir = workspace.mailboxes_dir();
    match dir.symlink_metadata() {
        Ok(found) if found.is_dir() => Ok(true),
        Ok(_) => {
            let error = io::Error::new(io::ErrorKind::NotADirectory, "it is not a plain directory");
            Err(StoreError::new("keep mail in", &dir, error))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(StoreError::new("look at", &dir, error)),
    }
}

/// Makes the mailbox at `path` if it is missing.
pub(super) fn make(
    workspace: &Workspace,
    path: &Path,
    durability: Durability,
) -> Result<(), StoreError> {
    if !is_plain_above(workspace)? || path.symlink_metadata().is_err() {
        drop(LockedFile::lock(path, None)?);
        atomic::sync_parent(path, durability)?;
    }
    Ok(())
}

/// Whether nothing stands in the mailbox: a look without a lock, for whoever is told of every change.
pub(super) fn is_empty(path: &Path) -> Result<bool, StoreError> {
    match path.symlink_metadata() {
        Ok(found) => Ok(found.len() == 0 && found.is_file()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(StoreError::new("look at", path, error)),
    }
}

/// The whole lines of the JSONL file at `path` without its lock, each at most `max_line` bytes; none if it is missing.
pub(super) fn read_unlocked(path: &Path, max_line: usize) -> Result<Chunk, StoreError> {
    read_unlocked_from(path, 0, max_line)
}

/// The same from the byte `offset` on, which may be in the middle of a line.
pub(super) fn read_unlocked_from(
    path: &Path,
    offset: u64,
    max_line: usize,
) -> Result<Chunk, StoreError> {
    let opened = read::open_plain(path).map_err(|error| match error {
        ReadError::Store(error) => error,
        ReadError::NotPlain { what, .. } => {
            let error = io::Error::new(io::ErrorKind::InvalidInput, format!("it is {what}"));
            StoreError::new("read", path, error)
        }
        ReadError::TooLarge { .. } => {
            StoreError::new("read", path, io::ErrorKind::FileTooLarge.into())
        }
    })?;
    match opened {
        Some(file) => {
            jsonl::read_lines(&file, offset, max_line).map_err(StoreError::of("read", path))
        }
        None => Ok(Chunk::default()),
    }
}

impl<'a> LockedFile<'a> {
    /// Locks the mailbox at `path`, made if it is missing; `kept` is what an earlier [`Self::leave`] left open.
    pub(super) fn lock(path: &'a Path, kept: Option<Arc<LockFile>>) -> Result<Self, StoreError> {
        let lock = match kept {
            Some(file) => FileLock::exclusive_again(file, path, LOCK_WAIT),
            None => FileLock::exclusive(path, LOCK_WAIT),
        };
        let lock = lock.map_err(LockError::into_store)?;
        Ok(Self { path, lock })
    }

    /// Unlocks; the file stays open.
    pub(super) fn leave(self) -> Arc<LockFile> {
        self.lock.kept()
    }

    /// The whole lines.
    pub(super) fn read(&self) -> Result<Chunk, StoreError> {
        jsonl::read_lines(self.lock.file(), 0, MAX_MESSAGE)
            .map_err(StoreError::of("read", self.path))
    }

    /// Up to `limit` bytes of the line at `offset`, for a line too long to be read.
    pub(super) fn head(&self, offset: u64, limit: usize) -> Result<Vec<u8>, StoreError> {
        let mut bytes = vec![0; limit];
        let got = self
            .lock
            .file()
            .read_at(&mut bytes, offset)
            .map_err(StoreError::of("read", self.path))?;
        bytes.truncate(got);
        Ok(bytes)
    }

    /// SHA-256, in hex, of the first `end` bytes; `None` if there are fewer.
    pub(super) fn hash(&self, end: u64) -> Result<Option<String>, StoreError> {
        let mut hash = Sha256::new();
        let mut block = vec![0; BLOCK];
        let mut at = 0;
        while at < end {
            let want = usize::try_from(end - at).map_or(BLOCK, |left| left.min(BLOCK));
            match self.lock.file().read_at(&mut block[..want], at) {
                Ok(0) => return Ok(None),
                Ok(got) => {
                    hash.update(&block[..got]);
                    at += got as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(StoreError::new("read", self.path, error)),
            }
        }
        Ok(Some(format!("{:x}", hash.finalize())))
    }

    /// Overwrites the first `end` bytes, all whole lines, with newlines, which no reader takes for anything.
    pub(super) fn blank(&self, end: u64, durability: Durability) -> Result<(), StoreError> {
        if self.length()? < end {
            // Somebody without a lock has rewritten it.
            return Ok(());
        }
        fault::within(Point::BlankTorn, || {
            jsonl::blank(self.lock.file(), 0, end / 2)
        });
        jsonl::blank(self.lock.file(), 0, end).map_err(StoreError::of("empty", self.path))?;
        atomic::sync_data(self.lock.file(), self.path, durability)
    }

    /// Takes the first `end` bytes, all whole lines, out of the mailbox.
    ///
    /// If they are all there is, the file is cut to nothing. What stands after them stays: somebody may be writing it without
    /// a lock, so it must not move under them. Then the lines are blanked, and the file is cut the next time that nothing
    /// is left.
    pub(super) fn empty(&self, end: u64) -> Result<(), StoreError> {
        let file = self.lock.file();
        match self.length()?.cmp(&end) {
            Ordering::Equal => file.set_len(0),
            Ordering::Greater => jsonl::blank(file, 0, end),
            // Somebody without a lock has rewritten it: what it holds now is for the next look.
            Ordering::Less => Ok(()),
        }
        .map_err(StoreError::of("empty", self.path))
    }

    fn length(&self) -> Result<u64, StoreError> {
        let found = self.lock.file().metadata();
        found
            .map(|found| found.len())
            .map_err(StoreError::of("look at", self.path))
    }
}
