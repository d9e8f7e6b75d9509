//! How much room there is.

use std::path::Path;

use nix::sys::statvfs::statvfs;

use super::StoreError;

/// Bytes that may still be written below `dir`.
pub fn free_bytes(dir: &Path) -> Result<u64, StoreError> {
    let found = statvfs(dir).map_err(|error| StoreError::new("measure", dir, error.into()))?;
    #[expect(
        clippy::useless_conversion,
        reason = "the system's counts are narrower elsewhere"
    )]
    let (blocks, size) = (
        u64::from(found.blocks_available()),
        u64::from(found.fragment_size()),
    );
    Ok(blocks.saturating_mul(size))
}
