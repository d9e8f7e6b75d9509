//! What a tool is, and what one call of it sees.
//!
//! A tool is a type without values: its input struct gives the schema, so that what is offered and what is accepted
//! cannot differ. [`Entry`] is the same without the type, for the catalog.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::path::{Access, Target};
use super::place::Place;
use super::seen::{Hash, Seen};
use super::{AgentContext, input, schema};
use crate::cancel::Cancel;
use crate::conversation::ToolSpec;

/// What a tool touches; decides when it is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Files or processes in the agent's directory: not without one, and not while wrapping up.
    Workspace,
    /// Begins something: not while wrapping up.
    NewWork,
    /// Looks, tells, or ends something.
    Always,
}

/// What a tool answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    /// For the model.
    pub(crate) text: String,
    /// See [`super::Outcome::held`].
    pub(crate) held: bool,
}

impl Said {
    /// An answer that holds only if the turn's tasks are published.
    pub(crate) fn held(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            held: true,
        }
    }
}

impl From<String> for Said {
    fn from(text: String) -> Self {
        Self { text, held: false }
    }
}

/// What a running call sees.
pub(crate) struct Call<'a> {
    /// The agent.
    pub(crate) context: &'a AgentContext,
    /// What this agent has read.
    pub(crate) seen: &'a Seen,
    /// Ends the call.
    pub(crate) cancel: &'a Arc<Cancel>,
    /// Where the agent works; workspace tools always have it.
    pub(crate) place: Option<Place>,
    /// It is plain git that may write the repository of the workspace; judged as that.
    pub(crate) commits: bool,
    /// The input's path as it was judged.
    pub(crate) target: Option<Target>,
    /// The content that the diff before a question was made from; the agreement holds for no other.
    pub(crate) agreed: Cell<Option<Hash>>,
}

impl<'a> Call<'a> {
    /// A call before anything is known of where it works.
    pub(crate) fn new(context: &'a AgentContext, seen: &'a Seen, cancel: &'a Arc<Cancel>) -> Self {
        Self {
            context,
            seen,
            cancel,
            place: None,
            commits: false,
            target: None,
            agreed: Cell::new(None),
        }
    }

    /// Where the agent works.
    pub(crate) fn place(&self) -> Result<&Place, String> {
        self.place
            .as_ref()
            .ok_or_else(|| "this tool has no working directory; report this as a fault".to_owned())
    }

    /// The file or directory that the call is about.
    pub(crate) fn target(&self) -> Result<&Target, String> {
        self.target
            .as_ref()
            .ok_or_else(|| "this tool was given no path; report this as a fault".to_owned())
    }
}

/// One tool.
pub(crate) trait Tool: 'static {
    /// Its arguments. Unknown fields are refused (`deny_unknown_fields`); the fields' docs are for the model.
    type Input: DeserializeOwned + JsonSchema;
    /// `[a-z_]+`
    const NAME: &'static str;
    /// What it does, for the model.
    const DESCRIPTION: &'static str;
    /// What it touches.
    const CLASS: Class;
    /// Whether a closed plan gate blocks it.
    const GATED: bool = false;
    /// Whether it, or whom it starts, may change files of the workspace.
    const CHANGES: bool = false;

    /// The path that the call is about, and what is done with it.
    fn path(input: &Self::Input) -> Option<(&str, Access)> {
        let _ = input;
        None
    }

    /// For edits: what would change, as a diff. Changes nothing.
    fn preview(call: &Call<'_>, input: &Self::Input) -> Result<Option<String>, String> {
        let _ = (call, input);
        Ok(None)
    }

    /// Does it. `Err` goes to the model.
    fn run(call: &Call<'_>, input: Self::Input) -> Result<Said, String>;
}

/// A call whose input fits.
pub(crate) trait Ready {
    /// See [`Tool::path`].
    fn path(&self) -> Option<(&str, Access)>;
    /// See [`Tool::preview`].
    fn preview(&self, call: &Call<'_>) -> Result<Option<String>, String>;
    /// See [`Tool::run`].
    fn run(self: Box<Self>, call: &Call<'_>) -> Result<Said, String>;
}

struct Typed<T: Tool> {
    input: T::Input,
    tool: PhantomData<fn(T)>,
}

impl<T: Tool> Ready for Typed<T> {
    fn path(&self) -> Option<(&str, Access)> {
        T::path(&self.input)
    }

    fn preview(&self, call: &Call<'_>) -> Result<Option<String>, String> {
        T::preview(call, &self.input)
    }

    fn run(self: Box<Self>, call: &Call<'_>) -> Result<Said, String> {
        T::run(call, self.input)
    }
}

/// A tool in the catalog.
pub(crate) struct Entry {
    /// As offered to the model.
    pub(crate) spec: ToolSpec,
    /// See [`Tool::CLASS`].
    pub(crate) class: Class,
    /// See [`Tool::GATED`].
    pub(crate) gated: bool,
    /// See [`Tool::CHANGES`].
    pub(crate) changes: bool,
    parse: fn(&Value) -> Result<Box<dyn Ready>, String>,
}

impl Entry {
    /// The entry of a tool.
    pub(crate) fn of<T: Tool>() -> Self {
        Self {
            spec: ToolSpec {
                name: T::NAME,
                description: T::DESCRIPTION.to_owned(),
                schema: schema::of::<T::Input>(),
            },
            class: T::CLASS,
            gated: T::GATED,
            changes: T::CHANGES,
            parse: parse::<T>,
        }
    }

    /// Checks `input`; the error names the field.
    pub(crate) fn accept(&self, input: &Value) -> Result<Box<dyn Ready>, String> {
        let input = input::with_integers(input);
        input::check(&input, &self.spec.schema)
            .and_then(|()| (self.parse)(&input))
            .map_err(|why| format!("{}: {why}", self.spec.name))
    }
}

fn parse<T: Tool>(input: &Value) -> Result<Box<dyn Ready>, String> {
    let input = <T::Input as Deserialize>::deserialize(input).map_err(|error| error.to_string())?;
    Ok(Box::new(Typed::<T> {
        input,
        tool: PhantomData,
    }))
}
