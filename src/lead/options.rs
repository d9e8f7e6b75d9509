//! What a session is started with, and what it came to.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::board::Entry;
use crate::config::{Settings, Standing};
use crate::ids::{AgentName, SessionId};
use crate::model::{Credentials, ModelSpec};
use crate::policy::Confinement;
use crate::process::signals::Signal;
use crate::team::usage::Spent;
use crate::team::{Member, Prices};
use crate::workspace::Workspace;

/// Which conversation the lead goes on with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Resume {
    /// A new one over the same board and team.
    #[default]
    New,
    /// The last one; a new one if there was none.
    Last,
    /// That one.
    Id(SessionId),
}

/// Everything a session needs to know; nothing else is read from the environment.
#[derive(Debug, Clone)]
pub struct SessionOptions {
    /// Where the team works.
    pub workspace: Workspace,
    /// Effective settings, flags included.
    pub settings: Settings,
    /// Where they come from, to be looked at again when a file changes; `None`: they hold for the whole session.
    pub standing: Option<Standing>,
    /// Handed to teammates through a pipe.
    pub credentials: Credentials,
    /// The lead's model.
    pub model: ModelSpec,
    /// The teammates' model where neither the spawn nor the settings name one.
    pub teammate_model: ModelSpec,
    /// Team proposals and plans are accepted by themselves.
    pub yes: bool,
    /// `-p`: the one goal; no line is ever asked for.
    pub goal: Option<String>,
    /// A person sits at a terminal: lines come when they like, and a wrong answer is asked again.
    pub terminal: bool,
    /// The person's home.
    pub home: Option<PathBuf>,
    /// The environment of the lead's bash tool, cleaned (`config::env`).
    pub tool_env: Vec<(OsString, OsString)>,
    /// How that tool is held in.
    pub confinement: Confinement,
    /// The person's own environment: for `!command` only.
    pub person_env: Vec<(OsString, OsString)>,
    /// The environment teammates are started with: the person's without any model key.
    pub teammate_env: Vec<(OsString, OsString)>,
    /// Which conversation to go on with.
    pub resume: Resume,
    /// Lines to show at the start, such as warnings about settings.
    pub warnings: Vec<String>,
    /// File notification is never asked for (file systems without it; tests).
    pub poll_only: bool,
}

impl SessionOptions {
    /// Whether nobody will answer a question in this session.
    pub fn unattended(&self) -> bool {
        self.goal.is_some() && !self.yes
    }
}

/// How a session ended (SPEC §14), the gravest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EndStatus {
    /// No task is open and the lead's last call succeeded.
    Completed,
    /// Tasks are open.
    Incomplete,
    /// The model's server refused, or retries were used up.
    Failed,
    /// A limit on tokens, turns, or time was reached.
    Limit,
    /// A signal, or Ctrl-C.
    Interrupted,
}

impl EndStatus {
    /// As written in the result object.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Incomplete => "incomplete",
            Self::Failed => "failed",
            Self::Limit => "limit",
            Self::Interrupted => "interrupted",
        }
    }
}

/// What a session came to.
#[derive(Debug, Clone)]
pub struct SessionResult {
    /// How it ended.
    pub status: EndStatus,
    /// The signal that ended it, for the exit code.
    pub signal: Option<Signal>,
    /// The lead's last text; may be empty.
    pub result: String,
    /// Why the lead's last call brought nothing, if so.
    pub failure: Option<String>,
    /// The board, in the order of offering.
    pub tasks: Vec<Entry>,
    /// All members, in the order of their start.
    pub teammates: Vec<Member>,
    /// Calls and tokens of this session, by agent.
    pub usage: BTreeMap<AgentName, Spent>,
    /// What models cost.
    pub prices: Prices,
    /// From start to end.
    pub duration: Duration,
    /// The session's id.
    pub session: SessionId,
}

/// Why there was no session, or why it broke.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Nothing was started: another lead, a model that cannot be opened, an unknown session. Exit code 2, no result object.
    #[error("{0}")]
    Usage(String),
    /// A file of the runtime could not be read or written. Exit code 1.
    #[error(transparent)]
    Broken(#[from] anyhow::Error),
}
