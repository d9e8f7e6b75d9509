//! What the board tells about its tasks: entries, and what is derived from all of them together.

use std::collections::HashMap;
use std::fmt::Display;
use std::path::PathBuf;

use super::cycles::{self, Knot};
use super::rules::{self, Standing};
use super::summary::{Key, Summary};
use super::{Status, Task, branches};
use crate::ids::{TaskId, WorktreeName};

/// How many tasks of a cycle are named before the rest is counted.
const MAX_SHOWN: usize = 8;

/// What `list` finds under one name.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// A valid task file.
    Task(Box<Task>),
    /// A file with a task's name that is not a valid task; it blocks what depends on it.
    Damaged {
        /// The id from its name, or the file name's stem if that is no id.
        id: String,
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}

/// A task with what is derived from the others.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskView {
    /// The task.
    pub task: Task,
    /// Whether it is ready and offered (SPEC §3.2): one whose attempts are used up waits for the person.
    pub ready: bool,
    /// Why not, if it is pending and nobody's, such as `task_… is in progress`, `task_… was cancelled` or `3 attempts; …`.
    pub blocked_reason: Option<String>,
}

/// What a completion brought.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// The task as it is now.
    pub task: Task,
    /// Tasks that became ready by it, as far as the board alone can say: see [`super::Board::can_start`].
    pub unblocked: Vec<Task>,
}

/// Puts entries into the order of offering, damaged ones last.
pub(super) fn sort(entries: &mut [Entry]) {
    entries.sort_by(|left, right| match (left, right) {
        (Entry::Task(left), Entry::Task(right)) => place(left).cmp(&place(right)),
        (Entry::Damaged { id: left, .. }, Entry::Damaged { id: right, .. }) => left.cmp(right),
        (Entry::Task(_), Entry::Damaged { .. }) => std::cmp::Ordering::Less,
        (Entry::Damaged { .. }, Entry::Task(_)) => std::cmp::Ordering::Greater,
    });
}

fn place(task: &Task) -> (crate::clock::Timestamp, u32, &TaskId) {
    (task.created_at, task.order, &task.id)
}

/// The valid tasks of `entries` with their readiness. `takeable` says what else keeps everybody from taking a task.
pub(super) fn views(
    entries: Vec<Entry>,
    takeable: impl Fn(&Task, &[WorktreeName]) -> Result<(), String>,
) -> Vec<TaskView> {
    let mut all: HashMap<Key, Summary> = HashMap::new();
    for entry in &entries {
        match entry {
            Entry::Task(task) => {
                all.insert(Key::of(&task.id), Summary::of(task));
            }
            Entry::Damaged { id, .. } => {
                if let Ok(id) = TaskId::parse(id) {
                    all.insert(Key::of(&id), Summary::damaged());
                }
            }
        }
    }
    let knots = knots(&all);
    entries
        .into_iter()
        .filter_map(|entry| match entry {
            Entry::Task(task) => Some(*task),
            Entry::Damaged { .. } => None,
        })
        .map(|task| {
            let standing = |id: &TaskId| {
                all.get(&Key::of(id))
                    .map_or(Standing::Missing, Summary::standing)
            };
            let knot = knots.get(&Key::of(&task.id)).cloned();
            let takeable = |task: &Task| {
                let needed = branches::needed(&Summary::of(task), |key| all.get(&key).cloned());
                takeable(task, &needed)
            };
            view(task, standing, || knot, takeable)
        })
        .collect()
}

/// One task with its readiness; `knot` tells the cycle it is part of.
pub(super) fn view(
    task: Task,
    standing: impl FnMut(&TaskId) -> Standing,
    knot: impl FnOnce() -> Option<String>,
    takeable: impl Fn(&Task) -> Result<(), String>,
) -> TaskView {
    let free = task.status == Status::Pending && task.owner.is_none();
    let blocked_reason = if free {
        match rules::waits_for(&task, standing) {
            Some(why) => Some(knot().unwrap_or(why)),
            None => takeable(&task).err(),
        }
    } else {
        None
    };
    TaskView {
        ready: free && blocked_reason.is_none(),
        blocked_reason,
        task,
    }
}

/// What is said of each task that waits for itself.
fn knots(all: &HashMap<Key, Summary>) -> HashMap<Key, String> {
    let mut said = HashMap::new();
    for knot in find(all.keys().copied(), |key| all.get(&key)) {
        let text = format!("it waits for itself: {}", arrows(&knot.way));
        said.extend(knot.members.into_iter().map(|key| (key, text.clone())));
    }
    said
}

/// Knots among the tasks that are not completed.
pub(super) fn find<'a>(
    keys: impl Iterator<Item = Key>,
    get: impl Fn(Key) -> Option<&'a Summary>,
) -> Vec<Knot<Key>> {
    let mut keys: Vec<Key> = keys.collect();
    keys.sort_unstable();
    cycles::all(keys, |key| edges(get(key)))
}

/// The dependencies that a task waits for; none if it waits for nothing any more.
pub(super) fn edges(summary: Option<&Summary>) -> Vec<Key> {
    summary
        .filter(|task| !task.is_completed())
        .map_or_else(Vec::new, |task| task.blocked_by.to_vec())
}

/// A cycle as shown: `task_a → task_b → task_a`. Of a long one the middle is only counted: each of its tasks may show it.
pub fn arrows<T: Display>(cycle: &[T]) -> String {
    let mut shown: Vec<String> = cycle.iter().take(MAX_SHOWN).map(T::to_string).collect();
    if let Some((last, middle)) = cycle.get(MAX_SHOWN..).and_then(<[T]>::split_last) {
        if !middle.is_empty() {
            shown.push(format!("({} more)", middle.len()));
        }
        shown.push(last.to_string());
    }
    shown.join(" → ")
}
