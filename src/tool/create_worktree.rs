//! `create_worktree`, and the same for `create_task`: made first, bound last (SPEC §7.1).

use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt::Write as _;

use super::AgentContext;
use super::call::{Call, Class, Said, Tool};
use super::errors::board_words;
use super::tasks::create::is_staged;
use super::tasks::staged;
use crate::board::Status;
use crate::ids::{TaskId, WorktreeName};
use crate::worktree::{self, Created};

pub(crate) struct CreateWorktree;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateWorktreeInput {
    /// Its name; the branch is wt/<name>.
    name: String,
    /// The task that is done in it: pending, owned by nobody, without a worktree.
    task_id: String,
}

impl Tool for CreateWorktree {
    type Input = CreateWorktreeInput;
    const NAME: &'static str = "create_worktree";
    const DESCRIPTION: &'static str = "Makes a git worktree from HEAD on a branch of its own and binds a task to it, so that the task is done there.";
    const CLASS: Class = Class::NewWork;

    fn run(call: &Call<'_>, input: CreateWorktreeInput) -> Result<Said, String> {
        let context = call.context;
        let id = staged::parse_id("task_id", &input.task_id)?;
        let blocked_by = check_task(context, &id)?;
        let made = make(context, "name", &input.name)?;
        let mut text = format!("{}; {id} is done there", told(context, &made));
        for line in bring_in(context, &made.name, &blocked_by) {
            let _ = write!(text, "\n{line}");
        }
        if is_staged(context, &id) {
            staged::change(context, &id, |task| task.worktree = Some(made.name));
            return Ok(Said::held(text));
        }
        staged::lock_and(context, |board| board.bind(&id, &made.name))
            .map(|_| text.into())
            .map_err(|why| unbound(context, &id, &made.name, &why))
    }
}

/// Checks the name and that nobody uses it, then makes the worktree.
pub(crate) fn make(context: &AgentContext, field: &str, name: &str) -> Result<Created, String> {
    let name = WorktreeName::parse(name.trim()).map_err(|error| format!("`{field}`: {error}"))?;
    if let Some(user) = staged::user_of(context, &name)? {
        return Err(format!(
            "`{field}`: worktree {name} belongs to {user}; choose another name"
        ));
    }
    worktree::create(&context.workspace, &name).map_err(|error| error.to_string())
}

/// Merges the branches of completed dependencies into a new worktree; what came of each, in words. One that could not be
/// merged keeps the task waiting.
pub(crate) fn bring_in(
    context: &AgentContext,
    name: &WorktreeName,
    blocked_by: &[TaskId],
) -> Vec<String> {
    let needed = context.board.branches_for(name, blocked_by);
    needed
        .iter()
        .filter_map(
            |branch| match worktree::bring(&context.workspace, name, branch) {
                Ok(0) => None,
                Ok(_) => Some(format!("merged {} into it", branch.branch())),
                Err(error) => Some(format!("the task is blocked: {error}")),
            },
        )
        .collect()
}

/// What the model is told of a new worktree.
pub(crate) fn told(context: &AgentContext, made: &Created) -> String {
    let mut text = format!(
        "made worktree {} at {} on branch {}",
        made.name,
        context.workspace.worktree(&made.name).display(),
        made.name.branch()
    );
    if made.uncommitted > 0 {
        let _ = write!(
            text,
            " (without {} uncommitted {} of the workspace)",
            made.uncommitted,
            if made.uncommitted == 1 {
                "change"
            } else {
                "changes"
            }
        );
    }
    text
}

/// The dependencies of a task that can be bound.
fn check_task(context: &AgentContext, id: &TaskId) -> Result<Vec<TaskId>, String> {
    let bound = |name: &WorktreeName| format!("{id} is bound to worktree {name} already");
    if let Some(task) = staged::get(context, id) {
        return task
            .worktree
            .map_or(Ok(task.blocked_by), |name| Err(bound(&name)));
    }
    let task = context.board.get(id).map_err(|error| board_words(&error))?;
    if let Some(name) = &task.worktree {
        return Err(bound(name));
    }
    if let Some(owner) = &task.owner {
        return Err(format!(
            "{id} is owned by {owner}; only a task that nobody has begun gets a worktree"
        ));
    }
    if task.status != Status::Pending {
        return Err(format!(
            "{id} is not pending; only a task that nobody has begun gets a worktree"
        ));
    }
    Ok(task.blocked_by)
}

fn unbound(context: &AgentContext, id: &TaskId, name: &WorktreeName, why: &str) -> String {
    let path = context.workspace.worktree(name);
    let path = path.display();
    let branch = name.branch();
    format!(
        "Partial success: worktree {name} was made at {path} on branch {branch}, but {id} is not bound to it ({why}). \
         Nothing was deleted. To remove it: `git worktree remove '{path}'`, then `git branch -D {branch}`."
    )
}
