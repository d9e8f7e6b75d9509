//! The tasks in memory, so that no question costs a look at every file. Proposes only: the task file decides.
//!
//! A change costs the logarithm of the board's size and the number of its own edges. It may stand on a snapshot, of which
//! it takes in, block by block, only what is asked for; what was taken in is from then on true here, not there.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::ops::Bound;

use super::snapshot::{self, Lent, Reach, Record, Snapshot};
use super::summary::{Key, Place, Summary};
use super::{Claimant, Status, branches, rules};
use crate::ids::WorktreeName;

/// The index.
#[derive(Debug, Default)]
pub(super) struct Index {
    tasks: HashMap<Key, Known>,
    /// The tasks that name a task, existing or not, in their `blockedBy`.
    dependents: HashMap<Key, Vec<Key>>,
    /// Pending, unowned, all dependencies completed.
    ready: BTreeSet<Place>,
    /// Tasks in progress, by owner in lower case.
    owned: BTreeSet<(Box<str>, Key)>,
    base: Option<Base>,
    /// The snapshot, gone by now, was not whole.
    was_broken: bool,
}

#[derive(Debug)]
struct Known {
    summary: Summary,
    /// How many of its dependencies are not completed.
    open: u32,
}

/// What was not taken in yet.
#[derive(Debug)]
struct Base {
    snapshot: Snapshot,
    /// By number of the block.
    taken: Vec<bool>,
    /// Ready tasks of the snapshot before this one were taken in.
    ready_at: usize,
    /// The ones from there on, as far as they were read.
    ready: std::vec::IntoIter<Place>,
    /// It turned out not to be whole.
    is_broken: bool,
}

impl Index {
    /// An index that holds what `snapshot` does.
    pub(super) fn on(snapshot: Snapshot) -> Self {
        let blocks = usize::try_from(snapshot.blocks).unwrap_or(0);
        Self {
            base: Some(Base {
                taken: vec![false; blocks],
                snapshot,
                ready_at: 0,
                ready: Vec::new().into_iter(),
                is_broken: false,
            }),
            ..Self::default()
        }
    }

    /// Whether what it answered may be wrong. Then it must be made anew from the files.
    pub(super) fn is_doubtful(&self) -> bool {
        self.was_broken || self.base.as_ref().is_some_and(|base| base.is_broken)
    }

    pub(super) fn get(&mut self, key: Key) -> Option<&Summary> {
        self.take(key);
        self.peek(key)
    }

    /// The same of what was taken in already: all, after [`Self::all`].
    pub(super) fn peek(&self, key: Key) -> Option<&Summary> {
        self.tasks.get(&key).map(|known| &known.summary)
    }

    /// The tasks taken in so far, in no order.
    pub(super) fn keys(&self) -> impl Iterator<Item = Key> {
        self.tasks.keys().copied()
    }

    /// Every task, in no order.
    pub(super) fn all(&mut self) -> impl Iterator<Item = (Key, &Summary)> {
        self.take_all();
        self.tasks.iter().map(|(key, known)| (*key, &known.summary))
    }

    /// How many tasks there are; on a snapshot, how many there were.
    pub(super) fn len(&self) -> usize {
        match &self.base {
            Some(base) => base.snapshot.tasks,
            None => self.tasks.len(),
        }
    }

    /// How a task stands, whether it exists or not.
    pub(super) fn standing(&mut self, key: Key) -> rules::Standing {
        self.get(key)
            .map_or(rules::Standing::Missing, Summary::standing)
    }

    pub(super) fn is_ready(&mut self, key: Key) -> bool {
        self.take(key);
        self.tasks
            .get(&key)
            .is_some_and(|known| known.summary.is_free() && known.open == 0)
    }

    /// All ready tasks, in the order of offering.
    pub(super) fn ready(&mut self) -> Vec<Key> {
        let mut found = Vec::new();
        let mut last = None;
        while let Some(place) = self.ready_after(last) {
            found.push(place.key);
            last = Some(place);
        }
        found
    }

    /// See [`branches::needed`]; none for a task that is not there.
    pub(super) fn branches(&mut self, key: Key) -> Vec<WorktreeName> {
        let Some(task) = self.get(key).cloned() else {
            return Vec::new();
        };
        branches::needed(&task, |key| self.get(key).cloned())
    }

    /// Tasks that name `key` in their `blockedBy`.
    pub(super) fn dependents(&mut self, key: Key) -> &[Key] {
        self.take(key);
        self.dependents.get(&key).map_or(&[], Vec::as_slice)
    }

