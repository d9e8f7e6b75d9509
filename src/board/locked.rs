//! The changes of the board. They exist only on the guard that both locks give.

use std::collections::{HashMap, HashSet};
use std::marker::PhantomData;

use super::commit::Write;
use super::kept::{Board, waits_by_index};
use super::knowledge::valid;
use super::rules::{self, Released};
use super::summary::{Key, Summary};
use super::view::{self, Completion};
use super::{BoardError, Claimant, NewTask, Status, Task, TaskPatch, VerifyRun, cycles};
use crate::clock::Timestamp;
use crate::ids::{AgentName, TaskId, WorktreeName};

/// How often a new id is drawn for one that exists already.
const DRAWS: usize = 16;

/// The board under both locks: the only place where changes exist. Each method is one atomic change.
#[must_use]
#[derive(Debug)]
pub struct LockedBoard<'a> {
    board: &'a Board,
    by: AgentName,
    /// The lock belongs to the thread that took it.
    here: PhantomData<*const ()>,
}

impl Drop for LockedBoard<'_> {
    fn drop(&mut self) {
        self.board.gate.leave();
    }
}

impl<'a> LockedBoard<'a> {
    /// Only for whoever has just entered the gate.
    pub(super) fn new(board: &'a Board, by: &AgentName) -> Self {
        Self {
            board,
            by: by.clone(),
            here: PhantomData,
        }
    }

    /// Makes all of `tasks` visible, files first, then the journal lines together, so that nobody claims one half-described.
    pub fn create(&mut self, tasks: &[NewTask]) -> Result<Vec<Task>, BoardError> {
        let now = Timestamp::now();
        let mut made = Vec::with_capacity(tasks.len());
        for (new, order) in tasks.iter().zip(0..) {
            made.push(rules::create(new, order, now)?);
        }
        self.check_batch(&made)?;
        if made.is_empty() {
            return Ok(made);
        }
        if self.board.gate.with(|lock| lock.is_none()) {
            self.board.take_file_lock()?;
        }
        self.check_surroundings(&made)?;
        self.draw_again(&mut made)?;
        let writes: Vec<Write> = made
            .iter()
            .map(|task| Write {
                old: None,
                new: task.clone(),
            })
            .collect();
        self.board.commit(self.by.as_str(), &writes)?;
        Ok(made)
    }

    /// Gives an offered task to `claimant`, who must own none.
    pub fn claim(&mut self, id: &TaskId, claimant: Claimant<'_>) -> Result<Task, BoardError> {
        let old = self.read(id)?;
        let (waits, held) = {
            let mut known = self.board.known();
            let held = self.board.owned_in(&mut known, claimant.name)?;
            let waits = waits_by_index(&mut known, &old.0)?;
            (waits, held.map(|task| task.id))
        };
        let waits = waits.or_else(|| self.board.startable(&old.0).err());
        let held = held.filter(|held| held != id);
        let new = rules::claim(
            &old.0,
            claimant,
            waits,
            held.as_ref(),
            self.board.options.max_attempts,
            Timestamp::now(),
        )?;
        self.change(old, new)
    }

    /// Gives the first task that is offered to `claimant` to it, if there is one.
    pub fn claim_next(&mut self, claimant: Claimant<'_>) -> Result<Option<Task>, BoardError> {
        let max_attempts = self.board.options.max_attempts;
        let first = self
            .board
            .known()
            .ask(|index| index.offered_after(None, claimant, max_attempts))?;
        if let Some(id) = first.and_then(|place| place.key.id()) {
            match self.claim(&id, claimant) {
                Err(
                    BoardError::Refused(_)
                    | BoardError::Owned { .. }
                    | BoardError::Unknown(_)
                    | BoardError::Damaged { .. },
                ) => {}
                claimed => return claimed.map(Some),
            }
        }
        // It is not what the index says, or its worktree is not usable: look at more of them, more closely.
        match self.board.offered(claimant, 1)?.first() {
            Some(task) => self.claim(&task.id, claimant).map(Some),
            None => Ok(None),
        }
    }

    /// Completes a task for its owner under the version it was claimed with. The plan gate and `verify` are the caller's.
    pub fn complete(
        &mut self,
        id: &TaskId,
        owner: &AgentName,
        version: u64,
        result: Option<String>,
    ) -> Result<Completion, BoardError> {
        let old = self.read(id)?;
        let new = rules::complete(&old.0, owner, version, result, Timestamp::now())?;
        let task = self.change(old, new)?;
        let unblocked = self.unblocked(id);
        Ok(Completion { task, unblocked })
    }

