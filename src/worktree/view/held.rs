//! What exists only in a view and would be gone with it.

use std::io;

use super::place::Place;
use super::refs;
use super::settle::settle;
use crate::ids::WorktreeName;
use crate::workspace::Workspace;
use crate::worktree::git::Git;

/// How many references are named.
const NAMED: usize = 5;

/// Takes over what can be, and says in words what is left; `None` if there is nothing.
pub(in crate::worktree) fn held(workspace: &Workspace, name: &WorktreeName) -> Option<String> {
    let view = workspace.git_view(name).join("view");
    if !view.is_dir() {
        return None;
    }
    let found = in_order(workspace, name);
    let own = match found {
        Ok(own) => own,
        Err(why) => return Some(format!("work in its own view of the repository ({why})")),
    };
    if own.is_empty() {
        return None;
    }
    let more = own.len().saturating_sub(NAMED);
    let mut named: Vec<String> = own.into_iter().take(NAMED).collect();
    if more > 0 {
        named.push(format!("and {more} more"));
    }
    Some(format!(
        "work in its own view of the repository ({}; `git branch NAME ID` in the workspace keeps one)",
        named.join(", ")
    ))
}

/// The agent's own references that lead to what no branch or tag of the repository has, each with its id.
fn in_order(workspace: &Workspace, name: &WorktreeName) -> Result<Vec<String>, String> {
    settle(workspace, name)?;
    let place = Place::find(workspace, name)?;
    let view = refs::read(&place.view())
        .map_err(|error| format!("its references cannot be read: {error}"))?;
    let (branch, noted, git) = (place.branch(), place.noted()?, place.git());
    let own = view
        .iter()
        .filter(|(reference, id)| **reference != branch && noted.get(*reference) != Some(*id))
        .filter(|(_, id)| refs::is_id(id) && !is_kept(&git, id));
    Ok(own
        .map(|(reference, id)| format!("{} {}", spoken(reference), &id[..10]))
        .collect())
}

/// Whether branches or tags of the repository lead to all of it.
fn is_kept(git: &Git, id: &str) -> bool {
    let args = [
        "rev-list",
        "--count",
        id,
        "--not",
        "--branches",
        "--tags",
        "--remotes",
    ];
    git.text(&args).is_ok_and(|count| count == "0")
}

fn spoken(reference: &str) -> String {
    let below = |prefix| reference.strip_prefix(prefix);
    match (below("refs/heads/"), below("refs/tags/")) {
        (Some(branch), _) => format!("branch {branch}"),
        (_, Some(tag)) => format!("tag {tag}"),
        (None, None) => below("refs/").unwrap_or(reference).to_owned(),
    }
}

/// Makes room for a new worktree of that name; `Err` says what an earlier one has left.
pub(in crate::worktree) fn clear(workspace: &Workspace, name: &WorktreeName) -> Result<(), String> {
    match held(workspace, name) {
        Some(what) => Err(format!(
            "an earlier worktree of that name has left {what}; `lead worktree remove {name} --discard-changes` takes it away"
        )),
        None => forget(workspace, name).map_err(|error| {
            format!("what an earlier worktree has left cannot be removed ({error})")
        }),
    }
}

/// Removes the view and all that is noted of it.
pub(in crate::worktree) fn forget(workspace: &Workspace, name: &WorktreeName) -> io::Result<()> {
    match std::fs::remove_dir_all(workspace.git_view(name)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
