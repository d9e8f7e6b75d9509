//! From a claimed task to an assignment: its directory, and what its agent is told. The board is opened here because only
//! from here up it can know which worktrees can be used.

use std::fmt::Write;
use std::sync::Arc;

use super::Assignment;
use crate::board::{Board, BoardError, BoardOptions, Task};
use crate::store::Durability;
use crate::workspace::Workspace;
use crate::worktree::{self, Branches, Unusable};

/// The board of `workspace`, whose tasks are claimed only where their worktree can be used and has the work that they build
/// on.
pub fn open_board(
    workspace: &Workspace,
    durability: Durability,
    max_attempts: u32,
) -> Result<Board, BoardError> {
    let place = workspace.clone();
    let branches = Branches::new(workspace.clone());
    let options = BoardOptions {
        durability,
        max_attempts,
        usable: Arc::new(move |name| Ok(worktree::usable(&place, name)?)),
        contains: Arc::new(move |place, branch| branches.contains(place, branch)),
    };
    Board::open(workspace, options)
}

/// The assignment that a claimed task is, for whoever claims: the tool, the teammate's loop, a restart.
///
/// `Err` in words if its worktree cannot be used: it never falls back to the workspace.
pub fn assignment_for(workspace: &Workspace, task: Task) -> Result<Assignment, String> {
    match check(workspace, &task) {
        Ok(()) => Ok(assignment(workspace, task)),
        Err(why) => Err(why.into()),
    }
}

/// The same for a task that this agent has had before: where only `HEAD` of its worktree stands elsewhere, its bash goes
/// back.
pub fn assignment_again(workspace: &Workspace, task: Task) -> Result<Assignment, String> {
    match check(workspace, &task) {
        Ok(()) | Err(Unusable::Astray(_)) => Ok(assignment(workspace, task)),
        Err(why @ Unusable::Broken(_)) => Err(why.into()),
    }
}

fn check(workspace: &Workspace, task: &Task) -> Result<(), Unusable> {
    match &task.worktree {
        None => Ok(()),
        Some(name) => worktree::usable(workspace, name),
    }
}

fn assignment(workspace: &Workspace, task: Task) -> Assignment {
    let dir = match &task.worktree {
        None => workspace.root().to_path_buf(),
        Some(name) => workspace.worktree(name),
    };
    Assignment {
        task: task.id.clone(),
        version: task.work_version,
        dir,
        worktree: task.worktree.clone(),
        over: false,
        snapshot: Box::new(task),
    }
}

/// What the agent is told of its assignment (SPEC §5.4); its own id is the last one named.
pub fn assignment_text(board: &Board, assignment: &Assignment) -> String {
    let task = &assignment.snapshot;
    let mut text = format!("Task: {}\n", task.subject);
    if !task.description.trim().is_empty() {
        let _ = writeln!(text, "\n{}", task.description.trim_end());
    }
    if !task.blocked_by.is_empty() {
        text.push_str("\nIt builds on:\n");
    }
    for id in &task.blocked_by {
        if let Ok(before) = board.get(id) {
            let result = before.result.as_deref().unwrap_or("no result was noted");
            let _ = writeln!(text, "- {id} {}: {result}", before.subject);
        }
    }
    let _ = write!(text, "\nWorking directory: {}", assignment.dir.display());
    if let Some(name) = &assignment.worktree {
        let _ = write!(
            text,
            " (a worktree of its own, on branch {})",
            name.branch()
        );
    }
    if let Some(verify) = &task.verify {
        let _ = write!(
            text,
            "\nBefore it counts as completed this must succeed: {verify}"
        );
    }
    let _ = write!(
        text,
        "\nWhen it is done, call complete_task for {}",
        assignment.task
    );
    text
}
