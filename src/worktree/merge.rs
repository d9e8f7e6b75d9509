//! Trying a merge without touching anything: no checkout, no index, no branch.
//!
//! git writes the merged files' objects into the repository, where nothing names them until somebody makes a commit of
//! them.

use std::path::PathBuf;

use super::git::{CHECKOUT, Git, GitError, nul_separated};

/// How a merge would end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trial {
    /// Without conflicts, in this tree.
    Clean {
        /// The id of the merged tree.
        tree: String,
    },
    /// These files would need a person.
    Conflict {
        /// From the top of the checkout, as git lists them; never empty.
        files: Vec<PathBuf>,
    },
}

/// Merges two commits, named in any way git understands, as `git merge` would with `ours` checked out.
pub(super) fn try_merge(git: &Git, ours: &str, theirs: &str) -> Result<Trial, GitError> {
    let args = [
        "merge-tree",
        "--write-tree",
        "--name-only",
        "--no-messages",
        "-z",
        ours,
        theirs,
    ];
    let ended = git.end(&args, CHECKOUT)?;
    let listed: Vec<PathBuf> = nul_separated(&ended.stdout).collect();
    match (ended.code, listed.as_slice()) {
        (Some(0), [tree]) => Ok(Trial::Clean {
            tree: tree.display().to_string(),
        }),
        (Some(1), [_, files @ ..]) => Ok(Trial::Conflict {
            files: files.to_vec(),
        }),
        _ => Err(match git.too_old_to_try_merges() {
            Some(found) => GitError::TooOld {
                what: "merging",
                found,
            },
            None => ended.failed(&args),
        }),
    }
}

/// Makes a commit of a tried merge, which no branch names yet; its id. Author and committer are the person that git's
/// configuration names, else the runtime.
pub(super) fn commit_merge(
    git: &Git,
    tree: &str,
    parents: &[&str],
    message: &str,
) -> Result<String, GitError> {
    let mut args = vec!["commit-tree", tree, "-m", message];
    for parent in parents {
        args.extend(["-p", parent]);
    }
    git.clone().signed_by_somebody().text(&args)
}
