//! What an agent holds now, shared between its loop and its worker thread.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::board::{NewTask, Task};
use crate::ids::{RequestId, TaskId, WorktreeName};
use crate::team::PlanGate;

/// The task an agent holds, with its working directory.
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    /// The task.
    pub task: TaskId,
    /// The version it was claimed under.
    pub version: u64,
    /// Where its tools work.
    pub dir: PathBuf,
    /// The worktree that `dir` is, if it is one.
    pub worktree: Option<WorktreeName>,
    /// Completed, cancelled or released by another: only the directory is still the agent's, until its round ends.
    pub over: bool,
    /// The task as it was claimed.
    pub snapshot: Box<Task>,
}

/// Everything in it is small and read at once; no lock is held across a call of anything.
#[derive(Debug, Default)]
pub struct Desk {
    state: Mutex<DeskState>,
}

/// The desk's contents.
#[derive(Debug, Default)]
pub struct DeskState {
    /// At most one at a time.
    pub assignment: Option<Assignment>,
    /// The agent's gate.
    pub gate: PlanGate,
    /// The open or last plan request.
    pub plan_request: Option<RequestId>,
    /// Lead: tasks made in this turn, published together when its tools have run.
    pub staged: Vec<NewTask>,
    /// Lead: tasks of this turn that were published before the person was asked something.
    pub published: Vec<TaskId>,
    /// The agent's own todo list.
    pub todos: Vec<Todo>,
    /// Set while wrapping up: no workspace tools, no new work.
    pub wrapping_up: bool,
}

/// One line of a todo list.
#[derive(
    Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Todo {
    /// What is to be done.
    pub text: String,
    /// `pending`, `in_progress` or `completed`.
    pub status: String,
}

impl Desk {
    /// The contents, for a short look or change.
    pub fn state(&self) -> MutexGuard<'_, DeskState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The assignment, if there is one (also one that is over).
    pub fn assignment(&self) -> Option<Assignment> {
        self.state().assignment.clone()
    }
}
