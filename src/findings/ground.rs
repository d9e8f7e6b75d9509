//! What the files say together, read at once, and what follows from it: pure but for [`Ground::read`].

use std::collections::HashSet;

use super::Books;
use crate::board::{BoardError, Entry, Status, Task};
use crate::ids::{AgentName, TaskId};
use crate::request::{Record, Refusal, RequestKind, RequestStatus};
use crate::store::StoreError;
use crate::team::{Member, MemberStatus, lead_presence};

/// Why the files could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadFailed {
    /// The members.
    #[error(transparent)]
    Team(#[from] StoreError),
    /// The tasks.
    #[error(transparent)]
    Board(#[from] BoardError),
    /// The requests.
    #[error(transparent)]
    Requests(#[from] Refusal),
}

/// The team, the board and the requests at one moment.
#[derive(Debug, Clone, Default)]
pub struct Ground {
    /// Whether a lead lives, as others see it.
    pub lead: bool,
    /// All readable records, and whether each one's process lives.
    pub members: Vec<(Member, bool)>,
    /// All tasks and damaged files, in the order of offering.
    pub entries: Vec<Entry>,
    /// Requests in no final state, oldest first.
    pub requests: Vec<Record>,
    /// Agents that live, by name, the lead among them.
    living: HashSet<AgentName>,
}

/// What is to be made of a member that an earlier lead left, by its record and whether it lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// It lives: it is taken over.
    Lives,
    /// A start that a crash cut short: it is undone.
    HalfStarted,
    /// It ended as it should.
    Done,
    /// Its process is gone and somebody may want it back.
    Lost,
}

/// What becomes of a request that is still open when a lead starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Somebody waits for its answer: it is asked again.
    Asked,
    /// Whom it is for lives and takes it in: nobody is asked.
    Told,
    /// Whoever asked is gone, and the request with it: this is its last status.
    Over(RequestStatus),
    /// A living teammate is asked to stop.
    Stopping,
    /// The teammate that was asked to stop is gone.
    Stopped,
}

impl Ground {
    /// Reads all of it. Nothing is locked: what changes meanwhile is found as it was or as it is.
    pub fn read(books: Books<'_>) -> Result<Self, ReadFailed> {
        let lead = lead_presence::is_there(books.workspace);
        let mut living: HashSet<AgentName> = HashSet::new();
        let mut members = Vec::new();
        for member in books.roster.list()? {
            let alive = books.roster.is_alive(&member.name);
            if alive {
                living.insert(member.name.clone());
            }
            members.push((member, alive));
        }
        let entries = books.board.list()?;
        let owners: HashSet<&AgentName> =
            tasks(&entries).filter_map(|t| t.owner.as_ref()).collect();
        // Whoever lost its record may live all the same.
        let unrecorded: Vec<AgentName> = owners
            .into_iter()
            .filter(|owner| !owner.is_lead() && !living.contains(owner))
            .filter(|owner| books.roster.is_alive(owner))
            .cloned()
            .collect();
        living.extend(unrecorded);
        Ok(Self {
            lead,
            members,
            entries,
            requests: books.requests.open_ones(None)?,
            living,
        })
    }

    /// Whether the process of `agent` lives. The lead's is the one that asks, or the one seen.
    pub fn lives(&self, agent: &AgentName) -> bool {
        if agent.is_lead() {
            self.lead
        } else {
            self.living.contains(agent)
        }
    }

    /// The same as a lead sees it that has just started: what the lead before it held is nobody's.
    #[must_use]
    pub fn of_a_new_lead(mut self) -> Self {
        self.lead = false;
        self
    }

    /// The valid tasks, in the order of offering.
    pub fn tasks(&self) -> impl Iterator<Item = &Task> {
        tasks(&self.entries)
    }

    /// Tasks in progress whose owner's process is gone.
    pub fn orphans(&self) -> impl Iterator<Item = &Task> {
        self.tasks().filter(|task| {
            task.status == Status::InProgress
                && !task.owner.as_ref().is_some_and(|owner| self.lives(owner))
        })
    }

    /// Tasks that are neither completed nor given up.
    pub fn open_tasks(&self) -> impl Iterator<Item = &Task> {
        self.tasks()
            .filter(|task| matches!(task.status, Status::Pending | Status::InProgress))
    }

