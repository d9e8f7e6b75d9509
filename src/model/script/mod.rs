//! Replies from a file (SPEC §12.1).

mod choose;
mod file;
mod names;
mod substitute;

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::failure::Answer;
use super::peer::Peer;
use super::{Model, ModelError, OpenError, Progress, Reply, Request, Stop};
use crate::cancel::Cancel;
use crate::conversation::{Block, ToolCall, Usage};
use crate::workspace::Workspace;
use choose::Choice;
use file::Scripted;

pub use names::{forget_names, names_fault};

/// What an agent says that has nothing left to say.
const USED_UP: &str = "Done.";
/// What an agent says whose remaining replies do not fit.
const UNFIT: &str = "…";

/// A script as one agent plays it.
pub(super) struct Script {
    name: String,
    replies: Vec<Scripted>,
    used: BTreeSet<usize>,
    /// Used since the last reply that came through: to be noted with the next.
    unnoted: Vec<usize>,
    /// The names that calls of the last reply bind, by call id.
    binds: HashMap<String, String>,
    workspace: Workspace,
}

impl Script {
    /// Opens the script at `path` for `agent`.
    pub(super) fn open(path: &Path, workspace: &Workspace, agent: &str) -> Result<Self, OpenError> {
        Ok(Self {
            name: format!("script:{}", path.display()),
            replies: file::load(path, agent)?,
            used: BTreeSet::new(),
            unnoted: Vec::new(),
            binds: HashMap::new(),
            workspace: workspace.clone(),
        })
    }

    fn lookup(&self, name: &str, task: Option<&str>) -> Result<String, String> {
        if name == "task" {
            return task
                .map(str::to_owned)
                .ok_or_else(|| "${task} stands for the agent's task, and it has none".to_owned());
        }
        names::lookup(&self.workspace, name)?.ok_or_else(|| {
            format!("the script's ${{{name}}} is unknown; no reply bound it by \"as\" before")
        })
    }

    fn said(text: &str, on: &mut dyn FnMut(Progress)) -> Reply {
        on(Progress::Text(text.to_owned()));
        reply(vec![Block::text(text)], None)
    }

    fn play(
        &mut self,
        index: usize,
        task: Option<&str>,
        on: &mut dyn FnMut(Progress),
    ) -> Result<Reply, ModelError> {
        let scripted = &self.replies[index];
        let mut content = Vec::new();
        if let Some(text) = &scripted.text {
            let text = substitute::text(text, &mut |name| self.lookup(name, task))
                .map_err(ModelError::Refused)?;
            if !text.trim().is_empty() {
                on(Progress::Text(text.clone()));
                content.push(Block::text(text));
            }
        }
        let mut binds = HashMap::new();
        for (at, call) in scripted.tools.iter().enumerate() {
            let id = format!("call_{index}_{at}");
            if let Some(bind) = &call.bind {
                binds.insert(id.clone(), bind.clone());
            }
            content.push(Block::ToolUse(ToolCall {
                id,
                name: call.name.clone(),
                input: Value::Object(call.input.clone()),
                cut: None,
            }));
        }
        self.binds = binds;
        let note = choose::note(&std::mem::take(&mut self.unnoted));
        Ok(reply(content, Some(note)))
    }
}

fn reply(content: Vec<Block>, note: Option<Value>) -> Reply {
    Reply {
        content,
        stop: Stop::End,
        usage: Usage::default(),
        note,
    }
}

impl Model for Script {
    fn name(&self) -> &str {
        &self.name
    }

    /// A script reads no more than the newest message.
    fn window(&mut self) -> u64 {
        u64::MAX
    }

    fn known_window(&self) -> u64 {
        u64::MAX
    }

    fn call(
        &mut self,
        request: &Request<'_>,
        cancel: &Arc<Cancel>,
        on: &mut dyn FnMut(Progress),
    ) -> Result<Reply, ModelError> {
        if cancel.is_cancelled() {
            return Err(ModelError::Cancelled);
        }
        let index = match choose::next(&self.replies, &self.used, request.messages) {
            Choice::Reply(index) => index,
            Choice::UsedUp => return Ok(Self::said(USED_UP, on)),
            Choice::Unfit => return Ok(Self::said(UNFIT, on)),
        };
        let delay = Duration::from_millis(self.replies[index].delay_ms.unwrap_or(0));
        if !delay.is_zero() && cancel.sleep(delay) {
            return Err(ModelError::Cancelled);
        }
        self.used.insert(index);
        self.unnoted.push(index);
        if let Some(error) = &self.replies[index].error {
            let message = error.message.as_deref().unwrap_or("a scripted failure");
            let answer = Answer::scripted(error.status, message, error.retry_after);
            return Err(answer.into_error(&Peer::script(&self.name)));
        }
        self.play(index, request.task, on)
    }

    fn resume(&mut self, notes: &[Value]) {
        self.used = choose::used_by(notes, self.replies.len());
    }

    fn resolve(&mut self, call: &ToolCall, task: Option<&str>) -> Result<Value, String> {
        substitute::value(&call.input, &mut |name| self.lookup(name, task))
    }

    fn observe(&mut self, call: &ToolCall, output: &str) {
        if let Some(name) = self.binds.get(&call.id)
            && let Some(id) = substitute::first_id(output)
            && let Err(why) = names::bind(&self.workspace, name, id)
        {
            tracing::error!("cannot keep the script's name {name}: {why}");
        }
    }
}

#[cfg(test)]
mod tests;
