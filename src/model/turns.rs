//! A conversation as one provider may be shown it. Pure.
//!
//! Blocks of another provider or model are left out, and with them messages in which nothing remains; neighbours of one
//! role then become one message, results first.

use crate::conversation::{Block, Message, Role};

/// One message to be sent.
#[derive(Debug, PartialEq)]
pub(super) struct Turn<'a> {
    /// Who speaks.
    pub(super) role: Role,
    /// Its parts.
    pub(super) blocks: Vec<&'a Block>,
}

/// What a tool that said nothing is reported to have said: providers refuse blank text.
pub(super) const NO_OUTPUT: &str = "(no output)";

/// `messages` for the model that calls itself `origin`; provider's blocks in the first `bare` messages are left out too.
pub(super) fn turns<'a>(messages: &'a [Message], origin: &str, bare: usize) -> Vec<Turn<'a>> {
    let mut turns: Vec<Turn<'a>> = Vec::with_capacity(messages.len());
    for (at, message) in messages.iter().enumerate() {
        let blocks: Vec<&Block> = message
            .content
            .iter()
            .filter(|block| match block {
                Block::Text { text } => !text.trim().is_empty(),
                Block::ToolUse(_) | Block::ToolResult { .. } => true,
                Block::Opaque { origin: from, .. } => at >= bare && from == origin,
            })
            .collect();
        let speaks = blocks
            .iter()
            .any(|block| !matches!(block, Block::Opaque { .. }));
        if !speaks {
            continue;
        }
        match turns.last_mut() {
            Some(last) if last.role == message.role => last.blocks.extend(blocks),
            _ => turns.push(Turn {
                role: message.role,
                blocks,
            }),
        }
    }
    for turn in turns.iter_mut().filter(|turn| turn.role == Role::User) {
        turn.blocks
            .sort_by_key(|block| !matches!(block, Block::ToolResult { .. }));
    }
    turns
}

/// `id` as every provider takes it: letters, digits, `_` and `-`. One that had to be changed stays different from others.
pub(super) fn wire_id(id: &str) -> String {
    let fits = |ch: char| ch.is_ascii_alphanumeric() || ch == '_' || ch == '-';
    if !id.is_empty() && id.len() <= 64 && id.chars().all(fits) {
        return id.to_owned();
    }
    let kept: String = id.chars().filter(|&ch| fits(ch)).take(40).collect();
    let hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{kept}_{hash:016x}")
}

/// `name` as every provider takes a tool's name, for names that a model made up.
pub(super) fn wire_name(name: &str) -> String {
    let kept: String = name
        .chars()
        .map(|ch| match ch {
            ch if ch.is_ascii_alphanumeric() || ch == '_' || ch == '-' => ch,
            _ => '_',
        })
        .take(64)
        .collect();
    if kept.is_empty() {
        "unknown".to_owned()
    } else {
        kept
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message(role: Role, content: Vec<Block>) -> Message {
        Message { role, content }
    }

    fn opaque(origin: &str) -> Block {
        Block::Opaque {
            origin: origin.to_owned(),
            value: json!({"from": origin}),
        }
    }

    fn result(id: &str) -> Block {
        Block::ToolResult {
            tool_use_id: id.to_owned(),
            content: String::new(),
            is_error: false,
        }
    }

    #[test]
    fn what_another_model_left_behind_is_not_sent() {
        let messages = [
            message(Role::User, vec![Block::text("go")]),
            message(
                Role::Assistant,
                vec![opaque("a:x"), opaque("b:y"), Block::text("so")],
            ),
            message(Role::User, vec![Block::text("one")]),
            message(Role::Assistant, vec![opaque("b:y")]),
            message(Role::User, vec![result("c"), Block::text("two")]),
        ];
        let shape = |origin: &str, bare: usize| -> Vec<usize> {
            turns(&messages, origin, bare)
                .iter()
                .map(|turn| turn.blocks.len())
                .collect()
        };
        assert_eq!(shape("a:x", 0), [1, 2, 3]);
        assert_eq!(shape("a:x", 2), [1, 1, 3]);
        assert_eq!(shape("other", 0), [1, 1, 3]);
        let merged = turns(&messages, "a:x", 0);
        assert!(matches!(merged[2].blocks[0], Block::ToolResult { .. }));
    }

    #[test]
    fn ids_and_names_fit_and_stay_different() {
        assert_eq!(wire_id("toolu_01-a"), "toolu_01-a");
        assert_ne!(wire_id("call:1"), wire_id("call.1"));
        for odd in ["call:1", "", "é", &"x".repeat(500)] {
            let id = wire_id(odd);
            assert!(id.len() <= 64 && id == wire_id(&id), "{odd} {id}");
        }
        assert_eq!(wire_name("read file!"), "read_file_");
        assert_eq!(wire_name(""), "unknown");
    }
}
