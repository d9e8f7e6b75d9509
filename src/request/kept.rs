//! Requests as kept on disk: compare and set under a lock. Readers take none and see whole records.

use std::path::PathBuf;
use std::time::Duration;

use super::machine::apply;
use super::{Decision, NewRequest, Record, Refusal, RequestKind, RequestStatus};
use crate::clock::{self, Timestamp};
use crate::ids::RequestId;
use crate::store::fault::{self, Point};
use crate::store::lock::{FileLock, LOCK_WAIT};
use crate::store::read::{ReadError, read_plain};
use crate::store::{Durability, StoreError, atomic};
use crate::workspace::Workspace;

/// Largest record that is read or made, in bytes: a permission question holds a whole file's content twice.
const MAX_RECORD: u64 = 64 * 1024 * 1024;

/// How long a record is kept after its answer.
const KEPT: Duration = Duration::from_hours(7 * 24);

/// All requests of a workspace. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Requests {
    workspace: Workspace,
    durability: Durability,
}

impl Requests {
    /// For a workspace.
    pub fn new(workspace: Workspace, durability: Durability) -> Self {
        Self {
            workspace,
            durability,
        }
    }

    /// Makes a pending request. A shutdown that is asked again while it is open is the same request.
    pub fn create(&self, request: NewRequest) -> Result<Record, Refusal> {
        let lock = self.lock()?;
        if request.kind == RequestKind::Shutdown {
            let open = self.open_ones(Some(RequestKind::Shutdown))?;
            if let Some(same) = open.into_iter().find(|open| open.target == request.target) {
                return Ok(same);
            }
        }
        let mut record = pending(request);
        loop {
            let path = self.workspace.request(&record.request_id);
            match atomic::create_new(&path, &self.bytes(&record)?, self.durability) {
                Ok(()) => break,
                Err(taken) if taken.source.kind() == std::io::ErrorKind::AlreadyExists => {
                    record.request_id = RequestId::random();
                }
                Err(error) => return Err(error.into()),
            }
        }
        drop(lock);
        Ok(record)
    }

    /// One request.
    pub fn get(&self, id: &RequestId) -> Result<Record, Refusal> {
        let damaged = |why: String| Refusal::Damaged {
            id: id.clone(),
            why,
        };
        let bytes = match read_plain(&self.workspace.request(id), MAX_RECORD) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Err(Refusal::Unknown(id.clone())),
            Err(ReadError::Store(error)) => return Err(error.into()),
            Err(error @ (ReadError::NotPlain { .. } | ReadError::TooLarge { .. })) => {
                return Err(damaged(error.why()));
            }
        };
        let record: Record =
            serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        if record.request_id == *id {
            Ok(record)
        } else {
            Err(damaged(format!("it says that it is {}", record.request_id)))
        }
    }

    /// All requests that are not in a final state, oldest first; damaged records are skipped.
    pub fn open_ones(&self, kind: Option<RequestKind>) -> Result<Vec<Record>, Refusal> {
        let mut records = self.all()?;
        records.retain(|record| !record.is_final() && kind.is_none_or(|kind| record.kind == kind));
        Ok(records)
    }

    /// All requests kept, oldest first.
    pub fn all(&self) -> Result<Vec<Record>, Refusal> {
        let mut records = Vec::new();
        for id in self.ids()? {
            match self.get(&id) {
                Ok(record) => records.push(record),
                // Deleted since it was listed, or listed by `damaged`.
                Err(Refusal::Unknown(_) | Refusal::Damaged { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        records.sort_by(|a, b| (a.created_at, &a.request_id).cmp(&(b.created_at, &b.request_id)));
        Ok(records)
    }

    /// Records that are not valid: the file, and what is wrong with it.
    pub fn damaged(&self) -> Result<Vec<(PathBuf, String)>, Refusal> {
        let mut damaged = Vec::new();
        for id in self.ids()? {
            if let Err(Refusal::Damaged { id, why }) = self.get(&id) {
                damaged.push((self.workspace.request(&id), why));
            }
        }
        Ok(damaged)
    }

    /// Applies `decision` if the record, read again under the lock, allows it; else nothing changes.
    pub fn decide(&self, id: &RequestId, decision: &Decision) -> Result<Record, Refusal> {
        // Without a record there is nothing to lock, and nothing is made for an id that somebody invented.
        self.get(id)?;
        let lock = self.lock()?;
        let record = apply(&self.get(id)?, decision, Timestamp::now())?;
        fault::here(Point::AnswerAllowed);
        let path = self.workspace.request(id);
        atomic::replace(&path, &self.bytes(&record)?, self.durability)?;
        drop(lock);
        fault::here(Point::AnswerWritten);
        Ok(record)
    }

    /// Deletes records in a final state for more than seven days.
    pub fn forget_old(&self) -> Result<usize, Refusal> {
        let kept = u64::try_from(KEPT.as_millis()).unwrap_or(u64::MAX);
        let last = Timestamp::from_ms(clock::now_ms().saturating_sub(kept));
        let is_old = |record: &Record| {
            record.is_final() && record.decided_at.unwrap_or(record.created_at) < last
        };
        let old: Vec<Record> = self.all()?.into_iter().filter(is_old).collect();
        if old.is_empty() {
            return Ok(0);
        }
        let lock = self.lock()?;
        for record in &old {
            let path = self.workspace.request(&record.request_id);
            std::fs::remove_file(&path).map_err(StoreError::of("delete", &path))?;
        }
        drop(lock);
        Ok(old.len())
    }

    /// Runs `act` while nobody makes or answers a request.
    pub fn locked<R>(&self, act: impl FnOnce() -> R) -> Result<R, Refusal> {
        let lock = self.lock()?;
        let done = act();
        drop(lock);
        Ok(done)
    }

    fn lock(&self) -> Result<FileLock, Refusal> {
        let path = self.workspace.requests_dir().join(".lock");
        Ok(FileLock::exclusive(&path, LOCK_WAIT)?)
    }

    /// Ids of all files that are named as records; there may be none.
    fn ids(&self) -> Result<Vec<RequestId>, StoreError> {
        let dir = self.workspace.requests_dir();
        let entries = match std::fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(StoreError::new("list", &dir, error)),
        };
        let mut ids = Vec::new();
        for entry in entries {
            let name = entry.map_err(StoreError::of("list", &dir))?.file_name();
            let id = name
                .to_str()
                .and_then(|name| name.strip_suffix(".json"))
                .and_then(|stem| RequestId::parse(stem).ok());
            ids.extend(id);
        }
        Ok(ids)
    }

    /// Pretty-printed, for people, with a final newline.
    fn bytes(&self, record: &Record) -> Result<Vec<u8>, StoreError> {
        let path = self.workspace.request(&record.request_id);
        let mut bytes = serde_json::to_vec_pretty(record)
            .map_err(|error| StoreError::new("write", &path, error.into()))?;
        bytes.push(b'\n');
        if bytes.len() as u64 > MAX_RECORD {
            let error = std::io::ErrorKind::FileTooLarge.into();
            return Err(StoreError::new("write", &path, error));
        }
        Ok(bytes)
    }
}

fn pending(request: NewRequest) -> Record {
    Record {
        request_id: RequestId::random(),
        kind: request.kind,
        sender: request.sender,
        target: request.target,
        status: RequestStatus::Pending,
        payload: request.payload,
        work_version: request.work_version,
        task_id: request.task_id,
        created_at: Timestamp::now(),
        decided_at: None,
        decided_by: None,
        feedback: None,
        scope: None,
        extra: serde_json::Map::new(),
    }
}
