//! What this process knows of the board, and how it stays true: fed from the journal's tail, and every 30 s from the
//! files themselves.
//!
//! Whatever is found changed without the journal telling it is remembered as untold, until a line tells it or this
//! process, under the lock, writes that line.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::file::{self, Found};
use super::index::Index;
use super::journal::Journal;
use super::line::{Note, OUTSIDE, Told};
use super::mark::{Dirty, Mark};
use super::scan::{self, Look, Names};
use super::snapshot::Snapshot;
use super::summary::{Key, Summary};
use super::{BoardError, Task};
use crate::clock;
use crate::ids::TaskId;
use crate::store::StoreError;
use crate::store::read::{open_dir, open_plain};
use crate::workspace::Workspace;

/// How long a change made by hand may go unnoticed.
const LOOK_AT_FILES: Duration = Duration::from_secs(30);

/// The index and what feeds it.
#[derive(Debug)]
pub(super) struct Knowledge {
    pub(super) workspace: Workspace,
    pid: u32,
    dir: PathBuf,
    /// The same, open, for as long as it holds the lock file that was locked last.
    open_dir: Option<File>,
    lock_path: PathBuf,
    pub(super) index: Index,
    pub(super) journal: Journal,
    looks: HashMap<Key, Look>,
    untold: BTreeMap<Key, Untold>,
    /// `None` before the first load.
    next_look: Option<Instant>,
    /// See [`Mark::stamp`].
    stamp: Option<u64>,
    /// See [`Mark::index`].
    pub(super) saved: u64,
    /// Whether this process has changed nothing yet.
    pub(super) is_new: bool,
}

/// A change that no journal line tells of yet.
#[derive(Debug)]
struct Untold {
    before: Option<Summary>,
    subject: Option<String>,
}

impl Knowledge {
    pub(super) fn new(workspace: Workspace) -> Self {
        Self {
            pid: std::process::id(),
            dir: workspace.tasks_dir(),
            open_dir: None,
            lock_path: workspace.board_lock(),
            journal: Journal::new(workspace.journal()),
            index: Index::default(),
            looks: HashMap::new(),
            untold: BTreeMap::new(),
            next_look: None,
            stamp: None,
            saved: 0,
            is_new: true,
            workspace,
        }
    }

