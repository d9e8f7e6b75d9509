//! Worktrees joined with the tasks that are bound to them and the agents that use them.

use std::path::PathBuf;

use crate::board::{Board, BoardError, Entry, Status, Task};
use crate::ids::{AgentName, WorktreeName};
use crate::team::{Member, MemberStatus, Roster, Session, lead_presence};
use crate::workspace::Workspace;
use crate::worktree::{self, RemoveError, State};

/// One worktree with who needs it.
#[derive(Debug, Clone)]
pub struct Worktree {
    /// As git and the files show it.
    pub state: State,
    /// Where it is.
    pub path: PathBuf,
    /// The task that is bound to it; an open one before one that is over.
    pub task: Option<Task>,
    /// The living agent whose assignment uses it, also between the task's completion and the end of the round.
    pub in_use_by: Option<AgentName>,
}

/// Why the worktrees cannot be listed.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The board was not read.
    #[error(transparent)]
    Board(#[from] BoardError),
    /// The directory or git's registrations were not read.
    #[error("the worktrees cannot be read ({0})")]
    Read(#[from] std::io::Error),
}

/// Every worktree of the workspace, and every one that an open task needs, by name.
pub fn worktrees(
    workspace: &Workspace,
    board: &Board,
    roster: &Roster,
) -> Result<Vec<Worktree>, ListError> {
    let tasks = bound(board)?;
    let mut names = worktree::names(workspace)?;
    let open = tasks.iter().filter(|task| is_open(task));
    names.extend(open.filter_map(|task| task.worktree.clone()));
    let users = Users::read(workspace, roster);
    Ok(names
        .into_iter()
        .map(|name| {
            let task = task_of(&tasks, &name);
            let mut state = worktree::state(workspace, &name);
            if task.is_none() && state.problem.is_none() {
                state.problem = Some(format!(
                    "no task is bound to it; `lead worktree remove {name}` takes it away, its branch stays"
                ));
            }
            Worktree {
                state,
                path: workspace.worktree(&name),
                in_use_by: task.and_then(|task| users.of(task)),
                task: task.cloned(),
            }
        })
        .collect())
}

/// Removes a worktree that no task and no agent needs any more (SPEC §7.4); what was lost with it, in words.
pub fn remove_worktree(
    workspace: &Workspace,
    board: &Board,
    roster: &Roster,
    name: &WorktreeName,
    discard: bool,
) -> Result<Vec<String>, RemoveError> {
    let refused = |why: String| RemoveError::refused(name, why);
    let tasks = bound(board).map_err(|error| refused(error.to_string()))?;
    let users = Users::read(workspace, roster);
    for task in tasks
        .iter()
        .filter(|task| task.worktree.as_ref() == Some(name))
    {
        if is_open(task) {
            return Err(refused(format!(
                "{} ({}) is bound to it and {}; complete or cancel the task first",
                task.id,
                task.subject,
                match task.status {
                    Status::InProgress => "in progress",
                    _ => "pending",
                }
            )));
        }
        if let Some(agent) = users.of(task) {
            return Err(refused(format!(
                "{agent} still works in it; wait until its round ends, or stop it"
            )));
        }
    }
    worktree::remove(workspace, name, discard)
}

fn bound(board: &Board) -> Result<Vec<Task>, BoardError> {
    let entries = board.list()?;
    Ok(entries
        .into_iter()
        .filter_map(|entry| match entry {
            Entry::Task(task) if task.worktree.is_some() => Some(*task),
            Entry::Task(_) | Entry::Damaged { .. } => None,
        })
        .collect())
}

/// Whether somebody may still work on it; a status that the runtime does not know counts.
fn is_open(task: &Task) -> bool {
    !matches!(task.status, Status::Completed | Status::Cancelled)
}

fn task_of<'a>(tasks: &'a [Task], name: &WorktreeName) -> Option<&'a Task> {
    let mut bound = tasks
        .iter()
        .filter(|task| task.worktree.as_ref() == Some(name));
    let last = bound.clone().next_back();
    bound.find(|task| is_open(task)).or(last)
}

/// The living agents with what each does now.
struct Users {
    members: Vec<Member>,
    /// The lead lives, and whether it works.
    lead: Option<bool>,
}

impl Users {
    fn read(workspace: &Workspace, roster: &Roster) -> Self {
        let members = roster.list().unwrap_or_default().into_iter();
        let lead = lead_presence::is_there(workspace)
            .then(|| Session::load(workspace).is_none_or(|session| session.status != "idle"));
        Self {
            members: members
                .filter(|member| roster.is_alive(&member.name))
                .collect(),
            lead,
        }
    }

    /// Who uses the directory of `task`: whoever has it as assignment, or completed it in a round that goes on.
    fn of(&self, task: &Task) -> Option<AgentName> {
        let holder = self
            .members
            .iter()
            .find(|member| member.task.as_ref() == Some(&task.id));
        if let Some(holder) = holder {
            return Some(holder.name.clone());
        }
        let owner = task.owner.as_ref()?;
        let uses = if owner.is_lead() {
            self.lead
                .is_some_and(|works| works || task.status == Status::InProgress)
        } else {
            self.members
                .iter()
                .filter(|member| member.name == *owner && member.task.is_none())
                .any(|member| task.status == Status::InProgress || is_in_a_round(member))
        };
        uses.then(|| owner.clone())
    }
}

fn is_in_a_round(member: &Member) -> bool {
    match member.status {
        MemberStatus::Starting
        | MemberStatus::Working
        | MemberStatus::WaitingApproval
        | MemberStatus::Stopping => true,
        MemberStatus::Idle | MemberStatus::Stopped | MemberStatus::Failed => false,
    }
}
