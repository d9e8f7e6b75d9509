//! What a tool needs its agent's loop for. The loop answers; the worker thread waits, and a cancelled call ends the wait.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::board::NewTask;
use crate::cancel::Cancel;
use crate::ids::{AgentName, RequestId, TaskId};

/// The answer: text for the model, or an error text for the model. For [`HostCall::Permit`] `Ok` means that it may run and
/// holds the person's comment (or nothing), `Err` why it may not.
pub type Answer = Result<String, String>;

/// A permission question (SPEC §8.4).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PermissionAsk {
    /// The tool.
    pub tool: String,
    /// Its whole input.
    pub input: Value,
    /// For edits: the diff.
    pub diff: Option<String>,
    /// Which rule or reason asks.
    pub because: String,
    /// The rule that "always" would keep; `None`: not offered.
    pub always: Option<String>,
    /// Where it would run.
    pub dir: String,
}

/// A plan (SPEC §8.3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// One line.
    pub title: String,
    /// At least one.
    pub steps: Vec<String>,
    /// Why so.
    #[serde(default)]
    pub rationale: Option<String>,
}

/// A proposed teammate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProposedMember {
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: String,
    /// Its model; the team's default if absent.
    #[serde(default)]
    pub model: Option<String>,
    /// What it is meant to do.
    #[serde(default)]
    pub task: Option<String>,
}

/// A proposed team (SPEC §6.3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TeamProposal {
    /// At least one.
    pub members: Vec<ProposedMember>,
    /// Why this team.
    pub rationale: String,
}

/// A start of a teammate (SPEC §6.4).
#[derive(Debug, Clone, PartialEq)]
pub struct SpawnOrder {
    /// Its name.
    pub name: AgentName,
    /// Its role.
    pub role: String,
    /// What it is told first.
    pub prompt: String,
    /// Its first task.
    pub task: Option<TaskId>,
    /// Whether its plans must be approved.
    pub require_plan: bool,
    /// Its model.
    pub model: Option<String>,
    /// Tasks staged in this turn, to be published in the same step in which the first task is claimed.
    pub staged: Vec<NewTask>,
}

/// A call to the agent's loop.
#[derive(Debug, Clone, PartialEq)]
pub enum HostCall {
    /// May this call run?
    Permit(PermissionAsk),
    /// Teammate: submit a plan and wait for the decision.
    SubmitPlan(Plan),
    /// Lead: propose a team and wait for the person.
    ProposeTeam(TeamProposal),
    /// Lead: start a teammate.
    Spawn(SpawnOrder),
    /// Lead: who is there.
    ListTeammates,
    /// Lead: ask a teammate to stop.
    RequestShutdown(AgentName),
    /// Lead: ask a teammate for a plan.
    RequestPlan {
        /// Whom.
        teammate: AgentName,
        /// For what.
        task: String,
    },
    /// Lead: decide on a plan.
    ReviewPlan {
        /// Which.
        request: RequestId,
        /// Whether it may go ahead.
        approve: bool,
        /// The comment.
        feedback: Option<String>,
    },
    /// The assignment was claimed by a tool: the loop records it (member record, transcript note).
    Claimed,
    /// The assignment was completed, released or given up by a tool.
    AssignmentOver,
}

/// The agent's loop as its tools see it.
pub trait Host: Send + Sync {
    /// Hands `call` to the loop and waits for its answer, or for `cancel`.
    fn call(&self, call: HostCall, cancel: &Arc<Cancel>) -> Answer;

    /// Tells the person something that no model needs to know.
    fn notice(&self, text: String) {
        tracing::warn!("{text}");
    }

    /// Tells the person of a call that was denied since nobody is asked in this session.
    fn denied(&self, text: String) {
        self.notice(text);
    }

    /// On the worker thread, before each call that may change files of the workspace.
    fn before_change(&self) {}
}