    /// The first ready task behind `after`, in the order of offering, that `claimant` may have.
    pub(super) fn offered_after(
        &mut self,
        mut after: Option<Place>,
        claimant: Claimant<'_>,
        max_attempts: u32,
    ) -> Option<Place> {
        loop {
            let place = self.ready_after(after)?;
            if self.peek(place.key).is_some_and(|task| {
                task.attempts < max_attempts && rules::fits(task.assignee.as_deref(), claimant)
            }) {
                return Some(place);
            }
            after = Some(place);
        }
    }

    /// Tasks in progress by `owner`.
    pub(super) fn owned_by(&mut self, owner: &str) -> Vec<Key> {
        let owner = lower(owner);
        let base = self.base.as_ref();
        for key in base.map_or_else(Vec::new, |base| base.snapshot.owned_by(&owner)) {
            self.take(key);
        }
        let (first, last) = ((owner.clone(), Key(0)), (owner, Key(u32::MAX)));
        let found = self.owned.range(first..=last);
        found.map(|(_, key)| *key).collect()
    }

    /// Takes a task's new state in; `None` for a file that is gone. Answers whether anything is different.
    pub(super) fn put(&mut self, key: Key, summary: Option<Summary>) -> bool {
        if self.get(key) == summary.as_ref() {
            return false;
        }
        let was_completed = self.peek(key).is_some_and(Summary::is_completed);
        self.take_out(key);
        let completed = summary.as_ref().is_some_and(Summary::is_completed);
        if let Some(summary) = summary {
            self.put_in(key, summary);
        }
        if was_completed != completed {
            self.tell_dependents(key, completed);
        }
        true
    }

    /// The same for a task that has no dependencies, had none, and is not and was not completed: it changes nothing but
    /// itself, so that what the snapshot says of it need not be read.
    pub(super) fn put_alone(&mut self, key: Key, summary: Summary) {
        if self.base.is_none() || self.tasks.contains_key(&key) {
            self.put(key, Some(summary));
        } else {
            self.enter(key, Known { summary, open: 0 });
        }
    }

