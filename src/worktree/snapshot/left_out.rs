//! What a snapshot leaves out and names: repositories within the repository, and large files that git does not track.
//!
//! It is kept in the snapshot's message, so that what was not held then is never taken for something made since.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::tree::TIME;
use crate::worktree::git::{Git, GitError, nul_separated};

/// Largest file that is held without being tracked, in bytes.
pub(in crate::worktree) const LARGEST: u64 = 100 * 1024 * 1024;
/// How the line in the message begins.
const MARK: &str = "left out: ";

/// Paths from the directory that the snapshot is made in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Repositories of their own.
    #[serde(default)]
    pub repositories: Vec<PathBuf>,
    /// Files that are too large.
    #[serde(default)]
    pub large: Vec<PathBuf>,
}

impl LeftOut {
    /// What there is now that the index of `git` does not know.
    pub(in crate::worktree) fn find(git: &Git) -> Result<Self, GitError> {
        let listed = git.run(&["ls-files", "-o", "-z", "--exclude-standard"], TIME)?;
        let mut found = Self::default();
        for path in nul_separated(&listed) {
            if path.as_os_str().as_bytes().ends_with(b"/") {
                found.repositories.push(path);
            } else if is_large(git, &path) {
                found.large.push(path);
            }
        }
        Ok(found)
    }

    /// Those of the repositories that the index knows in which there is anything.
    pub(in crate::worktree) fn with_repositories(git: &Git, known: Vec<PathBuf>) -> Self {
        let is_there = |path: &PathBuf| {
            std::fs::read_dir(git.dir().join(path))
                .is_ok_and(|mut entries| entries.next().is_some())
        };
        let there = known.into_iter().filter(is_there);
        Self {
            repositories: there.map(|path| path.join("")).collect(),
            large: Vec::new(),
        }
    }

    /// What the snapshot `commit` has left out.
    pub(in crate::worktree) fn of(git: &Git, commit: &str) -> Result<Self, GitError> {
        let message = git.text(&["show", "-s", "--format=%B", commit])?;
        let line = message.lines().find_map(|line| line.strip_prefix(MARK));
        Ok(line
            .and_then(|line| serde_json::from_str(line).ok())
            .unwrap_or_default())
    }

    /// Besides, what `other` has left out.
    pub(in crate::worktree) fn join(&mut self, other: Self) {
        for (mine, others) in [
            (&mut self.repositories, other.repositories),
            (&mut self.large, other.large),
        ] {
            mine.extend(others);
            mine.sort();
            mine.dedup();
        }
    }

    /// The end of the snapshot's message. A path that is no UTF-8 is left out of it.
    pub(in crate::worktree) fn noted(&self) -> String {
        let text = |paths: &[PathBuf]| {
            let known = paths.iter().filter(|path| path.to_str().is_some());
            known.cloned().collect::<Vec<_>>()
        };
        let known = Self {
            repositories: text(&self.repositories),
            large: text(&self.large),
        };
        match serde_json::to_string(&known) {
            Ok(line) if known != Self::default() => format!("\n\n{MARK}{line}"),
            _ => String::new(),
        }
    }

    /// Everything but that, as git reads a list of paths with NUL after each.
    pub(in crate::worktree) fn the_rest(&self) -> Vec<u8> {
        let mut spec = b".\0".to_vec();
        for path in self.repositories.iter().chain(&self.large) {
            let path = path.as_os_str().as_bytes();
            spec.extend_from_slice(b":(exclude,literal)");
            spec.extend_from_slice(path.strip_suffix(b"/").unwrap_or(path));
            spec.push(0);
        }
        spec
    }

    /// In words; `None`: nothing is left out.
    pub fn told(&self) -> Option<String> {
        let named = |what: &str, paths: &[PathBuf]| {
            (!paths.is_empty()).then(|| format!("{what} {}", super::shown(paths)))
        };
        let large = format!(
            "files over {} MiB that git does not hold as they are:",
            LARGEST / (1024 * 1024)
        );
        let parts = [
            named("repositories within this one:", &self.repositories),
            named(&large, &self.large),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// Whether the file of that name is too large to be held.
pub(super) fn is_large(git: &Git, path: &std::path::Path) -> bool {
    let there = std::fs::symlink_metadata(git.dir().join(path));
    there.is_ok_and(|meta| meta.is_file() && meta.len() > LARGEST)
}
