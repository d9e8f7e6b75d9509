//! What a teammate is started with, and how it ended.

use std::sync::Arc;

use crate::config::Settings;
use crate::config::env::Environment;
use crate::ids::{AgentName, TaskId};
use crate::model::{Credentials, ModelSpec};
use crate::process::signals::Signal;
use crate::workspace::Workspace;

/// Exit code of a teammate that ended by an error that it could not mend, like one that crashed: it is started again.
pub const CRASHED: u8 = 70;

/// Says one line to whoever looks at the teammate's output.
pub type Say = Arc<dyn Fn(&str) + Send + Sync>;

/// Everything a teammate needs to know; nothing else is read from the environment.
#[derive(Clone)]
pub struct Options {
    /// Where the team works.
    pub workspace: Workspace,
    /// Its name, checked as a teammate's.
    pub name: AgentName,
    /// `--role`: free text, or the name of a role definition.
    pub role: Option<String>,
    /// `--prompt`: what it is told first; ignored once it has a conversation.
    pub prompt: Option<String>,
    /// `--task`: its first task, claimed for it already or to be claimed.
    pub task: Option<TaskId>,
    /// `--require-plan`.
    pub require_plan: bool,
    /// `--model`.
    pub model: Option<ModelSpec>,
    /// The model where neither `model` nor the session names one.
    pub fallback_model: Option<ModelSpec>,
    /// Settings where no session is recorded; the session's hold otherwise.
    pub settings: Settings,
    /// From the pipe, else from its own environment.
    pub credentials: Credentials,
    /// Started by a lead (`--keys-on-stdin`), not by a person.
    pub started_by_lead: bool,
    /// Its environment, for its tools (cleaned here) and the person's home.
    pub environment: Environment,
    /// Where its own few lines go.
    pub say: Say,
    /// File notification is never asked for (tests).
    pub poll_only: bool,
}

/// How a teammate ended; its record says the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// As asked.
    Stopped,
    /// No lead came back in time.
    LeadLost,
    /// For good, with the reason (for the caller to print): a bad key, bad settings, a wrap-up that failed. It is not
    /// started again.
    Failed(String),
    /// By a signal.
    Signalled(Signal),
}

impl End {
    /// The exit code (SPEC §5.1).
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Stopped | Self::LeadLost => 0,
            Self::Failed(_) => 1,
            Self::Signalled(Signal::HangUp) => 129,
            Self::Signalled(Signal::Interrupt) => 130,
            Self::Signalled(Signal::Terminate) => 143,
        }
    }
}

/// Why a teammate did not run to an end of its own.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Nothing was started: another process is this teammate. Exit code 2.
    #[error("{0}")]
    Usage(String),
    /// An error that it could not mend; the lead was told. Exit code [`CRASHED`].
    #[error(transparent)]
    Broken(#[from] anyhow::Error),
}
