//! What this agent last read of each file, so that an edit of something it does not know is refused (SPEC §10.3).

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};

/// Largest file that is edited, in bytes.
pub(crate) const MAX_EDIT: u64 = 16 * 1024 * 1024;

/// SHA-256 of a file's content.
pub(crate) type Hash = [u8; 32];

/// By resolved path. Lives as long as the process: after a restart a file counts as never read.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    files: Mutex<HashMap<PathBuf, Hash>>,
}

/// How a file's present content relates to what the agent knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// Never read by this agent.
    Never,
    /// As it was read or written last.
    Same,
    /// Changed by somebody since.
    Changed,
}

impl Seen {
    /// The agent has read or written `content` at `path`.
    pub(crate) fn note(&self, path: &Path, content: &[u8]) {
        self.files().insert(path.to_path_buf(), hash(content));
    }

    /// Whether the agent knows `content` at `path`.
    pub(crate) fn known(&self, path: &Path, content: &[u8]) -> Known {
        match self.files().get(path) {
            None => Known::Never,
            Some(read) if *read == hash(content) => Known::Same,
            Some(_) => Known::Changed,
        }
    }

    fn files(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, Hash>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// See [`Hash`].
pub(crate) fn hash(content: &[u8]) -> Hash {
    Sha256::digest(content).into()
}
