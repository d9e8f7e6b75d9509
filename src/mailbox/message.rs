//! One message: a line of JSON in a mailbox (SPEC §4.2).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ids::AgentName;

/// Longest message, in bytes of its line.
pub const MAX_MESSAGE: usize = 1024 * 1024;

/// What a message is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Talk.
    Message,
    /// Talk that awaits an answer.
    Question,
    /// Talk from whoever gives the work.
    Instruction,
    /// Talk to all.
    Broadcast,
    /// Told and shown.
    StatusUpdate,
    /// Told and shown.
    Acknowledgment,
    /// The final text of a teammate's round.
    Result,
    /// A teammate waits for work.
    IdleNotification,
    /// A failure, in words; `error` is read as this.
    #[serde(alias = "error")]
    ErrorReport,
    /// A task changed.
    TaskNotification,
    /// Control (SPEC §8.2).
    ShutdownRequest,
    /// Control (SPEC §8.2).
    ShutdownResponse,
    /// Control (SPEC §8.3): a plan is wanted.
    PlanRequest,
    /// Control (SPEC §8.3): a plan awaits its decision.
    PlanApprovalRequest,
    /// Control (SPEC §8.3).
    PlanApprovalResponse,
    /// Control (SPEC §8.4).
    PermissionRequest,
    /// Control (SPEC §8.4).
    PermissionResponse,
    /// Anything else: talk.
    #[serde(untagged)]
    Other(String),
}

impl Kind {
    /// Whether this belongs to a protocol and never enters a conversation as it is.
    pub fn is_control(&self) -> bool {
        matches!(
            self,
            Self::ShutdownRequest
                | Self::ShutdownResponse
                | Self::PlanRequest
                | Self::PlanApprovalRequest
                | Self::PlanApprovalResponse
                | Self::PermissionRequest
                | Self::PermissionResponse
        )
    }
}

/// A message. Unknown keys are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// `msg_<16 hex>`, or whatever a foreign sender wrote.
    pub id: String,
    /// The sender as written; proves nothing (SPEC §4.2).
    pub from: String,
    /// The recipient as written.
    pub to: String,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The text.
    pub content: String,
    /// One line about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Unix milliseconds.
    pub timestamp: u64,
    /// Protocol fields, snake_case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// Keys that the runtime does not know; in an archive also `acknowledgedAt`.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Message {
    /// A message of now with a fresh id.
    pub fn new(from: &AgentName, to: &AgentName, kind: Kind, content: impl Into<String>) -> Self {
        Self {
            id: crate::ids::message_id(),
            from: from.to_string(),
            to: to.to_string(),
            kind,
            content: content.into(),
            summary: None,
            timestamp: crate::clock::now_ms(),
            metadata: None,
            extra: Map::new(),
        }
    }

    /// The same with one metadata field set.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.metadata
            .get_or_insert_default()
            .insert(key.to_owned(), value.into());
        self
    }

    /// A metadata field that is text.
    pub fn meta(&self, key: &str) -> Option<&str> {
        self.metadata.as_ref()?.get(key)?.as_str()
    }

    /// Whether it starts a paid round of an idle receiver (the table of SPEC §4.2). Control messages do not by themselves.
    pub fn starts_round(&self) -> bool {
        match self.kind {
            Kind::Message
            | Kind::Question
            | Kind::Instruction
            | Kind::Broadcast
            | Kind::Result
            | Kind::ErrorReport
            | Kind::Other(_) => true,
            Kind::IdleNotification => matches!(self.meta("reason"), Some("blocked" | "error")),
            Kind::TaskNotification => matches!(
                self.meta("change"),
                Some("released" | "cancelled" | "exhausted")
            ),
            Kind::StatusUpdate
            | Kind::Acknowledgment
            | Kind::ShutdownRequest
            | Kind::ShutdownResponse
            | Kind::PlanRequest
            | Kind::PlanApprovalRequest
            | Kind::PlanApprovalResponse
            | Kind::PermissionRequest
            | Kind::PermissionResponse => false,
        }
    }
}
