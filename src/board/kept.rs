//! The board as kept on disk (SPEC §3.3, §3.4): readers take no lock, changes happen under two.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::file::Found;
use super::gate::Gate;
use super::knowledge::{Knowledge, valid};
use super::rules::{self, Standing};
use super::summary::{Key, Summary};
use super::view::{self, Entry, TaskView};
use super::{BoardError, Claimant, LockedBoard, Status, Task, branches, cycles, file, scan};
use crate::ids::{AgentName, TaskId, WorktreeName};
use crate::store::fault::{self, Point};
use crate::store::lock::{self, FileLock, LOCK_WAIT, LockError, LockFile};
use crate::store::{Durability, StoreError, atomic};
use crate::workspace::Workspace;

/// Whether a bound worktree can be used: `Err` says why not.
pub type Usable = dyn Fn(&WorktreeName) -> Result<(), String> + Send + Sync;

/// Whether what was done on a worktree's branch is in the place of a task, which is another worktree or the workspace
/// (`None`): `Err` says what is waited for. May run git, so nobody asks it first under a lock: what was answered once costs
/// only a look at files.
pub type Contains =
    dyn Fn(Option<&WorktreeName>, &WorktreeName) -> Result<(), String> + Send + Sync;

/// A free task that is bound to a worktree, with what must be in there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// The task.
    pub task: TaskId,
    /// Its worktree.
    pub worktree: WorktreeName,
    /// The worktrees whose branches it needs; never empty.
    pub branches: Vec<WorktreeName>,
}

/// How a board is opened.
#[derive(Clone)]
pub struct BoardOptions {
    /// What a reported change survives.
    pub durability: Durability,
    /// After how many claims a task is no longer offered.
    pub max_attempts: u32,
    /// Joined from above (`worktree` is of the same layer). It must not ask the board.
    pub usable: Arc<Usable>,
    /// The same way.
    pub contains: Arc<Contains>,
}

impl fmt::Debug for BoardOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoardOptions")
            .field("durability", &self.durability)
            .field("max_attempts", &self.max_attempts)
            .finish_non_exhaustive()
    }
}

/// The board of a workspace. Readers need no lock; `Send + Sync`, one per process in an `Arc`.
#[derive(Debug)]
pub struct Board {
    pub(super) workspace: Workspace,
    pub(super) options: BoardOptions,
    /// Holds the flock from the first entering to the last leaving; none while there is no `.tasks` to lock.
    pub(super) gate: Gate<FileLock>,
    /// The lock file, kept open between locks.
    lock_file: Mutex<Option<Arc<LockFile>>>,
    known: Mutex<Knowledge>,
}

impl Board {
    /// Opens the board. Makes nothing: a missing `.tasks` is an empty board until the first change.
    ///
    /// A file system without working locks is refused here, if there is a lock file already.
    pub fn open(workspace: &Workspace, options: BoardOptions) -> Result<Self, BoardError> {
        let lock_file = match LockFile::existing(&workspace.board_lock()) {
            Ok(file) => file,
            Err(error @ LockError::Unsupported { .. }) => return Err(error.into()),
            // Anything else is told when somebody wants the lock; reading goes without.
            Err(LockError::Busy { .. } | LockError::Store(_)) => None,
        };
        Ok(Self {
            gate: Gate::new(),
            lock_file: Mutex::new(lock_file),
            known: Mutex::new(Knowledge::new(workspace.clone())),
            workspace: workspace.clone(),
            options,
        })
    }

    /// Refuses a board that cannot be changed, for whoever is about to live by it. Makes nothing and waits for nobody.
    pub fn check_changeable(&self) -> Result<(), BoardError> {
        let lock = self.workspace.board_lock();
        lock::is_held(&lock)?;
        atomic::check_writable(&lock)?;
        Ok(atomic::check_writable(&self.workspace.tasks_dir())?)
    }

