//! What processes of these tests do to a workspace, and how it must look before and after.

use std::collections::BTreeMap;
use std::error::Error;

use pitcrew::board::{Board, BoardError, BoardOptions, Claimant, NewTask};
use pitcrew::clock::Timestamp;
use pitcrew::conversation::{Record, Replay, Transcript};
use pitcrew::ids::{AgentName, TaskId};
use pitcrew::mailbox::inbox::waiting;
use pitcrew::mailbox::{Inbox, Kind, Message, Post};
use pitcrew::store::Durability;
use pitcrew::workspace::Workspace;

/// The two messages that wait for alice before her take-in.
const WAITING: [&str; 2] = ["msg_first", "msg_second"];
const SENT: &str = "msg_sent";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// The lead makes a task.
    Create,
    /// Bob claims the third task.
    Claim,
    /// Alice completes the first one.
    Complete,
    /// The lead sends alice a message.
    Send,
    /// Alice starts and takes her mail in.
    TakeIn,
}

/// All that an act may change.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Look {
    /// Task files by name.
    tasks: BTreeMap<String, String>,
    /// Ids that wait in alice's mailbox.
    waiting: Vec<String>,
    /// Ids that her transcript delivers, as often as it does.
    delivered: Vec<String>,
}

impl Act {
    pub(super) const ALL: [Self; 5] = [
        Self::Create,
        Self::Claim,
        Self::Complete,
        Self::Send,
        Self::TakeIn,
    ];

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|act| format!("{act:?}") == name)
    }

    /// Task 1 is alice's, 2 waits for it, 3 is free; mail waits only for who takes it in.
    pub(super) fn prepare(self, workspace: &Workspace) {
        let board = board(workspace).unwrap();
        let lead = AgentName::lead();
        let tasks = [new(1, &[]), new(2, &[1]), new(3, &[])];
        let mut locked = board.lock(&lead).unwrap();
        locked.create(&tasks).unwrap();
        locked.claim(&id(1), as_coder(&agent("alice"))).unwrap();
        drop(locked);
        if self == Self::TakeIn {
            for id in WAITING {
                deliver(workspace, id).unwrap();
            }
        }
    }

    /// Does it.
    pub(super) fn perform(self, workspace: &Workspace) -> Result<(), Box<dyn Error>> {
        match self {
            Self::Create => {
                board(workspace)?
                    .lock(&AgentName::lead())?
                    .create(&[new(4, &[])])?;
            }
            Self::Claim => {
                let bob = agent("bob");
                board(workspace)?
                    .lock(&bob)?
                    .claim(&id(3), as_coder(&bob))?;
            }
            Self::Complete => {
                let alice = agent("alice");
                board(workspace)?
                    .lock(&alice)?
                    .complete(&id(1), &alice, 1, None)?;
            }
            Self::Send => deliver(workspace, SENT)?,
            Self::TakeIn => {
                let (mut transcript, replay) = transcript(workspace)?;
                inbox(workspace, &mut transcript, &replay)?.take_in(&mut transcript)?;
            }
        }
        Ok(())
    }

    /// Whether its effect is there, as often as it should be.
    pub(super) fn is_done(self, look: &Look) -> bool {
        let says = |nr, text: &str| {
            look.tasks
                .get(&format!("{}.json", id(nr)))
                .is_some_and(|task| task.contains(text))
        };
        match self {
            Self::Create => says(4, "\"pending\""),
            Self::Claim => says(3, "\"bob\"") && says(3, "\"attempts\": 1"),
            Self::Complete => says(1, "\"completed\""),
            Self::Send => look.waiting == [SENT] || look.delivered == [SENT],
            Self::TakeIn => look.delivered == WAITING,
        }
    }

    /// What follows works: it is done if it was not, or refused if it was; alice takes her mail in; everything is there
    /// once.
    pub(super) fn assert_goes_on(self, workspace: &Workspace) {
        let done = self.is_done(&look(workspace));
        let again = self.perform(workspace);
        match self {
            // A sender does not know, and says it again.
            Self::Send | Self::TakeIn => again.unwrap(),
            // The same id is drawn anew.
            Self::Create | Self::Claim | Self::Complete if !done => again.unwrap(),
            Self::Create => drop(again),
            Self::Claim | Self::Complete => drop(again.unwrap_err()),
        }
        Self::TakeIn.perform(workspace).unwrap();
        let now = look(workspace);
        assert!(self.is_done(&now), "{now:?}");
        assert_eq!(now.waiting, [""; 0]);
    }
}

