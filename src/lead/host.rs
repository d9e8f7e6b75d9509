//! What the lead's tools need the loop for. The worker thread waits for the answer; the loop never waits for anything.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use serde_json::json;

use super::inlet::Event;
use super::session::Session;
use super::way_back::WayBack;
use super::{Inlet, agreed};
use crate::cancel::Cancel;
use crate::ids::{AgentName, RequestId};
use crate::mailbox::{Kind, Message};
use crate::request::{Decision, NewRequest, Record, RequestKind, RequestStatus};
use crate::team::Member;
use crate::tool::{Answer, Host, HostCall, TeamProposal};

/// The loop as the lead's tools see it.
#[derive(Debug)]
pub(super) struct LeadHost {
    pub(super) inlet: Inlet,
    pub(super) way_back: Arc<WayBack>,
}

impl Host for LeadHost {
    fn call(&self, call: HostCall, cancel: &Arc<Cancel>) -> Answer {
        if matches!(call, HostCall::Spawn(_)) {
            // Here and not in the loop, which it would keep from everything else.
            self.before_change();
        }
        let (reply, answer) = channel();
        let cut = reply.clone();
        cancel.on_cancel(move || {
            drop(cut.send(Err("interrupted before there was an answer".to_owned())));
        });
        self.inlet.put(Event::Host(call, reply));
        answer
            .recv()
            .unwrap_or_else(|_| Err("the session has ended".to_owned()))
    }

    fn notice(&self, text: String) {
        self.inlet.put(Event::Notice(text));
    }

    fn denied(&self, text: String) {
        self.inlet.put(Event::Denied(text));
    }

    fn before_change(&self) {
        self.way_back.keep();
    }
}

impl Session {
    /// A tool of the lead's model wants something.
    pub(super) fn on_host_call(&mut self, call: HostCall, reply: Sender<Answer>) {
        let answer = match call {
            HostCall::Permit(ask) => return self.ask(RequestKind::Permission, json!(ask), reply),
            HostCall::ProposeTeam(proposal) => return self.propose(&proposal, reply),
            HostCall::Spawn(order) => return self.spawn(order, reply),
            HostCall::ListTeammates => self.list_teammates(),
            HostCall::RequestShutdown(name) => self.ask_to_stop(&name).map(|id| {
                format!("{name} was asked to stop ({id}); its farewell comes as a result")
            }),
            HostCall::RequestPlan { teammate, task } => self.ask_for_plan(&teammate, &task),
            HostCall::ReviewPlan {
                request,
                approve,
                feedback,
            } => self.review_plan(&request, approve, feedback),
            HostCall::SubmitPlan(_) => {
                Err("the lead needs no approval of a plan; ask the person in words".to_owned())
            }
            HostCall::Claimed | HostCall::AssignmentOver => Ok(String::new()),
        };
        drop(reply.send(answer));
    }

    /// Makes a request to the person on behalf of the lead's own tool, which waits.
    pub(super) fn ask(
        &mut self,
        kind: RequestKind,
        payload: serde_json::Value,
        reply: Sender<Answer>,
    ) {
        let assignment = self.mind.context.desk.assignment();
        let made = self.files.requests.create(NewRequest {
            kind,
            sender: AgentName::lead(),
            target: AgentName::user(),
            payload,
            work_version: assignment.as_ref().map(|held| held.version),
            task_id: assignment.map(|held| held.task),
        });
        match made {
            Ok(record) => {
                let wait = self.own_wait(kind, reply);
                self.replies.insert(record.request_id.clone(), wait);
                self.opened(record);
            }
            Err(error) => drop(reply.send(Err(format!("the question could not be kept: {error}")))),
        }
    }

    fn propose(&mut self, proposal: &TeamProposal, reply: Sender<Answer>) {
        for member in &proposal.members {
            if let Err(error) = AgentName::parse_teammate(&member.name) {
                return drop(reply.send(Err(error.to_string())));
            }
        }
        self.ask(RequestKind::Team, json!(proposal), reply);
    }

    /// The person agreed to a proposal: of the lead's model, or of the start itself.
    pub(super) fn accepted(&mut self, record: &Record) {
        let Ok(proposal) = serde_json::from_value::<TeamProposal>(record.payload.clone()) else {
            return;
        };
        self.proposals.accept(&proposal, |name, model| {
            agreed::resolve(&self.options, name, model)
        });
        self.note_proposal(&record.request_id);
        for name in self.revivals.remove(&record.request_id).unwrap_or_default() {
            self.revive(&name);
        }
    }

