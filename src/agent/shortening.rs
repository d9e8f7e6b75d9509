//! Making room in a conversation that nearly fills the model's window, on the worker thread (SPEC §9.4).
//!
//! What is cut is decided in `conversation::compaction`. The owner records it before it makes the next call; a process
//! that dies before that finds the conversation as it was.

use std::sync::Arc;

use super::turn::{Room, Shorter};
use super::{budget, prompt};
use crate::cancel::Cancel;
use crate::conversation::{Block, Compaction, Message, ToolSpec, compaction, words};
use crate::model::{Gate, Model, ModelError, Progress, Request, retry};
use crate::tool::AgentContext;

/// A conversation and what it is asked with.
pub(super) struct Shortening<'a> {
    pub(super) model: &'a mut dyn Model,
    pub(super) gate: &'a Gate,
    pub(super) context: &'a AgentContext,
    pub(super) system: &'a [String],
    pub(super) tools: &'a [ToolSpec],
    pub(super) task: Option<&'a str>,
    /// Bytes that messages may have in the model's window.
    pub(super) window: usize,
}

impl Shortening<'_> {
    /// Makes `messages` shorter if `room` asks for it; `None`: they are to be sent as they are.
    pub(super) fn make(
        mut self,
        room: Room,
        messages: &mut Vec<Message>,
        cancel: &Arc<Cancel>,
        on: &mut dyn FnMut(Progress),
    ) -> Option<Result<Shorter, ModelError>> {
        let target = target(room, compaction::weight(messages), self.window)?;
        let failed = |why: &str| Err(ModelError::TooLong(why.to_owned()));
        let Some(cut) = compaction::plan(messages, target) else {
            let why = "nothing of the conversation can be left out";
            return (room != Room::Look).then(|| failed(why));
        };
        let shorter = match cut.kept {
            None => Ok(Shorter {
                cut,
                text: None,
                spent: None,
            }),
            Some(_) if room == Room::Alone => failed("the conversation fills the model's window"),
            Some(_) => self.summed_up(messages, cut, cancel, on),
        };
        if let Ok(shorter) = &shorter {
            let whole = std::mem::take(messages);
            *messages = compaction::apply(whole, cut, shorter.text.as_deref());
        }
        Some(shorter)
    }

    fn summed_up(
        &mut self,
        messages: &[Message],
        cut: Compaction,
        cancel: &Arc<Cancel>,
        on: &mut dyn FnMut(Progress),
    ) -> Result<Shorter, ModelError> {
        let mut older = compaction::replaced(messages, cut, self.window / 10 * 8);
        if let Some(last) = older.last_mut() {
            last.content.push(Block::text(prompt::SUM_UP));
        }
        let request = Request {
            system: self.system,
            messages: &older,
            tools: self.tools,
            task: self.task,
        };
        let mut on = |progress: Progress| {
            if !matches!(progress, Progress::Text(_)) {
                on(progress);
            }
        };
        let limited = || budget::reached(&self.context.workspace);
        let reply = retry::call(self.model, &request, self.gate, &limited, cancel, &mut on)?;
        let Some(summary) = words(&reply.content) else {
            let why = "the model gave no summary of the conversation";
            return Err(ModelError::TooLong(why.to_owned()));
        };
        Ok(Shorter {
            cut,
            text: Some(prompt::summed_up(&summary, self.context)),
            spent: Some((reply.usage, reply.note)),
        })
    }
}

/// How many bytes messages of so many may have afterwards; `None`: they need not be shorter.
fn target(room: Room, weight: usize, window: usize) -> Option<usize> {
    match room {
        Room::Enough => None,
        Room::Look | Room::Alone => (weight > window / 10 * 8).then_some(window / 2),
        // The server may have less room than was thought.
        Room::Make => Some((window / 2).min(weight / 2)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_made_before_the_window_is_full_or_when_it_must() {
        for (room, weight, wanted) in [
            (Room::Look, 800, None),
            (Room::Look, 801, Some(500)),
            (Room::Enough, 5_000, None),
            (Room::Alone, 800, None),
            (Room::Alone, 801, Some(500)),
            (Room::Make, 5_000, Some(500)),
            (Room::Make, 600, Some(300)),
        ] {
            assert_eq!(target(room, weight, 1_000), wanted, "{room:?} {weight}");
        }
    }
}
