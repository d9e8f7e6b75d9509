//! Mailboxes under contention, kills and a full disk: alice's, her senders', and her own process.

mod crowd;
mod kills;

use std::collections::HashMap;
use std::process::Command;

use pitcrew::clock::Timestamp;
use pitcrew::conversation::{Record, Replay, Transcript};
use pitcrew::ids::AgentName;
use pitcrew::mailbox::{Inbox, Kind, Message};
use pitcrew::store::Durability;
use pitcrew::workspace::Workspace;

use crate::support::again::{again, told};

/// Tells a process of these tests which workspace it works in, and who it is.
const ROOT: &str = "PITCREW_TEST_MAILBOX_ROOT";
const NAME: &str = "PITCREW_TEST_MAILBOX_NAME";

fn alice() -> AgentName {
    AgentName::parse("alice").unwrap()
}

fn scratch() -> (tempfile::TempDir, Workspace) {
    let scratch = tempfile::tempdir().unwrap();
    let workspace = Workspace::at(scratch.path().canonicalize().unwrap());
    (scratch, workspace)
}

fn message(from: &str, text: &str) -> Message {
    Message::new(
        &AgentName::parse(from).unwrap(),
        &alice(),
        Kind::Message,
        text,
    )
}

/// What a process of alice's has when it starts.
fn owner(workspace: &Workspace) -> (Inbox, Transcript, Replay) {
    let start = Record::Start {
        agent: "alice".to_owned(),
        session: None,
        at: Timestamp::from_ms(0),
    };
    let path = workspace.transcript(&alice());
    let (mut transcript, replay) = Transcript::open(&path, &start, Durability::Process).unwrap();
    let inbox = Inbox::open(
        workspace,
        &alice(),
        &mut transcript,
        &replay,
        Durability::Process,
    )
    .unwrap();
    (inbox, transcript, replay)
}

/// A process that runs the ignored test `test` over the workspace.
fn process(workspace: &Workspace, test: &str, name: &str) -> Command {
    let mut command = again(&format!("mailbox::{test}"));
    command.env(ROOT, workspace.root()).env(NAME, name);
    command
}

/// In such a process: the workspace, and the name; `None` when a person runs ignored tests.
fn told_workspace() -> Option<(Workspace, String)> {
    Some((Workspace::at(told(ROOT)?.into()), told(NAME)?))
}

/// What each sender's messages, numbered at their beginning, came to.
type Order = HashMap<String, Vec<usize>>;

fn note(order: &mut Order, message: Message) {
    let number = message.content.split(' ').next().unwrap();
    let number = number.parse().unwrap();
    order.entry(message.from).or_default().push(number);
}
