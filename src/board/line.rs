//! One line of the journal: what is written, and what is read of it.

use std::borrow::Cow;

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use super::summary::{Key, Summary};
use super::{Status, Task, Verified, alone};
use crate::clock::Timestamp;

/// Longest text in a line's `change`, in characters; the whole text stands in the task file.
const MAX_TEXT: usize = 200;
/// The author of a change that was found, not made.
pub(super) const OUTSIDE: &str = "outside";

/// One changed field, as it was and as it is.
type Change<'a> = (&'static str, Value<'a>, Value<'a>);

/// What a field holds.
#[derive(Debug, PartialEq, Serialize)]
#[serde(untagged)]
enum Value<'a> {
    /// It was not or is not there.
    Null,
    Text(Cow<'a, str>),
    Number(u64),
    Bool(bool),
    Keys(&'a [Key]),
}

/// What one line tells.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Told {
    /// A task is now as summarised; `None`: its file is gone.
    Task(Key, Option<Summary>),
    /// The same of one that waits for nobody and has changed nothing for those that wait for it.
    Alone(Key, Summary),
    /// More changed than could be named: look at all files.
    Rescan,
}

/// A line as read.
#[derive(Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) seq: u64,
    /// See [`super::mark::Mark::stamp`]; only in lines that settle a mark.
    pub(super) stamp: Option<u64>,
    pub(super) told: Told,
}

/// Reads a line.
pub(super) fn read(line: &[u8]) -> Result<Entry, serde_json::Error> {
    match alone::read(line) {
        Some(entry) => Ok(entry),
        None => read_any(line),
    }
}

/// The same of a line of whatever making.
pub(super) fn read_any(line: &[u8]) -> Result<Entry, serde_json::Error> {
    let read: Read<'_> = serde_json::from_slice(line)?;
    Ok(Entry {
        seq: read.seq,
        stamp: read.stamp,
        told: read.told(),
    })
}

/// A line to be written.
#[derive(Debug, Serialize)]
pub(super) struct Line<'a> {
    seq: u64,
    at: Timestamp,
    by: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<Key>,
    change: Changes<'a>,
    #[serde(flatten)]
    after: Option<After<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    rescan: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stamp: Option<u64>,
}

#[derive(Debug)]
struct Changes<'a>(&'a [Change<'a>]);

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct After<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<&'a str>,
    status: &'a str,
    owner: Option<&'a str>,
    blocked_by: &'a [Key],
    assignee: Option<&'a str>,
    worktree: Option<&'a str>,
    attempts: u32,
    created_at: Timestamp,
    #[serde(skip_serializing_if = "is_zero")]
    order: u32,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(order: &u32) -> bool {
    *order == 0
}

/// The `status` of a file that is no valid task, and of one that is gone.
pub(super) const DAMAGED: &str = "damaged";
pub(super) const MISSING: &str = "missing";
/// In the change of a task with dependencies, or with something said to those that wait for it.
pub(super) const SPEAK_AGAINST: [&str; 3] = ["blockedBy", "completed", DAMAGED];

/// The fields of a line; what is not needed is skipped.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Read<'a> {
    seq: u64,
    #[serde(default)]
    stamp: Option<u64>,
    #[serde(default)]
    task: Option<Key>,
    #[serde(default, borrow)]
    change: Option<&'a RawValue>,
    #[serde(default, borrow)]
    status: Option<Text<'a>>,
    #[serde(default)]
    owner: Option<Box<str>>,
    #[serde(default)]
    blocked_by: Vec<Key>,
    #[serde(default)]
    assignee: Option<Box<str>>,
    #[serde(default)]
    worktree: Option<Box<str>>,
    #[serde(default)]
    attempts: u32,
    #[serde(default)]
    created_at: Option<Timestamp>,
    #[serde(default)]
    order: u32,
    #[serde(default)]
    rescan: bool,
}

/// Text that stands in the line as it is, if it can.
#[derive(Debug, Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// What is to be told of one task.
#[derive(Debug)]
pub(super) struct Note<'a> {
    key: Option<Key>,
    subject: Option<&'a str>,
    summary: Option<&'a Summary>,
    change: Vec<Change<'a>>,
}

impl<'a> Note<'a> {
    /// A task changed by the board, with what was before: nothing of a new one.
    pub(super) fn changed(
        old: Option<(&'a Task, &'a Summary)>,
        new: &'a Task,
        summary: &'a Summary,
    ) -> Self {
        let mut change = differences(old.map(|(_, summary)| summary), Some(summary));
        if let Some((old, _)) = old {
            text_differences(old, new, &mut change);
        }
        Self {
            key: Some(Key::of(&new.id)),
            subject: Some(&new.subject),
            summary: Some(summary),
            change,
        }
    }

    /// A task found changed: `old` is what was known.
    pub(super) fn found(
        key: Key,
        old: Option<&'a Summary>,
        new: Option<&'a Summary>,
        subject: Option<&'a str>,
    ) -> Self {
        Self {
            key: Some(key),
            subject,
            summary: new,
            change: differences(old, new),
        }
    }

    /// Something changed, and nobody here can say what.
    pub(super) fn rescan() -> Self {
        Self {
            key: None,
            subject: None,
            summary: None,
            change: Vec::new(),
        }
    }

