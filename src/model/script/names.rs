//! The names that replies have bound to ids, shared by all agents of a workspace through `script.json`.
//!
//! Writers replace the file under its own flock (who waited finds another file at the path and locks that); readers
//! take no lock.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::store::lock::{FileLock, LOCK_WAIT};
use crate::store::{Durability, atomic, read};
use crate::workspace::Workspace;

/// Largest file that is read, in bytes.
const LIMIT: u64 = 16 * 1024 * 1024;

#[derive(Debug, Default, Serialize, Deserialize)]
struct Names {
    #[serde(default)]
    names: BTreeMap<String, String>,
}

/// What `name` is bound to.
pub(super) fn lookup(workspace: &Workspace, name: &str) -> Result<Option<String>, String> {
    Ok(read(workspace)?.names.remove(name))
}

/// Binds `name` to `id`.
pub(super) fn bind(workspace: &Workspace, name: &str, id: &str) -> Result<(), String> {
    change(workspace, |names| {
        names.names.insert(name.to_owned(), id.to_owned());
    })
}

/// Forgets all names, for the lead that begins a new session. A workspace without any is left untouched.
pub fn forget_names(workspace: &Workspace) -> Result<(), String> {
    if read(workspace)?.names.is_empty() {
        return Ok(());
    }
    change(workspace, |names| names.names.clear())
}

/// What is wrong with the file of names, if anything is.
pub fn names_fault(workspace: &Workspace) -> Option<String> {
    read(workspace).err()
}

fn read(workspace: &Workspace) -> Result<Names, String> {
    let path = workspace.script_names();
    let bytes = read::read_plain(&path, LIMIT).map_err(|error| error.to_string())?;
    match bytes {
        Some(bytes) if !bytes.is_empty() => {
            serde_json::from_slice(&bytes).map_err(|error| format!("{}: {error}", path.display()))
        }
        _ => Ok(Names::default()),
    }
}

fn change(workspace: &Workspace, change: impl FnOnce(&mut Names)) -> Result<(), String> {
    let path = workspace.script_names();
    let _lock = FileLock::exclusive(&path, LOCK_WAIT).map_err(|error| error.to_string())?;
    let mut names = read(workspace)?;
    change(&mut names);
    let bytes = serde_json::to_vec_pretty(&names).map_err(|error| error.to_string())?;
    atomic::replace(&path, &bytes, Durability::Process).map_err(|error| error.to_string())
}
