//! Whoever holds a task is known, and nothing stays with the dead: also what was held by a teammate that a person had
//! started, and what could not be given back at once because the disk was full.

use std::time::{Duration, Instant};

use super::fleet::Unit;
use super::session::Session;
use crate::board::{Entry, Released, Status};
use crate::clock;
use crate::ids::AgentName;

/// How long until a release that failed is tried again.
const AGAIN: Duration = Duration::from_millis(500);

/// Releases that failed, to be tried again.
#[derive(Debug, Default)]
pub(super) struct Owed {
    names: Vec<(AgentName, Released)>,
    at: Option<Instant>,
}

impl Owed {
    /// `name` still holds its task; whether that is news.
    pub(super) fn add(&mut self, name: &AgentName, why: Released) -> bool {
        self.at = Some(clock::instant() + AGAIN);
        let known = self.names.iter().any(|(owed, _)| owed == name);
        if !known {
            self.names.push((name.clone(), why));
        }
        !known
    }

    /// When it is tried again.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.at
    }

    /// Those whose time has come; each stays until it is [`Self::done`].
    fn take_due(&mut self, now: Instant) -> Vec<(AgentName, Released)> {
        if self.at.is_none_or(|at| at > now) {
            return Vec::new();
        }
        self.at = None;
        self.names.clone()
    }

    /// `name` holds nothing any more.
    pub(super) fn done(&mut self, name: &AgentName) {
        self.names.retain(|(owed, _)| owed != name);
    }
}

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

    /// Tries again what could not be given back. One that was started again meanwhile goes on with its task.
    pub(super) fn release_owed(&mut self) {
        for (name, why) in self.crew.owed.take_due(clock::instant()) {
            if self.is_there(&name) {
                self.crew.owed.done(&name);
            } else {
                self.release_task_of(&name, why);
            }
        }
    }

    fn is_there(&self, name: &AgentName) -> bool {
        self.fleet.get(name).is_some_and(Unit::is_there)
    }
}
