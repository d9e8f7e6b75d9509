//! What a whole reply asks for: pure.

use crate::conversation::{self, Block, ToolCall};
use crate::model::{Reply, Stop};
use crate::tool::Outcome;

/// How it goes on after a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Run its calls.
    Run,
    /// The round is over.
    Over,
    /// It says nothing at all after tool results: ask once more.
    Nudge,
    /// The server wants the same conversation again.
    Again,
    /// The model refused; its reply is no part of the conversation.
    Declined(String),
    /// The context window was full before anything was said.
    Full(String),
}

/// Judges `reply` by what it holds first and by why it ended second: servers disagree about the latter. `may_nudge`: the
/// newest user message brought tool results and the model was not nudged in this round.
pub fn judge(reply: &Reply, may_nudge: bool) -> Next {
    if let Stop::Refusal(why) = &reply.stop {
        return Next::Declined(why.clone());
    }
    if calls(&reply.content).next().is_some() {
        return Next::Run;
    }
    let silent = text(&reply.content).is_none();
    match &reply.stop {
        Stop::Pause => Next::Again,
        Stop::ContextFull if silent => {
            Next::Full("the context window is full; start a new conversation".to_owned())
        }
        Stop::End if silent && may_nudge => Next::Nudge,
        Stop::End | Stop::MaxTokens | Stop::ContextFull | Stop::Refusal(_) => Next::Over,
    }
}

/// The calls of a reply, in order.
pub fn calls(content: &[Block]) -> impl Iterator<Item = ToolCall> {
    content.iter().filter_map(|block| match block {
        Block::ToolUse(call) => Some(call.clone()),
        Block::Text { .. } | Block::ToolResult { .. } | Block::Opaque { .. } => None,
    })
}

/// The words of a reply, if there are any.
pub fn text(content: &[Block]) -> Option<String> {
    conversation::words(content)
}

/// Marks the last call of a reply that ended at a limit: its input may be incomplete even where it parses.
pub fn closed(mut content: Vec<Block>, stop: &Stop) -> Vec<Block> {
    let limit = match stop {
        Stop::MaxTokens => "the output limit",
        Stop::ContextFull => "the end of the context window",
        Stop::End | Stop::Refusal(_) | Stop::Pause => return content,
    };
    if let Some(Block::ToolUse(call)) = content.last_mut() {
        call.cut.get_or_insert_with(|| {
            format!(
                "not run: the reply reached {limit} in the middle of this call; make it again, smaller"
            )
        });
    }
    content
}

/// The outcome of a call that was told to stop; one that succeeded all the same stands as it is.
pub fn cut_short(why: &str, outcome: Outcome) -> Outcome {
    if !outcome.is_error {
        return outcome;
    }
    let said = outcome.content.trim();
    let content = if said.is_empty() {
        format!("interrupted: {why}; it may have had effects")
    } else {
        format!("interrupted: {why}; it may have had effects\n{said}")
    };
    Outcome { content, ..outcome }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::conversation::Usage;

    fn use_of(name: &str) -> Block {
        Block::ToolUse(ToolCall {
            id: name.into(),
            name: name.into(),
            input: json!({}),
            cut: None,
        })
    }

    fn reply(content: Vec<Block>, stop: Stop) -> Reply {
        Reply {
            content,
            stop,
            usage: Usage::default(),
            note: None,
        }
    }

    #[test]
    fn what_it_holds_counts_before_why_it_ended() {
        let thought = Block::Opaque {
            origin: "x:y".into(),
            value: json!(1),
        };
        let words = || vec![Block::text("hi")];
        let refusal = || Stop::Refusal("no".into());
        for (content, stop, may_nudge, expected) in [
            (words(), Stop::End, true, Next::Over),
            (words(), Stop::MaxTokens, true, Next::Over),
            (words(), Stop::ContextFull, true, Next::Over),
            (words(), Stop::Pause, true, Next::Again),
            (words(), refusal(), true, Next::Declined("no".into())),
            (vec![use_of("a")], Stop::End, true, Next::Run),
            (vec![use_of("a")], Stop::MaxTokens, true, Next::Run),
            (vec![use_of("a")], Stop::Pause, true, Next::Run),
            (
                vec![use_of("a")],
                refusal(),
                true,
                Next::Declined("no".into()),
            ),
            (vec![], Stop::End, true, Next::Nudge),
            (vec![thought.clone()], Stop::End, true, Next::Nudge),
            (vec![thought], Stop::End, false, Next::Over),
            (vec![], Stop::MaxTokens, true, Next::Over),
        ] {
            let reply = reply(content, stop);
            assert_eq!(judge(&reply, may_nudge), expected, "{reply:?}");
        }
        assert!(matches!(
            judge(&reply(vec![], Stop::ContextFull), true),
            Next::Full(_)
        ));
    }

    #[test]
    fn only_the_last_call_of_a_cut_reply_is_in_doubt() {
        let content = closed(vec![use_of("a"), use_of("b")], &Stop::MaxTokens);
        let cut: Vec<bool> = calls(&content).map(|call| call.cut.is_some()).collect();
        assert_eq!(cut, [false, true]);
        let content = closed(vec![use_of("a"), Block::text("and")], &Stop::ContextFull);
        assert!(calls(&content).all(|call| call.cut.is_none()));
        let content = closed(vec![use_of("a")], &Stop::End);
        assert!(calls(&content).all(|call| call.cut.is_none()));
    }
}
