//! What is not in order in a workspace: read by a starting lead, by a living one now and then, and by `lead doctor` (SPEC §15).
//!
//! All three read the same way. [`files`] lists the runtime's files and [`judge`] says what is wrong with each; [`ground`]
//! reads what the files say together, and what follows from it is pure; [`survey`] makes findings of both. [`mend`] does what
//! a finding names, under the lock of whoever writes there, and only if the file still looks as it did. Nothing is
//! deleted but temporary files of writers that are gone.

pub mod eye;
pub mod files;
pub mod ground;
pub mod judge;
mod leases;
pub mod leftovers;
pub mod mend;
pub mod survey;
pub mod trees;

#[cfg(test)]
mod tests;

pub use eye::Eye;
pub use ground::{Fate, Ground, Left};
pub use leftovers::{end_leftovers, leftovers};
pub use survey::{Finding, Remedy, damaged, survey};
pub use trees::worktrees;

use crate::board::Board;
use crate::request::Requests;
use crate::team::Roster;
use crate::workspace::Workspace;

/// The files of a workspace, each kind behind its owner's module.
#[derive(Debug, Clone, Copy)]
pub struct Books<'a> {
    /// The workspace.
    pub workspace: &'a Workspace,
    /// The tasks.
    pub board: &'a Board,
    /// The members.
    pub roster: &'a Roster,
    /// The requests.
    pub requests: &'a Requests,
}
