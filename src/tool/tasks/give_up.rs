//! `release_task` and `cancel_task`: the lead takes a task back, or gives it up.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Deserialize;

use super::create::is_staged;
use super::{notify, staged};
use crate::board::{Released, Task};
use crate::ids::{AgentName, TaskId};
use crate::tool::call::{Call, Class, Said, Tool};
use crate::tool::{AgentContext, HostCall};

pub(crate) struct ReleaseTask;
pub(crate) struct CancelTask;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TaskIdInput {
    /// The task.
    task_id: String,
}

impl Tool for ReleaseTask {
    type Input = TaskIdInput;
    const NAME: &'static str = "release_task";
    const DESCRIPTION: &'static str =
        "Takes a task from its owner, who is told; it is pending again and offered to others.";
    const CLASS: Class = Class::Always;

    fn run(call: &Call<'_>, input: TaskIdInput) -> Result<Said, String> {
        let id = staged::parse_id("task_id", &input.task_id)?;
        let (task, owner) = staged::lock_and(call.context, |board| {
            board.release(&id, None, Released::Orderly, None)
        })?;
        let told = end_for(call, owner.as_ref(), &task, "released")?;
        Ok(format!("released {id}: {}{told}", task.subject).into())
    }
}

impl Tool for CancelTask {
    type Input = TaskIdInput;
    const NAME: &'static str = "cancel_task";
    const DESCRIPTION: &'static str = "Gives up a task that is not in progress; tasks that wait for it stay blocked. Release a task in progress first.";
    const CLASS: Class = Class::Always;

    fn run(call: &Call<'_>, input: TaskIdInput) -> Result<Said, String> {
        let id = staged::parse_id("task_id", &input.task_id)?;
        if is_staged(call.context, &id) {
            return cancel_staged(call.context, &id);
        }
        let (task, owner, dependents) =
            staged::lock_and(call.context, |board| board.cancel(&id, false))?;
        let told = end_for(call, owner.as_ref(), &task, "cancelled")?;
        let mut text = format!("cancelled {id}: {}{told}", task.subject);
        for waiting in &dependents {
            let _ = write!(text, "\nstays blocked by it: {waiting}");
        }
        Ok(text.into())
    }
}

fn cancel_staged(context: &AgentContext, id: &TaskId) -> Result<Said, String> {
    let mut desk = context.desk.state();
    if let Some(waiting) = desk.staged.iter().find(|task| task.blocked_by.contains(id)) {
        return Err(format!("{} waits for {id}; change that first", waiting.id));
    }
    desk.staged.retain(|task| task.id != *id);
    Ok(format!("{id} is not made").into())
}

/// Tells the former owner, which may be this agent itself. The text says so.
fn end_for(
    call: &Call<'_>,
    owner: Option<&AgentName>,
    task: &Task,
    change: &str,
) -> Result<String, String> {
    let Some(owner) = owner else {
        return Ok(String::new());
    };
    if *owner == call.context.agent {
        let is_mine = end_own(call.context, &task.id);
        if is_mine {
            call.context
                .host
                .call(HostCall::AssignmentOver, call.cancel)?;
        }
        return Ok("; it was yours".to_owned());
    }
    Ok(match notify::taken(call.context, owner, task, change) {
        Ok(()) => format!("; {owner}, who had it, is told"),
        Err(why) => format!("; {owner}, who had it, could not be told: {why}"),
    })
}

fn end_own(context: &AgentContext, id: &TaskId) -> bool {
    match &mut context.desk.state().assignment {
        Some(held) if held.task == *id => {
            held.over = true;
            true
        }
        Some(_) | None => false,
    }
}
