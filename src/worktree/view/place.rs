//! Where the parts of a view are.

use std::path::{Path, PathBuf};

use crate::ids::WorktreeName;
use crate::store::lock::{FileLock, LOCK_WAIT};
use crate::store::read::read_plain;
use crate::store::{Durability, atomic};
use crate::workspace::Workspace;
use crate::worktree::git::Git;
use crate::worktree::usable::trusted;

use super::refs::{self, Refs};

/// The largest note that is read, in bytes.
const MAX_NOTE: u64 = 512 * 1024 * 1024;

/// Files of the repository of which a view has copies: as they are at the beginning of each call.
const COPIES: [&str; 3] = ["HEAD", "config", "shallow"];

/// The view of one worktree, and the repository that it is a view of. All paths are absolute and hold no link.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) name: WorktreeName,
    /// The checkout.
    pub(super) checkout: PathBuf,
    /// The repository's git directory.
    pub(super) common: PathBuf,
    /// The worktree's own part of it.
    pub(super) admin: PathBuf,
    /// Where the view and what is noted of it is kept.
    pub(super) home: PathBuf,
}

/// The right to change a view and what is noted of it.
pub(super) struct Turn(#[expect(dead_code, reason = "held until dropped")] FileLock);

impl Place {
    /// `Err` says in words why the worktree cannot be trusted.
    pub(super) fn find(workspace: &Workspace, name: &WorktreeName) -> Result<Self, String> {
        let (repository, registration) = trusted(workspace, name)?;
        let resolved = |path: &Path| {
            path.canonicalize()
                .map_err(|error| format!("{} cannot be resolved ({error})", path.display()))
        };
        let (common, admin) = (
            resolved(&repository.common)?,
            resolved(&registration.git_dir)?,
        );
        if admin.parent() != Some(&common.join("worktrees")) {
            return Err(format!(
                "worktree {name} cannot be used: its git directory {} is somewhere else",
                admin.display()
            ));
        }
        Ok(Self {
            name: name.clone(),
            checkout: resolved(&workspace.worktree(name))?,
            common,
            admin,
            home: workspace.git_view(name),
        })
    }

    /// What the agent sees as the repository's git directory; only its sandbox lets it write there.
    pub(super) fn view(&self) -> PathBuf {
        self.home.join("view")
    }

    /// The copy of the repository's `info`.
    pub(super) fn info(&self) -> PathBuf {
        self.home.join("info")
    }

    /// Waits for the right to change it.
    pub(super) fn turn(&self) -> Result<Turn, String> {
        let lock = FileLock::exclusive(&self.home.join("lock"), LOCK_WAIT);
        lock.map(Turn).map_err(|error| error.to_string())
    }

    /// git in the repository; never in the view, in which an agent writes.
    pub(super) fn git(&self) -> Git {
        Git::in_repository(&self.common)
    }

    pub(super) fn branch(&self) -> String {
        format!("refs/heads/{}", self.name.branch())
    }

    /// The repository's files that the view has copies of, each with its name in there.
    pub(super) fn copies(&self) -> impl Iterator<Item = (&'static str, PathBuf)> {
        COPIES.iter().map(|name| (*name, self.common.join(name)))
    }

    /// The references as they were when view and repository were last brought together.
    pub(super) fn noted(&self) -> Result<Refs, String> {
        refs::noted(&self.home).map_err(|error| error.to_string())
    }

    pub(super) fn note_refs(&self, refs: &Refs) -> Result<(), String> {
        self.put("refs", &refs::written(refs), Durability::Power)
    }

    /// What is noted under `name`, `None` if nothing is.
    pub(super) fn note(&self, name: &str) -> Result<Option<Vec<u8>>, String> {
        read_plain(&self.home.join(name), MAX_NOTE).map_err(|error| error.to_string())
    }

    pub(super) fn put(
        &self,
        name: &str,
        bytes: &[u8],
        durability: Durability,
    ) -> Result<(), String> {
        atomic::replace(&self.home.join(name), bytes, durability)
            .map_err(|error| format!("{error}: {}", error.source))
    }
}
