//! Removing a worktree, people only (SPEC §7.4): its branch always stays, and nothing that exists only in it goes without
//! the person saying so.
//!
//! The directory is taken away here, not by git: links in it are removed, never followed, and nothing that an agent has
//! written decides what is deleted. git is then left with a registration whose checkout is missing, which it forgets.

use std::fmt;
use std::io;
use std::path::Path;

use super::git::{CHECKOUT, Git};
use super::holdings::holdings;
use super::repository::{Registration, Repository};
use super::usable::trusted;
use super::view;
use crate::ids::WorktreeName;
use crate::store::fault::{self, Point};
use crate::workspace::Workspace;

/// Why a worktree is still there.
#[derive(Debug, thiserror::Error)]
pub enum RemoveError {
    /// Nothing was removed; why.
    #[error("{0}")]
    Refused(String),
    /// A part of it is gone; the text says what is left and starts with `Partial operation`.
    #[error("{0}")]
    Partial(String),
}

impl RemoveError {
    /// Worktree `name` was not removed, and `why`.
    pub fn refused(name: &WorktreeName, why: impl fmt::Display) -> Self {
        Self::Refused(format!(
            "worktree {name} was not removed: {why}; nothing was changed"
        ))
    }
}

/// Removes the directory and the registration of worktree `name`. Whether a task or an agent needs it is the caller's to
/// know. What exists only in it makes this refuse, unless `discard`; what was discarded is returned, in words.
pub fn remove(
    workspace: &Workspace,
    name: &WorktreeName,
    discard: bool,
) -> Result<Vec<String>, RemoveError> {
    let refused = |why: String| RemoveError::refused(name, why);
    let found = find(workspace, name).map_err(refused)?;
    // First: it takes over what can be, so that git compares with what is there.
    let in_view = view::held(workspace, name);
    let mut lost = lost(workspace, name, &found);
    lost.extend(in_view);
    if !(lost.is_empty() || discard) {
        return Err(refused(format!(
            "it has {}; commit what is wanted on branch {}, or give --discard-changes to lose it",
            lost.join(", and "),
            name.branch()
        )));
    }
    take_away(workspace, name, &found)?;
    Ok(lost)
}

/// What there is of a worktree.
struct Found {
    has_directory: bool,
    registration: Option<Registration>,
}

/// Refuses what is no worktree of ours to remove.
fn find(workspace: &Workspace, name: &WorktreeName) -> Result<Found, String> {
    let path = workspace.worktree(name);
    let mut has_directory = false;
    for (place, what) in [
        (workspace.worktrees_dir(), ".worktrees"),
        (path.clone(), "its directory"),
    ] {
        match std::fs::symlink_metadata(&place) {
            Ok(meta) if meta.is_dir() => has_directory = place == path,
            Ok(meta) if meta.is_symlink() => {
                return Err(format!(
                    "{what} is a symbolic link, which is not followed; remove the link by hand"
                ));
            }
            Ok(_) => {
                return Err(format!("{} is no directory; move it away", place.display()));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(format!("{}: {error}", place.display())),
        }
    }
    let registration = registration(workspace, name)
        .map_err(|error| format!("git's worktrees cannot be read ({error})"))?;
    if !has_directory && registration.is_none() && !workspace.git_view(name).exists() {
        return Err("there is none; `lead worktree list` shows what there is".to_owned());
    }
    if path.join(".git").is_dir() {
        return Err(format!(
            "{} is a repository of its own by now, with a history that is nowhere else; move it away by hand",
            path.display()
        ));
    }
    if let Some(reason) = registration.as_ref().and_then(Registration::locked)
        && reason != "initializing"
    {
        return Err(format!(
            "somebody has locked it ({reason}); run `git worktree unlock '{}'` first",
            path.display()
        ));
    }
    Ok(Found {
        has_directory,
        registration,
    })
}

fn registration(workspace: &Workspace, name: &WorktreeName) -> io::Result<Option<Registration>> {
    let Some(repository) = Repository::around(workspace.root())? else {
        return Ok(None);
    };
    let root = workspace.root().canonicalize()?;
    repository.registration_of(&root.join(".worktrees").join(name.as_str()))
}

/// What exists only in it, in words.
fn lost(workspace: &Workspace, name: &WorktreeName, found: &Found) -> Vec<String> {
    if !found.has_directory {
        return Vec::new();
    }
    let path = workspace.worktree(name);
    if is_empty(&path) {
        return Vec::new();
    }
    match trusted(workspace, name) {
        Ok((_, registration)) if registration.is_half_made() => {
            vec!["files that git had not finished writing when it was ended".to_owned()]
        }
        Ok((repository, registration)) => {
            let inside = Git::in_worktree(&repository, &registration, &path);
            holdings(&inside, &repository, &registration, &path, name)
        }
        Err(why) => vec![format!(
            "files that cannot be compared with any commit ({why})"
        )],
    }
}

fn is_empty(path: &Path) -> bool {
    std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

fn take_away(workspace: &Workspace, name: &WorktreeName, found: &Found) -> Result<(), RemoveError> {
    let path = workspace.worktree(name);
    let shown = path.display();
    let branch = name.branch();
    if found.has_directory {
        clear(&path).map_err(|error| {
            RemoveError::Partial(format!(
                "Partial operation: worktree {name} is removed only in part ({error}). What exists:\n- files in {shown}\n\
                 - its registration with git\n- the branch {branch}\n\
                 Mend what stood in the way, then run `lead worktree remove {name} --discard-changes` again."
            ))
        })?;
    }
    view::forget(workspace, name).map_err(|error| {
        RemoveError::Partial(format!(
            "Partial operation: the files of worktree {name} are gone, but not what was kept of its view ({error}). What exists:\n\
             - files in {}\n- its registration with git\n- the branch {branch}\n\
             Mend what stood in the way, then run `lead worktree remove {name} --discard-changes` again.",
            workspace.git_view(name).display()
        ))
    })?;
    fault::here(Point::WorktreeEmptied);
    if found.registration.is_none() {
        return Ok(());
    }
    let place = format!(".worktrees/{name}");
    let args = ["worktree", "remove", "--force", "--force", &place];
    let Err(error) = Git::in_workspace(workspace.root()).run(&args, CHECKOUT) else {
        return Ok(());
    };
    if matches!(registration(workspace, name), Ok(None)) {
        // Somebody else has removed it meanwhile.
        return Ok(());
    }
    Err(RemoveError::Partial(format!(
        "Partial operation: the files of worktree {name} are gone, but git still has it registered ({error}). \
         What exists:\n- its registration as {shown}\n- the branch {branch}\nRun `git worktree prune` to end it."
    )))
}

/// Takes the directory at `path` away, whoever else does so at the same moment. Its `.git` file goes first: who compares it
/// with a commit meanwhile finds no worktree there.
fn clear(path: &Path) -> io::Result<()> {
    std::fs::remove_file(path.join(".git")).ok();
    loop {
        match std::fs::remove_dir_all(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if std::fs::symlink_metadata(path).is_err() {
                    return Ok(());
                }
            }
            done => return done,
        }
    }
}
