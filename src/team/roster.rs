//! All members of a workspace and the locks that prove them alive.
//!
//! A name keeps the spelling its files were made with; whoever asks in another case gets the same member. Records are written
//! under a lock of their own, `members/.write.lock`: the lock that means alive is never touched by a writer.

use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use super::lead_presence::LIFE_WAIT;
use super::{Member, MemberStatus};
use crate::clock::Timestamp;
use crate::ids::AgentName;
use crate::store::lock::{self, FileLock, LockError};
use crate::store::read::{ReadError, read_plain};
use crate::store::{Durability, StoreError, atomic, quarantine};
use crate::workspace::Workspace;

/// Largest record that is read, in bytes.
const MAX_RECORD: u64 = 1024 * 1024;

/// The lock that a teammate holds for life; while it exists nobody else can be that teammate.
#[must_use]
#[derive(Debug)]
pub struct Presence {
    lock: FileLock,
}

impl Presence {
    /// Takes the lock of `name`, trying for 2 s (a probe may stand in the way); `None` if another process has it.
    pub fn take(workspace: &Workspace, name: &AgentName) -> Result<Option<Self>, LockError> {
        let name = spelling(workspace, name);
        match FileLock::exclusive(&workspace.member_lock(&name), LIFE_WAIT) {
            Ok(lock) => {
                sign(&lock);
                Ok(Some(Self { lock }))
            }
            Err(LockError::Busy { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The held lock; its file says `pid <n>`.
    pub fn lock(&self) -> &FileLock {
        &self.lock
    }
}

/// Writes this process's pid into a lock file, for people and for refusals. Nothing depends on it, so failing is no failure.
pub(super) fn sign(lock: &FileLock) {
    let text = format!("pid {}\n", std::process::id());
    let file = lock.file();
    file.write_all_at(text.as_bytes(), 0)
        .and_then(|()| file.set_len(text.len() as u64))
        .ok();
}

/// The members' records. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Roster {
    workspace: Workspace,
    durability: Durability,
}

impl Roster {
    /// For a workspace.
    pub fn new(workspace: Workspace, durability: Durability) -> Self {
        Self {
            workspace,
            durability,
        }
    }

    /// All readable records in order of their start; damaged ones are skipped.
    pub fn list(&self) -> Result<Vec<Member>, StoreError> {
        let mut members = Vec::new();
        for (name, is_record) in names(&self.workspace)? {
            if is_record {
                members.extend(self.read(&name)?.ok().flatten());
            }
        }
        members.sort_by(|a: &Member, b| (a.started_at, &a.name).cmp(&(b.started_at, &b.name)));
        Ok(members)
    }

    /// Records that are not valid: the file, and what is wrong with it.
    pub fn damaged(&self) -> Result<Vec<(PathBuf, String)>, StoreError> {
        let mut damaged = Vec::new();
        for (name, is_record) in names(&self.workspace)? {
            if is_record && let Err(why) = self.read(&name)? {
                damaged.push((self.workspace.member(&name), why));
            }
        }
        Ok(damaged)
    }

    /// What is wrong with the record in the file of exactly this spelling, if anything is.
    pub fn fault(&self, name: &AgentName) -> Result<Option<String>, StoreError> {
        Ok(self.read(name)?.err())
    }

    /// Runs `act` while nobody writes a record.
    pub fn locked<R>(&self, act: impl FnOnce() -> R) -> Result<R, LockError> {
        let lock = self.lock()?;
        let done = act();
        drop(lock);
        Ok(done)
    }

    /// The record of `name`, whatever its case; `None` if there is none or it is damaged.
    pub fn get(&self, name: &AgentName) -> Result<Option<Member>, StoreError> {
        Ok(self.read(&spelling(&self.workspace, name))?.ok().flatten())
    }

    /// Writes a record whole, replacing what was there; a damaged one goes to quarantine first.
    pub fn put(&self, member: &Member) -> Result<(), StoreError> {
        let lock = self.lock().map_err(LockError::into_store)?;
        let spelt = spelling(&self.workspace, &member.name);
        if let Err(why) = self.read(&spelt)? {
            let path = self.workspace.member(&spelt);
            quarantine::move_file(&self.workspace.quarantine_dir(), &path, &why)?;
        }
        self.write(member)?;
        drop(lock);
        Ok(())
    }

    /// Reads, changes and writes a record under its own write lock (not the one that means alive). `None`: no record.
    pub fn change(
        &self,
        name: &AgentName,
        change: impl FnOnce(&mut Member),
    ) -> Result<Option<Member>, LockError> {
        let lock = self.lock()?;
        let Some(mut member) = self.get(name)? else {
            return Ok(None);
        };
        change(&mut member);
        self.write(&member)?;
        drop(lock);
        Ok(Some(member))
    }

    /// Deletes a record: the undo of a failed start.
    pub fn remove(&self, name: &AgentName) -> Result<(), StoreError> {
        let lock = self.lock().map_err(LockError::into_store)?;
        let path = self.workspace.member(&spelling(&self.workspace, name));
        let removed = match std::fs::remove_file(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed.map_err(StoreError::of("delete", &path)),
        };
        drop(lock);
        removed
    }

    /// Whether the process of `name` lives, by its lock. When that cannot be seen it counts as alive: nothing is taken
    /// away from a teammate because somebody ran out of file descriptors.
    pub fn is_alive(&self, name: &AgentName) -> bool {
        let path = self.workspace.member_lock(&spelling(&self.workspace, name));
        lock::is_held(&path).unwrap_or_else(|error| {
            tracing::warn!(%error, %name, "whether a teammate lives cannot be seen");
            true
        })
    }

    /// Since when `member` is lost: it has neither stopped nor failed, and its process is gone. That is when its record was
    /// last written, the last sign of it. `None`: it is not lost, or there is no record.
    pub fn lost_since(&self, member: &Member) -> Option<Timestamp> {
        let ended = matches!(member.status, MemberStatus::Stopped | MemberStatus::Failed);
        if ended || self.is_alive(&member.name) {
            return None;
        }
        let path = self
            .workspace
            .member(&spelling(&self.workspace, &member.name));
        let written = path.metadata().ok()?.modified().ok()?;
        let since = written.duration_since(UNIX_EPOCH).ok()?;
        Some(Timestamp::from_ms(u64::try_from(since.as_millis()).ok()?))
    }

    /// One lock for all records: writes are few, and short.
    fn lock(&self) -> Result<FileLock, LockError> {
        let path = self.workspace.members_dir().join(".write.lock");
        FileLock::exclusive(&path, lock::LOCK_WAIT)
    }

    fn write(&self, member: &Member) -> Result<(), StoreError> {
        let path = self
            .workspace
            .member(&spelling(&self.workspace, &member.name));
        let mut bytes = serde_json::to_vec_pretty(member)
            .map_err(|error| StoreError::new("write", &path, error.into()))?;
        bytes.push(b'\n');
        atomic::replace(&path, &bytes, self.durability)
    }

    /// The record in the file of exactly this spelling; `Err` inside `Ok` says why it is damaged.
    fn read(&self, name: &AgentName) -> Result<Result<Option<Member>, String>, StoreError> {
        let bytes = match read_plain(&self.workspace.member(name), MAX_RECORD) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Ok(Ok(None)),
            Err(ReadError::Store(error)) => return Err(error),
            Err(error @ (ReadError::NotPlain { .. } | ReadError::TooLarge { .. })) => {
                return Ok(Err(error.why()));
            }
        };
        Ok(match serde_json::from_slice::<Member>(&bytes) {
            Ok(member) if member.name == *name => Ok(Some(member)),
            Ok(member) => Err(format!("it is the record of {}", member.name)),
            Err(error) => Err(error.to_string()),
        })
    }
}

/// The spelling under which the files of `name` were made; `name` itself if there are none.
fn spelling(workspace: &Workspace, name: &AgentName) -> AgentName {
    if workspace.member(name).exists() {
        return name.clone();
    }
    names(workspace)
        .unwrap_or_default()
        .into_iter()
        .map(|(made, _)| made)
        .find(|made| made == name)
        .unwrap_or_else(|| name.clone())
}

/// The names of all members' files, and whether each is a record (or a lock).
fn names(workspace: &Workspace) -> Result<Vec<(AgentName, bool)>, StoreError> {
    let dir = workspace.members_dir();
    let entries = match std::fs::read_dir(&dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(StoreError::new("list", &dir, error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let file = entry.map_err(StoreError::of("list", &dir))?.file_name();
        let Some((stem, end)) = file.to_str().and_then(|file| file.rsplit_once('.')) else {
            continue;
        };
        if let Ok(name) = AgentName::parse_teammate(stem)
            && (end == "json" || end == "lock")
        {
            names.push((name, end == "json"));
        }
    }
    Ok(names)
}
