//! What a path really means: joined to the agent's directory, every link followed.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::guarded;
use crate::tool::place::Place;

/// Longest path that is looked at, in bytes.
const MAX_PATH: usize = 4096;

/// What is done with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Read, listed, searched.
    Read,
    /// Made or changed.
    Write,
}

/// What a path means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    /// Absolute, without a link in the part that exists; the rest consists of plain names.
    pub(crate) real: PathBuf,
    /// The same as told to the model: relative if it is inside.
    pub(crate) shown: String,
    /// Whether it is beneath the agent's directory or its temporary one.
    pub(crate) inside: bool,
}

/// Resolves `given`. `Err` in words: not a path, a broken link, or a place that is closed to agents.
pub(crate) fn resolve(place: &Place, given: &str, access: Access) -> Result<Target, String> {
    if given.is_empty() {
        return Err("`path` is empty; name a file or directory".to_owned());
    }
    if given.contains('\0') || given.len() > MAX_PATH {
        return Err(format!(
            "`path` is not a path: it has a NUL byte or more than {MAX_PATH} bytes"
        ));
    }
    let real = real(&place.as_meant(given)).map_err(|why| format!("{given}: {why}"))?;
    if let Some(why) = guarded::refusal(&real, access, place) {
        return Err(format!("{given} is refused: {why}"));
    }
    let inside = real.starts_with(&place.dir) || real.starts_with(&place.tmp);
    Ok(Target {
        shown: place.shown(&real),
        real,
        inside,
    })
}

/// The longest part that exists, resolved, with the names of what does not exist yet.
fn real(path: &Path) -> Result<PathBuf, String> {
    let mut head = path;
    let mut missing: Vec<OsString> = Vec::new();
    let found = loop {
        match head.canonicalize() {
            Ok(found) => break found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return Err("a part of it is a file, not a directory".to_owned());
            }
            Err(error) => return Err(error.to_string()),
        }
        if std::fs::symlink_metadata(head).is_ok_and(|meta| meta.is_symlink()) {
            return Err(format!(
                "{} is a link to something that does not exist",
                head.display()
            ));
        }
        let (Some(name), Some(parent)) = (head.file_name(), head.parent()) else {
            return Err("a directory in it does not exist".to_owned());
        };
        missing.push(name.to_owned());
        head = parent;
    };
    if !missing.is_empty() && !found.is_dir() {
        return Err("a part of it is a file, not a directory".to_owned());
    }
    Ok(missing
        .into_iter()
        .rev()
        .fold(found, |path, name| path.join(name)))
}
