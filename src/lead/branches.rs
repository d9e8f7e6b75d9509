//! Brings worktrees up to date with the branches that their tasks build on, before the tasks are offered (SPEC §3.2).
//!
//! The board offers nobody a task whose worktree lacks a branch, so all that is to be done here is to merge; on a thread of
//! its own, since git may take long.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::inlet::Event;
use super::session::Session;
use crate::board::Bound;
use crate::clock;
use crate::ids::{AgentName, TaskId, WorktreeName};
use crate::mailbox::Kind;
use crate::workspace::Workspace;
use crate::worktree::{self, Branches, BringError, Standing};

/// How long a commit made by hand may go unnoticed while a task waits.
const LOOK: Duration = Duration::from_secs(30);

/// What is known of it.
#[derive(Debug, Default)]
pub(super) struct Bringing {
    /// A thread is at it.
    pub(super) under_way: bool,
    /// The board's mark at the last look.
    looked_at: Option<u64>,
    /// When to look again all the same; `None` while no task could need it.
    next_look: Option<Instant>,
    /// What was told last of a task and a branch.
    told: HashMap<(TaskId, WorktreeName), String>,
}

impl Bringing {
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.next_look.filter(|_| !self.under_way)
    }
}

/// What came of one branch.
#[derive(Debug)]
pub(super) struct Brought {
    task: TaskId,
    worktree: WorktreeName,
    branch: WorktreeName,
    outcome: Result<usize, BringError>,
}

impl Session {
    /// Looks for worktrees that lack a branch, if the board has changed or time has passed since the last look.
    pub(super) fn bring_branches(&mut self) {
        let mark = self.journal.mark();
        let now = clock::instant();
        let is_due = self.bringing.next_look.is_some_and(|at| at <= now);
        let is_news = self.bringing.looked_at != Some(mark);
        if self.bringing.under_way || self.leaving.is_some() || !(is_due || is_news) {
            return;
        }
        self.bringing.looked_at = Some(mark);
        let bound = match self.files.board.bound() {
            Ok(bound) => bound,
            Err(error) => return self.complain("the board was not read", &error),
        };
        self.bringing.next_look = (!bound.is_empty()).then(|| now + LOOK);
        if bound.is_empty() {
            return;
        }
        self.bringing.under_way = true;
        let (workspace, inlet) = (self.files.workspace.clone(), self.inlet.clone());
        std::thread::spawn(move || inlet.put(Event::Brought(bring_all(&workspace, bound))));
    }

    /// The thread has ended.
    pub(super) fn on_brought(&mut self, all: Vec<Brought>) {
        self.bringing.under_way = false;
        let is_any = all.iter().any(|one| one.outcome.is_ok());
        for one in all {
            let Brought {
                task,
                worktree,
                branch,
                outcome,
            } = one;
            let key = (task, branch);
            match outcome {
                Ok(_) => {
                    self.bringing.told.remove(&key);
                    let (task, branch) = key;
                    self.say(format!(
                        "{} was merged into worktree {worktree} for {task}",
                        branch.branch()
                    ));
                }
                Err(error) => self.tell_blocked(key, &worktree, &error),
            }
        }
        if is_any && let Err(error) = self.wake_the_idle() {
            self.complain("nobody was woken", &error);
        }
    }

    fn wake_the_idle(&self) -> Result<(), crate::board::BoardError> {
        self.files.board.lock(&AgentName::lead())?.wake();
        Ok(())
    }

    /// Tells the person and the lead's model, once as long as it stays the same.
    fn tell_blocked(
        &mut self,
        key: (TaskId, WorktreeName),
        worktree: &WorktreeName,
        error: &BringError,
    ) {
        let (task, branch) = &key;
        let branch = branch.branch();
        let what_to_do = match error {
            BringError::Conflict(_) => format!(
                "Either somebody runs `git merge {branch}` in .worktrees/{worktree}, resolves it and commits; or the dependency \
                 is taken away with update_task, and the description asks whoever does the task to merge {branch} first."
            ),
            BringError::Failed(_) => "It is tried again.".to_owned(),
        };
        let text = format!("{task} is blocked: {error}. {what_to_do}");
        if self.bringing.told.get(&key) == Some(&text) {
            return;
        }
        self.say(text.clone());
        self.tell_model(&AgentName::lead(), Kind::ErrorReport, text.clone());
        self.bringing.told.insert(key, text);
    }
}

fn bring_all(workspace: &Workspace, bound: Vec<Bound>) -> Vec<Brought> {
    let known = Branches::new(workspace.clone());
    let mut all = Vec::new();
    for Bound {
        task,
        worktree,
        branches,
    } in bound
    {
        for branch in branches {
            // What cannot be said is tried: that tells why.
            if let Ok(Standing::Holds) = known.standing(Some(&worktree), &branch) {
                continue;
            }
            all.push(Brought {
                outcome: worktree::bring(workspace, &worktree, &branch),
                task: task.clone(),
                worktree: worktree.clone(),
                branch,
            });
        }
    }
    all
}