    /// All tasks and damaged files, in the order of offering.
    ///
    /// Reads every file. A file that is replaced meanwhile is found with its old or its new content, never missed.
    pub fn list(&self) -> Result<Vec<Entry>, BoardError> {
        let dir = self.workspace.tasks_dir();
        let mut names = scan::names(&dir)?;
        // A directory that changes all the time may hide a name from a reading of it.
        names.tasks.extend(self.known().keys().filter_map(Key::id));
        names.tasks.sort();
        names.tasks.dedup();
        let mut entries = Vec::with_capacity(names.tasks.len());
        for id in &names.tasks {
            let path = self.workspace.task(id);
            match file::read(&path, id)? {
                Found::Missing => {}
                Found::Task(task, _) => entries.push(Entry::Task(task)),
                Found::Damaged(why) => entries.push(Entry::Damaged {
                    id: id.to_string(),
                    path,
                    why,
                }),
            }
        }
        entries.extend(names.misnamed.into_iter().map(|stem| Entry::Damaged {
            path: dir.join(format!("{stem}.json")),
            why: "its name is not that of a task, task_<8 hex>.json".to_owned(),
            id: stem,
        }));
        view::sort(&mut entries);
        Ok(entries)
    }

    /// All valid tasks with their readiness, in the order of offering.
    pub fn views(&self) -> Result<Vec<TaskView>, BoardError> {
        Ok(self.views_of(self.list()?))
    }

    /// The same, and the damaged files beside them, of one reading.
    pub fn views_and_damaged(&self) -> Result<(Vec<TaskView>, Vec<Entry>), BoardError> {
        let entries = self.list()?;
        let is_damaged = |entry: &&Entry| matches!(entry, Entry::Damaged { .. });
        let damaged = entries.iter().filter(is_damaged).cloned().collect();
        Ok((self.views_of(entries), damaged))
    }

    fn views_of(&self, entries: Vec<Entry>) -> Vec<TaskView> {
        view::views(entries, |task, branches| self.takeable(task, branches))
    }

    /// One task.
    pub fn get(&self, id: &TaskId) -> Result<Task, BoardError> {
        let found = file::read(&self.workspace.task(id), id)?;
        Ok(valid(id, found)?.0)
    }

    /// One task with its readiness.
    pub fn view(&self, id: &TaskId) -> Result<TaskView, BoardError> {
        let task = self.get(id)?;
        let mut standings = Vec::with_capacity(task.blocked_by.len());
        for dependency in &task.blocked_by {
            standings.push((dependency.clone(), self.standing(dependency)?));
        }
        let standing = |id: &TaskId| {
            standings
                .iter()
                .find(|(known, _)| known == id)
                .map_or(Standing::Missing, |(_, standing)| standing.clone())
        };
        let branches = self.needed_by_files(&Summary::of(&task));
        let takeable = |task: &Task| self.takeable(task, &branches);
        let view = view::view(task, standing, || None, takeable);
        if view.blocked_reason.is_none() || view.task.blocked_by.is_empty() {
            return Ok(view);
        }
        // Only what waits can wait for itself.
        let mut known = self.known();
        known.refresh()?;
        let cycle =
            known.ask(|index| cycles::through(Key::of(id), |key| view::edges(index.get(key))))?;
        drop(known);
        let knot = || Some(format!("it waits for itself: {}", view::arrows(&cycle?)));
        Ok(view::view(view.task, standing, knot, takeable))
    }

    /// Whether a task that is ready by its dependencies can be worked on where it is bound to. Not under the lock.
    pub fn can_start(&self, task: &Task) -> bool {
        self.startable(task).is_ok()
    }

    /// The tasks that are ready by their dependencies and bound to a worktree that needs other branches.
    pub fn bound(&self) -> Result<Vec<Bound>, BoardError> {
        let mut known = self.known();
        known.refresh()?;
        let bound = known.ask(|index| {
            let ready = index.ready();
            let bound = ready.into_iter().filter_map(|key| {
                let name = index.get(key)?.worktree.clone()?;
                Some(Bound {
                    task: key.id()?,
                    worktree: WorktreeName::parse(&name).ok()?,
                    branches: index.branches(key),
                })
            });
            bound.collect::<Vec<Bound>>()
        })?;
        Ok(bound
            .into_iter()
            .filter(|bound| !bound.branches.is_empty())
            .collect())
    }

