//! `task_notification`: who is told of a change that somebody else made (SPEC §3.4).

use super::complete::work_done;
use crate::board::{Completion, Task};
use crate::ids::AgentName;
use crate::mailbox::{Kind, Message, Recipient};
use crate::tool::AgentContext;
use crate::tool::errors::words;
use std::fmt::Write as _;

/// Tells the lead that this agent has completed its task.
pub(crate) fn completed(context: &AgentContext, done: &Completion) -> Result<(), String> {
    if context.agent.is_lead() {
        return Ok(());
    }
    let task = &done.task;
    let mut text = format!("{} completed {}: {}", context.agent, task.id, task.subject);
    if let Some(work) = work_done(context, task) {
        text.push('\n');
        text.push_str(&work);
    }
    for ready in &done.unblocked {
        let _ = write!(text, "\nnow ready: {} {}", ready.id, ready.subject);
    }
    let unblocked: Vec<&str> = done.unblocked.iter().map(|task| task.id.as_str()).collect();
    let message = notification(context, &AgentName::lead(), task, "completed", text)
        .with("unblocked", unblocked);
    context
        .post
        .deliver(&message)
        .map_err(|error| words(&error))
}

/// Tells `owner` that its task was taken from it.
pub(crate) fn taken(
    context: &AgentContext,
    owner: &AgentName,
    task: &Task,
    change: &str,
) -> Result<(), String> {
    if *owner == context.agent {
        return Ok(());
    }
    let text = format!(
        "{} has {change} your task {} ({}); stop working on it",
        context.agent, task.id, task.subject
    );
    let message = notification(context, &as_spelled(context, owner), task, change, text)
        .with("unblocked", Vec::<String>::new());
    context
        .post
        .deliver(&message)
        .map_err(|error| words(&error))
}

/// The name as its mailbox spells it; a task file may have been written by hand.
fn as_spelled(context: &AgentContext, owner: &AgentName) -> AgentName {
    match context.directory.lookup(owner) {
        Recipient::Present(name) | Recipient::Absent { name, .. } => name,
        Recipient::Unknown { .. } => owner.clone(),
    }
}

fn notification(
    context: &AgentContext,
    to: &AgentName,
    task: &Task,
    change: &str,
    text: String,
) -> Message {
    Message::new(&context.agent, to, Kind::TaskNotification, text)
        .with("task_id", task.id.as_str())
        .with("change", change)
        .with("work_version", task.work_version)
}
