//! Whether a bound worktree can be worked in.

use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use super::head::{self, Unusable};
use super::repository::{Registration, Repository, gitdir_line, join, pointer};
use crate::ids::WorktreeName;
use crate::workspace::Workspace;

/// How deep a worktree's git directory is looked into.
const MAX_DEPTH: usize = 16;

/// `Err` says why not: not registered, wrong branch, missing directory, changed `.git` file.
///
/// Reads the registration's own files, so that a claim stays cheap; git is run only where the repository keeps its refs
/// in reftables, whose `HEAD` no file shows.
pub fn usable(workspace: &Workspace, name: &WorktreeName) -> Result<(), Unusable> {
    registered(workspace, name).map(|_| ())
}

/// The same, with the repository and the registration.
pub(super) fn registered(
    workspace: &Workspace,
    name: &WorktreeName,
) -> Result<(Repository, Registration), Unusable> {
    let (repository, registration) = trusted(workspace, name).map_err(Unusable::Broken)?;
    if registration.is_half_made() {
        let why = "it is half made: git was ended while it made it";
        return Err(Unusable::Broken(unusable(name, why)));
    }
    head::check(workspace, &repository, &registration, name)?;
    Ok((repository, registration))
}

/// The same whatever its branch: what git may be asked about.
pub(super) fn trusted(
    workspace: &Workspace,
    name: &WorktreeName,
) -> Result<(Repository, Registration), String> {
    let fail = |why: String| unusable(name, &why);
    check_place(workspace, name).map_err(fail)?;
    let unreadable = |error: io::Error| fail(format!("its registration cannot be read ({error})"));
    let repository = Repository::around(workspace.root())
        .map_err(unreadable)?
        .ok_or_else(|| fail("the workspace is not in a git checkout any more".to_owned()))?;
    let path = workspace
        .worktree(name)
        .canonicalize()
        .map_err(unreadable)?;
    let registration = repository
        .registration_of(&path)
        .map_err(unreadable)?
        .ok_or_else(|| {
            fail(format!(
                "it is not registered with git; if the workspace was moved, run `git worktree repair {}` in it",
                path.display()
            ))
        })?;
    check_pointers(&repository, &registration, &path).map_err(fail)?;
    check_settings(&repository, &registration).map_err(fail)?;
    check_plain(&registration.git_dir, MAX_DEPTH).map_err(fail)?;
    Ok((repository, registration))
}

fn unusable(name: &WorktreeName, why: &str) -> String {
    format!("worktree {name} cannot be used: {why}")
}

fn check_place(workspace: &Workspace, name: &WorktreeName) -> Result<(), String> {
    for (path, what) in [
        (workspace.worktrees_dir(), ".worktrees"),
        (workspace.worktree(name), "its directory"),
    ] {
        match std::fs::symlink_metadata(&path) {
            Ok(meta) if meta.is_dir() => {}
            Ok(meta) if meta.is_symlink() => {
                return Err(format!("{what} is a symbolic link, which is not followed"));
            }
            Ok(_) => return Err(format!("{what} is not a directory")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(format!("{} is missing", path.display()));
            }
            Err(error) => return Err(format!("{}: {error}", path.display())),
        }
    }
    Ok(())
}

/// Both directions must agree: the checkout's `.git` file with the registration, its `commondir` with the repository.
fn check_pointers(
    repository: &Repository,
    registration: &Registration,
    path: &Path,
) -> Result<(), String> {
    let marker = pointer(&path.join(".git")).map_err(|error| format!("its .git file: {error}"))?;
    let Some(target) = marker.as_deref().and_then(gitdir_line) else {
        return Err("its .git file is missing or was changed".to_owned());
    };
    if !same_place(&join(path, target), &registration.git_dir) {
        return Err(format!(
            "its .git file was changed: it names {target}, not {}",
            registration.git_dir.display()
        ));
    }
    let common = pointer(&registration.git_dir.join("commondir"))
        .map_err(|error| format!("its commondir file: {error}"))?
        .unwrap_or_default();
    let common = join(&registration.git_dir, common.trim_end());
    if !same_place(&common, &repository.common) {
        return Err(format!(
            "its commondir file was changed: it names {}",
            common.display()
        ));
    }
    Ok(())
}

/// A configuration of the worktree's own could name programs that git runs. What the workspace's own says may stand
/// there, since git copies it, and what git itself notes of a sparse checkout.
fn check_settings(repository: &Repository, registration: &Registration) -> Result<(), String> {
    let file = registration.git_dir.join("config.worktree");
    let unreadable = |error: io::Error| format!("its config.worktree file: {error}");
    let Some(text) = pointer(&file).map_err(unreadable)? else {
        return Ok(());
    };
    let copied = pointer(&repository.git_dir.join("config.worktree"))
        .map_err(unreadable)?
        .unwrap_or_default();
    let sparse = [
        "[core]",
        "sparsecheckout",
        "sparsecheckoutcone",
        "[index]",
        "sparse",
    ];
    let is_harmless = |line: &str| {
        let key = line.trim().split([' ', '=']).next().unwrap_or_default();
        key.is_empty()
            || sparse.contains(&key.to_lowercase().as_str())
            || copied.lines().any(|own| own.trim() == line.trim())
    };
    match text.lines().find(|line| !is_harmless(line)) {
        None => Ok(()),
        Some(line) => Err(format!(
            "its config.worktree file was changed: {:?} stands in {}",
            line.trim(),
            file.display()
        )),
    }
}

/// An agent can write there, and git would write through a link of its: into the log of a head, over an index.
fn check_plain(dir: &Path, depth: usize) -> Result<(), String> {
    let unreadable = |error: io::Error| format!("its git directory cannot be read ({error})");
    let entries = match std::fs::read_dir(dir) {
        // git has ended what it kept there.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(unreadable)?,
    };
    for entry in entries {
        let entry = entry.map_err(unreadable)?;
        let kind = match entry.file_type() {
            Ok(kind) => kind,
            // A lock of git's that was there for a moment.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(unreadable(error)),
        };
        let what = match (kind.is_symlink(), kind.is_fifo()) {
            (true, _) => "a symbolic link, which is not followed",
            (_, true) => "a FIFO",
            (false, false) if kind.is_dir() && depth > 0 => {
                check_plain(&entry.path(), depth - 1)?;
                continue;
            }
            (false, false) => continue,
        };
        return Err(format!(
            "its git directory was changed: {} is {what}; remove it",
            entry.path().display()
        ));
    }
    Ok(())
}

fn same_place(left: &Path, right: &Path) -> bool {
    left == right
        || matches!((left.canonicalize(), right.canonicalize()), (Ok(left), Ok(right)) if left == right)
}
