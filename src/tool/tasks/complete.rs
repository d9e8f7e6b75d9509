//! `complete_task`: verified outside every lock, compared again, then completed.

use std::fmt::Write as _;
use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{notify, staged, verify};
use crate::board::{Completion, Task, VerifyRun};
use crate::ids::TaskId;
use crate::policy::HookEvent;
use crate::tool::call::{Call, Class, Said, Tool};
use crate::tool::errors::board_words;
use crate::tool::hooks::{self, Occasion};
use crate::tool::place::Place;
use crate::tool::{AgentContext, Assignment, HostCall};
use crate::worktree::{self, Leftovers};

/// Longest result, in bytes: it is put before whoever builds on the task.
const MAX_RESULT: usize = 64 * 1024;

pub(crate) struct CompleteTask;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompleteTaskInput {
    /// Your task.
    task_id: String,
    /// What was done, in a few lines; whoever builds on it reads this.
    result: Option<String>,
}

impl Tool for CompleteTask {
    type Input = CompleteTaskInput;
    const NAME: &'static str = "complete_task";
    const DESCRIPTION: &'static str =
        "Marks your task as completed. Its verify command, if there is one, must succeed first.";
    const CLASS: Class = Class::Always;
    const GATED: bool = true;
    const CHANGES: bool = true;

    fn run(call: &Call<'_>, input: CompleteTaskInput) -> Result<Said, String> {
        let context = call.context;
        let id = staged::parse_id("task_id", &input.task_id)?;
        check_result(input.result.as_deref())?;
        let assignment = held(context, &id)?;
        let task = check_still_mine(context, &assignment)?;
        let place = Place::of(context)?;
        let left = leftovers(context, &task)?;
        let verified = proof(call, &assignment, &task, &place.dir)?;
        let passed = verified.is_some();
        let occasion = Occasion {
            text: input.result.as_deref(),
            ..Occasion::of(HookEvent::TaskCompleted)
        };
        hooks::run(context, &occasion, call.cancel)
            .map_err(|why| format!("{id} is not completed: {why}"))?;
        if call.cancel.is_cancelled() {
            return Err(format!(
                "{id} is not completed: the call was interrupted; it stays in progress"
            ));
        }
        let committed = commit(context, &assignment, left)?;
        // The board compares owner and version again: verifying may have taken long.
        let mut done = staged::lock_and(context, |board| {
            if let Some(run) = verified {
                board.verified(&id, &context.agent, assignment.version, run)?;
            }
            board.complete(&id, &context.agent, assignment.version, input.result)
        })?;
        done.unblocked.retain(|task| context.board.can_start(task));
        if let Some(held) = &mut context.desk.state().assignment {
            held.over = true;
        }
        let told = notify::completed(context, &done)
            .map_err(|why| format!("the lead could not be told: {why}"));
        let noted = context.host.call(HostCall::AssignmentOver, call.cancel);
        let mut text = answer(&done, passed, told.err().or(noted.err()));
        if let Some(committed) = committed {
            let _ = write!(text, "\n{committed}");
        }
        Ok(text.into())
    }
}

fn check_result(result: Option<&str>) -> Result<(), String> {
    match result.map(str::len) {
        Some(size) if size > MAX_RESULT => Err(format!(
            "`result` has {size} bytes; at most {MAX_RESULT} are kept; put the rest into a file and name it"
        )),
        Some(_) | None => Ok(()),
    }
}

fn held(context: &AgentContext, id: &TaskId) -> Result<Assignment, String> {
    match context.desk.assignment() {
        Some(held) if held.task == *id && !held.over => Ok(held),
        Some(held) if held.task == *id => Err(format!("{id} is over already")),
        Some(held) if !held.over => Err(format!(
            "{id} is not yours to complete; you hold {}",
            held.task
        )),
        Some(_) | None => Err(format!(
            "{id} is not yours to complete; you hold no task now"
        )),
    }
}

/// Refuses early what the board would refuse after a long `verify`.
fn check_still_mine(context: &AgentContext, held: &Assignment) -> Result<Task, String> {
    let task = context
        .board
        .get(&held.task)
        .map_err(|error| board_words(&error))?;
    let is_mine = task.owner.as_ref() == Some(&context.agent) && task.work_version == held.version;
    if is_mine {
        return Ok(task);
    }
    Err(format!(
        "{} is no longer yours: it was released or given to another since (work version {}, now {})",
        held.task, held.version, task.work_version
    ))
}

/// The run of the verify command that succeeded, if there is one. One that failed is noted in the task, and `Err`.
fn proof(
    call: &Call<'_>,
    held: &Assignment,
    task: &Task,
    dir: &Path,
) -> Result<Option<VerifyRun>, String> {
    let Some(ran) = verify::run(call, task, dir)? else {
        return Ok(None);
    };
    if ran.kept.passed {
        return Ok(Some(ran.kept));
    }
    let why = ran.refusal(task);
    let noted = staged::lock_and(call.context, |board| {
        board.verified(&task.id, &call.context.agent, held.version, ran.kept)
    });
    Err(match noted {
        Ok(_) => why,
        Err(also) => format!("{why}\n{also}"),
    })
}

/// What is uncommitted in the task's worktree; taken before verify, which may leave files of its own.
fn leftovers(context: &AgentContext, task: &Task) -> Result<Option<Leftovers>, String> {
    let Some(name) = &task.worktree else {
        return Ok(None);
    };
    worktree::leftovers(&context.workspace, name).map_err(|why| {
        format!(
            "{} is not completed: what others build on it with is the commits of {}, and {why}",
            task.id,
            name.branch()
        )
    })
}

/// Commits what was left, if the task is still this agent's; what was done, in words.
fn commit(
    context: &AgentContext,
    held: &Assignment,
    left: Option<Leftovers>,
) -> Result<Option<String>, String> {
    let Some(left) = left else { return Ok(None) };
    let task = check_still_mine(context, held)?;
    let message = format!(
        "{}: {}\n\nLeft uncommitted by {}; committed at the task's completion.",
        task.id, task.subject, context.agent
    );
    match left.commit(&message) {
        Ok(committed) => Ok(Some(committed.told())),
        Err(why) => Err(format!(
            "{} is not completed: the changes in its worktree could not be committed ({why}); commit them, then complete it",
            task.id
        )),
    }
}

fn answer(done: &Completion, verified: bool, trouble: Option<String>) -> String {
    let mut text = format!("completed {}", done.task.id);
    if verified {
        text.push_str(" (verify succeeded)");
    }
    for task in &done.unblocked {
        let _ = write!(text, "\nnow ready: {} {}", task.id, task.subject);
    }
    if let Some(trouble) = trouble {
        text.push('\n');
        text.push_str(&trouble);
    }
    text
}

/// What was done in the task's worktree, for the lead.
pub(crate) fn work_done(context: &AgentContext, task: &Task) -> Option<String> {
    worktree::summary(&context.workspace, task.worktree.as_ref()?)
}
