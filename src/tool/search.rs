//! Walking a directory for `glob` and `grep`: what git ignores and what belongs to git or the runtime is left out.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ignore::overrides::Override;
use ignore::{DirEntry, WalkBuilder};

use super::call::Call;
use super::path::Target;
use super::place::Place;
use crate::workspace::RUNTIME_DIRS;

/// Most results of one call.
pub(crate) const MAX_RESULTS: usize = 200;
/// Most entries that are looked at in one call.
const MAX_ENTRIES: usize = 1_000_000;

/// A file that was met.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Met {
    /// When it was last changed.
    pub(crate) changed: SystemTime,
    /// Its path.
    pub(crate) path: PathBuf,
}

/// Files beneath a directory.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    /// Newest first, those of the same time by path.
    pub(crate) files: Vec<Met>,
    /// Whether the walk was ended at its bound.
    pub(crate) ended: bool,
}

/// The directory to search: the input's path, or the agent's own.
pub(crate) fn start<'a>(call: &'a Call<'_>) -> Result<&'a Path, String> {
    let Some(target) = &call.target else {
        return Ok(&call.place()?.dir);
    };
    exists(target)?;
    Ok(&target.real)
}

fn exists(target: &Target) -> Result<(), String> {
    match std::fs::symlink_metadata(&target.real) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(format!("there is no {}", target.shown))
        }
        Err(error) => Err(format!("{}: {error}", target.shown)),
    }
}

/// All plain files beneath `start` for which `wanted` holds.
pub(crate) fn files(
    call: &Call<'_>,
    start: &Path,
    only: Override,
    wanted: impl Fn(&Path) -> bool,
) -> Result<Walked, String> {
    let place = call.place()?.clone();
    let walk = WalkBuilder::new(start)
        .hidden(false)
        .require_git(false)
        .follow_links(false)
        .overrides(only)
        .filter_entry(move |entry| !is_left_out(entry, &place))
        .build();
    let mut walked = Walked::default();
    for (index, entry) in walk.enumerate() {
        if call.cancel.is_cancelled() {
            return Err("interrupted".to_owned());
        }
        if index == MAX_ENTRIES {
            walked.ended = true;
            break;
        }
        let Ok(entry) = entry else { continue };
        if entry.file_type().is_some_and(|kind| kind.is_file()) && wanted(entry.path()) {
            let changed = entry.metadata().ok().and_then(|meta| meta.modified().ok());
            walked.files.push(Met {
                changed: changed.unwrap_or(SystemTime::UNIX_EPOCH),
                path: entry.into_path(),
            });
        }
    }
    walked.files.sort_unstable_by(|left, right| {
        (right.changed, &left.path).cmp(&(left.changed, &right.path))
    });
    Ok(walked)
}

fn is_left_out(entry: &DirEntry, place: &Place) -> bool {
    if entry.depth() == 0 {
        return false;
    }
    let name = entry.file_name();
    if name == ".git" {
        return true;
    }
    entry.path().parent() == Some(place.root.as_path())
        && RUNTIME_DIRS.iter().any(|runtime| name == *runtime)
}
