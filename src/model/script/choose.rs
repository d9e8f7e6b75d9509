//! Which scripted reply comes next. Pure.

use std::collections::BTreeSet;

use serde_json::Value;

use super::file::Scripted;
use crate::conversation::{Block, Message};

/// What an agent answers.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// This reply.
    Reply(usize),
    /// All replies are used.
    UsedUp,
    /// Replies are left, but the newest user message fits none.
    Unfit,
}

/// The first unused reply whose `when` fits the newest message.
pub(super) fn next(replies: &[Scripted], used: &BTreeSet<usize>, messages: &[Message]) -> Choice {
    let mut left = (0..replies.len()).filter(|index| !used.contains(index));
    match left.find(|&index| fits(&replies[index], messages)) {
        Some(index) => Choice::Reply(index),
        None if used.len() < replies.len() => Choice::Unfit,
        None => Choice::UsedUp,
    }
}

fn fits(reply: &Scripted, messages: &[Message]) -> bool {
    let Some(when) = &reply.when else {
        return true;
    };
    messages.last().is_some_and(|newest| {
        newest.content.iter().any(|block| match block {
            Block::Text { text } => text.contains(when),
            Block::ToolResult { content, .. } => content.contains(when),
            Block::ToolUse(_) | Block::Opaque { .. } => false,
        })
    })
}

/// The replies that a conversation's notes say are used; see [`note`].
pub(super) fn used_by(notes: &[Value], replies: usize) -> BTreeSet<usize> {
    notes
        .iter()
        .filter_map(Value::as_array)
        .flatten()
        .filter_map(|index| usize::try_from(index.as_u64()?).ok())
        .filter(|&index| index < replies)
        .collect()
}

/// The note of a reply: the indexes used for it, scripted failures before it included.
pub(super) fn note(indexes: &[usize]) -> Value {
    Value::from(indexes.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::Role;

    fn replies(whens: &[Option<&str>]) -> Vec<Scripted> {
        whens
            .iter()
            .map(|when| Scripted {
                when: when.map(str::to_owned),
                ..Scripted::default()
            })
            .collect()
    }

    fn newest(content: Vec<Block>) -> Vec<Message> {
        vec![
            Message {
                role: Role::User,
                content: vec![Block::text("[old]")],
            },
            Message {
                role: Role::User,
                content,
            },
        ]
    }

    #[test]
    fn the_first_unused_reply_that_fits_is_next() {
        let replies = replies(&[None, Some("[Team events]"), None]);
        let told = newest(vec![Block::text("[Team events]\nbob is done")]);
        let go = newest(vec![Block::text("go")]);
        let result = newest(vec![Block::ToolResult {
            tool_use_id: "a".to_owned(),
            content: "so [Team events]".to_owned(),
            is_error: false,
        }]);
        for (used, messages, choice) in [
            (vec![], &told, Choice::Reply(0)),
            (vec![0], &told, Choice::Reply(1)),
            (vec![0], &result, Choice::Reply(1)),
            (vec![0], &go, Choice::Reply(2)),
            (vec![0, 2], &go, Choice::Unfit),
            (
                vec![0, 2],
                &newest(vec![Block::text("[old]")]),
                Choice::Unfit,
            ),
            (vec![0, 1, 2], &told, Choice::UsedUp),
        ] {
            assert_eq!(
                next(&replies, &used.iter().copied().collect(), messages),
                choice,
                "{used:?} {messages:?}"
            );
        }
        assert_eq!(next(&[], &BTreeSet::new(), &go), Choice::UsedUp);
    }

    #[test]
    fn notes_bring_back_what_was_used_and_nothing_strange() {
        let notes = [note(&[0]), note(&[2, 3]), note(&[]), Value::Null, 7.into()];
        assert_eq!(used_by(&notes, 4), BTreeSet::from([0, 2, 3]));
        assert_eq!(used_by(&notes, 3), BTreeSet::from([0, 2]));
    }
}
