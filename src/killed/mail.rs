//! Sending to alice, and her taking in.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use super::steps::{Act, Check, Victim, anywhere};
use crate::clock::Timestamp;
use crate::conversation::{Record, Replay, Transcript};
use crate::ids::AgentName;
use crate::mailbox::inbox::archived;
use crate::mailbox::{Inbox, Kind, Message, Post};
use crate::store::Durability;
use crate::workspace::Workspace;

/// A line as a person may write it by hand, again and again.
const NAMELESS: &str = "{\"from\":\"bob\",\"content\":\"go on\"}\n";

pub(super) fn acts() -> Vec<Act> {
    let act = |name, prepare, perform| Act {
        name,
        prepare,
        perform,
        covers: anywhere,
    };
    vec![
        act("send", prepare_send, send),
        act("take in", |root| prepare_take_in(root, ""), take_in),
        act(
            "take in behind a torn line",
            |root| prepare_take_in(root, "{\"from\":\"bob\",\"con"),
            take_in,
        ),
        act("take in again", prepare_again, take_in),
    ]
}

fn alice() -> AgentName {
    AgentName::parse("alice").unwrap()
}

fn workspace(root: &Path) -> Workspace {
    Workspace::at(root.to_path_buf())
}

fn deliver(root: &Path, id: &str) {
    let mut message = Message::new(&AgentName::lead(), &alice(), Kind::Message, id);
    message.id = id.to_owned();
    let post = Post::new(workspace(root), Durability::Power);
    post.deliver(&message).unwrap();
}

/// Appends as a stranger does, without a lock.
fn write(root: &Path, text: &str) {
    let path = workspace(root).mailbox(&alice());
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn open(root: &Path) -> (Transcript, Replay) {
    let start = Record::Start {
        agent: "alice".to_owned(),
        session: None,
        at: Timestamp::from_ms(0),
    };
    Transcript::open(
        &workspace(root).transcript(&alice()),
        &start,
        Durability::Power,
    )
    .unwrap()
}

/// A life of alice: she starts, and takes her mail in once.
fn live(root: &Path) -> Vec<Message> {
    let (mut transcript, replay) = open(root);
    let mut inbox = Inbox::open(
        &workspace(root),
        &alice(),
        &mut transcript,
        &replay,
        Durability::Power,
    )
    .unwrap();
    inbox.take_in(&mut transcript).unwrap().messages
}

/// Everything that alice was ever given, in order. None of it was put before a model.
fn delivered(root: &Path) -> Vec<String> {
    let pending = open(root).1.pending_mail;
    let text = |message: &serde_json::Value| message["content"].as_str().unwrap().to_owned();
    pending.iter().map(text).collect()
}

fn send(root: &Path, victim: &Victim) {
    victim.begin();
    for id in ["one", "two"] {
        deliver(root, id);
        victim.say(id);
    }
}

fn prepare_send(root: &Path) -> Check {
    let root = root.to_path_buf();
    Box::new(move |said| {
        // The sender comes back and does not know what it has sent.
        for id in ["one", "two", "three"] {
            deliver(&root, id);
        }
        live(&root);
        live(&root);
        let delivered = delivered(&root);
        assert_eq!(delivered, ["one", "two", "three"], "after {said:?}");
    })
}

fn take_in(root: &Path, victim: &Victim) {
    let (mut transcript, replay) = open(root);
    victim.begin();
    let mut inbox = Inbox::open(
        &workspace(root),
        &alice(),
        &mut transcript,
        &replay,
        Durability::Power,
    )
    .unwrap();
    let taken = inbox.take_in(&mut transcript).unwrap();
    victim.say(&taken.messages.len().to_string());
}

fn prepare_take_in(root: &Path, torn: &'static str) -> Check {
    deliver(root, "one");
    write(root, "no message\n");
    // In the half that a kill leaves when it strikes within the blanking.
    write(root, NAMELESS);
    write(root, torn);
    expecting(root, torn, vec!["one", "go on"])
}

/// A take-in was cut short before, after its record.
fn prepare_again(root: &Path) -> Check {
    write(root, NAMELESS);
    let mailbox = workspace(root).mailbox(&alice());
    let before = std::fs::read_to_string(&mailbox).unwrap();
    live(root);
    write(root, &before);
    let transcript = workspace(root).transcript(&alice());
    let text = std::fs::read_to_string(&transcript).unwrap();
    let noted = text.find("{\"type\":\"note\"").unwrap();
    let file = OpenOptions::new().write(true).open(transcript).unwrap();
    file.set_len(noted as u64).unwrap();
    expecting(root, "", vec!["go on"])
}

/// The mail that waited comes once, and so does what comes after it, though it is the same bytes again.
fn expecting(root: &Path, torn: &'static str, mut wanted: Vec<&'static str>) -> Check {
    let root = root.to_path_buf();
    Box::new(move |_| {
        if torn.is_empty() {
            write(&root, NAMELESS);
        } else {
            write(&root, &NAMELESS[torn.len()..]);
        }
        wanted.push("go on");
        deliver(&root, "last");
        wanted.push("last");
        live(&root);
        live(&root);
        assert_eq!(delivered(&root), wanted);
        let kept = archived(&workspace(&root), &alice()).unwrap();
        let kept: BTreeSet<String> = kept.into_iter().map(|message| message.id).collect();
        assert_eq!(kept.len(), wanted.len());
        let left = std::fs::read(workspace(&root).mailbox(&alice())).unwrap();
        assert_eq!(left, b"");
    })
}
