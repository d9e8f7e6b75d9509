//! Tests of the board: its rules as tables, and several boards over one directory as several processes would have.
#![expect(
    clippy::disallowed_methods,
    reason = "tests put files there as a stranger would"
)]

mod branches;
mod changes;
mod cycles;
mod files;
mod following;
mod index;
mod rules;
mod together;

use std::path::Path;
use std::sync::Arc;

use super::{Board, BoardError, BoardOptions, Claimant, NewTask, Task};
use crate::ids::{AgentName, TaskId};
use crate::store::Durability;
use crate::workspace::Workspace;

/// A board of its own over `root`, as another process has it.
fn board(root: &Path) -> Board {
    let options = BoardOptions {
        durability: Durability::Process,
        max_attempts: 3,
        usable: Arc::new(|name| match name.as_str() {
            "broken" => Err("the worktree broken is gone".to_owned()),
            _ => Ok(()),
        }),
        contains: Arc::new(|place, branch| match (place, branch.as_str()) {
            (_, "merged") => Ok(()),
            (None, branch) => Err(format!("waits for wt/{branch} to be merged")),
            (Some(_), branch) => Err(format!("conflict with {branch}")),
        }),
    };
    Board::open(&Workspace::at(root.to_path_buf()), options).unwrap()
}

fn agent(name: &str) -> AgentName {
    AgentName::parse(name).unwrap()
}

fn id(nr: u32) -> TaskId {
    TaskId::parse(&format!("task_{nr:08x}")).unwrap()
}

fn as_coder(name: &AgentName) -> Claimant<'_> {
    Claimant {
        name,
        role: "coder",
    }
}

fn new(nr: u32, blocked_by: &[u32]) -> NewTask {
    NewTask {
        id: id(nr),
        subject: format!("Task {nr}"),
        description: String::new(),
        blocked_by: blocked_by.iter().map(|nr| id(*nr)).collect(),
        assignee: None,
        worktree: None,
        verify: None,
    }
}

fn create(board: &Board, tasks: &[NewTask]) -> Vec<Task> {
    board.lock(&agent("lead")).unwrap().create(tasks).unwrap()
}

fn claim(board: &Board, nr: u32, name: &str) -> Result<Task, BoardError> {
    let name = agent(name);
    board.lock(&name)?.claim(&id(nr), as_coder(&name))
}

fn complete(board: &Board, nr: u32, name: &str) -> Vec<TaskId> {
    let task = claim(board, nr, name).unwrap();
    let name = agent(name);
    let mut locked = board.lock(&name).unwrap();
    let done = locked
        .complete(&id(nr), &name, task.work_version, None)
        .unwrap();
    done.unblocked.into_iter().map(|task| task.id).collect()
}

/// The ids offered to `name`, at most ten.
fn offered(board: &Board, name: &str) -> Vec<TaskId> {
    let name = agent(name);
    let tasks = board.offered(as_coder(&name), 10).unwrap();
    tasks.into_iter().map(|task| task.id).collect()
}

fn text<T: std::fmt::Debug>(result: Result<T, BoardError>) -> String {
    result.unwrap_err().to_string()
}