    /// Its line; `stamp` if it is the one that settles a mark.
    pub(super) fn line<'n>(
        &'n self,
        seq: u64,
        at: Timestamp,
        by: &'n str,
        stamp: Option<u64>,
    ) -> Line<'n> {
        let after = self.key.map(|_| match self.summary {
            Some(summary) => After {
                subject: self.subject,
                status: status_text(summary),
                owner: summary.owner.as_deref(),
                blocked_by: &summary.blocked_by,
                assignee: summary.assignee.as_deref(),
                worktree: summary.worktree.as_deref(),
                attempts: summary.attempts,
                created_at: Timestamp::from_ms(summary.created_ms),
                order: summary.order,
            },
            None => After {
                subject: None,
                status: MISSING,
                owner: None,
                blocked_by: &[],
                assignee: None,
                worktree: None,
                attempts: 0,
                created_at: Timestamp::from_ms(0),
                order: 0,
            },
        });
        Line {
            seq,
            at,
            by,
            task: self.key,
            change: Changes(&self.change),
            after,
            rescan: self.key.is_none(),
            stamp,
        }
    }
}

impl Read<'_> {
    fn told(self) -> Told {
        let is_alone = self.is_alone();
        let (Some(key), Some(Text(status)), false) = (self.task, self.status, self.rescan) else {
            return Told::Rescan;
        };
        if status == MISSING {
            return Told::Task(key, None);
        }
        if status == DAMAGED {
            return Told::Task(key, Some(Summary::damaged()));
        }
        let summary = Summary {
            status: Some(status_of(&status)),
            owner: self.owner,
            blocked_by: self.blocked_by.into(),
            assignee: self.assignee,
            worktree: self.worktree,
            attempts: self.attempts,
            created_ms: self.created_at.map_or(0, Timestamp::as_ms),
            order: self.order,
        };
        if is_alone {
            Told::Alone(key, summary)
        } else {
            Told::Task(key, Some(summary))
        }
    }

    /// Whether the task was there before, has no dependencies and had none, and is not and was not completed. `false` too
    /// where a text only looks as if.
    fn is_alone(&self) -> bool {
        let change = self.change.map_or("", RawValue::get);
        self.blocked_by.is_empty()
            && change.starts_with("{\"status\":{\"old\":\"")
            && SPEAK_AGAINST
                .iter()
                .all(|text| !change.contains(&format!("\"{text}\"")))
    }
}

pub(super) fn status_of(text: &str) -> Status {
    match text {
        "pending" => Status::Pending,
        "in_progress" => Status::InProgress,
        "completed" => Status::Completed,
        "cancelled" => Status::Cancelled,
        other => Status::Other(other.to_owned()),
    }
}

fn status_text(summary: &Summary) -> &str {
    match &summary.status {
        None => DAMAGED,
        Some(Status::Pending) => "pending",
        Some(Status::InProgress) => "in_progress",
        Some(Status::Completed) => "completed",
        Some(Status::Cancelled) => "cancelled",
        Some(Status::Other(other)) => other,
    }
}

/// The fields in which two states differ.
fn differences<'a>(old: Option<&'a Summary>, new: Option<&'a Summary>) -> Vec<Change<'a>> {
    type Field = (&'static str, fn(&Summary) -> Value<'_>);
    const FIELDS: [Field; 6] = [
        ("status", |task| text(Some(status_text(task)))),
        ("owner", |task| text(task.owner.as_deref())),
        ("blockedBy", |task| Value::Keys(&task.blocked_by)),
        ("assignee", |task| text(task.assignee.as_deref())),
        ("worktree", |task| text(task.worktree.as_deref())),
        ("attempts", |task| Value::Number(task.attempts.into())),
    ];
    FIELDS
        .iter()
        .filter_map(|(name, field)| {
            let value = |task: Option<&'a Summary>| task.map_or(Value::Null, field);
            let (old, new) = (value(old), value(new));
            (old != new).then_some((*name, old, new))
        })
        .collect()
}

fn text(text: Option<&str>) -> Value<'_> {
    text.map_or(Value::Null, |text| Value::Text(text.into()))
}

fn text_differences<'a>(old: &'a Task, new: &'a Task, change: &mut Vec<Change<'a>>) {
    if old.work_version != new.work_version {
        let (old, new) = (old.work_version, new.work_version);
        change.push(("workVersion", Value::Number(old), Value::Number(new)));
    }
    for (name, old, new) in [
        ("subject", Some(&old.subject), Some(&new.subject)),
        (
            "description",
            Some(&old.description),
            Some(&new.description),
        ),
        ("verify", old.verify.as_ref(), new.verify.as_ref()),
        ("result", old.result.as_ref(), new.result.as_ref()),
        (
            "notOffered",
            old.not_offered.as_ref(),
            new.not_offered.as_ref(),
        ),
    ] {
        if old != new {
            change.push((name, shortened(old), shortened(new)));
        }
    }
    if old.verified != new.verified {
        change.push(("verified", passed(old), passed(new)));
    }
}

fn passed(task: &Task) -> Value<'_> {
    match &task.verified {
        Some(Verified::Run(run)) => Value::Bool(run.passed),
        Some(Verified::Other(_)) | None => Value::Null,
    }
}

fn shortened(text: Option<&String>) -> Value<'_> {
    let Some(text) = text else { return Value::Null };
    Value::Text(match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    })
}

impl Serialize for Changes<'_> {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Pair<'a> {
            old: &'a Value<'a>,
            new: &'a Value<'a>,
        }
        let mut map = output.serialize_map(Some(self.0.len()))?;
        for (name, old, new) in self.0 {
            map.serialize_entry(name, &Pair { old, new })?;
        }
        map.end()
    }
}
