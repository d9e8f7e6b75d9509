//! Messages between agents that only talk (SPEC §4.2): shown to the person, delivered when the person or the board moves.
//!
//! A held message is taken in like all mail and counts as waiting in the transcript until it is delivered: so it survives the
//! lead, and a crash in between delivers it again under its id, which its receiver drops.

use super::session::Session;
use crate::clock::Timestamp;
use crate::conversation::Record;
use crate::ids::AgentName;
use crate::mailbox::Message;

impl Session {
    /// Keeps a message that was shown.
    pub(super) fn hold(&mut self, message: Message) {
        self.say(format!(
            "{} and {} only talk to each other; this message is held until you say something or the board changes",
            message.from, message.to
        ));
        self.held.push(message);
    }

    /// The person has said or decided something.
    pub(super) fn person_moves(&mut self) {
        self.record.person_at = Some(Timestamp::now());
        if let Err(error) = self
            .record
            .save(&self.files.workspace, crate::store::Durability::Process)
        {
            self.complain("that the person moved was not recorded", &error);
        }
        self.deliver_held();
    }

    /// Something has moved: what was held goes on its way.
    pub(super) fn deliver_held(&mut self) {
        for message in std::mem::take(&mut self.held) {
            let message = message.held(false);
            // The lead has taken it in already.
            if AgentName::parse(&message.to).is_ok_and(|to| to.is_lead()) {
                self.mind.waiting.push(message);
                continue;
            }
            if let Err(error) = self.files.post.deliver(&message) {
                self.complain(
                    &format!("{} did not get a held message", message.to),
                    &error,
                );
                self.held.push(message);
                continue;
            }
            let done = Record::User {
                text: String::new(),
                mail: vec![message.id],
                by: None,
                at: Timestamp::now(),
            };
            if let Err(error) = self.mind.thinker.transcript().append(&done) {
                self.complain("that a held message was delivered was not recorded", &error);
            }
        }
    }
}
