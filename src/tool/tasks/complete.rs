//! `complete_task`: verified outside every lock, compared again, then completed.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{notify, staged};
use crate::board::{Completion, Task};
use crate::ids::TaskId;
use crate::process::guard::{End, ShellResult};
use crate::tool::bash;
use crate::tool::call::{Call, Class, Said, Tool};
use crate::tool::errors::board_words;
use crate::tool::place::Place;
use crate::tool::{AgentContext, Assignment, HostCall};
use crate::worktree;

/// How long `verify` may take.
const VERIFY_TIME: Duration = Duration::from_mins(10);
/// How much of its output the model is shown, in characters.
const VERIFY_OUTPUT: usize = 8_000;

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

    fn run(call: &Call<'_>, input: CompleteTaskInput) -> Result<Said, String> {
        let context = call.context;
        let id = staged::parse_id("task_id", &input.task_id)?;
        check_result(input.result.as_deref())?;
        let assignment = held(context, &id)?;
        let task = check_still_mine(context, &assignment)?;
        let place = Place::of(context)?;
        let verified = verify(call, &task, &place.dir)?;
        // The board compares owner and version again: verifying may have taken long.
        let done = staged::lock_and(context, |board| {
            board.complete(&id, &context.agent, assignment.version, input.result)
        })?;
        if let Some(held) = &mut context.desk.state().assignment {
            held.over = true;
        }
        let told = notify::completed(context, &done)
            .map_err(|why| format!("the lead could not be told: {why}"));
        let noted = context.host.call(HostCall::AssignmentOver, call.cancel);
        Ok(answer(&done, verified, told.err().or(noted.err())).into())
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

/// Whether a command was run and succeeded; `Err` if it failed.
fn verify(call: &Call<'_>, task: &Task, dir: &Path) -> Result<bool, String> {
    let team = call.context.verify.as_deref();
    let command = task.verify.as_deref().or(team).map(str::trim);
    let Some(command) = command.filter(|command| !command.is_empty()) else {
        return Ok(false);
    };
    let ran = bash::shell(call.context, dir, command, VERIFY_TIME, call.cancel)
        .map_err(|error| format!("verify could not be run ({command}): {error}"))?;
    match refusal(&ran) {
        None => Ok(true),
        Some(how) => Err(format!(
            "{} is not completed: verify {how} ({command}); it stays in progress. Its output:\n{}",
            task.id,
            tail(ran.output.trim_end())
        )),
    }
}

fn refusal(ran: &ShellResult) -> Option<String> {
    match ran.end {
        End::Exited(0) => None,
        End::Exited(code) => Some(format!("ended with status {code}")),
        End::Signalled(signal) => Some(format!("was ended by signal {signal}")),
        End::TimedOut => Some(format!(
            "took more than {} s and was ended",
            VERIFY_TIME.as_secs()
        )),
        End::Cancelled => Some("was interrupted".to_owned()),
    }
}

/// The last [`VERIFY_OUTPUT`] characters.
fn tail(output: &str) -> &str {
    match output.char_indices().rev().nth(VERIFY_OUTPUT - 1) {
        Some((start, _)) => &output[start..],
        None => output,
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
