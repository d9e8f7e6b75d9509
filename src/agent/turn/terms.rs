//! What the turn machine speaks in: states, events, effects.

use std::collections::VecDeque;

use super::consult::Then;
use crate::agent::Happening;
use crate::conversation::{Block, Compaction, ToolCall, Usage};
use crate::model::{ModelError, Progress, Reply};
use crate::policy::HookEvent;
use crate::tool::Outcome;

/// What is under way.
#[derive(Debug, Clone, PartialEq)]
pub enum State {
    /// Nothing.
    Rest,
    /// A model call.
    Calling,
    /// A tool; the others of the reply wait.
    Running {
        /// The call that runs.
        current: ToolCall,
        /// Those after it, in order.
        waiting: VecDeque<ToolCall>,
    },
    /// All calls are answered; what the turn staged is being published.
    Ending,
    /// The person's hooks are asked.
    Consulting(Then),
    /// Nothing; the owner decides how to go on.
    Boundary,
    /// What is under way was told to stop and has not ended yet.
    Cutting {
        /// For the model.
        why: String,
        /// What is ending.
        work: Work,
    },
}

/// Work that is being cut.
#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    /// A model call.
    Call,
    /// A tool; the others will not run.
    Tool {
        /// The call that runs.
        current: ToolCall,
        /// Those after it, in order.
        waiting: VecDeque<ToolCall>,
    },
    /// The turn's end: short, so it is waited for.
    End,
    /// Hooks.
    Consult,
}

/// What the owner wants, or the worker reports.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The owner has recorded its inputs: call the model.
    Begin,
    /// The same at rest, for a round that fails where the conversation could only be sent after the model had summed it up.
    BeginLast,
    /// The owner ends the round at a boundary.
    Rest,
    /// The owner cuts what is under way.
    Interrupt(String),
    /// The owner wants the conversation made shorter, at rest.
    Shorten,
    /// The owner is about to become idle, at rest: ask the hooks.
    ConsultIdle,
    /// Text streams, or a call is to be tried again, or is.
    Progressed(u64, Progress),
    /// A call ended with a whole reply.
    Replied(u64, Reply),
    /// A call ended without one.
    CallFailed(u64, ModelError),
    /// The conversation was made shorter instead of being sent.
    Shortened(u64, Shorter),
    /// A tool starts, its input resolved.
    Started(u64, ToolCall),
    /// A tool ended.
    Ran(u64, Outcome),
    /// The turn's end: `Err` replaces the held results.
    Ended(u64, Result<(), String>),
    /// The hooks have run; what one says that blocks.
    Consulted(u64, Option<String>),
}

/// How a call deals with a conversation that is nearly too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// Sends it as it is.
    Enough,
    /// Makes it shorter instead if it nearly fills the model's window.
    Look,
    /// The same, but fails where that takes the model.
    Alone,
    /// Makes it shorter instead.
    Make,
}

/// A conversation made shorter, with what that took.
#[derive(Debug, Clone, PartialEq)]
pub struct Shorter {
    /// What was cut.
    pub cut: Compaction,
    /// What stands in place of the older part.
    pub text: Option<String>,
    /// The model's reply that the text was made from; `None`: it was not asked.
    pub spent: Option<(Usage, Option<serde_json::Value>)>,
}

/// One result of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// The call.
    pub call: ToolCall,
    /// What the model is told.
    pub content: String,
    /// Whether it failed.
    pub is_error: bool,
}

/// What is to be done, in this order.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Record a reply (synced); an empty one only keeps its tokens and note.
    RecordReply {
        /// Its parts.
        content: Vec<Block>,
        /// Its tokens.
        usage: Usage,
        /// See [`Reply::note`].
        note: Option<serde_json::Value>,
    },
    /// Record one result.
    RecordResult(Answered),
    /// Record that the round was interrupted.
    RecordInterrupted(String),
    /// Record that the conversation was made shorter.
    RecordShorter(Shorter),
    /// Record a text of the runtime's own that asks the model to go on.
    RecordNudge,
    /// Record this text, as said by the runtime.
    RecordTold(String),
    /// Call the model, under the machine's epoch.
    Call(Room),
    /// Run a tool, under the machine's epoch.
    Run(ToolCall),
    /// End the turn, under the machine's epoch.
    EndTurn,
    /// Run the hooks of that event, told the round's last text, under the machine's epoch.
    Consult(HookEvent, String),
    /// Cancel what is under way.
    Cancel,
    /// Tell the owner.
    Tell(Happening),
}
