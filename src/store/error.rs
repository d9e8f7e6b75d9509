//! What a reported success survives, and how a failure names its file.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What a reported success survives.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// A power cut: files and directories are synced before a change is reported done.
    #[default]
    Power,
    /// A kill of any process; a machine crash may lose the last changes.
    Process,
}

/// A file operation that failed: what was tried on which path.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {}", path.display())]
pub struct StoreError {
    /// The act, such as `write` or `lock`.
    pub action: &'static str,
    /// The file or directory.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl StoreError {
    /// An error of `action` on `path`.
    pub fn new(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self {
            action,
            path: path.to_path_buf(),
            source,
        }
    }

    /// For `map_err`: what the system says becomes an error of `action` on `path`.
    pub fn of<'a>(
        action: &'static str,
        path: &'a Path,
    ) -> impl FnOnce(io::Error) -> Self + use<'a> {
        move |source| Self::new(action, path, source)
    }
}
