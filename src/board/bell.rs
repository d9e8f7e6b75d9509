//! `.tasks/.bell`: written to when a task becomes ready, never on a claim; whoever waits for work watches it.

use std::fs::OpenOptions;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use nix::fcntl::OFlag;

use crate::store::StoreError;

/// Writes the number of the last change over the one before. The file never grows, so a full disk does not silence it.
pub(super) fn ring(path: &Path, seq: u64) -> Result<(), StoreError> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(flags.bits())
        .open(path)
        .map_err(StoreError::of("open", path))?;
    file.write_all_at(format!("{seq:>20}\n").as_bytes(), 0)
        .map_err(StoreError::of("write", path))
}
