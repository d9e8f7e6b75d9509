//! Whether the workspace is a checkout that worktrees can start from and be merged into.

use std::path::Path;

use super::git::{Git, GitError};
use super::repository::Repository;

/// `Err` says in words why not: no checkout, a bare one, not its top, no commit.
pub(super) fn check(root: &Path, git: &Git) -> Result<(), String> {
    let bare = git
        .text(&["rev-parse", "--is-bare-repository"])
        .map_err(|error| match error {
            GitError::Failed { said, .. } if said.contains("not a git repository") => {
                "the workspace is not a git checkout; run `git init` and commit something first"
                    .to_owned()
            }
            error => error.to_string(),
        })?;
    if bare == "true" {
        return Err(
            "the workspace is a bare repository, which has no files to work on; use a checkout of it"
                .to_owned(),
        );
    }
    let top = git
        .text(&["rev-parse", "--show-toplevel"])
        .map_err(|error| error.to_string())?;
    let is_top = Path::new(&top).canonicalize().ok() == root.canonicalize().ok();
    if !is_top {
        return Err(format!(
            "the workspace {} is not the top of its git checkout, which is {top}; start the lead there",
            root.display()
        ));
    }
    git.look(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
        .map(drop)
        .map_err(|_| {
            "the repository has no commit yet, so there is nothing to start from; commit first"
                .to_owned()
        })
}

/// What git has begun in a checkout and not ended: `a rebase`, `a merge` and the like.
pub(super) fn unfinished(git: &Git, repository: &Repository) -> Option<&'static str> {
    const MARKS: [(&str, &str); 7] = [
        ("rebase-merge", "a rebase"),
        ("rebase-apply", "a rebase"),
        ("MERGE_HEAD", "a merge"),
        ("CHERRY_PICK_HEAD", "a cherry-pick"),
        ("REVERT_HEAD", "a revert"),
        ("sequencer", "a cherry-pick or revert"),
        ("BISECT_LOG", "a bisect"),
    ];
    let is_there = |mark: &str| {
        std::fs::symlink_metadata(repository.git_dir.join(mark)).is_ok()
            || (repository.has_reftable()
                && mark.ends_with("_HEAD")
                && git
                    .look(&["rev-parse", "--verify", "--quiet", mark])
                    .is_ok())
    };
    MARKS
        .into_iter()
        .find(|(mark, _)| is_there(mark))
        .map(|(_, what)| what)
}
