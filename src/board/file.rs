//! Task files as bytes: what is valid, what is damaged, and how they are written.

use std::path::Path;

use super::Task;
use crate::ids::TaskId;
use crate::store::StoreError;
use crate::store::read::{ReadError, read_plain};

/// Largest task file that is read, in bytes: the longest texts with every byte escaped, and room for foreign keys.
pub const MAX_FILE: u64 = 8 * 1024 * 1024;

/// What stands in a task's place.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Found {
    /// No file.
    Missing,
    /// A valid task, and the bytes it was read from.
    Task(Box<Task>, Vec<u8>),
    /// A file that is no valid task; the text says why.
    Damaged(String),
}

/// Reads the file of `id`. An error means that the board cannot be read, which is never the same as "no task".
pub(super) fn read(path: &Path, id: &TaskId) -> Result<Found, StoreError> {
    match read_plain(path, MAX_FILE) {
        Ok(None) => Ok(Found::Missing),
        Ok(Some(bytes)) => Ok(match decode(&bytes, id) {
            Ok(task) => Found::Task(Box::new(task), bytes),
            Err(why) => Found::Damaged(why),
        }),
        Err(ReadError::Store(error)) => Err(error),
        Err(error @ (ReadError::NotPlain { .. } | ReadError::TooLarge { .. })) => {
            Ok(Found::Damaged(error.why()))
        }
    }
}

/// The id that a file name stands for: `Ok(Err(stem))` for a name of a task's shape with no id in it, `None` for files
/// that are none of ours.
pub(super) fn id_of(name: &str) -> Option<Result<TaskId, &str>> {
    let stem = name.strip_suffix(".json")?;
    stem.strip_prefix("task_")?;
    Some(TaskId::parse(stem).map_err(|_| stem))
}

fn decode(bytes: &[u8], id: &TaskId) -> Result<Task, String> {
    if bytes.trim_ascii().is_empty() {
        return Err("the file is empty".to_owned());
    }
    let task: Task = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if task.id != *id {
        return Err(format!("it says that its id is {}", task.id));
    }
    Ok(task)
}

/// The bytes of a task's file: pretty-printed, with one final newline.
pub(super) fn encode(task: &Task) -> Vec<u8> {
    // A struct of text, numbers and lists has no way to fail.
    let mut bytes = serde_json::to_vec_pretty(task).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}
