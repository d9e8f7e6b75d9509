//! Making a conversation shorter (SPEC §9.4): what is cut, decided and done as pure functions, the same in memory and in a
//! replay of the transcript.
//!
//! First old tool results are cut to their ends. If that is not enough, the older part is replaced by one text. The part
//! that stays begins with a reply of the model, so that no call is parted from its result. Blocks of the provider's own
//! go everywhere: they are bound to all that stood before them.

use serde::{Deserialize, Serialize};

use super::{Block, Message, Role};

/// How many messages at the end count as recent: their results are cut last.
const RECENT: usize = 8;
/// Longest result that stays whole where results are cut, in bytes.
const SHORT_RESULT: usize = 2_000;
/// How much of a longer one stays of its beginning and its end, in bytes.
const KEPT_ENDS: (usize, usize) = (1_200, 600);
/// What a block weighs besides its text, in bytes.
const BLOCK: usize = 24;

/// What was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compaction {
    /// In all but so many messages at the end long results were cut to their ends.
    pub whole: usize,
    /// All but so many messages at the end were replaced by one text; `None`: none were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<usize>,
}

/// The bytes that a conversation has, roughly as providers are sent it.
pub fn weight(messages: &[Message]) -> usize {
    messages
        .iter()
        .flat_map(|message| &message.content)
        .map(block_weight)
        .sum()
}

fn block_weight(block: &Block) -> usize {
    BLOCK
        + match block {
            Block::Text { text } => text.len(),
            Block::ToolUse(call) => call.name.len() + call.input.to_string().len(),
            Block::ToolResult { content, .. } => content.len(),
            Block::Opaque { value, .. } => value.to_string().len(),
        }
}

/// What to cut so that `messages` weigh at most `target`, half of which is for the messages that are kept if the older ones
/// are replaced. `None` if nothing can be cut.
pub fn plan(messages: &[Message], target: usize) -> Option<Compaction> {
    let before = weight(messages);
    let mut last = None;
    for whole in [RECENT, 2, 0] {
        let only_results = Compaction { whole, kept: None };
        let cut = with_results_cut(messages, whole);
        let after = weight(&cut);
        if after <= target && after < before {
            return Some(only_results);
        }
        let kept = tail(&cut, target / 2);
        if let Some(kept) = kept {
            last = Some(Compaction {
                whole,
                kept: Some(kept),
            });
            if weight(&cut[cut.len() - kept..]) <= target / 2 {
                return last;
            }
        } else if after < before {
            last.get_or_insert(only_results);
        }
    }
    last
}

/// How many messages at the end weigh at most `budget`, beginning with a reply and leaving something out; at least the last
/// reply with what follows it.
fn tail(messages: &[Message], budget: usize) -> Option<usize> {
    let starts = (2..messages.len()).filter(|&at| messages[at].role == Role::Assistant);
    let mut best = None;
    for at in starts.rev() {
        if best.is_some() && weight(&messages[at..]) > budget {
            break;
        }
        best = Some(messages.len() - at);
    }
    best
}

/// The messages that the text in their place is to be made from: those that are not kept, results cut, and if they weigh more
/// than `budget` without the middle ones. They end with a message of the user.
pub fn replaced(messages: &[Message], compaction: Compaction, budget: usize) -> Vec<Message> {
    let mut older = with_results_cut(messages, compaction.whole);
    older.truncate(messages.len() - compaction.kept.unwrap_or(0).min(messages.len()));
    if weight(&older) > budget
        && let Some(kept) = tail(&older, budget.saturating_sub(weight(&older[..1])))
    {
        older.drain(1..older.len() - kept);
    }
    older
}

/// `messages` after `compaction`, with `text` in place of the older part. One that does not fit changes nothing.
pub fn apply(messages: Vec<Message>, compaction: Compaction, text: Option<&str>) -> Vec<Message> {
    let Some(kept) = compaction.kept else {
        return with_results_cut(&messages, compaction.whole);
    };
    let begins = messages.len().checked_sub(kept);
    let fits = begins
        .and_then(|at| messages.get(at))
        .is_some_and(|first| first.role == Role::Assistant);
    let (Some(text), true) = (text, fits) else {
        return messages;
    };
    let mut cut = with_results_cut(&messages, compaction.whole);
    let first = Message {
        role: Role::User,
        content: vec![Block::text(text)],
    };
    cut.splice(..messages.len() - kept, [first]);
    cut
}

fn with_results_cut(messages: &[Message], whole: usize) -> Vec<Message> {
    let old = messages.len().saturating_sub(whole);
    let cut = |(at, message): (usize, &Message)| Message {
        role: message.role,
        content: message
            .content
            .iter()
            .filter(|block| !matches!(block, Block::Opaque { .. }))
            .map(|block| match block {
                Block::ToolResult {
                    tool_use_id,
                    content,
                    is_error,
                } if at < old => Block::ToolResult {
                    tool_use_id: tool_use_id.clone(),
                    content: ends(content),
                    is_error: *is_error,
                },
                other => other.clone(),
            })
            .collect(),
    };
    messages.iter().enumerate().map(cut).collect()
}

