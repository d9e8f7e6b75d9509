//! Effects that go together: what is recorded, and what the owner is told of it.

use super::{Answered, Effect};
use crate::agent::Happening;
use crate::conversation::{Block, ToolCall};
use crate::model::Reply;

pub(super) fn recorded(content: Vec<Block>, reply: &Reply) -> Vec<Effect> {
    vec![
        Effect::RecordReply {
            content,
            usage: reply.usage,
            note: reply.note.clone(),
        },
        Effect::Tell(Happening::Called(reply.usage)),
    ]
}

pub(super) fn interrupted(why: String) -> Vec<Effect> {
    vec![
        Effect::RecordInterrupted(why),
        Effect::Tell(Happening::Interrupted),
    ]
}

pub(super) fn refused(call: ToolCall, why: String) -> Vec<Effect> {
    let mut effects = vec![Effect::Tell(Happening::ToolStarted(call.clone()))];
    effects.extend(told(Answered {
        call,
        content: why,
        is_error: true,
    }));
    effects
}

pub(super) fn told(answered: Answered) -> Vec<Effect> {
    let tell = Effect::Tell(Happening::ToolEnded {
        call: answered.call.clone(),
        output: answered.content.clone(),
        is_error: answered.is_error,
    });
    vec![Effect::RecordResult(answered), tell]
}
