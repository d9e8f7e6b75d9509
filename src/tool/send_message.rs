//! `send_message`: to one agent or to all.

use schemars::JsonSchema;
use serde::Deserialize;

use super::call::{Call, Class, Said, Tool};
use super::errors::words;
use super::{brake, exchange};
use crate::ids::AgentName;
use crate::mailbox::{Kind, Message, SendError, Sent};

pub(crate) struct SendMessage;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SendMessageInput {
    /// The receiver's name: a teammate, `lead`, or `all`.
    to: String,
    /// The text.
    content: String,
    /// One line about it.
    summary: Option<String>,
    /// `question` if you need an answer, `status_update` if nobody has to act; `message` if left out.
    #[serde(rename = "type")]
    kind: Option<TalkKind>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TalkKind {
    Message,
    Question,
    StatusUpdate,
}

impl Tool for SendMessage {
    type Input = SendMessageInput;
    const NAME: &'static str = "send_message";
    const DESCRIPTION: &'static str = "Sends a message to another agent, or to all; what is sent to you is put before you without asking.";
    const CLASS: Class = Class::Always;

    fn run(call: &Call<'_>, input: SendMessageInput) -> Result<Said, String> {
        if input.content.trim().is_empty() {
            return Err("`content` is empty; say something".to_owned());
        }
        if input.to.trim().eq_ignore_ascii_case("all") {
            return broadcast(call, &input);
        }
        let to = AgentName::parse(input.to.trim()).map_err(|error| format!("`to`: {error}"))?;
        let kind = match input.kind.unwrap_or(TalkKind::Message) {
            TalkKind::Message => Kind::Message,
            TalkKind::Question => Kind::Question,
            TalkKind::StatusUpdate => Kind::StatusUpdate,
        };
        match send(call, &to, kind, &input).map_err(|error| words(&error))? {
            Some(Sent::Delivered) => Ok(format!("sent to {to}").into()),
            Some(Sent::Kept(state)) => Ok(format!(
                "{to} is not running ({state}); the message is kept and read when {to} starts again"
            )
            .into()),
            None => Err(held(&to)),
        }
    }
}

/// What the sender of a message is told that is not delivered yet.
fn held(to: &AgentName) -> String {
    format!(
        "not delivered yet: you and {to} have exchanged {} rounds without any change of the board or of files; the message \
         is shown to the person and delivered when the person or the board moves; go on with your work or end your turn",
        brake::ROUNDS
    )
}

fn send(
    call: &Call<'_>,
    to: &AgentName,
    kind: Kind,
    input: &SendMessageInput,
) -> Result<Handed, SendError> {
    let context = call.context;
    let mut message = Message::new(&context.agent, to, kind, input.content.as_str());
    message.summary.clone_from(&input.summary);
    let directory = context.directory.as_ref();
    let between_agents = *to != AgentName::user() && *to != context.agent;
    if between_agents && message.starts_round() && exchange::is_held(context, to)? {
        context.post.hold(message, directory)?;
        return Ok(None);
    }
    context.post.send(&mut message, directory).map(Some)
}

/// `None`: it is held.
type Handed = Option<Sent>;

/// One message each. Whom it did not reach makes it an error that says whom it did.
fn broadcast(call: &Call<'_>, input: &SendMessageInput) -> Result<Said, String> {
    let context = call.context;
    let kind = match input.kind.unwrap_or(TalkKind::Message) {
        TalkKind::Message => Kind::Broadcast,
        TalkKind::Question => Kind::Question,
        TalkKind::StatusUpdate => Kind::StatusUpdate,
    };
    let everybody = context.directory.everybody_but(&context.agent);
    if everybody.is_empty() {
        return Err("there is nobody to send to; no teammate is running".to_owned());
    }
    let (mut reached, mut missed) = (Vec::new(), Vec::new());
    for name in &everybody {
        match send(call, name, kind.clone(), input) {
            Ok(Some(Sent::Delivered)) => reached.push(name.to_string()),
            Ok(Some(Sent::Kept(state))) => reached.push(format!("{name} (kept: {state})")),
            Ok(None) => missed.push(format!("{name}: {}", held(name))),
            Err(error) => missed.push(format!("{name}: {}", words(&error))),
        }
    }
    if missed.is_empty() {
        return Ok(format!("sent to {}: {}", reached.len(), reached.join(", ")).into());
    }
    let reached = if reached.is_empty() {
        "nobody".to_owned()
    } else {
        reached.join(", ")
    };
    Err(format!(
        "sent to {} of {}; reached: {reached}; not reached: {}",
        everybody.len() - missed.len(),
        everybody.len(),
        missed.join("; ")
    ))
}
