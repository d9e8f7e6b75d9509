//! Sending and taking in on real files: the scene that the tests play in.

mod any_order;
mod crashes;
mod sending;
mod taking_in;

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::PathBuf;

use serde_json::json;

use super::inbox::{archived, waiting};
use super::{Directory, Inbox, Intake, Kind, Message, Post, Recipient, SendError, Sent};
use crate::clock::Timestamp;
use crate::conversation::{Record, Replay, Transcript};
use crate::ids::AgentName;
use crate::store::Durability;
use crate::workspace::Workspace;

fn name(text: &str) -> AgentName {
    AgentName::parse(text).unwrap()
}

/// Alice lives, Bob has stopped, nobody else exists.
struct Two;

impl Directory for Two {
    fn lookup(&self, asked: &AgentName) -> Recipient {
        if asked.is_lead() || *asked == name("alice") {
            let own = if asked.is_lead() { "lead" } else { "alice" };
            Recipient::Present(name(own))
        } else if *asked == name("bob") {
            Recipient::Absent {
                name: name("bob"),
                state: "stopped".to_owned(),
            }
        } else {
            Recipient::Unknown {
                nearest: crate::ids::nearest(asked.as_str(), ["alice", "bob"]).map(str::to_owned),
                existing: vec!["alice".to_owned(), "bob".to_owned()],
            }
        }
    }

    fn everybody_but(&self, from: &AgentName) -> Vec<AgentName> {
        let all = [AgentName::lead(), name("alice")];
        all.into_iter().filter(|there| there != from).collect()
    }
}

/// Alice's mailbox, transcript and archive in a scratch workspace.
struct Scene {
    _scratch: tempfile::TempDir,
    workspace: Workspace,
}

impl Scene {
    fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let workspace = Workspace::at(scratch.path().canonicalize().unwrap());
        Self {
            _scratch: scratch,
            workspace,
        }
    }

    fn post(&self) -> Post {
        Post::new(self.workspace.clone(), Durability::Process)
    }

    fn send(&self, text: &str) -> String {
        let mut message = Message::new(&AgentName::lead(), &name("alice"), Kind::Message, text);
        let sent = self.post().send(&mut message, &Two).unwrap();
        assert_eq!(sent, Sent::Delivered);
        message.id
    }

    fn mailbox(&self) -> PathBuf {
        self.workspace.mailbox(&name("alice"))
    }

    /// Puts bytes into the mailbox as a foreign writer would.
    fn write(&self, bytes: &[u8]) {
        let mailbox = self.mailbox();
        fs::create_dir_all(mailbox.parent().unwrap()).unwrap();
        let mut all = fs::read(&mailbox).unwrap_or_default();
        all.extend_from_slice(bytes);
        put(&mailbox, &all);
    }

    fn transcript(&self) -> (Transcript, Replay) {
        let start = Record::Start {
            agent: "alice".to_owned(),
            session: None,
            at: Timestamp::from_ms(0),
        };
        let path = self.workspace.transcript(&name("alice"));
        Transcript::open(&path, &start, Durability::Process).unwrap()
    }

    /// What a process of Alice has when it starts.
    fn start(&self) -> (Inbox, Transcript, Replay) {
        let (mut transcript, replay) = self.transcript();
        let inbox = Inbox::open(
            &self.workspace,
            &name("alice"),
            &mut transcript,
            &replay,
            Durability::Process,
        )
        .unwrap();
        (inbox, transcript, replay)
    }

    /// A start and one take-in; the texts it brought.
    fn take_in(&self) -> Vec<String> {
        let (mut inbox, mut transcript, _) = self.start();
        texts(&inbox.take_in(&mut transcript).unwrap())
    }

    /// Every text that the transcript ever took in, in order.
    fn delivered(&self) -> Vec<String> {
        let pending = self.transcript().1.pending_mail;
        pending
            .iter()
            .map(|message| message["content"].as_str().unwrap().to_owned())
            .collect()
    }

    fn archived(&self) -> Vec<String> {
        let archived = archived(&self.workspace, &name("alice")).unwrap();
        assert!(
            archived
                .iter()
                .all(|message| message.extra.contains_key("acknowledgedAt"))
        );
        archived
            .into_iter()
            .map(|message| message.content)
            .collect()
    }

    /// The three files of a take-in, for going back to.
    fn files(&self) -> [(PathBuf, Vec<u8>); 3] {
        [
            self.mailbox(),
            self.workspace.transcript(&name("alice")),
            self.workspace.archive(&name("alice")),
        ]
        .map(|path| {
            let bytes = fs::read(&path).unwrap_or_default();
            (path, bytes)
        })
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests play foreign writers, and crashes"
)]
fn put(path: &std::path::Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn texts(intake: &Intake) -> Vec<String> {
    intake
        .messages
        .iter()
        .map(|message| message.content.clone())
        .collect()
}