    /// A snapshot of it, which holds what the journal tells up to `reach`; `None` for a board too large for one.
    pub(super) fn encode(&mut self, reach: Reach) -> Option<Vec<u8>> {
        self.take_all();
        let dependents = |key| self.dependents.get(key).map_or(&[][..], Vec::as_slice);
        let tasks = self.tasks.iter().map(|(key, known)| {
            let lent = Lent {
                task: Some((&known.summary, known.open)),
                dependents: dependents(key),
            };
            (*key, lent)
        });
        // Others name it, and nobody made it.
        let named = self.dependents.keys();
        let missing = named
            .filter(|key| !self.tasks.contains_key(key))
            .map(|key| {
                let lent = Lent {
                    task: None,
                    dependents: dependents(key),
                };
                (*key, lent)
            });
        let records: Vec<(Key, Lent<'_>)> = tasks.chain(missing).collect();
        let ready: Vec<Place> = self.ready.iter().copied().collect();
        let owned = self.owned.iter();
        let owned = owned.map(|(owner, key)| (owner.as_ref(), *key));
        snapshot::encode(reach, self.tasks.len(), &records, &ready, owned)
    }

    /// The first ready task behind `after`, taken in.
    fn ready_after(&mut self, after: Option<Place>) -> Option<Place> {
        loop {
            let behind = (
                after.map_or(Bound::Unbounded, Bound::Excluded),
                Bound::Unbounded,
            );
            let known = self.ready.range(behind).next().copied();
            let tasks = &self.tasks;
            let next = self.base.as_mut().and_then(|base| base.next_ready(tasks));
            match next {
                Some(next) if known.is_none_or(|known| next < known) => self.take(next.key),
                _ => return known,
            }
        }
    }

    /// Takes in what the snapshot says of `key` and the other tasks of its block.
    fn take(&mut self, key: Key) {
        if let Some(base) = &self.base {
            self.take_block(base.snapshot.block_of(key));
        }
    }

    fn take_all(&mut self) {
        let blocks = self.base.as_mut().map_or(0, |base| {
            base.snapshot.read_whole();
            base.snapshot.blocks
        });
        for block in 0..blocks {
            self.take_block(block);
        }
        self.was_broken |= self.base.take().is_some_and(|base| base.is_broken);
    }

    fn take_block(&mut self, block: u32) {
        let Some(base) = &mut self.base else { return };
        for (key, record) in base.block(block) {
            if !record.dependents.is_empty() {
                self.dependents.insert(key, record.dependents);
            }
            if let Some((summary, open)) = record.task
                && !self.tasks.contains_key(&key)
            {
                self.enter(key, Known { summary, open });
            }
        }
    }

    fn take_out(&mut self, key: Key) {
        let Some(known) = self.tasks.remove(&key) else {
            return;
        };
        self.ready.remove(&known.summary.place(key));
        for dependency in &known.summary.blocked_by {
            self.take(*dependency);
            if let Entry::Occupied(mut entry) = self.dependents.entry(*dependency) {
                entry.get_mut().retain(|dependent| *dependent != key);
                if entry.get().is_empty() {
                    entry.remove();
                }
            }
        }
        if let Some(owner) = working_owner(&known.summary) {
            self.owned.remove(&(lower(owner), key));
        }
    }

    fn put_in(&mut self, key: Key, summary: Summary) {
        let mut open = 0;
        for dependency in &summary.blocked_by {
            self.take(*dependency);
            let dependents = self.dependents.entry(*dependency).or_default();
            // A file written by hand may name a dependency twice.
            if dependents.contains(&key) {
                continue;
            }
            dependents.push(key);
            let completed = self
                .tasks
                .get(dependency)
                .is_some_and(|known| known.summary.is_completed());
            open += u32::from(!completed);
        }
        self.enter(key, Known { summary, open });
    }

    fn enter(&mut self, key: Key, known: Known) {
        let summary = &known.summary;
        if known.open == 0 && summary.is_free() {
            self.ready.insert(summary.place(key));
        }
        if let Some(owner) = working_owner(summary) {
            self.owned.insert((lower(owner), key));
        }
        self.tasks.insert(key, known);
    }

    fn tell_dependents(&mut self, key: Key, completed: bool) {
        // Their count of open dependencies must be here before it is changed.
        if self.base.is_some() {
            for dependent in self.dependents(key).to_vec() {
                self.take(dependent);
            }
        }
        let Some(dependents) = self.dependents.get(&key) else {
            return;
        };
        for dependent in dependents {
            // A task that names itself was told when it was put in.
            let Some(known) = self.tasks.get_mut(dependent).filter(|_| *dependent != key) else {
                continue;
            };
            let place = known.summary.place(*dependent);
            if completed {
                known.open = known.open.saturating_sub(1);
            } else {
                known.open += 1;
            }
            if known.open == 0 && known.summary.is_free() {
                self.ready.insert(place);
            } else {
                self.ready.remove(&place);
            }
        }
    }
}

impl Base {
    fn is_taken(&self, block: u32) -> bool {
        usize::try_from(block).is_ok_and(|nr| self.taken.get(nr).is_some_and(|taken| *taken))
    }

    /// A block that was not taken in yet; empty if it is not whole.
    fn block(&mut self, nr: u32) -> Vec<(Key, Record)> {
        if self.is_taken(nr) {
            return Vec::new();
        }
        if let Some(taken) = usize::try_from(nr)
            .ok()
            .and_then(|nr| self.taken.get_mut(nr))
        {
            *taken = true;
        }
        self.snapshot.block(nr).unwrap_or_else(|| {
            self.is_broken = true;
            Vec::new()
        })
    }

    /// The first ready task of the snapshot that is not among `known`.
    fn next_ready(&mut self, known: &HashMap<Key, Known>) -> Option<Place> {
        while !self.is_broken && self.ready_at < self.snapshot.ready {
            let Some(next) = self.ready.as_slice().first().copied() else {
                match self.snapshot.ready_from(self.ready_at) {
                    Some(more) => self.ready = more.into_iter(),
                    None => self.is_broken = true,
                }
                continue;
            };
            if !known.contains_key(&next.key) && !self.is_taken(self.snapshot.block_of(next.key)) {
                return Some(next);
            }
            self.ready.next();
            self.ready_at += 1;
        }
        None
    }
}

/// The owner of a task that is being worked on; a completed one keeps its owner's name only.
fn working_owner(summary: &Summary) -> Option<&str> {
    (summary.status == Some(Status::InProgress))
        .then_some(summary.owner.as_deref())
        .flatten()
}

fn lower(name: &str) -> Box<str> {
    name.to_ascii_lowercase().into()
}
