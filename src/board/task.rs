//! A task as it stands in its file (SPEC §3.1).

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::{BoardError, rules};
use crate::clock::Timestamp;
use crate::ids::{AgentName, TaskId, WorktreeName};

/// Longest subject, in characters.
pub const MAX_SUBJECT: usize = 200;
/// Longest description, in bytes.
pub const MAX_DESCRIPTION: usize = 256 * 1024;

/// Where a task stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not begun, or given back.
    Pending,
    /// Owned by an agent.
    InProgress,
    /// Done.
    Completed,
    /// Given up.
    Cancelled,
    /// A status of somebody else's making: shown, kept, never claimable.
    #[serde(untagged)]
    Other(String),
}

/// A task. Keys that are not ours are kept in `extra`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// Its id, which is also its file's name.
    pub id: TaskId,
    /// One line, not blank, at most [`MAX_SUBJECT`] characters.
    pub subject: String,
    /// At most [`MAX_DESCRIPTION`] bytes.
    pub description: String,
    /// Where it stands.
    pub status: Status,
    /// Who works on it, or did when it was completed.
    #[serde(deserialize_with = "present")]
    pub owner: Option<AgentName>,
    /// Tasks that must be completed before.
    pub blocked_by: Vec<TaskId>,
    /// The worktree it is bound to.
    #[serde(deserialize_with = "present")]
    pub worktree: Option<WorktreeName>,
    /// A teammate's name or a role.
    #[serde(default)]
    pub assignee: Option<String>,
    /// A command that must succeed before it counts as completed.
    #[serde(default)]
    pub verify: Option<String>,
    /// Raised by every claim and release; whoever completes must hold the current one.
    #[serde(default)]
    pub work_version: u64,
    /// How often it was claimed without a release that takes the attempt back.
    #[serde(default)]
    pub attempts: u32,
    /// What its last owner said at completion or failure.
    #[serde(default)]
    pub result: Option<String>,
    /// What the last run of its verify command came to, if the one who has or had it tried to complete it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<Verified>,
    /// Why nobody is offered it in this run, whatever else holds; the person's release and the next lead take it away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_offered: Option<String>,
    /// When it was made.
    #[serde(default = "epoch")]
    pub created_at: Timestamp,
    /// When it was last changed.
    #[serde(default = "epoch")]
    pub updated_at: Timestamp,
    /// Its place among the tasks made in the same turn.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub order: u32,
    /// Keys that the runtime does not know.
    #[serde(flatten, deserialize_with = "unique")]
    pub extra: Map<String, Value>,
}

/// What the key `verified` holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Verified {
    /// A run of the verify command.
    Run(VerifyRun),
    /// Somebody else's use of the key: kept as it is.
    Other(Value),
}

/// One run of a verify command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyRun {
    /// The command: the task's own, or the team's at that time.
    pub command: String,
    /// Whether it succeeded.
    pub passed: bool,
    /// How it ended, such as `ended with status 1`.
    pub how: String,
    /// The end of its output; empty for one that succeeded.
    pub output: String,
    /// When it ended.
    pub at: Timestamp,
}

/// A key that may be null but not absent: serde takes an absent `Option` for null otherwise.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    input: D,
) -> Result<Option<T>, D::Error> {
    Option::deserialize(input)
}

/// Unknown keys, each at most once: of two values nobody could say which one counts.
fn unique<'de, D: Deserializer<'de>>(input: D) -> Result<Map<String, Value>, D::Error> {
    struct Keys;
    impl<'de> Visitor<'de> for Keys {
        type Value = Map<String, Value>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut input: A) -> Result<Self::Value, A::Error> {
            let mut map = Map::new();
            while let Some((key, value)) = input.next_entry::<String, Value>()? {
                if map.contains_key(&key) {
                    return Err(serde::de::Error::custom(format!("duplicate field `{key}`")));
                }
                map.insert(key, value);
            }
            Ok(map)
        }
    }
    input.deserialize_map(Keys)
}

fn epoch() -> Timestamp {
    Timestamp::from_ms(0)
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(order: &u32) -> bool {
    *order == 0
}

/// What a new task is made from. The id is drawn beforehand so that tasks made together can name each other.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTask {
    /// Its id; one that exists already draws again only for tasks that nobody else in the batch names, else is an error.
    pub id: TaskId,
    /// See [`Task::subject`].
    pub subject: String,
    /// See [`Task::description`].
    pub description: String,
    /// Existing tasks or others of the batch.
    pub blocked_by: Vec<TaskId>,
    /// See [`Task::assignee`].
    pub assignee: Option<String>,
    /// A worktree that exists already and is bound with the task's making.
    pub worktree: Option<WorktreeName>,
    /// See [`Task::verify`].
    pub verify: Option<String>,
}

impl NewTask {
    /// Whether a board would take it as far as that can be said without the board: texts and their lengths.
    pub fn check(&self) -> Result<(), BoardError> {
        rules::create(self, 0, epoch()).map(drop)
    }
}

/// A change of a pending, unowned task; `None` leaves a field as it is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TaskPatch {
    /// New subject.
    pub subject: Option<String>,
    /// New description.
    pub description: Option<String>,
    /// New assignee; `Some(None)` takes it away.
    pub assignee: Option<Option<String>>,
    /// Dependencies to add.
    pub add_blocked_by: Vec<TaskId>,
    /// Dependencies to remove.
    pub remove_blocked_by: Vec<TaskId>,
}

/// Who wants a task.
#[derive(Debug, Clone, Copy)]
pub struct Claimant<'a> {
    /// The agent.
    pub name: &'a AgentName,
    /// Its role; tasks may be assigned to a role.
    pub role: &'a str,
}
