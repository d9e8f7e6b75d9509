//! What `glob` and `grep` search: the files beneath a directory, newest first, without those of git and the runtime.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::call::Call;
use super::path::{EntryKind, Opened};
use super::place::Place;
use super::walk::{Rules, visit};
use crate::workspace::RUNTIME_DIRS;

/// Most results of one call.
pub(crate) const MAX_RESULTS: usize = 200;

/// A file that was met.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// When it was last changed.
    pub(crate) changed: SystemTime,
    /// Its path.
    pub(crate) path: PathBuf,
}

/// Files beneath a directory.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    /// Newest first, those of the same time by path.
    pub(crate) files: Vec<Found>,
    /// Whether the walk was ended at its bound.
    pub(crate) ended: bool,
}

impl Walked {
    /// What the model must know besides, a line each.
    pub(crate) fn notes(&self) -> impl Iterator<Item = String> {
        let ended = self
            .ended
            .then_some("(the directory is very large and was not searched to its end)");
        let mut shown = self.files.iter().take(MAX_RESULTS);
        let nameless = shown
            .any(|found| found.path.to_str().is_none())
            .then_some("(a name with \u{fffd} is not UTF-8; only bash can open that file)");
        ended.into_iter().chain(nameless).map(str::to_owned)
    }
}

/// What is searched: the input's path, or the agent's own directory; a directory or a plain file.
pub(crate) fn start<'a>(call: &'a Call<'_>) -> Result<(&'a Path, EntryKind), String> {
    let Some(target) = &call.target else {
        return Ok((&call.place()?.dir, EntryKind::Dir));
    };
    // The root has no name in a directory.
    if target.real.parent().is_none() {
        return Ok((&target.real, EntryKind::Dir));
    }
    let found = Opened::parent_of(&target.real, false).and_then(|parent| parent.found());
    let kind = match found {
        Ok(found) => found.as_ref().map(EntryKind::of),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(format!("{}: {error}", target.shown)),
    };
    match kind {
        Some(kind @ (EntryKind::Dir | EntryKind::File)) => Ok((&target.real, kind)),
        Some(EntryKind::Other) => Err(format!(
            "`path` {} is neither a directory nor a plain file",
            target.shown
        )),
        None => Err(format!("there is no {}", target.shown)),
    }
}

/// All plain files beneath the directory `start` for which `wanted` holds.
pub(crate) fn files(
    call: &Call<'_>,
    start: &Path,
    wanted: impl Fn(&Path) -> bool,
) -> Result<Walked, String> {
    let place = call.place()?;
    let mut files = Vec::new();
    let rules = Rules::of(start, &place.root);
    let ended = visit(
        start,
        rules,
        |path| is_left_out(path, place),
        |met| {
            if met.kind == EntryKind::File && wanted(&met.path) {
                files.push(Found {
                    changed: met.changed(),
                    path: met.path,
                });
            }
            if call.cancel.is_cancelled() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        },
    )
    .map_err(|error| format!("cannot search {}: {error}", place.shown(start)))?;
    if call.cancel.is_cancelled() {
        return Err("interrupted".to_owned());
    }
    files.sort_unstable_by(|left, right| {
        (right.changed, &left.path).cmp(&(left.changed, &right.path))
    });
    Ok(Walked { files, ended })
}

fn is_left_out(path: &Path, place: &Place) -> bool {
    let Some(name) = path.file_name() else {
        return false;
    };
    name == ".git"
        || path.parent() == Some(place.root.as_path())
            && RUNTIME_DIRS.iter().any(|runtime| name == *runtime)
}
