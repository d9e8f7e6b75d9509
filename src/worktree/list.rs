//! What worktrees there are and how each stands, whatever state it is in.

use std::collections::BTreeSet;
use std::io;

use super::changes::uncommitted;
use super::git::{Git, GitError};
use super::repository::Repository;
use super::usable::{registered, trusted};
use super::view::settle;
use crate::ids::WorktreeName;
use crate::workspace::Workspace;

/// One worktree as git and the files show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// Its name.
    pub name: WorktreeName,
    /// How many commits its branch has that the workspace's HEAD lacks; `None` if there is no such branch.
    pub ahead: Option<usize>,
    /// How many commits the workspace's HEAD has that its branch lacks.
    pub behind: Option<usize>,
    /// How many paths have changes that are not committed, untracked ones included; `None` if that cannot be known.
    pub changes: Option<usize>,
    /// Why it cannot be worked in.
    pub problem: Option<String>,
}

/// The names of all worktrees of the workspace: directories beneath `.worktrees`, and what git has registered there.
pub fn names(workspace: &Workspace) -> io::Result<BTreeSet<WorktreeName>> {
    let parent = workspace.worktrees_dir();
    let mut names = BTreeSet::new();
    match std::fs::symlink_metadata(&parent) {
        Ok(meta) if meta.is_dir() => {
            for entry in std::fs::read_dir(&parent)? {
                names.extend(entry?.file_name().to_str().and_then(parsed));
            }
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let Some(repository) = Repository::around(workspace.root())? else {
        return Ok(names);
    };
    let parent = workspace.root().canonicalize()?.join(".worktrees");
    let registered = repository.registrations()?;
    names.extend(registered.iter().filter_map(|(checkout, _)| {
        let name = checkout.strip_prefix(&parent).ok()?.to_str()?;
        parsed(name)
    }));
    Ok(names)
}

fn parsed(name: &str) -> Option<WorktreeName> {
    WorktreeName::parse(name).ok()
}

/// How the worktree of that name stands, whether or not there is one.
pub fn state(workspace: &Workspace, name: &WorktreeName) -> State {
    let untaken = settle(workspace, name).err();
    let outside = Git::in_workspace(workspace.root());
    let (ahead, behind) = distance(&outside, name)
        .map_or((None, None), |(ahead, behind)| (Some(ahead), Some(behind)));
    let path = workspace.worktree(name);
    let inside = trusted(workspace, name);
    let changes = inside.as_ref().ok().map(|(repository, registration)| {
        uncommitted(&Git::in_worktree(repository, registration, &path))
    });
    let problem = match (registered(workspace, name), &changes) {
        (Err(why), _) => Some(why.into()),
        (Ok(_), Some(Err(error))) => Some(error.to_string()),
        (Ok(_), _) => untaken,
    };
    State {
        name: name.clone(),
        ahead,
        behind,
        changes: changes.and_then(Result::ok),
        problem,
    }
}

/// How many commits the worktree's branch is ahead of the workspace's HEAD, and how many behind.
fn distance(git: &Git, name: &WorktreeName) -> Option<(usize, usize)> {
    let range = format!("HEAD...refs/heads/{}", name.branch());
    let counted: Result<String, GitError> =
        git.text(&["rev-list", "--left-right", "--count", &range]);
    let counted = counted.ok()?;
    let (behind, ahead) = counted.split_once('\t')?;
    Some((ahead.parse().ok()?, behind.parse().ok()?))
}
