//! Answers of the person and of the lead's model: the one door to [`Requests::decide`] for them.
//!
//! A plan holds only for the task and work version it was submitted for, and a permission question ends with the process
//! that asked (SPEC §8.1): what nobody waits for any more is closed as such, and the answer is refused.

use crate::board::{Board, BoardError, Status};
use crate::ids::RequestId;
use crate::request::{Decision, Record, Refusal, RequestKind, RequestStatus, Requests};
use crate::team::Roster;

/// Where the answers are given.
#[derive(Clone, Copy)]
pub struct Desk<'a> {
    /// The records.
    pub requests: &'a Requests,
    /// Who holds which task under which version.
    pub board: &'a Board,
    /// Who lives.
    pub roster: &'a Roster,
}

impl Desk<'_> {
    /// Applies `decision` if somebody still waits for it.
    pub fn decide(&self, id: &RequestId, decision: &Decision) -> Result<Record, Refusal> {
        let record = self.requests.get(id)?;
        let given = decision.status;
        if record.is_final() || record.kind != decision.kind {
            return self.requests.decide(id, decision);
        }
        let ended = match record.kind {
            RequestKind::Permission if !self.asker_lives(&record) => RequestStatus::Withdrawn,
            RequestKind::PlanApproval if !self.is_current(&record) => RequestStatus::Stale,
            RequestKind::Permission
            | RequestKind::PlanApproval
            | RequestKind::Shutdown
            | RequestKind::PlanWish
            | RequestKind::Team => return self.requests.decide(id, decision),
        };
        let over = Decision {
            status: ended,
            feedback: None,
            scope: None,
            ..decision.clone()
        };
        let record = self.requests.decide(id, &over)?;
        Err(Refusal::Closed {
            id: record.request_id,
            status: record.status,
            given,
        })
    }

    fn asker_lives(&self, record: &Record) -> bool {
        record.sender.is_lead() || self.roster.is_alive(&record.sender)
    }

    /// Whether the plan's assignment is still its sender's. A file that cannot be read is no verdict.
    fn is_current(&self, record: &Record) -> bool {
        let Some(id) = &record.task_id else {
            return true;
        };
        match self.board.get(id) {
            Ok(task) => {
                task.status == Status::InProgress
                    && task.owner.as_ref() == Some(&record.sender)
                    && Some(task.work_version) == record.work_version
            }
            Err(BoardError::Unknown(_)) => false,
            Err(
                BoardError::Damaged { .. }
                | BoardError::Owned { .. }
                | BoardError::Refused(_)
                | BoardError::Stale { .. }
                | BoardError::Lock(_)
                | BoardError::Store(_),
            ) => true,
        }
    }
}
