//! What the index knows of a task: enough to say whether it is ready, for whom, and what waits for it.

use std::fmt;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::rules::Standing;
use super::{Status, Task};
use crate::ids::TaskId;

/// A task's id as the number that its digits are: the index holds many.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key(pub(super) u32);

impl Key {
    pub(super) fn of(id: &TaskId) -> Self {
        // An id is `task_` and eight hex digits.
        Self(u32::from_str_radix(&id.as_str()[5..], 16).unwrap_or(0))
    }

    /// Reads an id.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("task_")?;
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let fits = digits.len() == 8 && digits.bytes().all(is_digit);
        fits.then(|| u32::from_str_radix(digits, 16).ok().map(Self))?
    }

    pub(super) fn id(self) -> Option<TaskId> {
        TaskId::parse(&self.to_string()).ok()
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "task_{:08x}", self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        output.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Key;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a task's id")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Key, E> {
                Key::parse(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
            }
        }
        input.deserialize_str(Text)
    }
}

/// The order of offering: when it was made, its place in its batch, its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) created_ms: u64,
    pub(super) order: u32,
    pub(super) key: Key,
}

/// A task without its texts. A damaged file has one too: it exists, and blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Summary {
    /// `None` for a damaged file.
    pub(super) status: Option<Status>,
    pub(super) owner: Option<Box<str>>,
    pub(super) blocked_by: Box<[Key]>,
    pub(super) assignee: Option<Box<str>>,
    pub(super) worktree: Option<Box<str>>,
    pub(super) attempts: u32,
    pub(super) created_ms: u64,
    pub(super) order: u32,
}

impl Summary {
    pub(super) fn damaged() -> Self {
        Self {
            status: None,
            owner: None,
            blocked_by: Box::default(),
            assignee: None,
            worktree: None,
            attempts: 0,
            created_ms: 0,
            order: 0,
        }
    }

    pub(super) fn of(task: &Task) -> Self {
        Self {
            status: Some(task.status.clone()),
            owner: task.owner.as_ref().map(|name| name.as_str().into()),
            blocked_by: task.blocked_by.iter().map(Key::of).collect(),
            assignee: task.assignee.as_deref().map(Into::into),
            worktree: task.worktree.as_ref().map(|name| name.as_str().into()),
            attempts: task.attempts,
            created_ms: task.created_at.as_ms(),
            order: task.order,
        }
    }

    pub(super) fn place(&self, key: Key) -> Place {
        Place {
            created_ms: self.created_ms,
            order: self.order,
            key,
        }
    }

    pub(super) fn standing(&self) -> Standing {
        self.status.clone().map_or(Standing::Damaged, Standing::Is)
    }

    pub(super) fn is_completed(&self) -> bool {
        self.status == Some(Status::Completed)
    }

    /// Neither completed nor given up.
    pub(super) fn is_open(&self) -> bool {
        !matches!(self.status, Some(Status::Completed | Status::Cancelled))
    }

    /// Pending and nobody's; ready as soon as its dependencies are completed.
    pub(super) fn is_free(&self) -> bool {
        self.status == Some(Status::Pending) && self.owner.is_none()
    }
}
