//! What is in a checkout and in no commit.
//!
//! git never looks into nested repositories here: their configuration, which an agent can write, would decide what runs.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::git::{Git, GitError, nul_separated};

/// Where git knows a changed path from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// From a commit or the index.
    Tracked,
    /// From the directory alone.
    Untracked,
    /// From the directory alone, and it is told not to look.
    Ignored,
}

/// How many paths have changes that are not committed, untracked ones included.
pub(super) fn uncommitted(git: &Git) -> Result<usize, GitError> {
    status(git, &[]).map(|paths| paths.len())
}

/// Every such path by itself, however many stand in an untracked directory.
pub(super) fn uncommitted_files(git: &Git) -> Result<Vec<PathBuf>, GitError> {
    let found = status(git, &["--untracked-files=all"])?;
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

/// Every path that git does not know, by itself.
pub(super) fn untracked(git: &Git) -> Result<Vec<PathBuf>, GitError> {
    let found = status(git, &["--untracked-files=all"])?;
    let unknown = found
        .into_iter()
        .filter(|(kind, _)| *kind == Kind::Untracked);
    Ok(unknown.map(|(_, path)| path).collect())
}

/// Every path that is in no commit as it stands, ignored ones too; whole directories of them by their own name.
pub(super) fn with_ignored(git: &Git) -> Result<Vec<(Kind, PathBuf)>, GitError> {
    status(git, &["--untracked-files=normal", "--ignored=traditional"])
}

/// Where other repositories are part of this one.
pub(super) fn nested(git: &Git) -> Result<Vec<PathBuf>, GitError> {
    let listed = git.look(&["ls-files", "-z", "--stage"])?;
    Ok(nul_separated(&listed)
        .filter_map(|line| {
            let bytes = line.as_os_str().as_bytes();
            let at = bytes.iter().position(|byte| *byte == b'\t')?;
            bytes
                .starts_with(b"160000 ")
                .then(|| PathBuf::from(OsStr::from_bytes(&bytes[at + 1..])))
        })
        .collect())
}

fn status(git: &Git, more: &[&str]) -> Result<Vec<(Kind, PathBuf)>, GitError> {
    let mut args = vec![
        "status",
        "--porcelain=v1",
        "-z",
        "--no-renames",
        "--ignore-submodules=dirty",
    ];
    args.extend(more);
    let listed = git.look(&args)?;
    // Two letters and a space stand before each path.
    Ok(nul_separated(&listed)
        .map(|line| {
            let bytes = line.as_os_str().as_bytes();
            let kind = match bytes.get(..2) {
                Some(b"??") => Kind::Untracked,
                Some(b"!!") => Kind::Ignored,
                Some(_) | None => Kind::Tracked,
            };
            let path = bytes.get(3..).unwrap_or_default();
            (kind, PathBuf::from(OsStr::from_bytes(path)))
        })
        .collect())
}
