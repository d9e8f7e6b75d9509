//! A teammate's record, `members/<name>.json` (SPEC §5.1).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::ids::{AgentName, RequestId, TaskId};

/// What a teammate does (SPEC §5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemberStatus {
    /// Being started.
    Starting,
    /// In a round.
    Working,
    /// Waiting for work.
    Idle,
    /// Waiting for a decision on its plan.
    WaitingApproval,
    /// Asked to stop.
    Stopping,
    /// Ended as asked.
    Stopped,
    /// Ended for good with an error.
    Failed,
}

/// Whether a teammate may change anything yet (SPEC §8.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanGate {
    /// It may.
    #[default]
    NotRequired,
    /// A plan must be approved first.
    Required,
    /// A plan awaits its decision.
    Pending,
    /// The plan was rejected.
    Rejected,
    /// The plan was approved.
    Approved,
}

impl PlanGate {
    /// Whether tools that change something may run.
    pub fn is_open(self) -> bool {
        matches!(self, Self::NotRequired | Self::Approved)
    }
}

/// A teammate as recorded. Unknown keys are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// Its name in its own spelling.
    pub name: AgentName,
    /// Free text, or the name of a role definition.
    pub role: String,
    /// `provider:name`.
    pub model: String,
    /// What it does.
    pub status: MemberStatus,
    /// Its process while it lives; proves nothing.
    pub pid: Option<u32>,
    /// When it was started.
    pub started_at: Timestamp,
    /// Its assignment.
    pub task: Option<TaskId>,
    /// See [`PlanGate`].
    #[serde(default)]
    pub plan_gate: PlanGate,
    /// The open or last plan request.
    #[serde(default)]
    pub plan_request: Option<RequestId>,
    /// Model replies so far.
    #[serde(default)]
    pub turns: u64,
    /// Input, output and cache-write tokens so far.
    #[serde(default)]
    pub tokens: u64,
    /// How often it was started again.
    #[serde(default)]
    pub restarts: u32,
    /// Its last error.
    #[serde(default)]
    pub last_error: Option<String>,
    /// Who started it: `lead`, or `user` for one that a person started.
    #[serde(default)]
    pub started_by: Option<AgentName>,
    /// What it was started to do, until its model has answered to it: whoever starts it again tells it that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Whether it was started to change nothing without an approved plan.
    #[serde(default)]
    pub require_plan: bool,
    /// Keys that the runtime does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}
