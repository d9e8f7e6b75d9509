//! Making a view ready for a call: what is new in the repository comes in, and the mounts that show it are listed.
//!
//! The view is the agent's to write while its calls run, so everything is written through [`Beneath`].

use super::place::Place;
use super::refs;
use super::settle::take_over;
use super::stamp::{Stamp, stamp};
use crate::ids::WorktreeName;
use crate::process::sandbox::Bind;
use crate::store::beneath::Beneath;
use crate::store::read::{read_followed, read_plain};
use crate::store::{Durability, StoreError, atomic};
use crate::workspace::Workspace;

/// The repository's objects as the view sees them.
const BASE_OBJECTS: &str = "base-objects";
/// Where a view finds them, from its own objects.
const ALTERNATES: &[u8] = b"../base-objects\n";
/// The largest file that is copied, in bytes.
const MAX_COPY: u64 = 16 * 1024 * 1024;

/// Files of `info` that a view has copies of.
const INFO: [&str; 3] = ["attributes", "exclude", "grafts"];

/// Files of the worktree's own part that say what else belongs to it; an agent may not change them.
const POINTERS: [&str; 3] = ["commondir", "gitdir", "config.worktree"];

/// Directories that a view has for itself; all others of the repository are seen as they are.
const OWN: [&str; 7] = [
    "base-objects",
    "info",
    "logs",
    "objects",
    "refs",
    "rr-cache",
    "worktrees",
];

/// git would write it into `info` whenever it packs.
const SETTINGS: &[u8] = b"\n[repack]\n\tupdateServerInfo = false\n";

/// Brings the view of worktree `name` up to date for a call of its agent; what its sandbox mounts, in order.
///
/// What an earlier call left to be taken over is taken over first. `Err` says in words why the call may not run.
pub fn open(workspace: &Workspace, name: &WorktreeName) -> Result<Vec<Bind>, String> {
    let place = Place::find(workspace, name)?;
    if place.common.join("reftable").is_dir() {
        return Err(format!(
            "worktree {name} cannot be worked in by bash: the repository keeps its references in reftables, of which no view of \
             its own can be given; run `git refs migrate --ref-format=files` in the workspace, or set sandbox to off"
        ));
    }
    let words = |error: StoreError| format!("{error}: {}", error.source);
    atomic::ensure_dir(&place.view()).map_err(words)?;
    let turn = place.turn()?;
    // What is refused stays in the view, where the agent can mend it.
    let _told_after_the_call = take_over(&place, &turn);
    let now = look(&place);
    if now.is_none() || now != noted_look(&place)? {
        bring_in(&place)?;
        let look = look(&place).unwrap_or_default();
        place.put("opened", look.as_bytes(), Durability::Process)?;
    }
    binds(&place).map_err(|error| format!("the repository cannot be read ({error})"))
}

/// Everything that makes a view complete and up to date.
fn bring_in(place: &Place) -> Result<(), String> {
    let words = |error: StoreError| format!("{error}: {}", error.source);
    let top = skeleton(place).map_err(words)?;
    copies(place, &top)?;
    follow(place, &top)
}

fn skeleton(place: &Place) -> Result<Beneath, StoreError> {
    let top = Beneath::open(&place.view())?;
    for name in ["base-objects", "info", "logs", "refs"] {
        top.make(name)?;
    }
    let info = top.make("objects")?.make("info")?;
    let path = place.view().join("objects/info/alternates");
    if read_plain(&path, MAX_COPY).ok().flatten().as_deref() != Some(ALTERNATES) {
        info.replace("alternates", ALTERNATES, Durability::Process)?;
    }
    let id = place.admin.file_name().and_then(std::ffi::OsStr::to_str);
    top.make("worktrees")?.make(id.unwrap_or_default())?;
    for name in shared_dirs(place).map_err(StoreError::of("read", &place.common))? {
        top.make(&name)?;
    }
    // Else an agent could make it.
    let settings = place.admin.join("config.worktree");
    match atomic::create_new(&settings, b"", Durability::Process) {
        Err(error) if error.source.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
        Ok(()) | Err(_) => Ok(top),
    }
}

/// Puts back what an agent has changed in the copies, and what has changed in the repository since.
fn copies(place: &Place, top: &Beneath) -> Result<(), String> {
    for (name, original) in place.copies() {
        let wanted = read_followed(&original, MAX_COPY).map_err(|error| error.to_string())?;
        let wanted = wanted.map(|mut bytes| {
            if name == "config" {
                bytes.extend_from_slice(SETTINGS);
            }
            bytes
        });
        let found = read_plain(&place.view().join(name), MAX_COPY)
            .ok()
            .flatten();
        if wanted != found {
            put(top, name, wanted.as_deref())?;
        }
    }
    atomic::ensure_dir(&place.info()).map_err(|error| error.to_string())?;
    let info = Beneath::open(&place.info()).map_err(|error| error.to_string())?;
    for name in INFO {
        let original = place.common.join("info").join(name);
        let wanted = read_followed(&original, MAX_COPY).map_err(|error| error.to_string())?;
        let found = read_plain(&place.info().join(name), MAX_COPY)
            .ok()
            .flatten();
        if wanted != found {
            put(&info, name, wanted.as_deref())?;
        }
    }
    Ok(())
}

fn put(dir: &Beneath, name: &str, bytes: Option<&[u8]>) -> Result<(), String> {
    match bytes {
        Some(bytes) => dir.replace(name, bytes, Durability::Process),
        None => dir.remove(name),
    }
    .map_err(|error| format!("{error}: {}", error.source))
}

/// Brings in what has moved in the repository and the agent has not moved itself.
fn follow(place: &Place, top: &Beneath) -> Result<(), String> {
    let unreadable = |error: std::io::Error| format!("references cannot be read ({error})");
    let words = |error: StoreError| format!("{error}: {}", error.source);
    let real = refs::shared(&refs::read(&place.common).map_err(unreadable)?);
    let mut noted = place.noted()?;
    let view = refs::read(&place.view()).map_err(unreadable)?;
    let changes = refs::to_follow(&noted, &view, &real);
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
fn shared_dirs(place: &Place) -> std::io::Result<Vec<String>> {
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

fn binds(place: &Place) -> std::io::Result<Vec<Bind>> {
    let common = &place.common;
    let shown = |from: std::path::PathBuf, at: std::path::PathBuf| Bind {
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
            from: place.admin.clone(),
            at: place.admin.clone(),
            writable: true,
        },
    ];
    for name in POINTERS {
        let path = place.admin.join(name);
        binds.push(shown(path.clone(), path));
    }
    for name in shared_dirs(place)? {
        let path = common.join(name);
        binds.push(shown(path.canonicalize()?, path));
    }
    let marker = place.checkout.join(".git");
    binds.push(shown(marker.clone(), marker));
    Ok(binds)
}

/// How all looks that a view is brought up to date from, and what an agent may have changed in it.
fn look(place: &Place) -> Stamp {
    let mut files = vec![
        place.view(),
        place.view().join("objects/info"),
        place.common.join("packed-refs"),
        place.admin.join("config.worktree"),
    ];
    for (name, original) in place.copies() {
        files.extend([original, place.view().join(name)]);
    }
    files.extend(INFO.map(|name| place.common.join("info").join(name)));
    stamp(
        &files,
        &[place.common.join("refs"), place.view().join("refs")],
    )
}

fn noted_look(place: &Place) -> Result<Stamp, String> {
    let text = place.note("opened")?;
    Ok(text
        .and_then(|text| String::from_utf8(text).ok())
        .filter(|text| !text.is_empty()))
}
