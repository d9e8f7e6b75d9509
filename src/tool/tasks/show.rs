//! `list_tasks` and `get_task`: the board as text for a model.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{staged, verify};
use crate::board::{Entry, NewTask, Status, TaskView, Verified};
use crate::ids::TaskId;
use crate::tool::AgentContext;
use crate::tool::call::{Call, Class, Said, Tool};
use crate::tool::errors::board_words;

/// How many open tasks a list names, the first to be offered first.
const OPEN: usize = 300;
/// How many finished tasks a list names, the newest.
const FINISHED: usize = 40;

pub(crate) struct ListTasks;
pub(crate) struct GetTask;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoInput {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetTaskInput {
    /// The task.
    task_id: String,
}

impl Tool for ListTasks {
    type Input = NoInput;
    const NAME: &'static str = "list_tasks";
    const DESCRIPTION: &'static str =
        "Lists all tasks with id, status, owner, and why a waiting one is blocked.";
    const CLASS: Class = Class::Always;

    fn run(call: &Call<'_>, _: NoInput) -> Result<Said, String> {
        let context = call.context;
        let views = context.board.views().map_err(|error| board_words(&error))?;
        let entries = context.board.list().map_err(|error| board_words(&error))?;
        let staged = context.desk.state().staged.clone();
        let mut lines = vec![counts(&views)];
        let (finished, open): (Vec<&TaskView>, Vec<&TaskView>) = views
            .iter()
            .partition(|view| is_finished(&view.task.status));
        lines.extend(open.iter().take(OPEN).copied().map(line));
        if open.len() > OPEN {
            lines.push(format!(
                "({} more open tasks are left out)",
                open.len() - OPEN
            ));
        }
        lines.extend(staged.iter().map(staged_line));
        let left_out = finished.len().saturating_sub(FINISHED);
        lines.extend(finished.into_iter().skip(left_out).map(line));
        if left_out > 0 {
            lines.push(format!("({left_out} older finished tasks are left out)"));
        }
        lines.extend(entries.iter().filter_map(damaged_line));
        Ok(lines.join("\n").into())
    }
}

impl Tool for GetTask {
    type Input = GetTaskInput;
    const NAME: &'static str = "get_task";
    const DESCRIPTION: &'static str = "Shows everything about one task.";
    const CLASS: Class = Class::Always;

    fn run(call: &Call<'_>, input: GetTaskInput) -> Result<Said, String> {
        let id = staged::parse_id("task_id", &input.task_id)?;
        if let Some(task) = staged::get(call.context, &id) {
            return Ok(format!("{}\n\n{}", staged_line(&task), task.description).into());
        }
        let view = call
            .context
            .board
            .view(&id)
            .map_err(|error| board_words(&error))?;
        Ok(whole(call.context, &view).into())
    }
}

fn is_finished(status: &Status) -> bool {
    matches!(status, Status::Completed | Status::Cancelled)
}

fn status_word(status: &Status) -> &str {
    match status {
        Status::Pending => "pending",
        Status::InProgress => "in_progress",
        Status::Completed => "completed",
        Status::Cancelled => "cancelled",
        Status::Other(other) => other,
    }
}

fn counts(views: &[TaskView]) -> String {
    let count = |status: &Status| {
        views
            .iter()
            .filter(|view| view.task.status == *status)
            .count()
    };
    let ready = views.iter().filter(|view| view.ready).count();
    format!(
        "{} tasks: {} pending ({ready} ready), {} in progress, {} completed, {} cancelled",
        views.len(),
        count(&Status::Pending),
        count(&Status::InProgress),
        count(&Status::Completed),
        count(&Status::Cancelled),
    )
}

fn line(view: &TaskView) -> String {
    let task = &view.task;
    let mut text = format!("{} {}", task.id, status_word(&task.status));
    if let Some(owner) = &task.owner {
        let _ = write!(text, " by {owner}");
    }
    if view.ready {
        text.push_str(", ready");
    }
    if let Some(assignee) = &task.assignee {
        let _ = write!(text, ", for {assignee}");
    }
    if let Some(worktree) = &task.worktree {
        let _ = write!(text, ", worktree {worktree}");
    }
    let _ = write!(text, ": {}", task.subject);
    if let Some(reason) = &view.blocked_reason {
        let _ = write!(text, " (blocked: {reason})");
    }
    text
}

fn staged_line(task: &NewTask) -> String {
    format!(
        "{} on the board when the tools of this reply have run: {}",
        task.id, task.subject
    )
}

fn damaged_line(entry: &Entry) -> Option<String> {
    match entry {
        Entry::Task(_) => None,
        Entry::Damaged { id, why, .. } => Some(format!("{id} damaged: {why}")),
    }
}

fn whole(context: &AgentContext, view: &TaskView) -> String {
    let task = &view.task;
    let mut text = line(view);
    if !task.description.trim().is_empty() {
        let _ = write!(text, "\n\n{}\n", task.description.trim_end());
    }
    for id in &task.blocked_by {
        let _ = write!(text, "\nwaits for {}", dependency(context, id));
    }
    if let Some(verify) = &task.verify {
        let _ = write!(text, "\nverify: {verify}");
    }
    if let Some(Verified::Run(run)) = &task.verified {
        let _ = write!(text, "\n{}", verify::told(run));
    }
    if task.attempts > 0 {
        let _ = write!(text, "\nattempts: {}", task.attempts);
    }
    if let Some(result) = &task.result {
        let _ = write!(text, "\nresult: {result}");
    }
    text
}

fn dependency(context: &AgentContext, id: &TaskId) -> String {
    match context.board.get(id) {
        Ok(task) => format!("{id} {}: {}", status_word(&task.status), task.subject),
        Err(error) => board_words(&error),
    }
}