    /// The tasks in memory.
    pub(super) fn keys(&self) -> impl Iterator<Item = Key> + use<'_> {
        self.index.keys()
    }

    /// Asks the index. If the snapshot under it turns out not to be whole, the files answer.
    pub(super) fn ask<R>(&mut self, question: impl Fn(&mut Index) -> R) -> Result<R, StoreError> {
        let answer = question(&mut self.index);
        if !self.index.is_doubtful() {
            return Ok(answer);
        }
        self.start_over()?;
        Ok(question(&mut self.index))
    }

    /// Catches up without a lock.
    pub(super) fn refresh(&mut self) -> Result<(), StoreError> {
        if self.next_look.is_none()
            && let Some(mark) = self.read_mark()
            && let stamp = scan::stamp(&self.dir)?
            && self.resume(&mark, stamp)?
        {
            return Ok(());
        }
        self.catch_up()?;
        if self.is_look_due() {
            self.look_at_files()?;
        }
        Ok(())
    }

    /// Catches up under the board's lock, and tells everybody what nobody told: the change of a process that was killed
    /// before it could, and what was changed by hand. Answers with the tasks so told.
    ///
    /// `is_other`: it is not the lock file of the last time.
    pub(super) fn enter(&mut self, lock: &File, is_other: bool) -> Result<Vec<Key>, BoardError> {
        if is_other {
            self.open_dir = None;
        }
        let mark = Mark::read(lock, &self.lock_path)?;
        let cold = self.next_look.is_none();
        if self.open_dir.is_none() {
            self.open_dir = open_dir(&self.dir)?;
        }
        self.stamp = self.look_at_dir()?;
        self.saved = mark.index;
        if cold && self.resume(&mark, self.stamp)? {
            self.journal.is_current(mark.told());
            return Ok(Vec::new());
        }
        let is_current = !cold
            && self.follow_to(mark.told())?
            && mark.settled(&self.journal) == Some(self.stamp)
            && !self.index.is_doubtful();
        if !is_current {
            self.catch_up()?;
        }
        let settled = mark.settled(&self.journal);
        let moved = settled.unwrap_or(mark.stamp) != self.stamp;
        let calm = settled.is_some() && !moved;
        self.journal.raise_seq(mark.seq);
        if calm && self.untold.is_empty() && !self.is_look_due() {
            if cold && self.is_worth_saving() {
                self.save();
                self.write_clean_mark(lock)?;
            }
            return Ok(Vec::new());
        }
        let mut told = Vec::new();
        if let Dirty::Tasks { keys, by, .. } = &mark.dirty
            && settled.is_none()
        {
            for key in keys {
                self.suspect(*key, cold)?;
            }
            told.extend(self.tell(by, |key| keys.contains(&key))?);
        }
        if moved || mark.dirty == Dirty::All || self.is_look_due() {
            let names = self.look_at_files()?;
            scan::sweep(&self.dir, &names.leftovers);
        }
        told.extend(self.tell(OUTSIDE, |_| true)?);
        // Whoever starts cold cannot say what is different; the others can. Without a journal nobody waits for lines.
        if cold && (moved || mark.dirty == Dirty::All) && !self.journal.is_gone() {
            self.journal.append(OUTSIDE, &[Note::rescan()], None)?;
        }
        if cold && self.is_worth_saving() {
            self.save();
        }
        self.write_clean_mark(lock)?;
        Ok(told)
    }

    /// Records that all changes are told, and how the directory looks now.
    pub(super) fn write_clean_mark(&mut self, lock: &File) -> Result<(), StoreError> {
        self.stamp = self.look_at_dir()?;
        self.write_mark(lock, Dirty::Clean)
    }

    /// How the directory looks after a change, for the line that ends it; `None`, which is how it never looks, if it cannot
    /// be said.
    pub(super) fn look_again(&mut self) -> Option<u64> {
        self.stamp = self.look_at_dir().ok().flatten();
        self.stamp
    }

    /// See [`Mark::stamp`].
    fn look_at_dir(&self) -> Result<Option<u64>, StoreError> {
        match &self.open_dir {
            Some(dir) => scan::stamp_of(dir).map_err(StoreError::of("look at", &self.dir)),
            None => Ok(None),
        }
    }

    /// Records which tasks may differ from what is told.
    pub(super) fn write_mark(&self, lock: &File, dirty: Dirty) -> Result<(), StoreError> {
        let mark = Mark {
            dirty,
            index: self.saved,
            seq: self.journal.seq(),
            stamp: self.stamp,
        };
        mark.write(lock, &self.lock_path, self.pid)
    }

    /// Reads one task's file; the index follows what is found.
    pub(super) fn read(&mut self, id: &TaskId) -> Result<Found, StoreError> {
        let found = file::read(&self.workspace.task(id), id)?;
        self.take_in(Key::of(id), &found);
        Ok(found)
    }

    /// Takes in what this process itself has written and told.
    pub(super) fn written(&mut self, key: Key, summary: Summary) {
        self.index.put(key, Some(summary));
        self.looks.remove(&key);
        self.untold.remove(&key);
    }

    /// Takes in what this process itself has written and could not tell.
    pub(super) fn written_untold(
        &mut self,
        key: Key,
        before: Option<Summary>,
        now: Summary,
        subject: &str,
    ) {
        self.written(key, now);
        let subject = Some(subject.to_owned());
        self.untold.insert(key, Untold { before, subject });
    }

    /// Ready tasks among `keys` and among those that wait for them.
    pub(super) fn is_any_ready(&mut self, keys: &[Key]) -> bool {
        keys.iter().any(|key| {
            self.index.is_ready(*key) || {
                let dependents = self.index.dependents(*key).to_vec();
                dependents.into_iter().any(|key| self.index.is_ready(key))
            }
        })
    }

    /// The record in `.lock` for whoever does not hold it; `None` if it cannot be read.
    fn read_mark(&self) -> Option<Mark> {
        let file = open_plain(&self.lock_path).ok()??;
        Mark::read(&file, &self.lock_path).ok()
    }

    /// Starts from the snapshot and the journal's tail, if nothing speaks against it: no change is under way, nobody put
    /// files there (`stamp` is how the directory looked before), and the snapshot is the one that `mark` tells of.
    fn resume(&mut self, mark: &Mark, stamp: Option<u64>) -> Result<bool, StoreError> {
        // Most of what speaks against it stands in the mark itself.
        let is_over = match &mark.dirty {
            Dirty::Clean => mark.stamp == stamp,
            Dirty::Tasks { until, .. } => until.is_some(),
            Dirty::All => false,
        };
        if !is_over || stamp.is_none() {
            return Ok(false);
        }
        let snapshot = Snapshot::open(&self.workspace.board_index());
        let Some(snapshot) = snapshot.filter(|found| found.reach.seq == mark.index) else {
            return Ok(false);
        };
        let lines = self.journal.resume(snapshot.reach)?;
        let lines = lines.filter(|lines| {
            self.journal.seq() >= mark.seq
                && mark.settled(&self.journal) == Some(stamp)
                && !lines.contains(&Told::Rescan)
        });
        let Some(lines) = lines else {
            self.journal = Journal::new(self.workspace.journal());
            return Ok(false);
        };
        self.index = Index::on(snapshot);
        self.saved = mark.index;
        self.next_look = Some(clock::instant() + LOOK_AT_FILES);
        for line in lines {
            self.apply(line);
        }
        Ok(true)
    }

    fn is_look_due(&self) -> bool {
        self.next_look.is_none_or(|at| clock::instant() >= at)
    }

    /// Follows the journal; a cold process, or one that missed lines, reads all files.
    fn catch_up(&mut self) -> Result<(), StoreError> {
        if self.next_look.is_none() || self.index.is_doubtful() {
            // First the journal's end, then the files: what changes in between is told by lines not read yet.
            self.start_over()?;
        }
        let lines = self.journal.follow()?;
        self.take_in_lines(lines)
    }

    /// Takes in what the journal told; `None`: lines are missing.
    fn take_in_lines(&mut self, lines: Option<Vec<Told>>) -> Result<(), StoreError> {
        let Some(lines) = lines else {
            return self.start_over();
        };
        for line in lines {
            self.apply(line);
        }
        Ok(())
    }

    /// Follows the journal up to its line `last`, as far as the file that is open holds it; answers whether it ends there.
    /// Under the lock this is all that others who only waited for it have to do.
    fn follow_to(&mut self, last: u64) -> Result<bool, StoreError> {
        let lines = self.journal.follow_to(last)?;
        self.take_in_lines(lines)?;
        Ok(self.journal.is_current(last))
    }

    /// What the files say is taken for told: others may know better, and look for themselves.
    fn start_over(&mut self) -> Result<(), StoreError> {
        self.journal.go_to_end()?;
        if self.index.is_doubtful() {
            self.index = Index::default();
            self.looks.clear();
        }
        let before = std::mem::take(&mut self.untold);
        self.look_at_files()?;
        self.untold = before;
        Ok(())
    }

    fn apply(&mut self, line: Told) {
        let key = match line {
            Told::Task(key, summary) => {
                self.index.put(key, summary);
                key
            }
            Told::Alone(key, summary) => {
                self.index.put_alone(key, summary);
                key
            }
            Told::Rescan => return self.next_look = Some(clock::instant()),
        };
        self.looks.remove(&key);
        self.untold.remove(&key);
    }

    /// Reads every file that looks different from when it was last read.
    fn look_at_files(&mut self) -> Result<Names, StoreError> {
        let names = scan::names(&self.dir)?;
        for id in &names.tasks {
            let key = Key::of(id);
            // Before the reading: what changes meanwhile looks different next time.
            let look = Look::of(&self.workspace.task(id));
            if look.is_none() || self.looks.get(&key) != look.as_ref() {
                self.look_at(key)?;
                if let Some(look) = look {
                    self.looks.insert(key, look);
                }
            }
        }
        // All were taken in by now, so that this is their number.
        if self.index.all().count() > names.tasks.len() {
            let there: std::collections::HashSet<Key> = names.tasks.iter().map(Key::of).collect();
            let gone: Vec<Key> = self
                .index
                .all()
                .map(|(key, _)| key)
                .filter(|key| !there.contains(key))
                .collect();
            for key in gone {
                self.look_at(key)?;
            }
        }
        self.next_look = Some(clock::instant() + LOOK_AT_FILES);
        Ok(names)
    }

    /// Reads a task that may have changed without being told; `cold`: nobody here knows whether it did.
    fn suspect(&mut self, key: Key, cold: bool) -> Result<(), StoreError> {
        let Some(id) = key.id() else { return Ok(()) };
        let found = self.read(&id)?;
        if cold {
            self.untold.entry(key).or_insert_with(|| Untold {
                before: self.index.get(key).cloned(),
                subject: match found {
                    Found::Task(task, _) => Some(task.subject),
                    Found::Missing | Found::Damaged(_) => None,
                },
            });
        }
        Ok(())
    }

    fn look_at(&mut self, key: Key) -> Result<(), StoreError> {
        if let Some(id) = key.id() {
            self.read(&id)?;
        }
        Ok(())
    }

    fn take_in(&mut self, key: Key, found: &Found) {
        let (summary, subject) = match found {
            Found::Missing => (None, None),
            Found::Damaged(_) => (Some(Summary::damaged()), None),
            Found::Task(task, _) => (Some(Summary::of(task)), Some(&task.subject)),
        };
        self.looks.remove(&key);
        if self.index.get(key) != summary.as_ref() {
            let before = self.index.get(key).cloned();
            self.index.put(key, summary);
            let untold = self.untold.entry(key).or_insert(Untold {
                before,
                subject: None,
            });
            untold.subject = subject.cloned();
        }
    }

    /// Tells how `keys` were found, if not as the journal has it: the line of a change goes on from what was told before.
    pub(super) fn tell_found(&mut self, keys: &[Key]) -> Result<(), StoreError> {
        if !self.untold.is_empty() {
            self.tell(OUTSIDE, |key| keys.contains(&key))?;
        }
        Ok(())
    }

    /// Appends lines for the untold changes that `which` names.
    fn tell(&mut self, by: &str, which: impl Fn(Key) -> bool) -> Result<Vec<Key>, StoreError> {
        let chosen: Vec<Key> = self
            .untold
            .keys()
            .copied()
            .filter(|key| which(*key))
            .collect();
        if chosen.is_empty() {
            return Ok(chosen);
        }
        let notes: Vec<Note<'_>> = chosen
            .iter()
            .filter_map(|key| {
                let untold = self.untold.get(key)?;
                Some(Note::found(
                    *key,
                    untold.before.as_ref(),
                    self.index.peek(*key),
                    untold.subject.as_deref(),
                ))
            })
            .collect();
        self.journal.append(by, &notes, None)?;
        for key in &chosen {
            self.untold.remove(key);
        }
        Ok(chosen)
    }
}

/// A valid task, or why there is none.
pub(super) fn valid(id: &TaskId, found: Found) -> Result<(Task, Vec<u8>), BoardError> {
    match found {
        Found::Task(task, bytes) => Ok((*task, bytes)),
        Found::Missing => Err(BoardError::Unknown(id.clone())),
        Found::Damaged(why) => Err(BoardError::Damaged {
            id: id.clone(),
            why,
        }),
    }
}
