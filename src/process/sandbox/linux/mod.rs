//! The sandbox on Linux: namespaces and mounts first, since Landlock forbids them; then Landlock and the loss of privileges,
//! in the command's own process. All of it happens in a guard, which has a single thread and was executed afresh.

mod built;
mod devices;
mod mounts;
mod namespaces;
mod privileges;
mod ruleset;
mod tree;

pub(in crate::process) use built::Built;
pub(in crate::process) use ruleset::unknown as unheld_by_landlock;

use std::fmt::Display;
use std::io;

/// What of a sandbox could not be made.
#[derive(Debug, thiserror::Error)]
#[error("cannot make the sandbox: {what}: {source}")]
pub(in crate::process) struct Failed {
    what: String,
    source: io::Error,
}

impl From<Failed> for io::Error {
    fn from(failed: Failed) -> Self {
        Self::new(failed.source.kind(), failed)
    }
}

impl Failed {
    fn at(what: impl Display, source: io::Error) -> Self {
        Self {
            what: what.to_string(),
            source,
        }
    }
}
