//! Places that no file tool touches, whatever the rules say (SPEC §10.2): the runtime's, git's, and where secrets live.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::Access;
use crate::tool::place::Place;
use crate::workspace::RUNTIME_DIRS;

/// Sockets, processes and devices: neither read nor written.
const SYSTEM: [&str; 4] = ["/run", "/proc", "/dev", "/sys"];

/// Why `real`, a path without links, may not be used so; `None` if it may, as far as places go.
pub(crate) fn refusal(real: &Path, access: Access, place: &Place) -> Option<String> {
    if real.starts_with(&place.tmp) {
        return None;
    }
    if let Some(what) = hidden(real, place) {
        return Some(format!("{what} is closed to agents"));
    }
    match access {
        Access::Read => None,
        Access::Write => runtime(real, place),
    }
}

/// What lies in a workspace that itself lies in such a place is not meant.
fn hidden(real: &Path, place: &Place) -> Option<String> {
    let closed = |dir: &Path| {
        real.starts_with(dir) && !(place.root.starts_with(dir) && real.starts_with(&place.root))
    };
    let secret = place
        .hidden
        .iter()
        .find(|dir| closed(dir) || resolved(dir).is_some_and(|dir| closed(&dir)));
    if let Some(dir) = secret {
        let home = place.home.as_ref();
        return Some(match home.and_then(|home| dir.strip_prefix(home).ok()) {
            Some(name) => format!("~/{}", name.display()),
            None => dir.display().to_string(),
        });
    }
    SYSTEM
        .into_iter()
        .find(|dir| closed(Path::new(dir)))
        .map(str::to_owned)
}

/// Where `path` leads, or would if it existed.
fn resolved(path: &Path) -> Option<PathBuf> {
    let of_parent = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(of_parent)
}

/// Names are compared without case: on some file systems `.GIT` is `.git`.
fn runtime(real: &Path, place: &Place) -> Option<String> {
    let is = |part: &OsStr, name: &str| part.eq_ignore_ascii_case(name);
    if real.iter().any(|part| is(part, ".git")) {
        return Some("what is in .git belongs to git; use git commands".to_owned());
    }
    let below = real.strip_prefix(&place.root).ok()?;
    let first = below.iter().next()?;
    let name = RUNTIME_DIRS.into_iter().find(|name| is(first, name))?;
    let in_own_worktree = name == ".worktrees"
        && place.dir != place.root
        && place.dir.starts_with(place.root.join(name))
        && real.starts_with(&place.dir);
    if in_own_worktree {
        return None;
    }
    Some(match name {
        ".worktrees" => "it is in another task's worktree".to_owned(),
        name => format!("{name} belongs to the runtime; use the task and message tools"),
    })
}