    /// Notes what the verify command came to, for its owner under the version it was claimed with.
    pub fn verified(
        &mut self,
        id: &TaskId,
        owner: &AgentName,
        version: u64,
        run: VerifyRun,
    ) -> Result<Task, BoardError> {
        let old = self.read(id)?;
        let new = rules::verified(&old.0, owner, version, run, Timestamp::now())?;
        self.change(old, new)
    }

    /// Completes a task for the person; one in progress only with `force`. Its former owner is in the answer's task.
    pub fn complete_by_person(
        &mut self,
        id: &TaskId,
        force: bool,
    ) -> Result<(Completion, Option<AgentName>), BoardError> {
        let old = self.read(id)?;
        let former = working_owner(&old.0);
        let new = rules::complete_by_person(&old.0, force, Timestamp::now())?;
        let task = self.change(old, new)?;
        let unblocked = self.unblocked(id);
        Ok((Completion { task, unblocked }, former))
    }

    /// Gives a task in progress back; `owner` and `version`, if given, must still hold it. `note` becomes its `result`.
    /// Answers with the task and who had it. A pending one with `ByPerson` only gets its attempts set to 0.
    pub fn release(
        &mut self,
        id: &TaskId,
        holder: Option<(&AgentName, u64)>,
        why: Released,
        note: Option<String>,
    ) -> Result<(Task, Option<AgentName>), BoardError> {
        let old = self.read(id)?;
        let former = working_owner(&old.0);
        let new = rules::release(&old.0, holder, why, note, Timestamp::now())?;
        Ok((self.change(old, new)?, former))
    }

    /// Offers a task again that an earlier run had given up; whether it was so.
    pub fn offer_anew(&mut self, id: &TaskId) -> Result<bool, BoardError> {
        let old = self.read(id)?;
        let Some(new) = rules::offer_anew(&old.0, Timestamp::now()) else {
            return Ok(false);
        };
        self.change(old, new).map(|_| true)
    }

    /// Cancels a task that is not in progress (or with `force` any); answers with it, its former owner, and its dependents.
    pub fn cancel(
        &mut self,
        id: &TaskId,
        force: bool,
    ) -> Result<(Task, Option<AgentName>, Vec<TaskId>), BoardError> {
        let old = self.read(id)?;
        let former = working_owner(&old.0);
        let new = rules::cancel(&old.0, force, Timestamp::now())?;
        let task = self.change(old, new)?;
        let dependents = self.board.known().ask(|index| {
            let mut dependents = index.dependents(Key::of(id)).to_vec();
            dependents.retain(|key| index.get(*key).is_some_and(Summary::is_open));
            dependents.sort_by_key(|key| index.get(*key).map(|task| task.place(*key)));
            dependents
        })?;
        Ok((
            task,
            former,
            dependents.into_iter().filter_map(Key::id).collect(),
        ))
    }

    /// Changes a pending, unowned task; a dependency on itself, on nothing, or in a cycle is refused with the cycle shown.
    pub fn update(&mut self, id: &TaskId, patch: &TaskPatch) -> Result<Task, BoardError> {
        let old = self.read(id)?;
        let new = rules::update(&old.0, patch, Timestamp::now())?;
        for dependency in &patch.add_blocked_by {
            if dependency != id {
                self.check_exists(id, dependency)?;
            }
        }
        if !patch.add_blocked_by.is_empty() {
            self.check_cycles(std::slice::from_ref(&new))?;
        }
        self.change(old, new)
    }

    /// Binds a pending, unowned, unbound task to a worktree.
    pub fn bind(&mut self, id: &TaskId, worktree: &WorktreeName) -> Result<Task, BoardError> {
        let old = self.read(id)?;
        let new = rules::bind(&old.0, worktree, Timestamp::now())?;
        self.check_unbound(worktree)?;
        self.change(old, new)
    }

    /// Wakes whoever waits for a task to become ready: something outside of the board has made it so.
    pub fn wake(&mut self) {
        if self.board.gate.with(|lock| lock.is_some()) {
            let seq = self.board.known().journal.seq();
            self.board.ring(seq);
        }
    }

    /// A valid task as its file says, under the lock.
    fn read(&self, id: &TaskId) -> Result<(Task, Vec<u8>), BoardError> {
        let found = self.board.known().read(id)?;
        valid(id, found)
    }

    fn change(&self, old: (Task, Vec<u8>), new: Task) -> Result<Task, BoardError> {
        let write = Write {
            old: Some(old),
            new,
        };
        self.board
            .commit(self.by.as_str(), std::slice::from_ref(&write))?;
        Ok(write.new)
    }

