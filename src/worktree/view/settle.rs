//! Taking over what an agent has done in its view: objects first, then the branch, then the note of it.
//!
//! Killed in between, it is done again by the next that looks: objects are received once more, which changes nothing, and
//! a branch that has moved already is noted.

use std::path::PathBuf;

use super::objects::{self, Fresh, Received};
use super::place::{Place, Turn};
use super::refs;
use super::stamp::{Stamp, stamp};
use super::step::{Step, step};
use crate::ids::WorktreeName;
use crate::store::fault::{self, Point};
use crate::workspace::Workspace;
use crate::worktree::git::{CHECKOUT, GitError};
use crate::worktree::list::names;

/// Brings the repository's `wt/<name>` to where the agent's own view has it, with all objects of the view. Cheap if
/// nothing was done there; nothing at all if there is no view.
///
/// The worktree itself may be in any state, or gone. `Err` says in words what was not taken over and what to do; branch and
/// view are as they were.
pub fn settle(workspace: &Workspace, name: &WorktreeName) -> Result<(), String> {
    if !workspace.git_view(name).join("view").is_dir() {
        return Ok(());
    }
    let place = Place::find(workspace, name)?;
    let turn = place.turn()?;
    take_over(&place, &turn)
}

/// The same for every worktree that there is; what was not taken over, in words.
pub fn settle_all(workspace: &Workspace) -> Vec<String> {
    let names = names(workspace).unwrap_or_default();
    names
        .iter()
        .filter_map(|name| settle(workspace, name).err())
        .collect()
}

/// The same for whoever has the turn.
pub(super) fn take_over(place: &Place, _turn: &Turn) -> Result<(), String> {
    let now = look(place);
    if now.is_some() && now == place.noted_look("settled")? {
        return Ok(());
    }
    let received = objects::received(place)?;
    let is_first = received.is_empty();
    let mut done = objects_and_branch(place, received);
    if done.is_err() && !is_first {
        // What no reference of the repository led to may have been pruned since it was received.
        done = objects_and_branch(place, Received::new());
    }
    if let Err(why) = &done {
        tracing::warn!(worktree = %place.name, "{why}");
        return done;
    }
    place.note_look("settled", now)
}

fn objects_and_branch(place: &Place, mut received: Received) -> Result<(), String> {
    let branch = place.branch();
    let unreadable =
        |error: std::io::Error| refused(place, &format!("it cannot be read ({error})"));
    // Before the objects are listed: what it names was there before it.
    let view = refs::lookup(&place.view(), &branch).map_err(unreadable)?;
    let fresh = Fresh::find(&place.view().join("objects"), &received).map_err(unreadable)?;
    if !fresh.is_empty() {
        objects::receive(place, &fresh).map_err(|why| refused(place, &why))?;
        fault::here(Point::ViewReceived);
        received.extend(fresh.names());
        objects::note_received(place, &received)?;
    }
    let mut noted = place.noted()?;
    let real = refs::lookup(&place.common, &branch).map_err(unreadable)?;
    let last = noted.get(&branch).map(String::as_str);
    let now = match step(last, view.as_deref(), real.as_deref()) {
        Step::Stay | Step::Follow => return Ok(()),
        Step::Note => view,
        Step::Move { from, to } => Some(advance(place, &from, to)?),
        Step::Compare { view, real } => Some(match compare(place, &view, &real)? {
            // The view follows at the next call.
            Newer::Repository => view,
            Newer::View => advance(place, &real, view)?,
        }),
        Step::Gone => {
            let why = format!(
                "the repository has no branch {} any more",
                place.name.branch()
            );
            return Err(refused(place, &why));
        }
    };
    fault::here(Point::ViewAdvanced);
    noted.extend(now.map(|id| (branch, id)));
    place.note_refs(&noted)
}

/// Which of two has all of the other.
enum Newer {
    View,
    Repository,
}

fn compare(place: &Place, view: &str, real: &str) -> Result<Newer, String> {
    let git = place.git();
    let has = |newer: &str, older: &str| -> Result<bool, GitError> {
        let args = ["merge-base", "--is-ancestor", older, newer];
        let ended = git.end(&args, CHECKOUT)?;
        match ended.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(ended.failed(&args)),
        }
    };
    let words = |error: GitError| refused(place, &error.to_string());
    if has(view, real).map_err(words)? {
        return Ok(Newer::View);
    }
    if has(real, view).map_err(words)? {
        return Ok(Newer::Repository);
    }
    let why = format!(
        "somebody else has moved {} to {} meanwhile; run `git merge {real}` or `git rebase {real}` in the worktree, which brings \
         both together",
        place.name.branch(),
        &real[..10]
    );
    Err(refused(place, &why))
}

/// Moves the repository's branch, if it is still at `from`; where it is then.
fn advance(place: &Place, from: &str, to: String) -> Result<String, String> {
    let branch = place.branch();
    let args = [
        "update-ref",
        "-m",
        "pitcrew: taken over",
        &branch,
        &to,
        from,
    ];
    match place.git().look(&args) {
        Ok(_) => Ok(to),
        Err(error) => Err(refused(place, &error.to_string())),
    }
}

fn refused(place: &Place, why: &str) -> String {
    let branch = place.name.branch();
    format!(
        "what was done in worktree {} was not taken over: {why}; {branch} stays where it was, and the work is kept in the \
         worktree's own view",
        place.name
    )
}

/// How all looks that git changes when an agent does something that counts: the index, the branch, and what else refers
/// to objects.
fn look(place: &Place) -> Stamp {
    let view = place.view();
    let admin = place.admin.iter();
    let refs = admin.clone().map(|admin| admin.join("refs"));
    let files: Vec<PathBuf> = admin.cloned().chain([view.clone()]).collect();
    let trees: Vec<PathBuf> = refs.chain([view.join("refs")]).collect();
    stamp(&files, &trees)
}
