//! Mail of the lead: taken in, shown, and turned into what the protocols want. A message alone decides nothing.

use super::Shown;
use super::session::Session;
use crate::clock::Timestamp;
use crate::conversation::Record;
use crate::ids::{AgentName, RequestId};
use crate::mailbox::{Kind, Message};

impl Session {
    /// Takes all mail in. An error means that the transcript cannot be written: the session cannot go on.
    pub(super) fn take_mail(&mut self) -> anyhow::Result<()> {
        let intake = self.mind.inbox.take_in(self.mind.thinker.transcript())?;
        for text in intake.damaged {
            self.say(text);
        }
        // A message speaks of what the board shows already.
        if !intake.messages.is_empty() {
            self.show_board_news();
        }
        self.receive(intake.messages)
    }

    /// Deals with messages that the transcript holds already.
    pub(super) fn receive(&mut self, messages: Vec<Message>) -> anyhow::Result<()> {
        let mut done = Vec::new();
        for message in messages {
            self.meet(&message.from);
            if message.kind.is_control() {
                self.on_control(&message);
                done.push(message.id);
            } else if message.is_held() {
                self.ui.show(Shown::Mail(message.clone()));
                self.hold(message);
            } else {
                if AgentName::parse(&message.from).is_ok_and(|from| from == AgentName::user()) {
                    self.person_moves();
                }
                self.notice_farewell(&message);
                self.count_denied(&message);
                self.ui.show(Shown::Mail(message.clone()));
                self.mind.waiting.push(message);
            }
        }
        if done.is_empty() {
            return Ok(());
        }
        Ok(self.mind.thinker.transcript().append(&Record::User {
            text: String::new(),
            mail: done,
            by: None,
            at: Timestamp::now(),
        })?)
    }

    /// A teammate that a person has started makes itself known by its mail.
    fn meet(&mut self, from: &str) {
        if let Ok(name) = AgentName::parse_teammate(from)
            && self.fleet.get(&name).is_none_or(|unit| !unit.is_there())
        {
            self.adopt(&name);
        }
    }

    /// A farewell comes just before its sender's process ends; one that is read later says nothing of the next process.
    fn notice_farewell(&mut self, message: &Message) {
        let farewell =
            message.kind == Kind::Result && message.summary.as_deref() == Some("farewell");
        if let (true, Ok(name)) = (farewell, AgentName::parse_teammate(&message.from))
            && self.is_there(&name)
        {
            self.crew.farewells.insert(name);
        }
    }

    /// A teammate tells of a call that was denied since nobody is asked.
    fn count_denied(&mut self, message: &Message) {
        let fields = message.metadata.as_ref();
        if fields.is_some_and(|fields| fields.contains_key("denied")) {
            let call = format!("{} {}", message.from, message.content);
            self.person.denied.insert(call);
        }
    }

    /// Control mail is a hint to look at its request.
    fn on_control(&mut self, message: &Message) {
        let id = message.meta("request_id").map(RequestId::parse);
        match (&message.kind, id) {
            (
                Kind::PlanApprovalRequest | Kind::PermissionRequest | Kind::ShutdownResponse,
                Some(Ok(id)),
            ) => self.on_request(&id),
            (Kind::ShutdownRequest, Some(Ok(id))) => {
                let fields = message.metadata.as_ref();
                let kill = fields.is_some_and(|fields| fields.contains_key("kill"));
                self.asked_elsewhere_to_stop(&id, kill);
            }
            (kind, _) => {
                let why = "no request of a teammate is answered by it";
                tracing::info!(
                    from = message.from,
                    ?kind,
                    why,
                    "control mail without effect"
                );
            }
        }
    }
}
