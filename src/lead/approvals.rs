//! Requests as they reach the lead: judged by what the person has said already, else asked, and closed with an answer.
//!
//! The record decides: every answer is a compare-and-set on it, and only then is the asker woken.

use std::fmt::Write as _;
use std::sync::PoisonError;

use serde_json::Value;

use super::answers::{self, Reply};
use super::owed::Debt;
use super::session::Session;
use super::{Answering, PromptFor, Shown};
use crate::agent::answering::Desk;
use crate::clock;
use crate::ids::{AgentName, RequestId};
use crate::mailbox::{Kind, Message};
use crate::request::{Decision, Record, Refusal, RequestKind, RequestStatus, machine};
use crate::tool::{Answer, Plan};

/// What the asker is told where nobody can answer: the comment of such a decision.
pub const NOBODY: &str = "nobody is there to answer in this run";

impl Session {
    /// Whether no line of a person can answer a question any more.
    pub(super) fn nobody_answers(&self) -> bool {
        self.options.goal.is_some() || self.person.input_ended || self.leaving.is_some()
    }

    /// A request may have been made or changed: look at its record.
    pub(super) fn on_request(&mut self, id: &RequestId) {
        match self.files.requests.get(id) {
            Ok(record) if machine::is_final(record.kind, record.status) => self.closed(record),
            Ok(record) if self.questions.ids().all(|open| open != id) => self.opened(record),
            Ok(_) => {}
            Err(error) => tracing::info!(%error, "a message about a request without effect"),
        }
    }

    /// The watched record of an open request has changed.
    pub(super) fn on_request_changed(&mut self, id: &RequestId) {
        if self.questions.ids().any(|open| open == id) {
            self.on_request(id);
        }
    }

    /// A pending request: decides by what is known, else asks.
    pub(super) fn opened(&mut self, record: Record) {
        if matches!(record.kind, RequestKind::Shutdown | RequestKind::PlanWish) {
            return;
        }
        self.ui.show(Shown::RequestOpened(record.clone()));
        if record.kind == RequestKind::Permission && !self.asker_lives(&record.sender) {
            return self.withdraw(&record, "the process that asked is gone");
        }
        if let Some(reply) = self.known_answer(&record) {
            return self.decide(&record, reply);
        }
        if record.kind == RequestKind::PlanApproval && record.target.is_lead() {
            return self.plan_for_model(&record);
        }
        let id = record.request_id.clone();
        self.watcher.watch(&self.files.workspace.request(&id));
        if self.options.goal.is_some() {
            self.ui.show(Shown::AskedElsewhere(record.clone()));
        }
        self.notify(&record);
        self.questions.push(record);
        // First watched, then looked at: it may have been decided meanwhile.
        self.on_request(&id);
    }

    /// The answer that needs no person, if there is one.
    fn known_answer(&self, record: &Record) -> Option<Reply> {
        match record.kind {
            RequestKind::Team if self.options.yes => Some(Reply::yes()),
            RequestKind::PlanApproval if self.options.yes && !record.target.is_lead() => {
                Some(Reply::yes())
            }
            RequestKind::Permission if self.questions.was_denied(record) => {
                Some(Reply::no("the person denied this call before"))
            }
            RequestKind::Permission
                if self.options.settings.permission_wait_secs.is_some()
                    && self.leaving.is_none() =>
            {
                None
            }
            RequestKind::PlanApproval if record.target.is_lead() && self.leaving.is_none() => None,
            RequestKind::Team | RequestKind::PlanApproval | RequestKind::Permission => {
                self.nobody_answers().then(|| Reply::no(NOBODY))
            }
            RequestKind::Shutdown | RequestKind::PlanWish => None,
        }
    }

    fn plan_for_model(&mut self, record: &Record) {
        let mut text = format!("asks for a decision on its plan {}:", record.request_id);
        if let Ok(plan) = serde_json::from_value::<Plan>(record.payload.clone()) {
            let _ = write!(text, " {}", plan.title);
            for (number, step) in plan.steps.iter().enumerate() {
                let _ = write!(text, "\n{}. {step}", number + 1);
            }
            if let Some(why) = plan.rationale {
                let _ = write!(text, "\nwhy: {why}");
            }
        }
        let _ = write!(
            text,
            "\nDecide with review_plan, request_id {}.",
            record.request_id
        );
        self.tell_model(&record.sender.clone(), Kind::Question, text);
    }