    /// The tasks that a completion of `id` made ready. One that cannot be read is left out: the completion stands.
    fn unblocked(&self, id: &TaskId) -> Vec<Task> {
        let mut known = self.board.known();
        let ready = known.ask(|index| {
            let mut ready = index.dependents(Key::of(id)).to_vec();
            ready.retain(|key| index.is_ready(*key));
            ready.sort_by_key(|key| index.get(*key).map(|task| task.place(*key)));
            ready
        });
        ready
            .unwrap_or_default()
            .into_iter()
            .filter_map(Key::id)
            .filter_map(|id| valid(&id, known.read(&id).ok()?).ok())
            .map(|(task, _)| task)
            .filter(|task| self.board.startable_here(task).is_ok())
            .collect()
    }

    /// What can be said of new tasks without the board.
    fn check_batch(&self, made: &[Task]) -> Result<(), BoardError> {
        let mut ids = HashSet::new();
        let mut worktrees = HashSet::new();
        for task in made {
            if !ids.insert(&task.id) {
                return refuse(format!("{} is given twice", task.id));
            }
            if let Some(worktree) = &task.worktree
                && !worktrees.insert(worktree)
            {
                return refuse(format!("two tasks name the worktree {worktree}"));
            }
        }
        for task in made {
            for dependency in &task.blocked_by {
                if dependency != &task.id && !ids.contains(dependency) {
                    self.check_exists(&task.id, dependency)?;
                }
            }
        }
        self.check_cycles(made)
    }

    fn check_surroundings(&self, made: &[Task]) -> Result<(), BoardError> {
        made.iter()
            .filter_map(|task| task.worktree.as_ref())
            .try_for_each(|worktree| self.check_unbound(worktree))
    }

    /// Draws a new id for a task whose id exists already, unless another of the batch depends on it.
    fn draw_again(&self, made: &mut [Task]) -> Result<(), BoardError> {
        for nr in 0..made.len() {
            for _ in 0..DRAWS {
                let id = made[nr].id.clone();
                if self.board.workspace.task(&id).symlink_metadata().is_err() {
                    break;
                }
                if made.iter().any(|task| task.blocked_by.contains(&id)) {
                    return refuse(format!("{id} exists already; make these tasks again"));
                }
                made[nr].id = TaskId::random();
            }
        }
        Ok(())
    }

    fn check_exists(&self, id: &TaskId, dependency: &TaskId) -> Result<(), BoardError> {
        match self.read(dependency) {
            // A damaged one exists; it blocks until it is mended.
            Ok(_) | Err(BoardError::Damaged { .. }) => Ok(()),
            Err(BoardError::Unknown(_)) => refuse(format!(
                "{id} cannot depend on {dependency}; there is no such task; name one of `list_tasks`"
            )),
            Err(error) => Err(error),
        }
    }

    fn check_unbound(&self, worktree: &WorktreeName) -> Result<(), BoardError> {
        let user = self.board.known().ask(|index| {
            index
                .all()
                .find(|(_, task)| task.worktree.as_deref() == Some(worktree.as_str()))
                .map(|(key, _)| key)
        })?;
        match user {
            Some(key) => refuse(format!(
                "the worktree {worktree} belongs to {key}; choose another name"
            )),
            None => Ok(()),
        }
    }

    /// Whether any of `changed` would wait for itself.
    fn check_cycles(&self, changed: &[Task]) -> Result<(), BoardError> {
        let mut known = self.board.known();
        let new: HashMap<Key, Vec<Key>> = changed
            .iter()
            .map(|task| {
                let edges = task.blocked_by.iter().map(Key::of).collect();
                (Key::of(&task.id), edges)
            })
            .collect();
        for task in changed {
            let cycle = known.ask(|index| {
                cycles::through(Key::of(&task.id), |key| {
                    new.get(&key)
                        .cloned()
                        .unwrap_or_else(|| view::edges(index.get(key)))
                })
            })?;
            if let Some(cycle) = cycle {
                return refuse(format!(
                    "{} would wait for itself: {}",
                    task.id,
                    view::arrows(&cycle)
                ));
            }
        }
        Ok(())
    }
}

/// Who works on a task now.
fn working_owner(task: &Task) -> Option<AgentName> {
    (task.status == Status::InProgress)
        .then(|| task.owner.clone())
        .flatten()
}

fn refuse<T>(why: String) -> Result<T, BoardError> {
    Err(BoardError::Refused(why))
}
