//! What a worktree changes, as a patch against where it left the workspace's branch.

use std::path::PathBuf;

use super::changes::untracked;
use super::git::{CHECKOUT, Git, GitError};
use super::index;
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

/// The difference of worktree `name`; of its branch alone if the worktree is gone or cannot be trusted. `Err` in words.
pub fn difference(workspace: &Workspace, name: &WorktreeName) -> Result<Difference, String> {
    let untaken = settle(workspace, name).err();
    let outside = Git::in_workspace(workspace.root());
    let words = |error: GitError| format!("worktree {name} was not compared: {error}");
    match trusted(workspace, name) {
        Ok((repository, registration)) => {
            let inside = Git::in_worktree(&repository, &registration, &workspace.worktree(name));
            index::check(&inside)
                .map_err(|why| format!("worktree {name} was not compared: {why}"))?;
            let head = outside.text(&["rev-parse", "HEAD"]).map_err(words)?;
            let base = inside.text(&["merge-base", &head, "HEAD"]).map_err(words)?;
            Ok(Difference {
                patch: patch(&inside, &base).map_err(words)?,
                untracked: untracked(&inside).map_err(words)?,
                problem: untaken,
            })
        }
        Err(why) => {
            let branch = name.branch();
            let is_gone = std::fs::symlink_metadata(workspace.worktree(name)).is_err();
            let range = format!("HEAD...refs/heads/{branch}");
            Ok(Difference {
                patch: patch(&outside, &range).map_err(|_| {
                    format!(
                        "there is no worktree {name} and no branch {branch}; `lead worktree list` shows what there is"
                    )
                })?,
                untracked: Vec::new(),
                problem: (!is_gone).then_some(why),
            })
        }
    }
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
