//! Providers behind one trait (SPEC §12). A reply is whole or it is an error: tools run only after it has ended.

mod address;
mod anthropic;
mod asked;
mod calls;
pub mod error;
mod exchange;
mod failure;
mod faults;
pub mod gate;
mod http;
pub mod ollama;
mod openai;
mod peer;
pub mod reach;
pub mod retry;
mod said;
pub mod script;
pub mod spec;
mod sse;
mod turns;
mod window;

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::cancel::Cancel;
use crate::conversation::{Block, Message, ToolCall, ToolSpec, Usage};

pub use error::ModelError;
pub use gate::Gate;
pub use spec::{Credentials, ModelSpec, OpenError, open, usual};

/// One call.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// System text; the first part is the same for the whole conversation.
    pub system: &'a [String],
    /// A valid conversation that ends with a user message.
    pub messages: &'a [Message],
    /// The tools offered, the same for the whole conversation; may be empty.
    pub tools: &'a [ToolSpec],
    /// The agent's assignment, for scripts' `${task}`.
    pub task: Option<&'a str>,
}

/// A whole reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// Its parts; may be empty.
    pub content: Vec<Block>,
    /// Why it ended.
    pub stop: Stop,
    /// Its tokens.
    pub usage: Usage,
    /// What the provider wants back when the conversation is opened again ([`Model::resume`]).
    pub note: Option<Value>,
}

/// Why a reply ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// By itself, or to have tools run.
    End,
    /// At the output limit: it is cut.
    MaxTokens,
    /// The model refused; the text says why.
    Refusal(String),
    /// The context window is full: it is cut.
    ContextFull,
    /// The server wants the same conversation sent again to go on.
    Pause,
}

/// What is told during a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Progress {
    /// Text of the reply as it comes.
    Text(String),
    /// The call is tried again after a pause: why, and for how long from now. Text told so far is void.
    Retrying {
        /// In plain words.
        why: String,
        /// The pause.
        wait: Duration,
    },
    /// The pause is over: the server is asked.
    Asking,
}

/// A provider and model, with whatever the provider keeps between calls.
pub trait Model: Send {
    /// `provider:name`.
    fn name(&self) -> &str;

    /// Tokens that a conversation and its reply may have together; a guess where nothing is known. May ask the server, for
    /// less than a second.
    fn window(&mut self) -> u64;

    /// The same as far as it is known without asking.
    fn known_window(&self) -> u64;

    /// One call, streamed, not retried. Returns within a second of `cancel`.
    fn call(
        &mut self,
        request: &Request<'_>,
        cancel: &Arc<Cancel>,
        on: &mut dyn FnMut(Progress),
    ) -> Result<Reply, ModelError>;

    /// Tells a new instance the notes of the conversation's replies so far, in order.
    fn resume(&mut self, notes: &[Value]) {
        let _ = notes;
    }

    /// Last change to a call's input before it runs. `Err` is the call's error. `task` is the agent's assignment now.
    fn resolve(&mut self, call: &ToolCall, task: Option<&str>) -> Result<Value, String> {
        let _ = task;
        Ok(call.input.clone())
    }

    /// Tells what a call of the last reply answered.
    fn observe(&mut self, call: &ToolCall, output: &str) {
        let _ = (call, output);
    }
}
