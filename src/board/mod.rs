//! All tasks: rules, claims, dependencies, and their history. The task files are the truth; all else is derived.

mod alone;
mod bell;
mod branches;
mod commit;
mod cycles;
mod error;
mod file;
mod gate;
mod health;
mod index;
mod journal;
pub mod kept;
mod knowledge;
mod line;
mod locked;
mod mark;
pub mod rules;
mod saving;
mod scan;
mod snapshot;
mod summary;
pub mod task;
mod view;

#[cfg(test)]
mod tests;

pub use error::BoardError;
pub use file::MAX_FILE;
pub use health::journal_line_fault;
pub use kept::{Board, BoardOptions, Bound};
pub use locked::LockedBoard;
pub use rules::Released;
pub use task::{
    Claimant, MAX_DESCRIPTION, MAX_SUBJECT, NewTask, Status, Task, TaskPatch, Verified, VerifyRun,
};
pub use view::{Completion, Entry, TaskView, arrows};
