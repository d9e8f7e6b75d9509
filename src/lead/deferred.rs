//! Starts that wait a moment for the end of somebody who has said farewell: the model is told of it before the process has
//! ended.

use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use super::session::Session;
use crate::clock;
use crate::ids::AgentName;
use crate::team::MemberStatus;
use crate::tool::{Answer, SpawnOrder};

/// How long a start waits; after a farewell there is next to nothing left to do.
const END_WAIT: Duration = Duration::from_secs(10);

/// A start that is wanted.
pub(super) struct Wanted {
    pub(super) order: SpawnOrder,
    pub(super) reply: Sender<Answer>,
    /// Until when what is in the way may still go.
    until: Instant,
}

impl Wanted {
    /// One that may wait from now on.
    pub(super) fn now(order: SpawnOrder, reply: Sender<Answer>) -> Self {
        Self {
            order,
            reply,
            until: clock::instant() + END_WAIT,
        }
    }
}

impl Session {
    /// Whether `wanted` is to be judged again later.
    pub(super) fn may_wait(&self, wanted: &Wanted) -> bool {
        clock::instant() < wanted.until && self.somebody_is_going()
    }

    /// Whether somebody has said farewell and will have ended in a moment.
    fn somebody_is_going(&self) -> bool {
        let farewells = &self.crew.farewells;
        farewells
            .iter()
            .any(|name| self.is_there(name) && self.says_that_it_ends(name))
    }

    /// Whoever says farewell has said in its record before that it stops.
    fn says_that_it_ends(&self, name: &AgentName) -> bool {
        let member = self.files.roster.get(name).ok().flatten();
        member.is_some_and(|member| match member.status {
            MemberStatus::Stopping | MemberStatus::Stopped | MemberStatus::Failed => true,
            MemberStatus::Starting
            | MemberStatus::Idle
            | MemberStatus::Working
            | MemberStatus::WaitingApproval => false,
        })
    }

    /// Judges again the starts that wait: whatever they wait for may have changed.
    pub(super) fn judge_deferred(&mut self) {
        for wanted in std::mem::take(&mut self.crew.deferred) {
            self.start_or_defer(wanted);
        }
    }

    /// When a start has waited long enough.
    pub(super) fn deferred_until(&self) -> Option<Instant> {
        let deferred = self.crew.deferred.iter();
        deferred.map(|wanted| wanted.until).min()
    }
}
