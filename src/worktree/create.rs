//! Making a worktree: everything is checked before anything is done, and one is made at a time, so that what a failure
//! left is nobody else's.

use std::io;

use super::changes::uncommitted;
use super::checkout;
use super::exclude::exclude_runtime_files;
use super::git::{CHECKOUT, Git, GitError};
use super::repository::Repository;
use super::view;
use crate::ids::WorktreeName;
use crate::store::atomic;
use crate::store::fault::{self, Point};
use crate::store::lock::{FileLock, LockError};
use crate::workspace::Workspace;

/// A worktree that was made and is not bound yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Created {
    /// Its name.
    pub name: WorktreeName,
    /// How many paths of the workspace have uncommitted changes, which it starts without.
    pub uncommitted: usize,
}

/// Why there is no new worktree.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// A precondition does not hold; nothing was made.
    #[error("{0}")]
    Refused(String),
    /// git failed after leaving something behind; nothing was deleted. The text lists what exists and how to keep or
    /// remove it, and starts with `Partial operation`.
    #[error("{0}")]
    Partial(String),
}

/// Makes `.worktrees/<name>` on the new branch `wt/<name>` from HEAD. The task's side is the caller's.
pub fn create(workspace: &Workspace, name: &WorktreeName) -> Result<Created, CreateError> {
    let refused = |why: String| {
        CreateError::Refused(format!(
            "worktree {name} was not made: {why}; nothing was changed"
        ))
    };
    let git = Git::in_workspace(workspace.root());
    check(workspace, name, &git).map_err(refused)?;
    exclude_runtime_files(workspace).map_err(|error| {
        refused(format!(
            "the runtime's files could not be kept out of git ({error}: {})",
            error.source
        ))
    })?;
    let _turn = turn(workspace).map_err(|error| refused(error.to_string()))?;
    // Somebody may have made it while this waited.
    check(workspace, name, &git).map_err(refused)?;
    view::clear(workspace, name).map_err(refused)?;
    let uncommitted = uncommitted(&git).map_err(|error| refused(error.to_string()))?;
    let made_dir = !workspace.worktrees_dir().exists();
    atomic::ensure_dir(&workspace.worktrees_dir())
        .map_err(|error| refused(format!("{error}: {}", error.source)))?;
    match add(name, &git) {
        Ok(()) => {
            fault::here(Point::WorktreeMade);
            Ok(Created {
                name: name.clone(),
                uncommitted,
            })
        }
        Err(error) => Err(after_failure(workspace, name, &git, made_dir, &error)),
    }
}

/// The right to make a worktree now; whoever has it may take as long as a checkout does.
fn turn(workspace: &Workspace) -> Result<FileLock, LockError> {
    atomic::ensure_dir(&workspace.state_dir())?;
    FileLock::exclusive(&workspace.worktrees_lock(), CHECKOUT)
}

fn add(name: &WorktreeName, git: &Git) -> Result<(), GitError> {
    let path = format!(".worktrees/{name}");
    let branch = name.branch();
    let args = [
        "worktree",
        "add",
        "--no-track",
        "-b",
        &branch,
        &path,
        "HEAD",
    ];
    git.run(&args, CHECKOUT).map(drop)
}

/// Every precondition of SPEC §7.1 that is not the board's, in its order.
fn check(workspace: &Workspace, name: &WorktreeName, git: &Git) -> Result<(), String> {
    checkout::check(workspace.root(), git)?;
    check_branch(name, git)?;
    check_path(workspace, name)?;
    check_submodules(git)
}

fn check_branch(name: &WorktreeName, git: &Git) -> Result<(), String> {
    let branch = name.branch();
    git.look(&["check-ref-format", "--branch", &branch])
        .map_err(|_| {
            format!("git accepts no branch of the name {branch}; choose another worktree name")
        })?;
    let taken = git
        .text(&[
            "for-each-ref",
            "--format=%(refname)",
            "refs/heads/wt",
            &format!("refs/heads/{branch}"),
        ])
        .map_err(|error| error.to_string())?;
    for existing in taken
        .lines()
        .filter_map(|name| name.strip_prefix("refs/heads/"))
    {
        if existing == branch {
            return Err(format!(
                "branch {branch} exists already; choose another name, or delete it with `git branch -D {branch}` if nobody needs it"
            ));
        }
        if existing == "wt" || existing.starts_with(&format!("{branch}/")) {
            return Err(format!(
                "branch {existing} exists, and git cannot have {branch} beside it; rename that branch"
            ));
        }
    }
    Ok(())
}