    /// A line that was read while a question was shown.
    pub(super) fn answer_line(&mut self, line: &str) {
        let Some(open) = self.questions.front(clock::instant()) else {
            return;
        };
        let record = open.record.clone();
        let reply = match answers::parse(record.kind, line) {
            Some(reply) => reply,
            None if self.options.terminal => {
                let again = format!("not an answer; it takes {}", answers::expected(record.kind));
                return self.ask_again(again);
            }
            None => Reply::no(line.trim()),
        };
        let same: Vec<Record> = self
            .questions
            .front(clock::instant())
            .map(|open| open.same.clone())
            .unwrap_or_default();
        if !reply.yes {
            self.questions.remember_denial(&record);
        }
        self.person_moves();
        for record in std::iter::once(record).chain(same) {
            self.decide(&record, reply.clone());
        }
    }

    /// Answers every open question with no.
    pub(super) fn refuse_all(&mut self) {
        let ids: Vec<RequestId> = self.questions.ids().cloned().collect();
        for id in ids {
            let waits = self.options.settings.permission_wait_secs.is_some();
            match self.files.requests.get(&id) {
                Ok(record) if record.kind == RequestKind::Permission && waits => {}
                Ok(record) => self.decide(&record, Reply::no(NOBODY)),
                Err(error) => self.complain("a question was not answered", &error),
            }
        }
    }

    /// Writes an answer into the record and wakes whoever waits for it.
    pub(super) fn decide(&mut self, record: &Record, reply: Reply) {
        if reply.comment.as_deref() == Some(NOBODY) {
            self.person.missed = Some(record.kind);
        }
        let always = record.payload.get("always").and_then(Value::as_str);
        let scope = (record.kind == RequestKind::Permission).then(|| {
            let kept = reply.always && always.is_some();
            if kept { "always" } else { "once" }.to_owned()
        });
        let decision = Decision {
            kind: record.kind,
            by: AgentName::user(),
            status: answered(record.kind, reply.yes),
            feedback: reply.comment.clone(),
            scope,
        };
        let decided = self.desk().decide(&record.request_id, &decision);
        let debt = Debt::Answer(Box::new(record.clone()), reply);
        if let Err(error @ (Refusal::Lock(_) | Refusal::Store(_))) = &decided {
            if self.crew.owed.add(debt) {
                self.complain("the answer was not recorded; it is tried again", error);
            }
            return;
        }
        self.crew.owed.paid(&debt);
        match decided {
            Ok(record) => {
                self.wake(&record);
                self.closed(record);
            }
            Err(refusal @ Refusal::Closed { .. }) => {
                tracing::info!(%refusal, "an answer without effect");
                self.on_request(&record.request_id);
            }
            Err(error) => self.complain("the answer was not recorded", &error),
        }
    }

