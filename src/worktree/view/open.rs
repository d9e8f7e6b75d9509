//! Making a view ready for a call: what the last one left is taken over, what is new in the repository comes in, and the
//! mounts that show it are listed.

use std::io;
use std::path::{Path, PathBuf};

use super::place::Place;
use super::refresh::{BASE_OBJECTS, copies, refresh, shared_dirs, words};
use super::settle::take_over;
use super::stamp::{Stamp, stamp};
use crate::ids::WorktreeName;
use crate::process::sandbox::Bind;
use crate::store::atomic;
use crate::workspace::Workspace;
use crate::worktree::usable::trusted;

/// Files of the worktree's own part that say what else belongs to it; an agent may not change them.
const POINTERS: [&str; 3] = ["commondir", "gitdir", "config.worktree"];

/// A view that is being made ready, and the worktree that it is for.
struct Opening {
    place: Place,
    /// The worktree's own part of the repository's git directory.
    admin: PathBuf,
    checkout: PathBuf,
}

/// Brings the view of worktree `name` up to date for a call of its agent; what its sandbox mounts, in order.
///
/// What an earlier call left to be taken over is taken over first. `Err` says in words why the call may not run.
pub fn open(workspace: &Workspace, name: &WorktreeName) -> Result<Vec<Bind>, String> {
    let (_, registration) = trusted(workspace, name)?;
    let opening = Opening::new(workspace, name, &registration.git_dir)?;
    let place = &opening.place;
    if place.common.join("reftable").is_dir() {
        return Err(format!(
            "worktree {name} cannot be worked in by bash: the repository keeps its references in reftables, of which no view of \
             its own can be given; run `git refs migrate --ref-format=files` in the workspace, or set sandbox to off"
        ));
    }
    atomic::ensure_dir(&place.view()).map_err(words)?;
    let turn = place.turn()?;
    // What is refused stays in the view, where the agent can mend it; it is told after the call.
    drop(take_over(place, &turn));
    let now = opening.look();
    if now.is_none() || now != place.noted_look("opened")? {
        refresh(place, &opening.admin)?;
        place.note_look("opened", opening.look())?;
    }
    opening
        .binds()
        .map_err(|error| format!("the repository cannot be read ({error})"))
}

impl Opening {
    fn new(workspace: &Workspace, name: &WorktreeName, git_dir: &Path) -> Result<Self, String> {
        let place = Place::find(workspace, name)?;
        let unreadable = |error: io::Error| format!("worktree {name} cannot be used: {error}");
        let checkout = workspace
            .worktree(name)
            .canonicalize()
            .map_err(unreadable)?;
        let admin = git_dir.canonicalize().map_err(unreadable)?;
        if admin.parent() != Some(&place.common.join("worktrees")) {
            return Err(format!(
                "worktree {name} cannot be used: its git directory {} is somewhere else",
                admin.display()
            ));
        }
        Ok(Self {
            place,
            admin,
            checkout,
        })
    }

    fn binds(&self) -> io::Result<Vec<Bind>> {
        let place = &self.place;
        let common = &place.common;
        let shown = |from: PathBuf, at: PathBuf| Bind {
            from,
            at,
            writable: false,
        };
        let mut binds = vec![
            Bind {
                from: place.view(),
                at: common.clone(),
                writable: true,
            },
            shown(
                common.join("objects").canonicalize()?,
                common.join(BASE_OBJECTS),
            ),
            shown(place.info(), common.join("info")),
            Bind {
                from: self.admin.clone(),
                at: self.admin.clone(),
                writable: true,
            },
        ];
        for name in POINTERS {
            let path = self.admin.join(name);
            binds.push(shown(path.clone(), path));
        }
        for name in shared_dirs(place)? {
            let path = common.join(name);
            binds.push(shown(path.canonicalize()?, path));
        }
        let marker = self.checkout.join(".git");
        binds.push(shown(marker.clone(), marker));
        Ok(binds)
    }

    /// How all looks that a view is brought up to date from, and what an agent may have changed in it.
    fn look(&self) -> Stamp {
        let place = &self.place;
        let mut files = vec![
            place.view(),
            place.view().join("objects/info"),
            place.view().join("worktrees"),
            place.common.clone(),
            self.admin.join("config.worktree"),
        ];
        for copy in copies(place) {
            files.extend([copy.original, copy.dir.join(copy.name)]);
        }
        stamp(
            &files,
            &[place.common.join("refs"), place.view().join("refs")],
        )
    }
}
