//! Sending (SPEC §4.3).

use std::sync::Arc;

use super::file::Kept;
use super::message::MAX_MESSAGE;
use super::{Message, file};
use crate::ids::{self, AgentName};
use crate::store::{Durability, StoreError};
use crate::workspace::Workspace;

/// Who a name stands for, joined from above: the mailbox does not know the team.
pub trait Directory: Send + Sync {
    /// Looks `name` up, whatever its case.
    fn lookup(&self, name: &AgentName) -> Recipient;
    /// Every name a broadcast by `from` goes to: the living teammates and the lead, without `from`.
    fn everybody_but(&self, from: &AgentName) -> Vec<AgentName>;
}

/// What a name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recipient {
    /// The lead or a teammate that lives, in its own spelling.
    Present(AgentName),
    /// A teammate that has stopped or died; mail is kept for it. `state` is shown, such as `stopped` or `lost since 12:03`.
    Absent {
        /// In its own spelling.
        name: AgentName,
        /// How it is.
        state: String,
    },
    /// Nobody.
    Unknown {
        /// The nearest name, if one is near.
        nearest: Option<String>,
        /// Who exists.
        existing: Vec<String>,
    },
}

/// Why a message was not sent. Nothing of it is in the mailbox.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// No such agent.
    #[error("there is no agent {name:?}; {}", whereabouts(nearest.as_deref(), existing))]
    Unknown {
        /// The name as given.
        name: String,
        /// The nearest that exists.
        nearest: Option<String>,
        /// Who exists.
        existing: Vec<String>,
    },
    /// To oneself.
    #[error("{0} cannot send a message to itself")]
    ToSelf(AgentName),
    /// No text.
    #[error("an empty message is not sent; say something")]
    Empty,
    /// Over the limit.
    #[error(
        "the message has {size} bytes; at most {limit} are sent; put it into a file and name the file"
    )]
    TooLong {
        /// Its line's length in bytes.
        size: usize,
        /// The limit.
        limit: usize,
    },
    /// The lock was not to be had.
    #[error(transparent)]
    Lock(#[from] crate::store::lock::LockError),
    /// The write failed and was undone.
    #[error(transparent)]
    Store(#[from] crate::store::StoreError),
}

fn whereabouts(nearest: Option<&str>, existing: &[String]) -> String {
    let all = if existing.is_empty() {
        "only the lead".to_owned()
    } else {
        existing.join(", ")
    };
    match nearest {
        Some(name) => format!("did you mean {name:?}? There are: {all}"),
        None => format!("there are: {all}"),
    }
}

/// What a successful send means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// The recipient lives and will read it.
    Delivered,
    /// Kept: read when that name starts again. The text says how the recipient is.
    Kept(String),
}

/// The sending side of all mailboxes. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Post {
    workspace: Workspace,
    durability: Durability,
    kept: Arc<Kept>,
}

impl Post {
    /// For a workspace.
    pub fn new(workspace: Workspace, durability: Durability) -> Self {
        Self {
            workspace,
            durability,
            kept: Arc::default(),
        }
    }

    /// Checks `message` and its recipient, then appends it; synced when this returns. The message's `to` becomes the
    /// recipient's own spelling. A retry with the same message keeps its id and is harmless.
    pub fn send(
        &self,
        message: &mut Message,
        directory: &dyn Directory,
    ) -> Result<Sent, SendError> {
        if message.content.trim().is_empty() {
            return Err(SendError::Empty);
        }
        let (recipient, sent) = recipient(message, directory)?;
        if same_agent(&message.from, &recipient) {
            return Err(SendError::ToSelf(recipient));
        }
        message.to = recipient.to_string();
        self.append(&recipient, message)?;
        Ok(sent)
    }

    /// Checks `message` and its recipient like [`Self::send`], but hands it to the lead, who shows it to the person and
    /// delivers it later.
    pub fn hold(&self, message: Message, directory: &dyn Directory) -> Result<(), SendError> {
        let (recipient, _) = recipient(&message, directory)?;
        let mut held = message.held(true);
        held.to = recipient.to_string();
        self.append(&AgentName::lead(), &held)
    }

    /// The same for a recipient that the runtime itself knows to exist; no look-up, and what the runtime has to tell may
    /// be without text, or go to the sender itself.
    pub fn deliver(&self, message: &Message) -> Result<(), SendError> {
        let recipient = AgentName::parse(&message.to).map_err(|_| SendError::Unknown {
            name: message.to.clone(),
            nearest: None,
            existing: Vec::new(),
        })?;
        self.append(&recipient, message)
    }

    fn append(&self, recipient: &AgentName, message: &Message) -> Result<(), SendError> {
        let path = self.workspace.mailbox(recipient);
        let line = serde_json::to_vec(message)
            .map_err(|error| StoreError::new("write a message to", &path, error.into()))?;
        if line.len() > MAX_MESSAGE {
            return Err(SendError::TooLong {
                size: line.len(),
                limit: MAX_MESSAGE,
            });
        }
        file::append(&self.workspace, &path, &line, self.durability, &self.kept)
    }
}

/// Whom the message is for, in its own spelling, and what a success will mean.
fn recipient(message: &Message, directory: &dyn Directory) -> Result<(AgentName, Sent), SendError> {
    let unknown = |nearest, existing| SendError::Unknown {
        name: message.to.clone(),
        nearest,
        existing,
    };
    let Ok(name) = AgentName::parse(&message.to) else {
        let existing = existing(message, directory);
        let nearest = ids::nearest(&message.to, existing.iter().map(String::as_str));
        return Err(unknown(nearest.map(str::to_owned), existing));
    };
    let person = name == AgentName::user();
    match directory.lookup(&name) {
        // The person's mail waits in the lead's mailbox, addressed to the person, however the lead is.
        Recipient::Absent { state, .. } if person => Ok((name, Sent::Kept(state))),
        _ if person => Ok((name, Sent::Delivered)),
        Recipient::Present(name) => Ok((name, Sent::Delivered)),
        Recipient::Absent { name, state } => Ok((name, Sent::Kept(state))),
        Recipient::Unknown { nearest, existing } => Err(unknown(nearest, existing)),
    }
}

fn existing(message: &Message, directory: &dyn Directory) -> Vec<String> {
    let from = AgentName::parse(&message.from).unwrap_or_else(|_| AgentName::user());
    directory
        .everybody_but(&from)
        .iter()
        .map(ToString::to_string)
        .collect()
}

/// Whether `written`, in whatever spelling, is `name`.
fn same_agent(written: &str, name: &AgentName) -> bool {
    AgentName::parse(written).is_ok_and(|from| from == *name)
}