    fn list_teammates(&self) -> Answer {
        let members = self
            .files
            .roster
            .list()
            .map_err(|error| error.to_string())?;
        if members.is_empty() {
            return Ok("There are no teammates.".to_owned());
        }
        let lines: Vec<String> = members.iter().map(|member| self.describe(member)).collect();
        Ok(lines.join("\n"))
    }

    /// One line about a member, for the lead's model.
    pub(super) fn describe(&self, member: &Member) -> String {
        let alive = self.files.roster.is_alive(&member.name);
        let state = if alive {
            word(&member.status)
        } else {
            crate::agent::joined::absent(member.status).to_owned()
        };
        let mut line = format!(
            "{} ({}, {}): {state}",
            member.name, member.role, member.model
        );
        if let Some(task) = &member.task {
            let _ = write!(line, ", {task}");
        }
        if let Some(error) = member.last_error.as_deref().filter(|_| !alive) {
            let _ = write!(line, ", {}", error.lines().next().unwrap_or_default());
        }
        line
    }

    /// Asks a teammate to stop, once: while one request is open it is the same one.
    pub(super) fn ask_to_stop(&mut self, name: &AgentName) -> Result<RequestId, String> {
        let until = crate::clock::instant() + self.shutdown_wait();
        self.request_stop(name, until, false)
    }

    /// How long a teammate may take to stop before the person is told.
    pub(super) fn shutdown_wait(&self) -> Duration {
        Duration::from_secs(self.options.settings.shutdown_secs.unwrap_or(120))
    }

    fn ask_for_plan(&mut self, name: &AgentName, task: &str) -> Answer {
        let name = self.living(name)?;
        let wish = NewRequest {
            kind: RequestKind::PlanWish,
            sender: AgentName::lead(),
            target: name.clone(),
            payload: json!({ "task": task }),
            work_version: None,
            task_id: None,
        };
        let wish = self.files.requests.create(wish);
        let id = wish.map_err(|error| error.to_string())?.request_id;
        let message = Message::new(&AgentName::lead(), &name, Kind::PlanRequest, task)
            .with("request_id", id.as_str());
        if let Err(error) = self.files.post.deliver(&message) {
            self.end_wish(&id);
            return Err(error.to_string());
        }
        Ok(format!(
            "{name} will submit a plan before it changes anything more"
        ))
    }

    /// The teammate was not told: what it never hears of must not stay open.
    fn end_wish(&self, id: &RequestId) {
        let decision = Decision {
            kind: RequestKind::PlanWish,
            by: AgentName::lead(),
            status: RequestStatus::Withdrawn,
            feedback: None,
            scope: None,
        };
        if let Err(error) = self.files.requests.decide(id, &decision) {
            tracing::info!(%error, "a wish for a plan was not withdrawn");
        }
    }

    fn review_plan(&mut self, id: &RequestId, approve: bool, feedback: Option<String>) -> Answer {
        let decision = Decision {
            kind: RequestKind::PlanApproval,
            by: AgentName::lead(),
            status: if approve {
                RequestStatus::Approved
            } else {
                RequestStatus::Rejected
            },
            feedback,
            scope: None,
        };
        let decided = self.desk().decide(id, &decision);
        let record = decided.map_err(|error| {
            tracing::info!(%error, "an answer without effect");
            error.to_string()
        })?;
        self.wake(&record);
        let text = format!("{} of {} is {}", id, record.sender, record.status.as_str());
        self.closed(record);
        Ok(text)
    }

    /// The spelling of a teammate that lives; else an error that says who does.
    pub(super) fn living(&self, name: &AgentName) -> Result<AgentName, String> {
        let known = self.files.roster.get(name).ok().flatten();
        if let Some(member) = known.filter(|member| self.files.roster.is_alive(&member.name)) {
            return Ok(member.name);
        }
        let there = self.fleet.there();
        let names: Vec<&str> = there.iter().map(AgentName::as_str).collect();
        let names = if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        };
        Err(format!("no teammate {name} is alive; alive: {names}"))
    }
}

/// A value of ours as its JSON text without quotes.
fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(text)) => text,
        Ok(other) => other.to_string(),
        Err(error) => error.to_string(),
    }
}
