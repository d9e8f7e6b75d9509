//! A line of the journal as we write it of one task alone, read without a JSON reader: most lines are such, and whoever
//! starts cold or comes after others has many to read. Any other line takes the long way.

use super::line::{DAMAGED, Entry, MISSING, SPEAK_AGAINST, Told, status_of};
use super::summary::{Key, Summary};
use crate::clock::Timestamp;

/// The entry, if the long way could find no other in `line`.
pub(super) fn read(line: &[u8]) -> Option<Entry> {
    let mut rest = Rest(str::from_utf8(line).ok()?);
    rest.literal("{\"seq\":")?;
    let seq = rest.number()?;
    rest.literal(",\"at\":")?;
    rest.text()?;
    rest.literal(",\"by\":")?;
    rest.text()?;
    rest.literal(",\"task\":")?;
    let key = Key::parse(rest.text()?)?;
    rest.literal(",\"change\":")?;
    rest.change_alone()?;
    rest.literal(",\"subject\":")?;
    rest.text()?;
    let summary = rest.summary()?;
    let stamp = match rest.literal(",\"stamp\":") {
        Some(()) => Some(rest.number()?),
        None => None,
    };
    let told = Told::Alone(key, summary);
    (rest.0 == "}").then_some(Entry { seq, stamp, told })
}

