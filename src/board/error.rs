//! Why the board did not do what was asked.

use crate::ids::{AgentName, TaskId};

/// Why the board did not do what was asked. All but `Store` and `Lock` are decided before anything is written.
#[derive(Debug, thiserror::Error)]
pub enum BoardError {
    /// No such task.
    #[error("there is no task {0}")]
    Unknown(TaskId),
    /// The task's file is not valid.
    #[error("task {id} is damaged: {why}")]
    Damaged {
        /// The task.
        id: TaskId,
        /// What is wrong with it.
        why: String,
    },
    /// Somebody else has it.
    #[error("{id} is owned by {owner}")]
    Owned {
        /// The task.
        id: TaskId,
        /// Its owner.
        owner: AgentName,
    },
    /// The rules refuse the change; the text says why.
    #[error("{0}")]
    Refused(String),
    /// The work version is not the one it is owned under: the assignment was taken away meanwhile.
    #[error(
        "{id} is no longer yours: it was released or claimed again since (work version {given}, now {now})"
    )]
    Stale {
        /// The task.
        id: TaskId,
        /// The caller's version.
        given: u64,
        /// The task's version.
        now: u64,
    },
    /// The lock was not to be had.
    #[error(transparent)]
    Lock(#[from] crate::store::lock::LockError),
    /// A file could not be read or written.
    #[error(transparent)]
    Store(#[from] crate::store::StoreError),
}
