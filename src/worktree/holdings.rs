//! What exists only in one worktree and would be gone with it.

use std::path::{Path, PathBuf};

use super::changes::{Kind, nested, with_ignored};
use super::checkout;
use super::git::{Git, GitError};
use super::repository::{Registration, Repository};
use crate::ids::WorktreeName;

/// How many paths of each kind are named.
const NAMED: usize = 5;

/// Each kind in words; empty if all of it is in commits that stay. What cannot be found out counts as something.
pub(super) fn holdings(
    git: &Git,
    repository: &Repository,
    registration: &Registration,
    path: &Path,
    name: &WorktreeName,
) -> Vec<String> {
    let mut held = Vec::new();
    let here = Repository {
        top: path.to_path_buf(),
        git_dir: registration.git_dir.clone(),
        common: repository.common.clone(),
    };
    if let Some(what) = checkout::unfinished(git, &here) {
        held.push(format!("{what} in progress"));
    }
    let looked = files(git, path)
        .and_then(|files| Ok((files, detached(git)?)))
        .and_then(|(files, commits)| Ok((files, commits, stashes(git, name)?)));
    match looked {
        Err(error) => held.push(format!("a state that git does not tell ({error})")),
        Ok((files, commits, stashes)) => {
            held.extend(files);
            held.extend(commits);
            held.extend(stashes);
        }
    }
    held
}

fn files(git: &Git, path: &Path) -> Result<Vec<String>, GitError> {
    let found = with_ignored(git)?;
    let of = |kind: Kind| -> Vec<PathBuf> {
        found
            .iter()
            .filter(|(entry, _)| *entry == kind)
            .map(|(_, path)| path.clone())
            .collect()
    };
    let repositories: Vec<PathBuf> = nested(git)?
        .into_iter()
        .filter(|nested| path.join(nested).join(".git").exists())
        .collect();
    let kinds = [
        (of(Kind::Tracked), "uncommitted changes"),
        (of(Kind::Untracked), "untracked files"),
        (of(Kind::Ignored), "ignored files"),
        (repositories, "repositories of their own"),
    ];
    Ok(kinds
        .into_iter()
        .filter(|(paths, _)| !paths.is_empty())
        .map(|(paths, what)| format!("{what} ({})", named(&paths)))
        .collect())
}

/// Commits of a detached head that no branch or tag leads to.
fn detached(git: &Git) -> Result<Option<String>, GitError> {
    if git.look(&["symbolic-ref", "--quiet", "HEAD"]).is_ok() {
        return Ok(None);
    }
    let only_here = [
        "rev-list",
        "--count",
        "HEAD",
        "--not",
        "--branches",
        "--tags",
        "--remotes",
    ];
    let count = git.text(&only_here)?;
    if count == "0" {
        return Ok(None);
    }
    let tip = git.text(&["rev-parse", "--short", "HEAD"])?;
    Ok(Some(format!(
        "commits on no branch ({count}, the last is {tip})"
    )))
}

/// Stashes that were made on its branch. They are the repository's and stay, but what they were meant for goes.
fn stashes(git: &Git, name: &WorktreeName) -> Result<Option<String>, GitError> {
    let listed = git.text(&["stash", "list", "--format=%gd %gs"])?;
    let on = format!(" on {}:", name.branch());
    let made_here: Vec<&str> = listed
        .lines()
        .filter(|line| line.to_lowercase().contains(&on.to_lowercase()))
        .filter_map(|line| line.split(' ').next())
        .collect();
    Ok((!made_here.is_empty()).then(|| format!("stashed changes ({})", made_here.join(", "))))
}

fn named(paths: &[PathBuf]) -> String {
    let mut names: Vec<String> = paths
        .iter()
        .take(NAMED)
        .map(|path| path.display().to_string())
        .collect();
    if paths.len() > NAMED {
        names.push(format!("and {} more", paths.len() - NAMED));
    }
    names.join(", ")
}