    /// The tasks offered to `claimant` now, in order, at most `limit`. A snapshot: the claim decides.
    pub fn offered(&self, claimant: Claimant<'_>, limit: usize) -> Result<Vec<Task>, BoardError> {
        self.known().refresh()?;
        let mut offered = Vec::new();
        let mut last = None;
        while offered.len() < limit {
            let max_attempts = self.options.max_attempts;
            last = self
                .known()
                .ask(|index| index.offered_after(last, claimant, max_attempts))?;
            let Some(place) = last else { break };
            let Some(id) = place.key.id() else { continue };
            // What differs from the index is left to the next look at the files.
            if let Found::Task(task, _) = file::read(&self.workspace.task(&id), &id)?
                && self
                    .known()
                    .ask(|index| index.get(place.key) == Some(&Summary::of(&task)))?
                && self.startable(&task).is_ok()
            {
                offered.push(*task);
            }
        }
        Ok(offered)
    }

    /// The task that `agent` owns, if any.
    pub fn owned_by(&self, agent: &AgentName) -> Result<Option<Task>, BoardError> {
        let mut known = self.known();
        known.refresh()?;
        self.owned_in(&mut known, agent)
    }

    /// Dependencies that lead back to where they started, one way around for each knot of them, with its first task repeated
    /// at its end. They can only be made by hand.
    pub fn cycles(&self) -> Result<Vec<Vec<TaskId>>, BoardError> {
        let mut known = self.known();
        known.refresh()?;
        let found = known.ask(|index| {
            let keys: Vec<Key> = index.all().map(|(key, _)| key).collect();
            view::find(keys.into_iter(), |key| index.peek(key))
        })?;
        Ok(found
            .into_iter()
            .map(|knot| knot.way.into_iter().filter_map(Key::id).collect())
            .collect())
    }

