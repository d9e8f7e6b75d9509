//! What a worktree changes, as a patch against where it left the workspace's branch.

use std::path::PathBuf;

use super::changes::untracked;
use super::git::{CHECKOUT, Git, GitError};
use super::index;
use super::repository::{Registration, Repository};
use super::usable::trusted;
use super::view::settle;
use crate::ids::WorktreeName;
use crate::workspace::Workspace;

/// What a worktree changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Its commits and its uncommitted changes, as git writes patches.
    pub patch: Vec<u8>,
    /// Files that the patch leaves out: git does not know them yet.
    pub untracked: Vec<PathBuf>,
    /// Why it is not all: only the branch was looked at, or work was not taken over.
    pub problem: Option<String>,
}

/// The difference of worktree `name`; of its branch alone if the worktree is gone, also meanwhile, or cannot be trusted. `Err`
/// in words.
pub fn difference(workspace: &Workspace, name: &WorktreeName) -> Result<Difference, String> {
    let untaken = settle(workspace, name).err();
    match trusted(workspace, name).map(|found| of_worktree(workspace, name, &found, untaken)) {
        Ok(Err(_)) if trusted(workspace, name).is_err() => of_branch(workspace, name),
        Ok(compared) => compared,
        Err(_) => of_branch(workspace, name),
    }
}

fn of_worktree(
    workspace: &Workspace,
    name: &WorktreeName,
    (repository, registration): &(Repository, Registration),
    untaken: Option<String>,
) -> Result<Difference, String> {
    let words = |error: GitError| format!("worktree {name} was not compared: {error}");
    let outside = Git::in_workspace(workspace.root());
    let inside = Git::in_worktree(repository, registration, &workspace.worktree(name));
    index::check(&inside).map_err(|why| format!("worktree {name} was not compared: {why}"))?;
    let head = outside.text(&["rev-parse", "HEAD"]).map_err(words)?;
    let base = inside.text(&["merge-base", &head, "HEAD"]).map_err(words)?;
    Ok(Difference {
        patch: patch(&inside, &base).map_err(words)?,
        untracked: untracked(&inside).map_err(words)?,
        problem: untaken,
    })
}

fn of_branch(workspace: &Workspace, name: &WorktreeName) -> Result<Difference, String> {
    let branch = name.branch();
    let range = format!("HEAD...refs/heads/{branch}");
    let patch = patch(&Git::in_workspace(workspace.root()), &range).map_err(|_| {
        format!(
            "there is no worktree {name} and no branch {branch}; `lead worktree list` shows what there is"
        )
    })?;
    let is_gone = std::fs::symlink_metadata(workspace.worktree(name)).is_err();
    Ok(Difference {
        patch,
        untracked: Vec::new(),
        problem: trusted(workspace, name).err().filter(|_| !is_gone),
    })
}

fn patch(git: &Git, range: &str) -> Result<Vec<u8>, GitError> {
    let args = [
        "diff",
        "--no-ext-diff",
        "--no-textconv",
        "--ignore-submodules=dirty",
        "--submodule=short",
        "--src-prefix=a/",
        "--dst-prefix=b/",
        range,
        "--",
    ];
    git.run(&args, CHECKOUT)
}
