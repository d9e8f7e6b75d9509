//! What is in a checkout and in no commit.
//!
//! git never looks into nested repositories here: their configuration, which an agent can write, would decide what runs.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::git::{Git, GitError, nul_separated};

/// How many paths have changes that are not committed, untracked ones included.
pub(super) fn uncommitted(git: &Git) -> Result<usize, GitError> {
    status(git, &[]).map(|paths| paths.len())
}

/// Every such path by itself, however many stand in an untracked directory.
pub(super) fn uncommitted_files(git: &Git) -> Result<Vec<PathBuf>, GitError> {
    status(git, &["--untracked-files=all"])
}

fn status(git: &Git, more: &[&str]) -> Result<Vec<PathBuf>, GitError> {
    let mut args = vec![
        "status",
        "--porcelain=v1",
        "-z",
        "--no-renames",
        "--ignore-submodules=all",
    ];
    args.extend(more);
    let listed = git.look(&args)?;
    // Two letters and a space stand before each path.
    Ok(nul_separated(&listed)
        .map(|line| {
            let bytes = line.as_os_str().as_bytes();
            PathBuf::from(OsStr::from_bytes(bytes.get(3..).unwrap_or_default()))
        })
        .collect())
}
