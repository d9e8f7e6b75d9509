//! The lead's two locks: the election, and what teammates watch (SPEC §6.1, §5.6).
//!
//! They are two files because a watcher waits in the lock's queue: on the election it would stand before a new lead. The
//! files hold the lead's pid, for people and for the refusal; only the locks count, whatever stands in them.

use std::time::Duration;

use super::roster::sign;
use crate::store::lock::{self, FileLock, LockError};
use crate::workspace::Workspace;

/// How long a lock for life is tried: a momentary probe may stand in the way.
pub(super) const LIFE_WAIT: Duration = Duration::from_secs(2);

/// Held by the one lead of a workspace for life.
#[must_use]
#[derive(Debug)]
pub struct LeadPresence {
    election: FileLock,
    alive: FileLock,
}

impl LeadPresence {
    /// Takes both locks, trying the election for 2 s. `Err(pid)` inside `Ok` if another lead has it; its pid if known.
    pub fn take(workspace: &Workspace) -> Result<Result<Self, Option<u32>>, LockError> {
        let path = workspace.lead_lock();
        let election = match FileLock::exclusive(&path, LIFE_WAIT) {
            Ok(lock) => lock,
            Err(LockError::Busy { .. }) => return Ok(Err(lock::holder_pid(&path))),
            Err(error) => return Err(error),
        };
        sign(&election);
        let alive = FileLock::exclusive(&workspace.lead_alive(), LIFE_WAIT)?;
        sign(&alive);
        Ok(Ok(Self { election, alive }))
    }

    /// Whether both files are where they were locked. If not (the workspace was moved, or its state removed), another lead could
    /// start there, and teammates would take this one for dead.
    pub fn is_in_place(&self, workspace: &Workspace) -> bool {
        self.election.is_at(&workspace.lead_lock()) && self.alive.is_at(&workspace.lead_alive())
    }

    /// Keeps both locks until the given-up presence is dropped; explicit for readers.
    pub fn give_up(self) {
        drop((self.alive, self.election));
    }
}

/// Whether a lead lives in `workspace`. When that cannot be seen one counts as living: nobody stops because somebody ran out
/// of file descriptors.
pub fn is_there(workspace: &Workspace) -> bool {
    lock::is_held(&workspace.lead_alive()).unwrap_or_else(|error| {
        tracing::warn!(%error, "whether a lead lives cannot be seen");
        true
    })
}

/// The same with its pid, if that is known: asking for it takes the system some milliseconds.
pub fn living_lead(workspace: &Workspace) -> Option<Option<u32>> {
    is_there(workspace).then(|| lock::holder_pid(&workspace.lead_alive()))
}

/// Blocks until no lead lives (its `lead.alive` is free), letting go of it at once. For a thread of its own.
pub fn wait_for_death(workspace: &Workspace) -> Result<(), LockError> {
    lock::wait_until_free(&workspace.lead_alive())
}
