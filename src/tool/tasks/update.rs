//! `update_task`: a pending task that nobody owns, on the board or still staged.

use schemars::JsonSchema;
use serde::Deserialize;

use super::create::{check_assignee, check_description, check_subject, is_staged};
use super::staged;
use crate::board::{NewTask, TaskPatch};
use crate::ids::TaskId;
use crate::tool::AgentContext;
use crate::tool::call::{Call, Class, Said, Tool};

pub(crate) struct UpdateTask;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct UpdateTaskInput {
    /// The task.
    #[serde(rename = "task_id")]
    task_id: String,
    /// Ids of tasks that it must wait for as well.
    add_blocked_by: Option<Vec<String>>,
    /// Ids of tasks that it need not wait for any more.
    remove_blocked_by: Option<Vec<String>>,
    /// A new subject.
    subject: Option<String>,
    /// A new description.
    description: Option<String>,
    /// A teammate's name or a role; an empty text takes it away.
    assignee: Option<String>,
}

impl Tool for UpdateTask {
    type Input = UpdateTaskInput;
    const NAME: &'static str = "update_task";
    const DESCRIPTION: &'static str = "Changes the text, the assignee or the dependencies of a task that is pending and owned by nobody.";
    const CLASS: Class = Class::NewWork;

    fn run(call: &Call<'_>, input: UpdateTaskInput) -> Result<Said, String> {
        let context = call.context;
        let id = staged::parse_id("task_id", &input.task_id)?;
        let patch = patch(input)?;
        if patch == TaskPatch::default() {
            return Err("nothing to change; give at least one field besides `task_id`".to_owned());
        }
        staged::check_exist(context, "addBlockedBy", &patch.add_blocked_by)?;
        if is_staged(context, &id) {
            check_cycle(context, &id, &patch.add_blocked_by)?;
            staged::change(context, &id, |task| apply(task, patch));
            return Ok(Said::held(format!("changed {id}")));
        }
        if let Some(early) = patch
            .add_blocked_by
            .iter()
            .find(|other| is_staged(context, other))
        {
            return Err(format!(
                "{early} is put on the board only when the tools of this reply have run; let {id} wait for it in your next reply"
            ));
        }
        let task = staged::lock_and(context, |board| board.update(&id, &patch))?;
        Ok(format!("changed {id}: {}", task.subject).into())
    }
}

fn patch(input: UpdateTaskInput) -> Result<TaskPatch, String> {
    let assignee = match input.assignee {
        None => None,
        Some(text) => Some(check_assignee(Some(text))?),
    };
    Ok(TaskPatch {
        subject: input.subject.as_deref().map(check_subject).transpose()?,
        description: input.description.map(check_description).transpose()?,
        assignee,
        add_blocked_by: staged::parse_ids("addBlockedBy", input.add_blocked_by)?,
        remove_blocked_by: staged::parse_ids("removeBlockedBy", input.remove_blocked_by)?,
    })
}

fn apply(task: &mut NewTask, patch: TaskPatch) {
    if let Some(subject) = patch.subject {
        task.subject = subject;
    }
    if let Some(description) = patch.description {
        task.description = description;
    }
    if let Some(assignee) = patch.assignee {
        task.assignee = assignee;
    }
    task.blocked_by
        .retain(|id| !patch.remove_blocked_by.contains(id));
    for id in patch.add_blocked_by {
        if !task.blocked_by.contains(&id) {
            task.blocked_by.push(id);
        }
    }
}

/// Only staged tasks can wait for a staged one, so only they can close a cycle.
fn check_cycle(context: &AgentContext, id: &TaskId, added: &[TaskId]) -> Result<(), String> {
    let staged = context.desk.state().staged.clone();
    for start in added {
        let mut path = vec![id.clone()];
        if reaches(&staged, start, id, &mut path) {
            let path: Vec<&str> = path.iter().map(TaskId::as_str).collect();
            return Err(format!(
                "`addBlockedBy` would close a cycle: {}",
                path.join(" → ")
            ));
        }
    }
    Ok(())
}

/// Whether `from` waits for `goal`; `path` gets the way. Visits each staged task at most once a way, and there are few.
fn reaches(staged: &[NewTask], from: &TaskId, goal: &TaskId, path: &mut Vec<TaskId>) -> bool {
    if path.len() > staged.len() + 1 {
        return false;
    }
    path.push(from.clone());
    if from == goal {
        return true;
    }
    let task = staged.iter().find(|task| task.id == *from);
    let found = task.is_some_and(|task| {
        task.blocked_by
            .iter()
            .any(|next| reaches(staged, next, goal, path))
    });
    if !found {
        path.pop();
    }
    found
}
