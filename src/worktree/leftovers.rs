//! What the one who did a task has left uncommitted in its worktree: committed for it, so that whoever builds on the task
//! finds all of its work.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::checkout;
use super::dependencies::inside;
use super::git::GitError;
use super::snapshot::diff::{Change, between};
use super::snapshot::tree::{Ground, Now};
use crate::ids::WorktreeName;
use crate::workspace::Workspace;

/// The files of a worktree as they stand, if they are not as in its last commit. No commit yet.
pub struct Leftovers {
    ground: Ground,
    reference: String,
    head: String,
    tree: String,
    files: usize,
    /// Repositories within that a commit knows.
    inner: Vec<PathBuf>,
    besides: Option<String>,
    unread: String,
}

/// What was committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    /// The commit, shortened.
    pub id: String,
    /// How many files it changes.
    pub files: usize,
    /// What stays uncommitted, in words: repositories of their own, and what cannot be read.
    pub stays: Option<String>,
}

impl Committed {
    /// In words, for whoever completed the task.
    pub fn told(&self) -> String {
        let stays = self.stays.as_ref();
        format!(
            "{} left uncommitted in the worktree: committed as {}{}",
            counted(self.files),
            self.id,
            stays.map_or_else(String::new, |stays| format!(", except: {stays}"))
        )
    }
}

/// What is left uncommitted in worktree `name`, untracked files included, ignored ones not; `None` if nothing is.
///
/// `Err` in words if nothing could be committed there now: a rebase in progress, a broken worktree.
pub fn leftovers(workspace: &Workspace, name: &WorktreeName) -> Result<Option<Leftovers>, String> {
    let (repository, git) = inside(workspace, name)?;
    if let Some(what) = checkout::unfinished(&git, &repository) {
        return Err(format!(
            "{what} is in progress in worktree {name}; end it or abort it first"
        ));
    }
    let failed = |error: GitError| error.to_string();
    let ground = Ground::in_checkout(repository, git.signed_by_somebody())
        .map_err(|error| error.to_string())?;
    let Some(head) = ground.commit("HEAD").map_err(failed)? else {
        return Err(format!("worktree {name} has no commit to go on from"));
    };
    let now = ground.now(None).map_err(|error| error.to_string())?;
    let changes = between(&ground.git, &head, &now.tree).map_err(failed)?;
    let (inner, changes): (Vec<Change>, Vec<Change>) =
        changes.into_iter().partition(Change::is_repository);
    if changes.is_empty() {
        return Ok(None);
    }
    let tree = without(&now, &inner).map_err(failed)?;
    Ok(Some(Leftovers {
        reference: format!("refs/heads/{}", name.branch()),
        head,
        tree,
        files: changes.len(),
        inner: inner.into_iter().map(|change| change.path).collect(),
        besides: now.left_out.told(),
        unread: now.unread,
        ground,
    }))
}

/// The tree without repositories within the repository that no commit had before: it would name commits that nobody has.
fn without(now: &Now, inner: &[Change]) -> Result<String, GitError> {
    let mut paths = Vec::new();
    for change in inner.iter().filter(|change| change.is_new()) {
        paths.extend_from_slice(change.path.as_os_str().as_bytes());
        paths.push(0);
    }
    if paths.is_empty() {
        return Ok(now.tree.clone());
    }
    now.git
        .fed(&["update-index", "-z", "--force-remove", "--stdin"], &paths)?;
    now.git.text(&["write-tree"])
}

fn counted(files: usize) -> String {
    match files {
        1 => "1 file".to_owned(),
        files => format!("{files} files"),
    }
}

impl Leftovers {
    /// How many files there are, in words.
    pub fn counted(&self) -> String {
        counted(self.files)
    }

    /// Commits them to the worktree's branch, unless that has moved since.
    ///
    /// Killed after the branch has moved, git shows the old index until it is refreshed; no work is lost.
    pub fn commit(self, message: &str) -> Result<Committed, String> {
        let words = |error: GitError| error.to_string();
        let git = &self.ground.git;
        let commit = self
            .ground
            .commit_tree(&self.tree, message)
            .map_err(words)?;
        git.look(&["update-ref", &self.reference, &commit, &self.head])
            .map_err(words)?;
        // The files are as committed already.
        let refreshed = git.look(&["read-tree", "-m", "-i", &commit]);
        let mut stays: Vec<String> = self
            .inner
            .iter()
            .map(|path| format!("{} is a repository of its own", path.display()))
            .collect();
        stays.extend(self.besides);
        if let Err(error) = refreshed {
            stays.push(format!("git's index there is not refreshed ({error})"));
        }
        if !self.unread.is_empty() {
            stays.push(self.unread);
        }
        Ok(Committed {
            id: commit.get(..10).unwrap_or(&commit).to_owned(),
            files: self.files,
            stays: (!stays.is_empty()).then(|| stays.join("; ")),
        })
    }
}