    /// Open tasks with the dependencies for which there is no file.
    pub fn missing_dependencies(&self) -> Vec<(&Task, Vec<&TaskId>)> {
        let there: HashSet<&str> = self.entries.iter().map(id).collect();
        self.open_tasks()
            .map(|task| {
                let missing = task.blocked_by.iter();
                let missing = missing.filter(|id| !there.contains(id.as_str()));
                (task, missing.collect::<Vec<_>>())
            })
            .filter(|(_, missing)| !missing.is_empty())
            .collect()
    }

    /// What is to be made of a member.
    pub fn left(&self, member: &Member) -> Left {
        left(member, self.lives(&member.name))
    }

    /// What becomes of an open request.
    pub fn fate(&self, request: &Record) -> Fate {
        let asker_lives = self.lives(&request.sender);
        match request.kind {
            RequestKind::Shutdown if self.lives(&request.target) => Fate::Stopping,
            RequestKind::Shutdown => Fate::Stopped,
            RequestKind::PlanWish if self.lives(&request.target) => Fate::Told,
            RequestKind::PlanWish => Fate::Over(RequestStatus::Withdrawn),
            RequestKind::Permission if !asker_lives => Fate::Over(RequestStatus::Withdrawn),
            RequestKind::Team if request.sender.is_lead() && !asker_lives => {
                Fate::Over(RequestStatus::Declined)
            }
            // A plan outlives the process of whoever submitted it.
            RequestKind::Permission | RequestKind::Team | RequestKind::PlanApproval => Fate::Asked,
        }
    }
}

fn tasks(entries: &[Entry]) -> impl Iterator<Item = &Task> {
    entries.iter().filter_map(|entry| match entry {
        Entry::Task(task) => Some(&**task),
        Entry::Damaged { .. } => None,
    })
}

fn id(entry: &Entry) -> &str {
    match entry {
        Entry::Task(task) => task.id.as_str(),
        Entry::Damaged { id, .. } => id,
    }
}

/// What is to be made of a member, by its record and whether it lives.
pub fn left(member: &Member, alive: bool) -> Left {
    let lead_lost = member
        .last_error
        .as_deref()
        .is_some_and(|error| error.contains("lead lost"));
    match member.status {
        _ if alive => Left::Lives,
        MemberStatus::Starting if member.restarts == 0 && member.turns == 0 => Left::HalfStarted,
        MemberStatus::Stopped => Left::Done,
        MemberStatus::Failed if !lead_lost => Left::Done,
        MemberStatus::Failed
        | MemberStatus::Starting
        | MemberStatus::Working
        | MemberStatus::Idle
        | MemberStatus::WaitingApproval
        | MemberStatus::Stopping => Left::Lost,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timestamp;
    use crate::team::PlanGate;

    #[test]
    fn what_was_left_is_told_apart_by_record_and_lock() {
        use MemberStatus as S;
        let member = |status, turns, restarts, error: Option<&str>| Member {
            name: AgentName::parse("alice").unwrap(),
            role: "coder".into(),
            model: "m".into(),
            status,
            pid: None,
            started_at: Timestamp::from_ms(1),
            task: None,
            plan_gate: PlanGate::NotRequired,
            plan_request: None,
            turns,
            tokens: 0,
            restarts,
            last_error: error.map(Into::into),
            started_by: None,
            prompt: None,
            require_plan: false,
            extra: serde_json::Map::default(),
        };
        for (member, alive, wanted) in [
            (member(S::Idle, 3, 0, None), true, Left::Lives),
            (member(S::Starting, 0, 0, None), true, Left::Lives),
            (member(S::Starting, 0, 0, None), false, Left::HalfStarted),
            (member(S::Starting, 4, 1, None), false, Left::Lost),
            (member(S::Stopped, 4, 0, None), false, Left::Done),
            (member(S::Failed, 4, 0, Some("bad key")), false, Left::Done),
            (
                member(S::Failed, 4, 0, Some("lead lost")),
                false,
                Left::Lost,
            ),
            (member(S::Working, 4, 0, None), false, Left::Lost),
            (member(S::Idle, 4, 0, None), false, Left::Lost),
        ] {
            assert_eq!(left(&member, alive), wanted, "{member:?}");
        }
    }
}
