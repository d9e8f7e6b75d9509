//! `.tasks/.bell`: written to when a task becomes ready, never on a claim; whoever waits for work watches it.

use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::store::StoreError;
use crate::store::read::{ReadError, make_plain};

/// Writes the number of the last change over the one before. The file never grows, so a full disk does not silence it.
pub(super) fn ring(path: &Path, seq: u64) -> Result<(), ReadError> {
    let file = make_plain(path)?;
    file.write_all_at(format!("{seq:>20}\n").as_bytes(), 0)
        .map_err(StoreError::of("write", path))?;
    Ok(())
}