    /// Takes both locks, waiting at most 30 s. `by` names the author of the changes in the journal.
    ///
    /// The thread that holds them may lock again; others wait for its last guard to be dropped.
    pub fn lock(&self, by: &AgentName) -> Result<LockedBoard<'_>, BoardError> {
        let first = self.gate.enter(LOCK_WAIT).ok_or_else(|| LockError::Busy {
            path: self.workspace.board_lock(),
            holder: format!("another thread of pid {}", std::process::id()),
            waited: LOCK_WAIT,
        })?;
        // From here on its drop leaves the gate.
        let locked = LockedBoard::new(self, by);
        if first && (self.kept_file().is_some() || self.workspace.tasks_dir().is_dir()) {
            self.take_file_lock()?;
        }
        Ok(locked)
    }

    /// Takes the flock and catches up. Only inside the gate.
    pub(super) fn take_file_lock(&self) -> Result<(), BoardError> {
        let path = self.workspace.board_lock();
        let kept = self.kept_file().take();
        let before = kept.clone();
        let lock = match kept {
            Some(file) => FileLock::exclusive_again(file, &path, LOCK_WAIT)?,
            None => FileLock::exclusive(&path, LOCK_WAIT)?,
        };
        let is_other = before.is_none_or(|before| !lock.is_on(&before));
        *self.kept_file() = Some(lock.kept());
        let mut known = self.known();
        let told = known.enter(lock.file(), is_other)?;
        if known.is_any_ready(&told) {
            self.ring(known.journal.seq());
        }
        drop(known);
        self.gate.keep(lock);
        fault::here(Point::BoardLocked);
        Ok(())
    }

    pub(super) fn known(&self) -> MutexGuard<'_, Knowledge> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What besides its dependencies keeps a task from being started. Every question of whether a task can be worked on
    /// in this run and where it is bound to comes here.
    pub(super) fn startable(&self, task: &Task) -> Result<(), String> {
        self.startable_here(task)?;
        let summary = Summary::of(task);
        let branches = self
            .known()
            .ask(|index| branches::needed(&summary, |key| index.get(key).cloned()));
        let branches = branches.map_err(|error| error.to_string())?;
        self.has_all(task, &branches)
    }

    fn has_all(&self, task: &Task, branches: &[WorktreeName]) -> Result<(), String> {
        branches
            .iter()
            .try_for_each(|branch| (self.options.contains)(task.worktree.as_ref(), branch))
    }

    /// The worktrees whose branches a task in `worktree` needs now that depends on these.
    pub fn branches_for(
        &self,
        worktree: &WorktreeName,
        blocked_by: &[TaskId],
    ) -> Vec<WorktreeName> {
        let task = Summary {
            worktree: Some(worktree.as_str().into()),
            blocked_by: blocked_by.iter().map(Key::of).collect(),
            ..Summary::damaged()
        };
        self.needed_by_files(&task)
    }

    /// Has what a claim of such a task will ask answered before, so that under the lock nothing asks git.
    pub fn look_ahead(&self, worktree: Option<&WorktreeName>, blocked_by: &[TaskId]) {
        let task = Summary {
            worktree: worktree.map(|name| name.as_str().into()),
            blocked_by: blocked_by.iter().map(Key::of).collect(),
            ..Summary::damaged()
        };
        for branch in self.needed_by_files(&task) {
            drop((self.options.contains)(worktree, &branch));
        }
    }

    fn needed_by_files(&self, task: &Summary) -> Vec<WorktreeName> {
        branches::needed(task, |key| Some(Summary::of(&self.get(&key.id()?).ok()?)))
    }

    /// The same but for branches that must be where it is done.
    pub(super) fn startable_here(&self, task: &Task) -> Result<(), String> {
        if let Some(why) = &task.not_offered {
            return Err(format!(
                "not offered again in this run: {why}; release it to offer it again: lead task release {}",
                task.id
            ));
        }
        match &task.worktree {
            Some(name) => (self.options.usable)(name),
            None => Ok(()),
        }
    }

    /// What besides its dependencies keeps everybody from taking a task: its place, or its attempts are used up.
    fn takeable(&self, task: &Task, branches: &[WorktreeName]) -> Result<(), String> {
        self.startable_here(task)?;
        self.has_all(task, branches)?;
        if task.attempts < self.options.max_attempts {
            return Ok(());
        }
        Err(format!(
            "{} attempts; release it to offer it again: lead task release {}",
            task.attempts, task.id
        ))
    }

    /// The task that `agent` has in progress, by the index, confirmed by its file.
    pub(super) fn owned_in(
        &self,
        known: &mut Knowledge,
        agent: &AgentName,
    ) -> Result<Option<Task>, BoardError> {
        for key in known.ask(|index| index.owned_by(agent.as_str()))? {
            let Some(id) = key.id() else { continue };
            if let Found::Task(task, _) = file::read(&self.workspace.task(&id), &id)?
                && task.status == Status::InProgress
                && task.owner.as_ref() == Some(agent)
            {
                return Ok(Some(*task));
            }
        }
        Ok(None)
    }

    /// Touches the bell, which wakes whoever waits for a task to become ready. A bell that cannot be rung is no failure:
    /// everybody looks every 30 s.
    pub(super) fn ring(&self, seq: u64) {
        if let Err(error) = super::bell::ring(&self.workspace.bell(), seq) {
            tracing::warn!(%error, "the bell was not rung");
        }
    }

    fn standing(&self, id: &TaskId) -> Result<Standing, StoreError> {
        let path: PathBuf = self.workspace.task(id);
        Ok(match file::read(&path, id)? {
            Found::Missing => Standing::Missing,
            Found::Damaged(_) => Standing::Damaged,
            Found::Task(task, _) => Standing::Is(task.status),
        })
    }

    fn kept_file(&self) -> MutexGuard<'_, Option<Arc<LockFile>>> {
        self.lock_file
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a claim must know of a dependency: see [`rules::obstacle`].
pub(super) fn waits_by_index(
    known: &mut Knowledge,
    task: &Task,
) -> Result<Option<String>, StoreError> {
    known.ask(|index| rules::waits_for(task, |id| index.standing(Key::of(id))))
}