    /// Where answers are given.
    pub(super) fn desk(&self) -> Desk<'_> {
        Desk {
            requests: &self.files.requests,
            board: &self.files.board,
            roster: &self.files.roster,
        }
    }

    /// The assignment of `sender` is over: its plans for it are void.
    pub(super) fn void_plans_of(&mut self, sender: &AgentName) {
        let open = self
            .files
            .requests
            .open_ones(Some(RequestKind::PlanApproval));
        for record in open.unwrap_or_default() {
            if record.sender != *sender {
                continue;
            }
            let stale = Decision {
                kind: record.kind,
                by: AgentName::lead(),
                status: RequestStatus::Stale,
                feedback: None,
                scope: None,
            };
            match self.files.requests.decide(&record.request_id, &stale) {
                Ok(record) => self.closed(record),
                Err(error) => tracing::info!(%error, "a plan was not voided"),
            }
        }
    }

    /// Tells the asker that its record has an answer.
    pub(super) fn wake(&mut self, record: &Record) {
        let kind = match record.kind {
            RequestKind::Permission => Kind::PermissionResponse,
            RequestKind::PlanApproval => Kind::PlanApprovalResponse,
            RequestKind::Team | RequestKind::Shutdown | RequestKind::PlanWish => return,
        };
        if record.sender.is_lead() {
            return;
        }
        let yes = matches!(
            record.status,
            RequestStatus::Allowed | RequestStatus::Approved
        );
        let content = record.feedback.clone().unwrap_or_default();
        let message = Message::new(&AgentName::lead(), &record.sender, kind, content)
            .with("request_id", record.request_id.as_str())
            .with("approve", yes);
        if let Err(error) = self.files.post.deliver(&message) {
            self.complain(&format!("{} was not woken", record.sender), &error);
        }
    }

    /// A request has its final state: nobody is asked any more, and a tool of the lead that waits gets its answer.
    pub(super) fn closed(&mut self, record: Record) {
        let was_open = self.questions.remove(&record.request_id).is_some();
        self.watcher
            .unwatch(&self.files.workspace.request(&record.request_id));
        if record.kind == RequestKind::Team && record.status == RequestStatus::Accepted {
            self.accepted(&record);
        }
        self.keep_own_grant(&record);
        if let Some(wait) = self.replies.remove(&record.request_id) {
            drop(wait.reply.send(answer_for_tool(&record)));
        }
        if was_open || record.decided_by.is_some() {
            self.ui.show(Shown::RequestClosed(record));
        }
    }

    /// "Always", for a tool of the lead itself: holds for this session. A teammate keeps its own.
    fn keep_own_grant(&mut self, record: &Record) {
        let always = record.scope.as_deref() == Some("always");
        if !always || !record.sender.is_lead() || record.status != RequestStatus::Allowed {
            return;
        }
        if let Some(rule) = record.payload.get("always").and_then(Value::as_str) {
            let grants = &self.mind.context.grants;
            let mut grants = grants.lock().unwrap_or_else(PoisonError::into_inner);
            grants.push(rule.to_owned());
        }
    }

    pub(super) fn withdraw(&mut self, record: &Record, why: &str) {
        let decision = Decision {
            kind: record.kind,
            by: AgentName::lead(),
            status: RequestStatus::Withdrawn,
            feedback: Some(why.to_owned()),
            scope: None,
        };
        match self.files.requests.decide(&record.request_id, &decision) {
            Ok(record) => self.closed(record),
            Err(Refusal::Closed { id, .. }) => self.on_request(&id),
            Err(error) => self.complain("a question was not withdrawn", &error),
        }
    }

    /// The process of `sender` waits no longer: its permission questions are over. The lead's proposals are declined.
    pub(super) fn withdraw_questions_of(&mut self, sender: &AgentName, why: &str) {
        for id in self.questions.of(sender, None) {
            match self.files.requests.get(&id) {
                Ok(record) if record.kind == RequestKind::Permission => {
                    self.withdraw(&record, why);
                }
                Ok(record) if record.kind == RequestKind::Team => {
                    self.decide(&record, Reply::no(why));
                }
                Ok(_) => {}
                Err(error) => self.complain("a question was not withdrawn", &error),
            }
        }
    }

    fn asker_lives(&self, name: &AgentName) -> bool {
        name.is_lead() || self.files.roster.is_alive(name)
    }

    /// The question that is to be shown, as the person sees it.
    pub(super) fn question(&mut self) -> Option<PromptFor> {
        let behind = self.questions.behind();
        let open = self.questions.front(clock::instant())?;
        Some(PromptFor::Question(Box::new(Answering {
            record: open.record.clone(),
            behind,
            again: None,
        })))
    }

    fn ask_again(&mut self, why: String) {
        if let Some(PromptFor::Question(mut answering)) = self.question() {
            self.person.sees(PromptFor::Question(answering.clone()));
            answering.again = Some(why);
            self.ui.show(Shown::Prompt(PromptFor::Question(answering)));
        }
    }
}

fn answered(kind: RequestKind, yes: bool) -> RequestStatus {
    match (kind, yes) {
        (RequestKind::Team, true) => RequestStatus::Accepted,
        (RequestKind::Team, false) => RequestStatus::Declined,
        (RequestKind::PlanApproval, true) => RequestStatus::Approved,
        (RequestKind::PlanApproval, false) => RequestStatus::Rejected,
        (RequestKind::Permission, true) => RequestStatus::Allowed,
        (RequestKind::Permission, false) => RequestStatus::Denied,
        (RequestKind::Shutdown | RequestKind::PlanWish, true) => RequestStatus::Completed,
        (RequestKind::Shutdown, false) => RequestStatus::Failed,
        (RequestKind::PlanWish, false) => RequestStatus::Withdrawn,
    }
}

/// What a tool of the lead is told about its question.
fn answer_for_tool(record: &Record) -> Answer {
    let comment = record.feedback.clone().unwrap_or_default();
    let said = if comment.is_empty() {
        String::new()
    } else {
        format!(": {comment}")
    };
    match record.status {
        RequestStatus::Allowed => Ok(comment),
        RequestStatus::Accepted => Ok(format!(
            "the person agreed{said}. Start each of them with spawn_teammate."
        )),
        RequestStatus::Denied => Err(format!("permission denied{said}")),
        RequestStatus::Declined => Err(format!("the person did not agree to this team{said}")),
        RequestStatus::Withdrawn
        | RequestStatus::Pending
        | RequestStatus::Acknowledged
        | RequestStatus::Completed
        | RequestStatus::Failed
        | RequestStatus::Approved
        | RequestStatus::Rejected
        | RequestStatus::Stale => Err(format!("the question is over{said}")),
    }
}
