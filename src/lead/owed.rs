//! What a full disk kept from being written, and nobody else would write: it is tried again until it is.

use std::time::{Duration, Instant};

use super::answers::Reply;
use super::session::Session;
use crate::board::Released;
use crate::clock;
use crate::ids::AgentName;
use crate::request::Record;

/// How long until it is tried again.
const AGAIN: Duration = Duration::from_millis(500);

/// One thing that is to be written.
#[derive(Debug, Clone)]
pub(super) enum Debt {
    /// The task that a dead owner still holds goes back.
    Release(AgentName, Released),
    /// An answer, for which a tool waits.
    Answer(Box<Record>, Reply),
}

impl Debt {
    /// Whether both would write the same record.
    fn is_about_the_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Release(name, _), Self::Release(other, _)) => name == other,
            (Self::Answer(record, _), Self::Answer(other, _)) => {
                record.request_id == other.request_id
            }
            (Self::Release(..), Self::Answer(..)) | (Self::Answer(..), Self::Release(..)) => false,
        }
    }
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Owed {
    debts: Vec<Debt>,
    at: Option<Instant>,
}

impl Owed {
    /// Remembers what could not be written; whether that is news.
    pub(super) fn add(&mut self, debt: Debt) -> bool {
        self.at = Some(clock::instant() + AGAIN);
        let known = self.debts.iter().any(|owed| owed.is_about_the_same(&debt));
        if !known {
            self.debts.push(debt);
        }
        !known
    }

    /// When it is tried again.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.at
    }

    /// What is due now; each stays until it is [`Self::paid`].
    fn due(&mut self, now: Instant) -> Vec<Debt> {
        if self.at.is_none_or(|at| at > now) {
            return Vec::new();
        }
        self.at = None;
        self.debts.clone()
    }

    /// It is written, or no longer to be.
    pub(super) fn paid(&mut self, debt: &Debt) {
        self.debts.retain(|owed| !owed.is_about_the_same(debt));
    }
}

impl Session {
    /// Tries again what is due. A dead owner that was started again meanwhile goes on with its task.
    pub(super) fn pay_what_is_owed(&mut self) {
        for debt in self.crew.owed.due(clock::instant()) {
            match &debt {
                Debt::Release(name, _) if self.is_there(name) => self.crew.owed.paid(&debt),
                Debt::Release(name, why) => self.release_task_of(name, *why),
                Debt::Answer(record, reply) => self.decide(record, reply.clone()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_debt_is_due_after_a_while_and_stays_until_it_is_paid() {
        let debt = |name| Debt::Release(AgentName::parse(name).unwrap(), Released::Failed);
        let mut owed = Owed::default();
        assert_eq!(owed.deadline(), None);
        assert!(owed.add(debt("ann")));
        assert!(!owed.add(debt("ANN")), "one name");
        assert!(owed.add(debt("bob")));
        let at = owed.deadline().unwrap();
        assert!(owed.due(clock::instant()).is_empty());
        assert_eq!(owed.due(at).len(), 2);
        assert_eq!(owed.deadline(), None, "until it fails again");
        assert!(!owed.add(debt("bob")));
        owed.paid(&debt("ann"));
        owed.paid(&debt("bob"));
        let at = owed.deadline().unwrap();
        assert!(owed.due(at).is_empty());
    }
}
