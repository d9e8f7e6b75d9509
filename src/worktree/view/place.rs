//! Where the parts of a view are.

use std::io;
use std::path::PathBuf;

use crate::ids::WorktreeName;
use crate::store::lock::{FileLock, LOCK_WAIT};
use crate::store::read::read_plain;
use crate::store::{Durability, atomic};
use crate::workspace::Workspace;
use crate::worktree::git::Git;
use crate::worktree::repository::Repository;

use super::refs::{self, Refs};
use super::stamp::Stamp;

/// The largest note that is read, in bytes.
const MAX_NOTE: u64 = 512 * 1024 * 1024;

/// The view of one worktree, and the repository that it is a view of. All paths are absolute and hold no link.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) name: WorktreeName,
    /// The repository's git directory.
    pub(super) common: PathBuf,
    /// The worktree's own part of it, as far as it is registered; not to be trusted.
    pub(super) admin: Option<PathBuf>,
    /// Where the view and what is noted of it is kept.
    pub(super) home: PathBuf,
}

/// The right to change a view and what is noted of it.
pub(super) struct Turn(#[expect(dead_code, reason = "held until dropped")] FileLock);

impl Place {
    /// Whatever state the worktree is in; `Err` says in words why the repository cannot be read.
    pub(super) fn find(workspace: &Workspace, name: &WorktreeName) -> Result<Self, String> {
        let unreadable = |error: io::Error| format!("the repository cannot be read ({error})");
        let root = workspace.root().canonicalize().map_err(unreadable)?;
        let repository = Repository::around(&root)
            .map_err(unreadable)?
            .ok_or("the workspace is not in a git checkout any more")?;
        let checkout = root.join(".worktrees").join(name.as_str());
        let registration = repository.registration_of(&checkout).map_err(unreadable)?;
        Ok(Self {
            name: name.clone(),
            common: repository.common.canonicalize().map_err(unreadable)?,
            admin: registration.and_then(|found| found.git_dir.canonicalize().ok()),
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
        Git::in_repository(&self.common).with("GIT_NO_LAZY_FETCH", "1")
    }

    pub(super) fn branch(&self) -> String {
        format!("refs/heads/{}", self.name.branch())
    }

    /// The references as they were when view and repository were last brought together.
    pub(super) fn noted(&self) -> Result<Refs, String> {
        refs::noted(&self.home).map_err(|error| error.to_string())
    }

    /// After what it tells of; lost, view and repository are compared as they are.
    pub(super) fn note_refs(&self, refs: &Refs) -> Result<(), String> {
        self.put("refs", &refs::written(refs), Durability::Process)
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

    /// What was noted under `name` by [`Self::note_look`].
    pub(super) fn noted_look(&self, name: &str) -> Result<Stamp, String> {
        let text = self.note(name)?;
        Ok(text
            .and_then(|text| String::from_utf8(text).ok())
            .filter(|text| !text.is_empty()))
    }

    /// Keeps how all looked at the last look; lost, it is looked at once more.
    pub(super) fn note_look(&self, name: &str, look: Stamp) -> Result<(), String> {
        let text = look.unwrap_or_default();
        self.put(name, text.as_bytes(), Durability::Process)
    }
}
