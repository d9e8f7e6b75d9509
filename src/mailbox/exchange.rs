//! What two agents have said to each other lately, as their archives and mailboxes tell it. Only reads.

use std::collections::HashSet;

use super::message::MAX_MESSAGE;
use super::{Kind, Message, archive, file};
use crate::ids::AgentName;
use crate::store::StoreError;
use crate::workspace::Workspace;

/// Metadata of a message that its receiver has not got: it waits with the lead until the person or the board moves.
const HELD: &str = "held";

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The first of the two.
    First,
    /// The other.
    Second,
    /// The person, to either.
    Person,
}

/// Something that was said, and starts a round of whom it was said to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spoken {
    /// By whom.
    pub by: Speaker,
    /// When, in Unix milliseconds of the sender's clock.
    pub at: u64,
}

/// What `first` and `second` have said to each other, and the person to either, since `since` in Unix milliseconds, oldest
/// first; perhaps some of what was said before. Of long archives only the end counts.
pub fn between(
    workspace: &Workspace,
    first: &AgentName,
    second: &AgentName,
    since: u64,
) -> Result<Vec<Spoken>, StoreError> {
    let mut known = HashSet::new();
    let mut spoken = Vec::new();
    for owner in [first, second] {
        let mut messages = archive::newest(&workspace.archive(owner), owner, since)?;
        let waiting = file::read_unlocked(&workspace.mailbox(owner), MAX_MESSAGE)?;
        messages.extend(archive::messages(&waiting, owner));
        for message in messages {
            if let Some(by) = speaker(&message, first, second)
                && known.insert(message.id)
            {
                spoken.push(Spoken {
                    by,
                    at: message.timestamp,
                });
            }
        }
    }
    spoken.sort_by_key(|one| one.at);
    Ok(spoken)
}

/// Only what was said between the two, or by the person to one of them, and got there.
fn speaker(message: &Message, first: &AgentName, second: &AgentName) -> Option<Speaker> {
    let is_talk = message.starts_round()
        && !matches!(
            message.kind,
            Kind::IdleNotification | Kind::TaskNotification | Kind::ErrorReport
        );
    if !is_talk || message.is_held() {
        return None;
    }
    let from = AgentName::parse(&message.from).ok()?;
    let to = AgentName::parse(&message.to).ok()?;
    match (&from, &to) {
        (from, _) if *from == AgentName::user() => Some(Speaker::Person),
        (from, to) if from == first && to == second => Some(Speaker::First),
        (from, to) if from == second && to == first => Some(Speaker::Second),
        _ => None,
    }
}

impl Message {
    /// Whether its receiver has not got it yet: it is in the lead's mailbox for the person to see.
    pub fn is_held(&self) -> bool {
        self.metadata
            .as_ref()
            .and_then(|metadata| metadata.get(HELD))
            == Some(&true.into())
    }

    /// The same as held, or as to be delivered.
    #[must_use]
    pub fn held(mut self, held: bool) -> Self {
        if held {
            return self.with(HELD, true);
        }
        if let Some(metadata) = &mut self.metadata {
            metadata.remove(HELD);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mailbox::Post;
    use crate::store::Durability;

    fn name(text: &str) -> AgentName {
        AgentName::parse(text).unwrap()
    }

    #[test]
    fn only_talk_between_the_two_counts_wherever_it_lies_and_once() {
        let scratch = tempfile::tempdir().unwrap();
        let workspace = Workspace::at(scratch.path().canonicalize().unwrap());
        let post = Post::new(workspace.clone(), Durability::Process);
        let (ann, bob, zoe) = (name("ann"), name("bob"), name("zoe"));
        // Small numbers would be read as seconds.
        let mut at = 1_764_522_000_000;
        let mut said = |from: &AgentName, to: &AgentName, kind: Kind| {
            let mut message = Message::new(from, to, kind, "x");
            at += 1;
            message.timestamp = at;
            message
        };
        let first = said(&ann, &bob, Kind::Message);
        let archived = serde_json::to_vec(&first).unwrap();
        archive::append(
            &workspace.archive(&bob),
            [archived.as_slice()],
            crate::clock::Timestamp::from_ms(1),
        )
        .unwrap();
        for message in [
            first,
            said(&bob, &ann, Kind::Question),
            said(&bob, &zoe, Kind::Message),
            said(&ann, &bob, Kind::StatusUpdate),
            said(&ann, &bob, Kind::Message).held(true),
            said(&AgentName::user(), &ann, Kind::Instruction),
            said(&name("ANN"), &bob, Kind::Other("poem".into())),
        ] {
            post.deliver(&message).unwrap();
        }
        let spoken: Vec<(Speaker, u64)> = between(&workspace, &ann, &bob, 0)
            .unwrap()
            .iter()
            .map(|one| (one.by, one.at % 1000))
            .collect();
        assert_eq!(
            spoken,
            [
                (Speaker::First, 1),
                (Speaker::Second, 2),
                (Speaker::Person, 6),
                (Speaker::First, 7)
            ]
        );
    }

    #[test]
    fn held_is_taken_back() {
        let message = Message::new(&name("ann"), &name("bob"), Kind::Message, "x").with("k", 1);
        let held = message.clone().held(true);
        assert!(held.is_held() && !message.is_held());
        assert_eq!(held.held(false), message);
    }
}
