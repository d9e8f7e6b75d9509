//! Whoever holds a task is known, and nothing stays with the dead: also what was held by a teammate that a person had
//! started.

use super::fleet::Unit;
use super::session::Session;
use crate::board::{Entry, Released, Status};
use crate::ids::AgentName;

impl Session {
    /// The holder of a task that has just changed: one that lives is taken over, what a dead one holds goes back.
    pub(super) fn meet_owner(&mut self, owner: &AgentName) {
        if owner.is_lead() || self.is_there(owner) {
            return;
        }
        self.adopt(owner);
        if !self.is_there(owner) {
            self.release_task_of(owner, Released::Failed);
        }
    }

    /// More has changed than could be named.
    pub(super) fn meet_all_owners(&mut self) {
        let entries = match self.files.board.list() {
            Ok(entries) => entries,
            Err(error) => return self.complain("the board was not read", &error),
        };
        for entry in entries {
            if let Entry::Task(task) = entry
                && task.status == Status::InProgress
                && let Some(owner) = &task.owner
            {
                self.meet_owner(owner);
            }
        }
    }

    /// Whether its process lives or is coming.
    pub(super) fn is_there(&self, name: &AgentName) -> bool {
        self.fleet.get(name).is_some_and(Unit::is_there)
    }
}