/// What was not read yet.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    fn literal(&mut self, text: &str) -> Option<()> {
        self.0 = self.0.strip_prefix(text)?;
        Some(())
    }

    fn number(&mut self) -> Option<u64> {
        let end = self.0.bytes().position(|byte| !byte.is_ascii_digit())?;
        let (digits, rest) = self.0.split_at(end);
        self.0 = rest;
        let is_plain = digits.len() == 1 || !digits.starts_with('0');
        is_plain.then(|| digits.parse().ok())?
    }

    /// A text in which nothing is escaped.
    fn text(&mut self) -> Option<&'a str> {
        self.literal("\"")?;
        let is_end = |byte: u8| byte == b'"' || byte == b'\\' || byte < b' ';
        let end = self.0.bytes().position(is_end)?;
        let (text, rest) = self.0.split_at(end);
        self.0 = rest;
        self.literal("\"")?;
        Some(text)
    }

    /// The outer `None`: there is neither a text nor a null.
    #[expect(clippy::option_option, reason = "no text is not a missing one")]
    fn text_or_null(&mut self) -> Option<Option<&'a str>> {
        match self.literal("null") {
            Some(()) => Some(None),
            None => self.text().map(Some),
        }
    }

    /// A change of a task that was there before, which tells of its status first, and of no dependencies and no completion.
    fn change_alone(&mut self) -> Option<()> {
        self.literal("{\"status\":{\"old\":")?;
        self.told_text()?;
        self.literal(",\"new\":")?;
        self.told_text()?;
        self.literal("}")?;
        while self.literal(",").is_some() {
            self.told_text()?;
            self.literal(":{\"old\":")?;
            self.told_value()?;
            self.literal(",\"new\":")?;
            self.told_value()?;
            self.literal("}")?;
        }
        self.literal("}")
    }

    fn told_value(&mut self) -> Option<()> {
        let words = ["null", "true", "false"];
        if words.iter().any(|word| self.literal(word).is_some()) || self.number().is_some() {
            return Some(());
        }
        self.told_text()
    }

    /// A text that does not look as if the task were not alone.
    fn told_text(&mut self) -> Option<()> {
        let text = self.text()?;
        (!SPEAK_AGAINST.contains(&text)).then_some(())
    }

    fn summary(&mut self) -> Option<Summary> {
        self.literal(",\"status\":")?;
        let status = self.text()?;
        if [DAMAGED, MISSING].contains(&status) {
            return None;
        }
        self.literal(",\"owner\":")?;
        let owner = self.text_or_null()?;
        self.literal(",\"blockedBy\":[],\"assignee\":")?;
        let assignee = self.text_or_null()?;
        self.literal(",\"worktree\":")?;
        let worktree = self.text_or_null()?;
        self.literal(",\"attempts\":")?;
        let attempts = u32::try_from(self.number()?).ok()?;
        self.literal(",\"createdAt\":")?;
        let created_ms = Timestamp::parse(self.text()?)?.as_ms();
        let order = match self.literal(",\"order\":") {
            Some(()) => u32::try_from(self.number()?).ok()?,
            None => 0,
        };
        Some(Summary {
            status: Some(status_of(status)),
            owner: owner.map(Into::into),
            blocked_by: Box::default(),
            assignee: assignee.map(Into::into),
            worktree: worktree.map(Into::into),
            attempts,
            created_ms,
            order,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::line::read_any;
    use super::super::{Task, rules};
    use super::*;
    use crate::board::line::Note;
    use crate::board::{Claimant, NewTask, Released, Status};
    use crate::ids::{AgentName, TaskId, WorktreeName};

    fn line(old: &Task, new: &Task, stamp: Option<u64>) -> Vec<u8> {
        let (before, after) = (Summary::of(old), Summary::of(new));
        let note = Note::changed(Some((old, &before)), new, &after);
        serde_json::to_vec(&note.line(17, Timestamp::from_ms(5), "alice", stamp)).unwrap()
    }

    /// A task as it was made, claimed, given back, and completed.
    fn life(subject: &str) -> Vec<Task> {
        let new = NewTask {
            id: TaskId::parse("task_0000beef").unwrap(),
            subject: subject.to_owned(),
            description: String::new(),
            blocked_by: Vec::new(),
            assignee: Some("coder".to_owned()),
            worktree: WorktreeName::parse("tree").ok(),
            verify: None,
        };
        let name = AgentName::parse("alice").unwrap();
        let role = "coder";
        let claimant = Claimant { name: &name, role };
        let now = Timestamp::from_ms(1_764_522_000_123);
        let made = rules::create(&new, 3, now).unwrap();
        let claimed = rules::claim(&made, claimant, None, None, 3, now).unwrap();
        let note = Some("not today".to_owned());
        let given = rules::release(&claimed, None, Released::Orderly, note, now).unwrap();
        let completed = rules::complete_by_person(&claimed, true, now).unwrap();
        vec![made, claimed, given, completed]
    }

    #[test]
    fn lines_of_claims_and_releases_are_read_as_the_long_way_reads_them() {
        let states = life("Größe of it");
        for (old, new) in [(0, 1), (1, 2)] {
            for stamp in [None, Some(1_800_000_000_123_456_789)] {
                let line = line(&states[old], &states[new], stamp);
                let quick = read(&line).unwrap();
                assert_eq!(quick, read_any(&line).unwrap());
                assert_eq!(quick.stamp, stamp);
            }
        }
    }

    #[test]
    fn what_is_not_alone_or_not_plain_takes_the_long_way() {
        let (plain, quoted) = (life("plain"), life("\"quoted\""));
        let mut waits = plain[1].clone();
        waits.blocked_by = vec![TaskId::random()];
        let mut foreign = plain[1].clone();
        foreign.status = Status::Other(DAMAGED.to_owned());
        for (old, new) in [
            (&plain[1], &plain[3]),
            (&quoted[0], &quoted[1]),
            (&plain[0], &waits),
            (&waits, &plain[2]),
            (&plain[0], &foreign),
            (&foreign, &plain[2]),
        ] {
            let line = line(old, new, None);
            assert_eq!(read(&line), None, "{}", String::from_utf8_lossy(&line));
            assert!(read_any(&line).is_ok());
        }
    }

    #[test]
    fn no_other_byte_anywhere_makes_it_read_what_the_long_way_does_not() {
        let states = life("plain");
        let line = line(&states[0], &states[1], Some(7));
        for at in 0..line.len() {
            for byte in [b'"', b'\\', b',', b'}', b'0', b'x', 0, 0xff] {
                let mut other = line.clone();
                other[at] = byte;
                if let Some(quick) = read(&other) {
                    let long = read_any(&other).unwrap();
                    assert_eq!(quick, long, "{}", String::from_utf8_lossy(&other));
                }
                other.truncate(at);
                assert_eq!(read(&other), None);
            }
        }
    }
}
