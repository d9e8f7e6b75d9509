//! All tools of one agent and the order in which a call is judged and run.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use super::call::{Call, Entry, Said};
use super::hooks::{self, Occasion};
use super::seen::Seen;
use super::tasks::staged;
use super::{Desk, Host, admit, catalog};
use crate::board::Board;
use crate::cancel::{self, Cancel};
use crate::conversation::ToolSpec;
use crate::ids::AgentName;
use crate::mailbox::{Directory, Post};
use crate::policy::{Confinement, HookEvent, Hooks, Policy};
use crate::workspace::Workspace;

/// What tools work with. One per agent, shared by its loop and worker thread.
pub struct AgentContext {
    /// The agent.
    pub agent: AgentName,
    /// Its role.
    pub role: String,
    /// The workspace.
    pub workspace: Workspace,
    /// The board.
    pub board: Arc<Board>,
    /// Sending.
    pub post: Post,
    /// Who exists.
    pub directory: Arc<dyn Directory>,
    /// Rules; replaced by the loop when other settings come into force.
    pub policy: std::sync::RwLock<Policy>,
    /// Rules allowed "always" for this agent; raised by the loop.
    pub grants: std::sync::Mutex<Vec<String>>,
    /// What the agent holds.
    pub desk: Desk,
    /// The agent's loop.
    pub host: Box<dyn Host>,
    /// The person's home.
    pub home: Option<PathBuf>,
    /// The environment of bash, cleaned already (`config::env::for_tools`).
    pub tool_env: Vec<(OsString, OsString)>,
    /// How bash is held in.
    pub confinement: Confinement,
    /// The team's `verify` command.
    pub verify: Option<String>,
    /// The person's hooks.
    pub hooks: Hooks,
    /// Whether `review_plan` is offered.
    pub lead_reviews_plans: bool,
    /// Whether `merge_worktree` is offered.
    pub lead_merges: bool,
}

/// What a tool call came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// For the model.
    pub content: String,
    /// Whether it failed.
    pub is_error: bool,
    /// The result is recorded only when [`ToolBox::end_turn`] has confirmed it (staged tasks).
    pub held: bool,
}

/// The tools of one agent.
pub struct ToolBox {
    context: Arc<AgentContext>,
    catalog: Vec<Entry>,
    seen: Seen,
}

impl AgentContext {
    /// From here on calls are judged by these rules.
    pub fn judge_by(&self, policy: Policy) {
        *self
            .policy
            .write()
            .unwrap_or_else(std::sync::PoisonError::into_inner) = policy;
    }
}

impl ToolBox {
    /// The lead's tools if `context.agent` is the lead, else a teammate's.
    pub fn new(context: Arc<AgentContext>) -> Self {
        Self {
            catalog: catalog::of(
                context.agent.is_lead(),
                context.lead_reviews_plans,
                context.lead_merges,
            ),
            seen: Seen::default(),
            context,
        }
    }

    /// What the tools work with.
    pub fn context(&self) -> &Arc<AgentContext> {
        &self.context
    }

    /// The tools as offered to the model, always in the same order.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.catalog
            .iter()
            .map(|entry| entry.spec.clone())
            .collect()
    }

    /// Runs one call. Never panics, never ends the process; blocks until done or cancelled.
    pub fn run(&self, name: &str, input: &Value, cancel: &Arc<Cancel>) -> Outcome {
        let ran = catch_unwind(AssertUnwindSafe(|| {
            cancel::during(cancel, || self.attempt(name, input, cancel))
        }));
        let said = ran.unwrap_or_else(|_| {
            Err(format!(
                "{name} failed by a fault of its own; its effects are unknown, so look before you go on"
            ))
        });
        match said {
            Ok(said) => Outcome {
                content: said.text,
                is_error: false,
                held: said.held,
            },
            Err(content) => Outcome {
                content,
                is_error: true,
                held: false,
            },
        }
    }

    fn attempt(&self, name: &str, input: &Value, cancel: &Arc<Cancel>) -> Result<Said, String> {
        let entry = catalog::find(&self.catalog, name)?;
        let ready = entry.accept(input)?;
        let not_cut = || {
            if cancel.is_cancelled() {
                return Err(format!("{name} was interrupted before it began"));
            }
            Ok(())
        };
        not_cut()?;
        let mut occasion = Occasion {
            tool: Some(name),
            input: Some(input),
            ..Occasion::of(HookEvent::PreToolUse)
        };
        hooks::run(&self.context, &occasion, cancel)?;
        not_cut()?;
        let mut call = Call::new(&self.context, &self.seen, cancel);
        let comment = admit::admit(entry, ready.as_ref(), input, &mut call)?;
        if entry.changes {
            self.context.host.before_change();
            not_cut()?;
        }
        let mut said = ready.run(&call);
        let answer = said.as_mut().map_or_else(|why| why, |said| &mut said.text);
        occasion.event = HookEvent::PostToolUse;
        let after = hooks::run(
            &self.context,
            &Occasion {
                output: Some(answer.as_str()),
                ..occasion
            },
            cancel,
        );
        if let Err(text) = after {
            let _ = write!(answer, "\n\nA hook of the person says: {text}");
        }
        let mut said = said?;
        if let Some(comment) = comment {
            let _ = write!(
                said.text,
                "\n\nThe person allowed this call with a comment: {comment}"
            );
        }
        Ok(said)
    }

    /// After all calls of a turn: publishes the staged tasks. `Err`: nothing was published; the text replaces the content of
    /// every held result.
    pub fn end_turn(&self) -> Result<(), String> {
        staged::publish(&self.context)
    }
}
