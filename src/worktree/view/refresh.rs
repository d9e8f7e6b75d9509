//! Bringing into a view what is new in the repository.
//!
//! The view is the agent's to write while its calls run, so everything is written through [`Beneath`].

use std::io;
use std::path::{Path, PathBuf};

use super::place::Place;
use super::refs;
use crate::store::beneath::Beneath;
use crate::store::read::{read_followed, read_plain};
use crate::store::{Durability, StoreError, atomic};

/// The repository's objects as the view sees them.
pub(super) const BASE_OBJECTS: &str = "base-objects";
/// Where a view finds them, from its own objects.
const ALTERNATES: &[u8] = b"../base-objects\n";

/// Files of the repository of which a view has copies: as they are at the beginning of each call.
const FILES: [&str; 3] = ["HEAD", "config", "shallow"];
/// The same in its `info`.
const INFO: [&str; 3] = ["attributes", "exclude", "grafts"];
/// The largest file that is copied, in bytes.
const MAX_COPY: u64 = 16 * 1024 * 1024;

/// Stands at the end of the view's configuration: git would write into `info` whenever it packs.
const SETTINGS: &[u8] = b"\n[repack]\n\tupdateServerInfo = false\n";

/// Directories that a view has for itself; all others of the repository are seen as they are.
const OWN: [&str; 7] = [
    BASE_OBJECTS,
    "info",
    "logs",
    "objects",
    "refs",
    "rr-cache",
    "worktrees",
];

/// A file of the repository that a view has a copy of.
pub(super) struct Copy {
    pub(super) name: &'static str,
    pub(super) original: PathBuf,
    /// Where the copy is.
    pub(super) dir: PathBuf,
}

pub(super) fn copies(place: &Place) -> impl Iterator<Item = Copy> {
    let copy = |name, from: PathBuf, dir| Copy {
        name,
        original: from.join(name),
        dir,
    };
    let files = FILES.map(|name| copy(name, place.common.clone(), place.view()));
    let info = INFO.map(|name| copy(name, place.common.join("info"), place.info()));
    files.into_iter().chain(info)
}

/// Makes the view complete and brings it up to date; `admin` is the worktree's own part of the repository.
pub(super) fn refresh(place: &Place, admin: &Path) -> Result<(), String> {
    let top = skeleton(place, admin).map_err(words)?;
    for copy in copies(place) {
        copy.refresh()?;
    }
    follow(place, &top)
}

fn skeleton(place: &Place, admin: &Path) -> Result<Beneath, StoreError> {
    atomic::ensure_dir(&place.info())?;
    let top = Beneath::open(&place.view())?;
    for name in [BASE_OBJECTS, "info", "logs", "refs"] {
        top.make(name)?;
    }
    let info = top.make("objects")?.make("info")?;
    let path = place.view().join("objects/info/alternates");
    if read_plain(&path, MAX_COPY).ok().flatten().as_deref() != Some(ALTERNATES) {
        info.replace("alternates", ALTERNATES, Durability::Process)?;
    }
    let id = admin.file_name().and_then(std::ffi::OsStr::to_str);
    top.make("worktrees")?.make(id.unwrap_or_default())?;
    for name in shared_dirs(place).map_err(StoreError::of("read", &place.common))? {
        top.make(&name)?;
    }
    // Else an agent could make it.
    let settings = admin.join("config.worktree");
    if settings.symlink_metadata().is_err() {
        atomic::create_new(&settings, b"", Durability::Process)?;
    }
    Ok(top)
}

impl Copy {
    /// Puts back what an agent has changed, and brings in what has changed in the repository.
    fn refresh(&self) -> Result<(), String> {
        let original =
            read_followed(&self.original, MAX_COPY).map_err(|error| error.to_string())?;
        let wanted = original.map(|mut bytes| {
            if self.name == "config" {
                bytes.extend_from_slice(SETTINGS);
            }
            bytes
        });
        let found = read_plain(&self.dir.join(self.name), MAX_COPY);
        if found.ok().flatten() == wanted {
            return Ok(());
        }
        let dir = Beneath::open(&self.dir).map_err(words)?;
        match wanted {
            Some(bytes) => dir.replace(self.name, &bytes, Durability::Process),
            None => dir.remove(self.name),
        }
        .map_err(words)
    }
}

/// Brings in what has moved in the repository and the agent has not moved itself.
fn follow(place: &Place, top: &Beneath) -> Result<(), String> {
    let unreadable = |error: io::Error| format!("references cannot be read ({error})");
    let real = refs::shared(&refs::read(&place.common).map_err(unreadable)?);
    let mut noted = place.noted()?;
    let view = refs::read(&place.view()).map_err(unreadable)?;
    let mut changes = refs::to_follow(&noted, &view, &real);
    // An agent's branch is never taken from under it.
    let branch = place.branch();
    changes.retain(|name, id| id.is_some() || *name != branch);
    // Taken away or renamed by the agent, it comes back: there is always a branch to go back to.
    if let (None, Some(id)) = (view.get(&branch), real.get(&branch)) {
        changes.insert(branch, Some(id.clone()));
    }
    if changes.is_empty() {
        return Ok(());
    }
    let mut packed = refs::packed(&place.view()).map_err(unreadable)?;
    for (name, id) in &changes {
        for refs in [&mut packed, &mut noted] {
            match id {
                Some(id) => refs.insert(name.clone(), id.clone()),
                None => refs.remove(name),
            };
        }
    }
    top.replace("packed-refs", &refs::written(&packed), Durability::Power)
        .map_err(words)?;
    for name in changes.keys().filter(|name| view.contains_key(*name)) {
        remove_loose(top, name).map_err(words)?;
    }
    // Last: what is noted has come in.
    place.note_refs(&noted)
}

/// Removes the file of one reference, which stands in `packed-refs`.
fn remove_loose(top: &Beneath, name: &str) -> Result<(), StoreError> {
    let mut parts: Vec<&str> = name.split('/').collect();
    let Some(last) = parts.pop() else {
        return Ok(());
    };
    let mut dir = None;
    for part in parts {
        let from = dir.as_ref().unwrap_or(top);
        match from.enter(part)? {
            Some(inner) => dir = Some(inner),
            None => return Ok(()),
        }
    }
    dir.as_ref().unwrap_or(top).remove(last)
}

/// The directories of the repository that are seen in a view as they are: hooks, and what other programs keep there.
pub(super) fn shared_dirs(place: &Place) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&place.common)? {
        let entry = entry?;
        if let Ok(name) = entry.file_name().into_string()
            && entry.path().is_dir()
            && !OWN.contains(&name.as_str())
        {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "used as a function of map_err"
)]
pub(super) fn words(error: StoreError) -> String {
    format!("{error}: {}", error.source)
}
