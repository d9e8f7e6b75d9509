//! `claim_task`: an offered task becomes the agent's assignment.

use schemars::JsonSchema;
use serde::Deserialize;

use super::create::is_staged;
use super::staged;
use crate::board::{Claimant, Released, Task};
use crate::tool::assignment::{assignment_for, assignment_text};
use crate::tool::call::{Call, Class, Said, Tool};
use crate::tool::{AgentContext, HostCall};

pub(crate) struct ClaimTask;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClaimTaskInput {
    /// The task, which must be ready.
    task_id: String,
}

impl Tool for ClaimTask {
    type Input = ClaimTaskInput;
    const NAME: &'static str = "claim_task";
    const DESCRIPTION: &'static str = "Takes a ready task for yourself; you can hold one at a time, and your tools then work in its directory.";
    const CLASS: Class = Class::NewWork;

    fn run(call: &Call<'_>, input: ClaimTaskInput) -> Result<Said, String> {
        let context = call.context;
        let id = staged::parse_id("task_id", &input.task_id)?;
        check_free(context)?;
        if is_staged(context, &id) {
            return Err(format!(
                "{id} is put on the board only when the tools of this reply have run; claim it in your next reply"
            ));
        }
        let claimant = Claimant {
            name: &context.agent,
            role: &context.role,
        };
        if let Ok(task) = context.board.get(&id) {
            let board = &context.board;
            board.look_ahead(task.worktree.as_ref(), &task.blocked_by);
        }
        let task = staged::lock_and(context, |board| board.claim(&id, claimant))?;
        let assignment = match assignment_for(&context.workspace, task.clone()) {
            Ok(assignment) => assignment,
            Err(why) => return Err(give_back(context, &task, &why)),
        };
        let text = assignment_text(&context.board, &assignment);
        context.desk.state().assignment = Some(assignment);
        let noted = context.host.call(HostCall::Claimed, call.cancel);
        let trouble = noted
            .err()
            .map_or_else(String::new, |why| format!(" ({why})"));
        Ok(format!("you have claimed {id}{trouble}\n\n{text}").into())
    }
}

fn check_free(context: &AgentContext) -> Result<(), String> {
    match context.desk.assignment() {
        None => Ok(()),
        Some(held) if held.over => Err(format!(
            "your task {} is over, but its directory is yours until this round ends; say what you did, then you will be offered another",
            held.task
        )),
        Some(held) => Err(format!(
            "you hold {} already; complete it before you claim another",
            held.task
        )),
    }
}

/// The worktree broke between the board's look and ours.
fn give_back(context: &AgentContext, task: &Task, why: &str) -> String {
    let holder = Some((&context.agent, task.work_version));
    let released = staged::lock_and(context, |board| {
        board.release(&task.id, holder, Released::Orderly, None)
    });
    match released {
        Ok(_) => format!("{} was not claimed: {why}", task.id),
        Err(also) => format!(
            "{} is claimed but cannot be worked on: {why}; {also}",
            task.id
        ),
    }
}
