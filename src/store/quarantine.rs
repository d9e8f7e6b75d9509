//! Where files and lines go that cannot be read: kept, with the reason beside them.
//!
//! What is kept gets its reason after it, so that a crash between leaves a kept file without a reason, never the reverse.

use std::path::{Path, PathBuf};

use super::{Durability, StoreError, atomic};
use crate::ids;

/// Longest part of the original name that a kept file's name repeats, in bytes.
const MAX_STEM: usize = 128;

/// Writes `bytes` under a fresh name made from `name` into `dir`, and the reason into the same name with `.why` added.
pub fn keep(dir: &Path, name: &str, bytes: &[u8], why: &str) -> Result<PathBuf, StoreError> {
    let kept = fresh(dir, name);
    atomic::create_new(&kept, bytes, Durability::Power)?;
    write_why(&kept, why)?;
    Ok(kept)
}

/// Moves the file at `path` into `dir` likewise.
pub fn move_file(dir: &Path, path: &Path, why: &str) -> Result<PathBuf, StoreError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let kept = fresh(dir, &name);
    atomic::ensure_dir(dir)?;
    atomic::rename(path, &kept, Durability::Power)?;
    write_why(&kept, why)?;
    Ok(kept)
}

/// `<name>.<8 hex>` in `dir`, with whatever would leave the directory or hide the file taken out of the name.
fn fresh(dir: &Path, name: &str) -> PathBuf {
    let plain: String = name
        .chars()
        .map(|ch| match ch {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '_' | '-' => ch,
            _ => '-',
        })
        .take(MAX_STEM)
        .collect();
    let plain = plain.trim_start_matches('.');
    let stem = if plain.is_empty() { "unnamed" } else { plain };
    loop {
        let kept = dir.join(format!("{stem}.{}", ids::random_hex(8)));
        if kept.symlink_metadata().is_err() {
            return kept;
        }
    }
}

fn write_why(kept: &Path, why: &str) -> Result<(), StoreError> {
    let mut path = kept.as_os_str().to_owned();
    path.push(".why");
    atomic::replace(
        Path::new(&path),
        format!("{why}\n").as_bytes(),
        Durability::Power,
    )
}
