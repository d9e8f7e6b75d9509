//! Putting a snapshot back.
//!
//! What is replaced is kept first, as a snapshot of its own. Then one git command changes the files, which refuses as a
//! whole if any of them has changed since. Only files are changed: branch, index and stash stay as they are.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::SnapshotError;
use super::diff::{Change, between};
use super::left_out::LeftOut;
use super::rules::ignored_by;
use super::tree::{Ground, Now, TIME, reference};
use crate::ids::SessionId;
use crate::workspace::Workspace;
use crate::worktree::git::GitError;

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Undone {
    /// How many files were put back or taken away; 0 if the workspace was as in the snapshot.
    pub files: usize,
    /// Where what was replaced is kept.
    pub replaced: Option<String>,
    /// Files made since that stay: they were ignored when the snapshot was made.
    pub ignored: Vec<PathBuf>,
    /// What stays as it is: no snapshot holds it.
    pub left_out: LeftOut,
    /// What git said of files that could not be read, which stay as they are; empty if all could.
    pub unread: String,
    /// The commit that the branch was at, if it is at another one now.
    pub head_was: Option<String>,
}

/// Puts the workspace's files back as the snapshot of `session` has them: changed and deleted ones are restored, those made
/// since are deleted, ignored ones are never touched.
pub fn undo(workspace: &Workspace, session: &SessionId) -> Result<Undone, SnapshotError> {
    let ground = Ground::of(workspace)?.with_objects_aside()?;
    let base = ground.snapshot(session)?;
    let now = ground.now(Some(&base))?;
    let changes = between(&ground.git, &base, &now.tree)?;
    let (inner, changes): (Vec<Change>, Vec<Change>) =
        changes.into_iter().partition(Change::is_repository);
    let mut left_out = now.left_out.clone();
    left_out.join(LeftOut {
        repositories: inner.into_iter().map(|change| change.path).collect(),
        large: Vec::new(),
    });
    let made = changes.iter().filter(|change| change.is_new());
    let made: Vec<PathBuf> = made.map(|change| change.path.clone()).collect();
    let ignored = ignored_by(&ground, &base, &made)?;
    let changes: Vec<Change> = changes
        .into_iter()
        .filter(|change| !ignored.contains(&change.path))
        .collect();
    let mut undone = Undone {
        files: changes.len(),
        replaced: None,
        ignored: ignored.into_iter().collect(),
        left_out,
        unread: now.unread.clone(),
        head_was: head_before(&ground, &base)?,
    };
    undone.ignored.sort();
    if changes.is_empty() {
        return Ok(undone);
    }
    check_free(&ground, &changes)?;
    undone.replaced = Some(keep_replaced(&ground, session, &now)?);
    restore(&ground, &now, &changes)?;
    Ok(undone)
}

/// What is to be written must not replace something that no snapshot holds.
fn check_free(ground: &Ground, changes: &[Change]) -> Result<(), SnapshotError> {
    let top = &ground.repository.top;
    let known: HashSet<PathBuf> = changes
        .iter()
        .filter(|change| !change.is_gone())
        .map(|change| top.join(&change.path))
        .collect();
    let mut in_the_way = Vec::new();
    for change in changes.iter().filter(|change| change.is_gone()) {
        let wanted = top.join(&change.path);
        let mut way: Vec<&Path> = wanted.ancestors().take_while(|path| path != top).collect();
        way.reverse();
        for path in way {
            strangers(path, path == wanted, &known, &mut in_the_way)?;
            // What lies beyond a link or a file is not on the way.
            if !std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir()) {
                break;
            }
        }
    }
    if in_the_way.is_empty() {
        return Ok(());
    }
    in_the_way.sort();
    in_the_way.dedup();
    Err(SnapshotError::InTheWay(in_the_way))
}

/// Collects what is at `path` and not in `known`: a file, a link, or, where a file is wanted, anything in a directory.
fn strangers(
    path: &Path,
    file_wanted: bool,
    known: &HashSet<PathBuf>,
    found: &mut Vec<PathBuf>,
) -> Result<(), SnapshotError> {
    let Ok(meta) = std::fs::symlink_metadata(path) else {
        return Ok(());
    };
    if !meta.is_dir() {
        if !known.contains(path) {
            found.push(path.to_path_buf());
        }
        return Ok(());
    }
    if file_wanted {
        for entry in std::fs::read_dir(path)? {
            strangers(&entry?.path(), true, known, found)?;
        }
    }
    Ok(())
}

/// Keeps the workspace as it stands beside the session's own snapshot; where.
fn keep_replaced(ground: &Ground, session: &SessionId, now: &Now) -> Result<String, SnapshotError> {
    let message = format!("pitcrew: what `lead undo` of {session} replaced");
    let commit = ground.commit_tree(&now.tree, &message)?;
    for number in 1_u32.. {
        let reference = format!("{}.replaced.{number}", reference(session));
        if ground.commit(&reference)?.is_none() {
            ground.name(&reference, &commit)?;
            return Ok(reference);
        }
    }
    Err(SnapshotError::Failed(
        "there are too many snapshots".to_owned(),
    ))
}

/// Goes from the files as they stand to those of the snapshot.
fn restore(ground: &Ground, now: &Now, changes: &[Change]) -> Result<(), SnapshotError> {
    let wanted = ground.scratch("wanted-index");
    #[expect(clippy::disallowed_methods, reason = "it is our own copy")]
    std::fs::copy(ground.scratch("index"), &wanted)?;
    let git = ground.git.clone().with("GIT_INDEX_FILE", wanted);
    // First what goes: a file may stand where a directory was.
    let (goes, comes): (Vec<&Change>, Vec<&Change>) =
        changes.iter().partition(|change| change.is_new());
    let mut lines = Vec::new();
    for change in goes.into_iter().chain(comes) {
        lines.extend(change.line_before());
    }
    git.fed(&["update-index", "-z", "--index-info"], &lines)?;
    let tree = git.text(&["write-tree"])?;
    now.git
        .run(&["read-tree", "-m", "-u", &now.tree, &tree], TIME)
        .map(drop)
        .map_err(|error| {
            SnapshotError::Failed(format!(
                "not everything was restored ({error}); what there was before is kept; try again"
            ))
        })
}

/// The commit under the snapshot, if HEAD is another one by now.
fn head_before(ground: &Ground, base: &str) -> Result<Option<String>, GitError> {
    let was = ground.commit(&format!("{base}^"))?;
    let is = ground.commit("HEAD")?;
    Ok(was.filter(|was| is.as_ref() != Some(was)))
}
