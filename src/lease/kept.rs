//! The book on disk: read, changed and replaced whole under a lock of its own.
//!
//! Leases end with the processes that hold them, so nothing of this has to survive the machine: it is not synced.

use std::path::PathBuf;

use super::Book;
use crate::store::lock::{FileLock, LOCK_WAIT, LockError};
use crate::store::read::{ReadError, read_plain};
use crate::store::{Durability, StoreError, atomic, quarantine};
use crate::workspace::Workspace;

/// Largest book that is read, in bytes.
const MAX_BOOK: u64 = 16 * 1024 * 1024;

/// Why the leases cannot be seen or changed.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    /// The lock was not to be had.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// Reading or writing failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The leases of a workspace. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Leases {
    workspace: Workspace,
}

impl Leases {
    /// For a workspace.
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }

    /// The book as it stands; an empty one if there is none. `Err` inside `Ok` says why it is damaged.
    pub fn read(&self) -> Result<Result<Book, String>, StoreError> {
        let bytes = match read_plain(&self.path(), MAX_BOOK) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Ok(Ok(Book::default())),
            Err(ReadError::Store(error)) => return Err(error),
            Err(error @ (ReadError::NotPlain { .. } | ReadError::TooLarge { .. })) => {
                return Ok(Err(error.why()));
            }
        };
        Ok(serde_json::from_slice(&bytes).map_err(|error| error.to_string()))
    }

    /// Changes the book while nobody else does. A damaged one goes to quarantine first: all of it is free then.
    ///
    /// `change` may ask who is alive, which only probes locks, and must take no lock itself.
    pub fn change<R>(&self, change: impl FnOnce(&mut Book) -> R) -> Result<R, LeaseError> {
        let path = self.path();
        let lock = self.lock()?;
        let mut book = match self.read()? {
            Ok(book) => book,
            Err(why) => {
                quarantine::move_file(&self.workspace.quarantine_dir(), &path, &why)?;
                Book::default()
            }
        };
        let before = book.clone();
        let done = change(&mut book);
        if book != before {
            let mut bytes = serde_json::to_vec_pretty(&book)
                .map_err(|error| StoreError::new("write", &path, error.into()))?;
            bytes.push(b'\n');
            atomic::replace(&path, &bytes, Durability::Process)?;
        }
        drop(lock);
        Ok(done)
    }

    /// Runs `act` while nobody changes the book.
    pub fn locked<R>(&self, act: impl FnOnce() -> R) -> Result<R, LeaseError> {
        let lock = self.lock()?;
        let done = act();
        drop(lock);
        Ok(done)
    }

    fn lock(&self) -> Result<FileLock, LockError> {
        FileLock::exclusive(&self.workspace.leases_dir().join(".lock"), LOCK_WAIT)
    }

    fn path(&self) -> PathBuf {
        self.workspace.leases_dir().join("held.json")
    }
}
