//! A request's record (SPEC §8.1); its keys are snake_case.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::ids::{AgentName, RequestId, TaskId};

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestKind {
    /// The lead asks a teammate to stop.
    Shutdown,
    /// The lead wants a plan of a teammate before it changes anything more.
    PlanWish,
    /// A teammate asks for its plan to be approved.
    PlanApproval,
    /// An agent asks whether a tool call may run.
    Permission,
    /// The lead's model proposes a team.
    Team,
}

/// Where a request stands. Which values a kind can have is in [`super::machine`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestStatus {
    /// Open.
    Pending,
    /// Shutdown: heard.
    Acknowledged,
    /// Shutdown: done. Plan wish: heard and followed.
    Completed,
    /// Shutdown: ended without a clean farewell.
    Failed,
    /// Plan: go ahead.
    Approved,
    /// Plan: not so.
    Rejected,
    /// Plan: belongs to an earlier assignment.
    Stale,
    /// Plan, plan wish, permission: nobody waits for it any more.
    Withdrawn,
    /// Permission: may run.
    Allowed,
    /// Permission: may not run.
    Denied,
    /// Team: agreed.
    Accepted,
    /// Team: not agreed.
    Declined,
}

impl RequestKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [
        Self::Shutdown,
        Self::PlanWish,
        Self::PlanApproval,
        Self::Permission,
        Self::Team,
    ];

    /// As written in the record.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shutdown => "shutdown",
            Self::PlanWish => "plan_wish",
            Self::PlanApproval => "plan_approval",
            Self::Permission => "permission",
            Self::Team => "team",
        }
    }
}

impl RequestStatus {
    /// Every status of any kind.
    pub const ALL: [Self; 12] = [
        Self::Pending,
        Self::Acknowledged,
        Self::Completed,
        Self::Failed,
        Self::Approved,
        Self::Rejected,
        Self::Stale,
        Self::Withdrawn,
        Self::Allowed,
        Self::Denied,
        Self::Accepted,
        Self::Declined,
    ];

    /// As written in the record.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Acknowledged => "acknowledged",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Stale => "stale",
            Self::Withdrawn => "withdrawn",
            Self::Allowed => "allowed",
            Self::Denied => "denied",
            Self::Accepted => "accepted",
            Self::Declined => "declined",
        }
    }
}

impl fmt::Display for RequestKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for RequestStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A request as kept. Unknown keys are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Its id, which is also its file's name.
    pub request_id: RequestId,
    /// What is asked.
    #[serde(rename = "type")]
    pub kind: RequestKind,
    /// Who asks.
    pub sender: AgentName,
    /// Who may answer: an agent, or `user` for the person.
    pub target: AgentName,
    /// Where it stands.
    pub status: RequestStatus,
    /// The plan, the call, the proposal.
    #[serde(default)]
    pub payload: Value,
    /// The assignment's version it was asked under.
    pub work_version: Option<u64>,
    /// The assignment's task.
    pub task_id: Option<TaskId>,
    /// When it was asked.
    pub created_at: Timestamp,
    /// When it was answered for good.
    pub decided_at: Option<Timestamp>,
    /// Who answered.
    pub decided_by: Option<AgentName>,
    /// The answer's comment.
    pub feedback: Option<String>,
    /// Permission: `once` or `always`.
    pub scope: Option<String>,
    /// Keys that the runtime does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Record {
    /// Whether nothing can change it any more.
    pub fn is_final(&self) -> bool {
        super::machine::is_final(self.kind, self.status)
    }
}

/// What a request is made from.
#[derive(Debug, Clone)]
pub struct NewRequest {
    /// What is asked.
    pub kind: RequestKind,
    /// Who asks.
    pub sender: AgentName,
    /// Who may answer.
    pub target: AgentName,
    /// See [`Record::payload`].
    pub payload: Value,
    /// See [`Record::work_version`].
    pub work_version: Option<u64>,
    /// See [`Record::task_id`].
    pub task_id: Option<TaskId>,
}

/// An answer, or a step on the way.
#[derive(Debug, Clone)]
pub struct Decision {
    /// What kind of request it means to answer.
    pub kind: RequestKind,
    /// Who answers (or, for `stale` and `withdrawn`, who withdraws). The lead's process, when it answers by the person's
    /// rules, answers for the target and names it here.
    pub by: AgentName,
    /// The status it is to get.
    pub status: RequestStatus,
    /// The comment.
    pub feedback: Option<String>,
    /// See [`Record::scope`].
    pub scope: Option<String>,
}

/// Why an answer changed nothing.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// No such request.
    #[error("there is no request {0}")]
    Unknown(RequestId),
    /// The answer is for another kind of request.
    #[error("{id} is a {kind} request; an answer to a {given} request does not fit it")]
    WrongKind {
        /// The request.
        id: RequestId,
        /// What it is.
        kind: RequestKind,
        /// What the answer was for.
        given: RequestKind,
    },
    /// The answer comes from somebody else than may give it.
    #[error("{id} awaits its answer from {target}; {given} cannot give it")]
    WrongSender {
        /// The request.
        id: RequestId,
        /// Who may.
        target: AgentName,
        /// Who tried.
        given: AgentName,
    },
    /// The status does not allow it: answered already, or belongs to an earlier assignment.
    #[error("{id} {} and cannot become {given}", standing(*status))]
    Closed {
        /// The request.
        id: RequestId,
        /// Where it stands.
        status: RequestStatus,
        /// What was wanted.
        given: RequestStatus,
    },
    /// The record's file is not valid.
    #[error("request {id} is damaged: {why}")]
    Damaged {
        /// The request.
        id: RequestId,
        /// What is wrong.
        why: String,
    },
    /// The lock was not to be had.
    #[error(transparent)]
    Lock(#[from] crate::store::lock::LockError),
    /// A file could not be read or written.
    #[error(transparent)]
    Store(#[from] crate::store::StoreError),
}

fn standing(status: RequestStatus) -> String {
    match status {
        RequestStatus::Pending => "is pending".to_owned(),
        RequestStatus::Stale => "belongs to an earlier assignment".to_owned(),
        RequestStatus::Withdrawn => "was withdrawn: nobody waits for it any more".to_owned(),
        RequestStatus::Acknowledged
        | RequestStatus::Completed
        | RequestStatus::Failed
        | RequestStatus::Approved
        | RequestStatus::Rejected
        | RequestStatus::Allowed
        | RequestStatus::Denied
        | RequestStatus::Accepted
        | RequestStatus::Declined => format!("is {status} already"),
    }
}
