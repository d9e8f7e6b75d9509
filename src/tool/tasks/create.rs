//! `create_task`: staged on the lead's desk until the turn's tools have run.

use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt::Write as _;

use super::staged;
use crate::board::NewTask;
use crate::board::task::{MAX_DESCRIPTION, MAX_SUBJECT};
use crate::ids::TaskId;
use crate::tool::AgentContext;
use crate::tool::admit::admit_command;
use crate::tool::call::{Call, Class, Said, Tool};
use crate::tool::create_worktree;

pub(crate) struct CreateTask;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct CreateTaskInput {
    /// One line, at most 200 characters.
    subject: String,
    /// What is to be done and how one knows that it is done; whoever works on it sees nothing else.
    description: Option<String>,
    /// Ids of tasks that must be completed before.
    blocked_by: Option<Vec<String>>,
    /// A teammate's name or a role; only they are offered it.
    assignee: Option<String>,
    /// Name of a new worktree in which the task is done, on branch wt/<name>; left out: in the workspace.
    worktree: Option<String>,
    /// A command that must succeed before the task counts as completed.
    verify: Option<String>,
}

impl Tool for CreateTask {
    type Input = CreateTaskInput;
    const NAME: &'static str = "create_task";
    const DESCRIPTION: &'static str = "Makes a task. All tasks made in one reply are put on the board together when its tools have run, \
        so that nobody claims one half-described; use their ids at once.";
    const CLASS: Class = Class::NewWork;

    fn run(call: &Call<'_>, input: CreateTaskInput) -> Result<Said, String> {
        let context = call.context;
        let mut task = NewTask {
            id: TaskId::random(),
            subject: check_subject(&input.subject)?,
            description: check_description(input.description.unwrap_or_default())?,
            blocked_by: staged::parse_ids("blockedBy", input.blocked_by)?,
            assignee: check_assignee(input.assignee)?,
            worktree: None,
            verify: input.verify.filter(|command| !command.trim().is_empty()),
        };
        staged::check_exist(context, "blockedBy", &task.blocked_by)?;
        if let Some(command) = &task.verify {
            admit_command(command, call)?;
        }
        let mut text = format!("made {}: {}", task.id, task.subject);
        if let Some(name) = input.worktree {
            let made = create_worktree::make(context, "worktree", &name)?;
            let _ = write!(text, "\n{}", create_worktree::told(context, &made));
            for line in create_worktree::bring_in(context, &made.name, &task.blocked_by) {
                let _ = write!(text, "\n{line}");
            }
            task.worktree = Some(made.name);
        }
        describe(&task, &mut text);
        context.desk.state().staged.push(task);
        Ok(Said::held(text))
    }
}

fn describe(task: &NewTask, text: &mut String) {
    if !task.blocked_by.is_empty() {
        let ids: Vec<&str> = task.blocked_by.iter().map(TaskId::as_str).collect();
        let _ = write!(text, "\nblocked by {}", ids.join(", "));
    }
    if let Some(assignee) = &task.assignee {
        let _ = write!(text, "\nfor {assignee}");
    }
}

/// A subject as it is kept.
pub(crate) fn check_subject(text: &str) -> Result<String, String> {
    let text = text.trim();
    let length = text.chars().count();
    if text.is_empty() {
        Err("`subject` is empty; say in one line what is to be done".to_owned())
    } else if text.contains(['\n', '\r']) {
        Err("`subject` has more than one line; put the rest into `description`".to_owned())
    } else if length > MAX_SUBJECT {
        Err(format!(
            "`subject` has {length} characters; at most {MAX_SUBJECT} are allowed; put the rest into `description`"
        ))
    } else {
        Ok(text.to_owned())
    }
}

/// A description as it is kept.
pub(crate) fn check_description(text: String) -> Result<String, String> {
    if text.len() > MAX_DESCRIPTION {
        return Err(format!(
            "`description` has {} bytes; at most {MAX_DESCRIPTION} are allowed; put the rest into a file and name it",
            text.len()
        ));
    }
    Ok(text)
}

/// An assignee as it is kept; blank is none.
pub(crate) fn check_assignee(text: Option<String>) -> Result<Option<String>, String> {
    let Some(text) = text else { return Ok(None) };
    let text = text.trim();
    if text.contains(['\n', '\r']) || text.chars().count() > MAX_SUBJECT {
        return Err("`assignee` must be a teammate's name or a role, in one line".to_owned());
    }
    Ok((!text.is_empty()).then(|| text.to_owned()))
}

/// Whether a task of that id waits to be published.
pub(crate) fn is_staged(context: &AgentContext, id: &TaskId) -> bool {
    staged::get(context, id).is_some()
}
