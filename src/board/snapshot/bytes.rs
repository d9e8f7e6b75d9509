//! A record as bytes.

use super::super::Status;
use super::super::summary::{Key, Summary};
use super::{Lent, Record};

/// The length that stands for "no text".
const NONE: u32 = u32::MAX;

/// The statuses by their number; a damaged task has the number after them, a foreign status the next one and a text.
const STATUSES: [Status; 4] = [
    Status::Pending,
    Status::InProgress,
    Status::Completed,
    Status::Cancelled,
];
const DAMAGED: u32 = 4;
const OTHER: u32 = 5;
/// The number of a task that does not exist.
const MISSING: u32 = 6;

pub(super) fn put_u32(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_le_bytes());
}

pub(super) fn put_u64(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

/// `None` for a length that does not fit.
pub(super) fn put_text(out: &mut Vec<u8>, text: Option<&str>) -> Option<()> {
    match text {
        None => put_u32(out, NONE),
        Some(text) => {
            put_u32(out, length(text.len())?);
            out.extend_from_slice(text.as_bytes());
        }
    }
    Some(())
}

fn put_keys(out: &mut Vec<u8>, keys: &[Key]) -> Option<()> {
    put_u32(out, length(keys.len())?);
    for key in keys {
        put_u32(out, key.0);
    }
    Some(())
}

fn length(of: usize) -> Option<u32> {
    u32::try_from(of).ok().filter(|length| *length != NONE)
}

pub(super) fn put_record(out: &mut Vec<u8>, key: Key, record: Lent<'_>) -> Option<()> {
    put_u32(out, key.0);
    let Some((task, open)) = record.task else {
        put_u32(out, MISSING);
        return put_keys(out, record.dependents);
    };
    match &task.status {
        None => put_u32(out, DAMAGED),
        Some(Status::Other(text)) => {
            put_u32(out, OTHER);
            put_text(out, Some(text))?;
        }
        Some(status) => {
            let number = STATUSES.iter().position(|known| known == status)?;
            put_u32(out, length(number)?);
        }
    }
    let mut numbers = [0; 20];
    numbers[..4].copy_from_slice(&open.to_le_bytes());
    numbers[4..8].copy_from_slice(&task.attempts.to_le_bytes());
    numbers[8..12].copy_from_slice(&task.order.to_le_bytes());
    numbers[12..].copy_from_slice(&task.created_ms.to_le_bytes());
    out.extend_from_slice(&numbers);
    put_text(out, task.owner.as_deref())?;
    put_text(out, task.assignee.as_deref())?;
    put_text(out, task.worktree.as_deref())?;
    put_keys(out, &task.blocked_by)?;
    put_keys(out, record.dependents)
}

/// Takes numbers and texts off the front; `None` as soon as something is not there.
#[derive(Debug)]
pub(super) struct Cursor<'a>(pub(super) &'a [u8]);

impl<'a> Cursor<'a> {
    pub(super) fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (front, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(front)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.bytes(4)?.try_into().ok()?))
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.bytes(8)?.try_into().ok()?))
    }

    /// The outer `None`: not there; the inner: no text.
    #[expect(clippy::option_option, reason = "a missing text is not a cut one")]
    pub(super) fn str(&mut self) -> Option<Option<&'a str>> {
        match self.u32()? {
            NONE => Some(None),
            length => {
                let bytes = self.bytes(usize::try_from(length).ok()?)?;
                str::from_utf8(bytes).ok().map(Some)
            }
        }
    }

    /// The same to be kept.
    #[expect(clippy::option_option, reason = "a missing text is not a cut one")]
    fn text(&mut self) -> Option<Option<Box<str>>> {
        Some(self.str()?.map(Into::into))
    }

    fn keys(&mut self) -> Option<Vec<Key>> {
        let count = usize::try_from(self.u32()?).ok()?;
        let bytes = self.bytes(count.checked_mul(4)?)?;
        let mut numbers = Cursor(bytes);
        (0..count).map(|_| numbers.u32().map(Key)).collect()
    }

    pub(super) fn record(&mut self) -> Option<(Key, Record)> {
        let key = Key(self.u32()?);
        let status = match self.u32()? {
            MISSING => {
                let dependents = self.keys()?;
                return Some((
                    key,
                    Record {
                        task: None,
                        dependents,
                    },
                ));
            }
            DAMAGED => None,
            OTHER => Some(Status::Other(self.text()??.into())),
            number => Some(STATUSES.get(usize::try_from(number).ok()?)?.clone()),
        };
        let (open, attempts, order) = (self.u32()?, self.u32()?, self.u32()?);
        let created_ms = self.u64()?;
        let (owner, assignee, worktree) = (self.text()?, self.text()?, self.text()?);
        let summary = Summary {
            status,
            owner,
            blocked_by: self.keys()?.into(),
            assignee,
            worktree,
            attempts,
            created_ms,
            order,
        };
        let dependents = self.keys()?;
        Some((
            key,
            Record {
                task: Some((summary, open)),
                dependents,
            },
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_back_and_short_ones_refused() {
        let task = |status| Summary {
            status,
            owner: Some("alice".into()),
            blocked_by: [Key(1), Key(u32::MAX)].into(),
            assignee: None,
            worktree: Some("ü".into()),
            attempts: 3,
            created_ms: u64::MAX,
            order: 9,
        };
        let foreign = Some(Status::Other("on ice".to_owned()));
        let mut records: Vec<Record> = STATUSES
            .into_iter()
            .map(Some)
            .chain([None, foreign])
            .map(|status| Record {
                task: Some((task(status), 2)),
                dependents: vec![Key(7)],
            })
            .collect();
        records.push(Record {
            task: None,
            dependents: vec![Key(1), Key(2)],
        });
        for record in records {
            let mut bytes = Vec::new();
            let lent = Lent {
                task: record.task.as_ref().map(|(task, open)| (task, *open)),
                dependents: &record.dependents,
            };
            put_record(&mut bytes, Key(5), lent).unwrap();
            let mut cursor = Cursor(&bytes);
            assert_eq!(cursor.record(), Some((Key(5), record)));
            assert!(cursor.0.is_empty());
            for short in 0..bytes.len() {
                assert_eq!(Cursor(&bytes[..short]).record(), None, "{short}");
            }
        }
    }
}