/// How the workspace is, without touching it.
pub(super) fn look(workspace: &Workspace) -> Look {
    let mut tasks = BTreeMap::new();
    for entry in std::fs::read_dir(workspace.tasks_dir()).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        if name.starts_with("task_") {
            let text = std::fs::read_to_string(entry.path()).unwrap();
            serde_json::from_str::<serde_json::Value>(&text).unwrap();
            tasks.insert(name, text);
        }
    }
    let text = std::fs::read(workspace.transcript(&agent("alice"))).unwrap_or_default();
    let mut delivered = Vec::new();
    for line in text.split(|byte| *byte == b'\n') {
        if let Ok(Record::Mail(batch)) = serde_json::from_slice(line) {
            let ids = batch.messages.iter().map(|message| message["id"].as_str());
            delivered.extend(ids.map(|id| id.unwrap().to_owned()));
        }
    }
    let waiting = waiting(workspace, &agent("alice")).unwrap();
    Look {
        tasks,
        waiting: waiting.into_iter().map(|message| message.id).collect(),
        delivered,
    }
}

fn board(workspace: &Workspace) -> Result<Board, BoardError> {
    let options = BoardOptions {
        durability: Durability::Power,
        max_attempts: 3,
        usable: std::sync::Arc::new(|_| Ok(())),
        contains: std::sync::Arc::new(|_, _| Ok(())),
    };
    Board::open(workspace, options)
}

fn agent(name: &str) -> AgentName {
    AgentName::parse(name).unwrap()
}

fn id(nr: u32) -> TaskId {
    TaskId::parse(&format!("task_{nr:08x}")).unwrap()
}

fn as_coder(name: &AgentName) -> Claimant<'_> {
    Claimant {
        name,
        role: "coder",
    }
}

fn new(nr: u32, blocked_by: &[u32]) -> NewTask {
    NewTask {
        id: id(nr),
        subject: format!("Task {nr}"),
        // Several pages, so that a disk may take a part.
        description: "All of it. ".repeat(1000),
        blocked_by: blocked_by.iter().map(|nr| id(*nr)).collect(),
        assignee: None,
        worktree: None,
        verify: None,
    }
}

fn deliver(workspace: &Workspace, id: &str) -> Result<(), Box<dyn Error>> {
    let text = "Read this. ".repeat(2000);
    let mut message = Message::new(&AgentName::lead(), &agent("alice"), Kind::Message, text);
    id.clone_into(&mut message.id);
    Ok(Post::new(workspace.clone(), Durability::Power).deliver(&message)?)
}

fn transcript(workspace: &Workspace) -> Result<(Transcript, Replay), Box<dyn Error>> {
    let start = Record::Start {
        agent: "alice".to_owned(),
        session: None,
        at: Timestamp::from_ms(0),
    };
    let path = workspace.transcript(&agent("alice"));
    Ok(Transcript::open(&path, &start, Durability::Power)?)
}

fn inbox(
    workspace: &Workspace,
    transcript: &mut Transcript,
    replay: &Replay,
) -> Result<Inbox, Box<dyn Error>> {
    let alice = agent("alice");
    let power = Durability::Power;
    Ok(Inbox::open(workspace, &alice, transcript, replay, power)?)
}