fn check_path(workspace: &Workspace, name: &WorktreeName) -> Result<(), String> {
    let parent = workspace.worktrees_dir();
    match std::fs::symlink_metadata(&parent) {
        Ok(meta) if meta.is_symlink() => {
            return Err(
                ".worktrees is a symbolic link, which is not followed; remove it".to_owned(),
            );
        }
        Ok(meta) if !meta.is_dir() => {
            return Err(".worktrees is not a directory; move it away".to_owned());
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(format!("{}: {error}", parent.display())),
    }
    let path = workspace.worktree(name);
    if std::fs::symlink_metadata(&path).is_ok() {
        return Err(format!(
            "{} exists already; choose another name or move it away",
            path.display()
        ));
    }
    if is_registered(workspace, name)? {
        return Err(format!(
            "git has {} registered as a worktree although nothing is there; run `git worktree prune`",
            path.display()
        ));
    }
    Ok(())
}

fn is_registered(workspace: &Workspace, name: &WorktreeName) -> Result<bool, String> {
    let read = || {
        let root = workspace.root().canonicalize()?;
        let path = root.join(".worktrees").join(name.as_str());
        Repository::at(&root)?.map_or(Ok(None), |repository| repository.registration_of(&path))
    };
    read()
        .map(|found| found.is_some())
        .map_err(|error: io::Error| format!("git's worktrees cannot be read ({error})"))
}

/// git neither fills submodules in a new worktree nor removes a worktree that has some.
fn check_submodules(git: &Git) -> Result<(), String> {
    let tree = git
        .look(&["ls-tree", "-r", "-z", "HEAD"])
        .map_err(|error| error.to_string())?;
    let found = tree
        .split(|byte| *byte == 0)
        .find(|entry| entry.starts_with(b"160000 "));
    match found {
        None => Ok(()),
        Some(entry) => {
            let path = entry
                .splitn(2, |byte| *byte == b'\t')
                .nth(1)
                .unwrap_or(entry);
            Err(format!(
                "the repository has a submodule at {}, which a new worktree would have empty; let the task work in the workspace",
                String::from_utf8_lossy(path)
            ))
        }
    }
}

/// Says what a failed `git worktree add` left. Nothing is deleted but a `.worktrees` that this call made and that is empty.
fn after_failure(
    workspace: &Workspace,
    name: &WorktreeName,
    git: &Git,
    made_dir: bool,
    error: &GitError,
) -> CreateError {
    let path = workspace.worktree(name);
    let branch = name.branch();
    let shown = path.display();
    let mut left = Vec::new();
    if std::fs::symlink_metadata(&path).is_ok() {
        left.push(format!("- the directory {shown}"));
    }
    if is_registered(workspace, name).unwrap_or(true) {
        left.push(format!("- its registration with git as {shown}"));
    }
    let reference = format!("refs/heads/{branch}");
    if git
        .look(&["rev-parse", "--verify", "--quiet", &reference])
        .is_ok()
    {
        left.push(format!("- the branch {branch}"));
    }
    if left.is_empty() {
        if made_dir {
            // Fails if somebody has put something there meanwhile, which then stays.
            drop(std::fs::remove_dir(workspace.worktrees_dir()));
        }
        return CreateError::Refused(format!(
            "worktree {name} was not made: {error}; nothing was left behind"
        ));
    }
    CreateError::Partial(format!(
        "Partial operation: worktree {name} is not complete ({error}). What exists:\n{}\nThe task is still unbound. \
         To keep it, leave it as it is and choose another name. \
         To remove it: `git worktree remove --force '{shown}'`, then `git branch -D {branch}`.",
        left.join("\n")
    ))
}
