//! All leases of a workspace and what follows from a change of them: pure, but for the random ids of what is to be told.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::ids::{self, AgentName, TaskId};

/// How many ended leases are remembered, to say who changed a file.
const REMEMBERED: usize = 256;

/// How many conflicts are remembered as told.
const TOLD: usize = 1024;

/// Who edits a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The agent.
    pub agent: AgentName,
    /// What it works on.
    pub task: Option<TaskId>,
}

/// A file that an agent edits until its round ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The file, without a link in its path.
    pub path: String,
    /// Who has it.
    #[serde(flatten)]
    pub holder: Holder,
    /// Since when.
    pub since: Timestamp,
    /// Who was refused meanwhile, once each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<AgentName>,
}

/// Something that an agent is still to be told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    /// The message's id, the same each time it is sent.
    pub id: String,
    /// The message's time.
    pub at: Timestamp,
    /// Whom.
    pub to: AgentName,
    /// The file.
    pub path: String,
    /// What of it.
    #[serde(flatten)]
    pub subject: Subject,
}

/// What a [`Notice`] says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "camelCase")]
pub enum Subject {
    /// Nobody edits the file any more.
    Free {
        /// Who had it.
        by: Holder,
    },
    /// An agent was refused an edit since another one has the file, or has changed it.
    Conflict {
        /// Who was refused.
        refused: Holder,
        /// Who was there first.
        other: Holder,
    },
}

/// What asking for a file came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken {
    /// It is the asker's from now on.
    New,
    /// It was the asker's already.
    Again,
    /// Somebody else has it.
    Refused(Lease),
}

/// Everything that is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Book {
    /// Files that are edited now.
    #[serde(default)]
    leases: Vec<Lease>,
    /// Not told yet.
    #[serde(default)]
    owed: Vec<Notice>,
    /// Leases that have ended, oldest first.
    #[serde(default)]
    ended: VecDeque<Lease>,
    /// Conflicts that were told: the file and both agents, oldest first.
    #[serde(default)]
    told: VecDeque<(String, AgentName, AgentName)>,
}

impl Book {
    /// `asker` wants to edit `path`: it is the asker's from now on, unless somebody else has it.
    pub fn take(&mut self, path: &str, asker: &Holder, now: Timestamp) -> Taken {
        if let Some(lease) = self.refuse(path, asker, now) {
            return Taken::Refused(lease);
        }
        if self.holder(path).is_some() {
            return Taken::Again;
        }
        self.leases.push(Lease {
            path: path.to_owned(),
            holder: asker.clone(),
            since: now,
            waiting: Vec::new(),
        });
        Taken::New
    }

    /// The lease that keeps `asker` from editing `path`, if there is one. The asker waits for it from now on; the first time
    /// for this file and pair the lead is told.
    pub fn refuse(&mut self, path: &str, asker: &Holder, now: Timestamp) -> Option<Lease> {
        let theirs = |lease: &Lease| lease.path == path && lease.holder.agent != asker.agent;
        let lease = self.leases.iter_mut().find(|lease| theirs(lease))?;
        if !lease.waiting.contains(&asker.agent) {
            lease.waiting.push(asker.agent.clone());
        }
        let lease = lease.clone();
        self.tell_conflict(path, asker, &lease.holder, now);
        Some(lease)
    }

    /// Who has `path`.
    pub fn holder(&self, path: &str) -> Option<&AgentName> {
        let lease = self.leases.iter().find(|lease| lease.path == path)?;
        Some(&lease.holder.agent)
    }

    /// `asker` was refused an edit of `path` since it has changed. Who else edits it or did so last is told of, if known.
    pub fn found_changed(&mut self, path: &str, asker: &Holder, now: Timestamp) {
        let mut others = self.leases.iter().chain(self.ended.iter().rev());
        let other = others
            .find(|lease| lease.path == path && lease.holder.agent != asker.agent)
            .map(|lease| lease.holder.clone());
        if let Some(other) = other {
            self.tell_conflict(path, asker, &other, now);
        }
    }

    /// Ends the leases that `is_over` names, and owes those who wait for them word of it.
    pub fn end(&mut self, now: Timestamp, is_over: impl Fn(&Lease) -> bool) {
        let (over, held) = std::mem::take(&mut self.leases)
            .into_iter()
            .partition(is_over);
        self.leases = held;
        for mut lease in over {
            for to in std::mem::take(&mut lease.waiting) {
                let by = lease.holder.clone();
                self.owe(to, &lease.path, Subject::Free { by }, now);
            }
            self.ended
                .retain(|old| old.path != lease.path || old.holder.agent != lease.holder.agent);
            self.ended.push_back(lease);
        }
        trim(&mut self.ended, REMEMBERED);
    }

    /// Takes back a lease whose edit came to nothing.
    pub fn take_back(&mut self, path: &str, agent: &AgentName, now: Timestamp) {
        let remembered = self.ended.clone();
        self.end(now, |lease| {
            lease.path == path && lease.holder.agent == *agent
        });
        self.ended = remembered;
    }

    /// Forgets what was: for a new session.
    pub fn forget(&mut self) {
        self.ended.clear();
        self.told.clear();
    }

    /// All that is held, in the order in which it was taken.
    pub fn leases(&self) -> &[Lease] {
        &self.leases
    }

    /// What is still to be told.
    pub fn owed(&self) -> &[Notice] {
        &self.owed
    }

    /// These were told.
    pub fn paid(&mut self, told: &[Notice]) {
        self.owed.retain(|owed| !told.contains(owed));
    }

    fn tell_conflict(&mut self, path: &str, refused: &Holder, other: &Holder, now: Timestamp) {
        let pair = |a: &AgentName, b: &AgentName| (path.to_owned(), a.clone(), b.clone());
        let (one, two) = (&refused.agent, &other.agent);
        if self.told.contains(&pair(one, two)) || self.told.contains(&pair(two, one)) {
            return;
        }
        self.told.push_back(pair(one, two));
        trim(&mut self.told, TOLD);
        let subject = Subject::Conflict {
            refused: refused.clone(),
            other: other.clone(),
        };
        self.owe(AgentName::lead(), path, subject, now);
    }

    fn owe(&mut self, to: AgentName, path: &str, subject: Subject, at: Timestamp) {
        self.owed.push(Notice {
            id: ids::message_id(),
            at,
            to,
            path: path.to_owned(),
            subject,
        });
    }
}

fn trim<T>(list: &mut VecDeque<T>, most: usize) {
    list.drain(..list.len().saturating_sub(most));
}