fn ends(text: &str) -> String {
    if text.len() <= SHORT_RESULT {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(KEPT_ENDS.0);
    let tail = text.ceil_char_boundary(text.len() - KEPT_ENDS.1);
    format!(
        "{}\n[{} bytes of this old result left out]\n{}",
        &text[..head],
        tail - head,
        &text[tail..]
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::conversation::ToolCall;
    use crate::conversation::check::validity;

    fn user(text: &str) -> Message {
        Message {
            role: Role::User,
            content: vec![Block::text(text)],
        }
    }

    fn calls(ids: &[String]) -> Message {
        let thought = Block::Opaque {
            origin: "a:b".to_owned(),
            value: json!({"thinking": "…"}),
        };
        let calls = ids.iter().map(|id| {
            Block::ToolUse(ToolCall {
                id: id.clone(),
                name: "bash".to_owned(),
                input: json!({"command": "true"}),
                cut: None,
            })
        });
        Message {
            role: Role::Assistant,
            content: std::iter::once(thought).chain(calls).collect(),
        }
    }

    fn results(ids: &[String], size: usize) -> Message {
        let results = ids.iter().map(|id| Block::ToolResult {
            tool_use_id: id.clone(),
            content: "é".repeat(size / 2),
            is_error: false,
        });
        Message {
            role: Role::User,
            content: results.chain([Block::text("[Messages]")]).collect(),
        }
    }

    /// A conversation of turns with so many calls whose results have so many bytes.
    fn conversation(turns: &[(usize, usize)]) -> Vec<Message> {
        let mut messages = vec![user("go")];
        for (at, &(count, size)) in turns.iter().enumerate() {
            let ids: Vec<String> = (0..count.max(1)).map(|n| format!("c{at}_{n}")).collect();
            messages.push(calls(&ids));
            messages.push(results(&ids, size));
        }
        messages
    }

    #[test]
    fn old_results_go_first_and_the_newest_last() {
        let messages = conversation(&[(1, 50_000); 10]);
        let plan = plan(&messages, 300_000).unwrap();
        assert_eq!((plan.whole, plan.kept), (RECENT, None));
        let cut = apply(messages, plan, None);
        assert!(weight(&cut[..13]) < 20_000);
        assert!(weight(&cut[13..]) > 200_000);
    }

    #[test]
    fn the_older_part_is_replaced_if_that_is_not_enough() {
        let messages = conversation(&[(2, 900); 100]);
        let target = weight(&messages) / 4;
        let plan = plan(&messages, target).unwrap();
        let kept = plan.kept.unwrap();
        let cut = apply(messages.clone(), plan, Some("before: …"));
        assert_eq!(cut[0], user("before: …"));
        assert_eq!(cut.len(), kept + 1);
        assert!(weight(&cut) <= target);
        let older = replaced(&messages, plan, target);
        assert!(weight(&older) <= target && older[0] == messages[0]);
        validity(&older).unwrap();
    }

    #[test]
    fn a_single_giant_result_is_cut_too_and_what_cannot_be_cut_is_told() {
        let messages = conversation(&[(1, 1_000_000)]);
        let compaction = plan(&messages, 10_000).unwrap();
        assert_eq!((compaction.whole, compaction.kept), (0, None));
        assert!(weight(&apply(messages, compaction, None)) < 10_000);
        assert_eq!(plan(&[user(&"x".repeat(50_000))], 10_000), None);
    }

    #[test]
    fn what_does_not_fit_changes_nothing() {
        let messages = conversation(&[(1, 9)]);
        for kept in [0, 1, 3, 99] {
            let compaction = Compaction {
                whole: 0,
                kept: Some(kept),
            };
            assert_eq!(apply(messages.clone(), compaction, Some("x")), messages);
        }
    }

    proptest! {
        #[test]
        fn whatever_is_cut_the_conversation_stays_valid(
            turns in prop::collection::vec((1_usize..4, 0_usize..6_000), 1..30),
            target in 500_usize..60_000,
        ) {
            let messages = conversation(&turns);
            let before = weight(&messages);
            if let Some(plan) = plan(&messages, target) {
                let cut = apply(messages.clone(), plan, Some("before"));
                prop_assert_eq!(validity(&cut), Ok(()));
                prop_assert!(weight(&cut) < before);
                let newest = |messages: &[Message]| messages.last().map(Message::text);
                prop_assert_eq!(newest(&cut), newest(&messages));
                if plan.kept.is_some() {
                    prop_assert_eq!(validity(&replaced(&messages, plan, target)), Ok(()));
                }
            }
        }
    }
}
