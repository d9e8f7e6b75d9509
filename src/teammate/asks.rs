//! What tools want of the loop: plans, permissions, and word of claims and ends.

use std::sync::PoisonError;
use std::sync::mpsc::Sender;

use anyhow::Context as _;

use super::gate::{Submission, Work};
use super::letters;
use super::machine::{Event, Outcome, WaitEnd, WaitKind};
use super::mate::{Mate, Wait};
use crate::agent::prompt;
use crate::board::{Released, Status};
use crate::config::settings::PlanReview;
use crate::ids::AgentName;
use crate::request::{NewRequest, Record, RequestKind, RequestStatus, UNANSWERED};
use crate::team::grants;
use crate::tool::{Answer, HostCall, PermissionAsk, Plan};

impl Mate {
    pub(super) fn on_host_call(
        &mut self,
        call: HostCall,
        reply: Sender<Answer>,
    ) -> anyhow::Result<()> {
        match call {
            HostCall::Permit(ask) => return self.permit(ask, reply),
            HostCall::SubmitPlan(plan) => return self.submit(plan, reply),
            HostCall::Claimed => {
                if let Some(work) = self.work() {
                    self.took_on(&work)?;
                    self.told_of()?;
                }
                self.queue.push_back(Event::ToolClaimed);
                answer(&reply, Ok(String::new()));
            }
            HostCall::AssignmentOver => {
                let outcome = self.outcome();
                self.assignment_over()?;
                self.queue.push_back(Event::TaskOver(outcome));
                answer(&reply, Ok(String::new()));
            }
            HostCall::ProposeTeam(_)
            | HostCall::Spawn(_)
            | HostCall::ListTeammates
            | HostCall::RequestShutdown(_)
            | HostCall::RequestPlan { .. }
            | HostCall::ReviewPlan { .. } => {
                answer(&reply, Err("only the lead can do that".to_owned()));
            }
        }
        Ok(())
    }

    fn outcome(&self) -> Outcome {
        let done = self.work().is_some_and(|(id, _)| {
            let task = self.context.board.get(&id);
            task.is_ok_and(|task| task.status == Status::Completed)
        });
        if done {
            Outcome::Completed
        } else {
            Outcome::TakenAway
        }
    }

    fn permit(&mut self, ask: PermissionAsk, reply: Sender<Answer>) -> anyhow::Result<()> {
        let work = self.open_work();
        let task = work.as_ref().map(|(task, _)| task);
        if let Some(told) = self.denied.recall(task, &ask) {
            answer(&reply, Err(told));
            return Ok(());
        }
        let payload = serde_json::to_value(&ask)?;
        let record = self.ask(
            RequestKind::Permission,
            AgentName::user(),
            payload,
            work.as_ref(),
        )?;
        self.tell(&letters::permission(&self.me, &record, &ask, work.as_ref()))?;
        self.wait = Some(Wait::Permission(record.request_id, Box::new(ask), reply));
        self.queue.push_back(Event::WaitBegan(WaitKind::Permission));
        Ok(())
    }

    fn submit(&mut self, plan: Plan, reply: Sender<Answer>) -> anyhow::Result<()> {
        let Some(work) = self.open_work() else {
            answer(&reply, Err("you have no task to plan for".to_owned()));
            return Ok(());
        };
        let request = match self.gate.submit(&plan) {
            Submission::Answer(text) => {
                answer(&reply, Ok(text));
                return Ok(());
            }
            Submission::Hopeless(text) => {
                self.give_up(&work)?;
                answer(&reply, Err(text));
                return Ok(());
            }
            Submission::Await(request) => request,
            Submission::Ask(before) => {
                if let Some(before) = before {
                    self.end_plan(&before, RequestStatus::Withdrawn);
                    self.gate.withdrawn();
                }
                self.ask_for_plan(plan, &work)?
            }
        };
        self.wait = Some(Wait::Plan(request, reply));
        self.queue.push_back(Event::WaitBegan(WaitKind::Plan));
        Ok(())
    }

    fn ask_for_plan(&mut self, plan: Plan, work: &Work) -> anyhow::Result<crate::ids::RequestId> {
        let reviewer = match self.settings.plan_review() {
            PlanReview::Lead => AgentName::lead(),
            PlanReview::User => AgentName::user(),
        };
        let payload = serde_json::to_value(&plan)?;
        let record = self.ask(RequestKind::PlanApproval, reviewer, payload, Some(work))?;
        let letter = letters::plan(&self.me, &record, &plan, work);
        self.gate
            .asked(record.request_id.clone(), work.clone(), plan);
        self.gate_changed()?;
        self.tell(&letter)?;
        Ok(record.request_id)
    }

    /// Record first: whoever is woken finds it.
    fn ask(
        &self,
        kind: RequestKind,
        target: AgentName,
        payload: serde_json::Value,
        work: Option<&Work>,
    ) -> anyhow::Result<Record> {
        self.requests
            .create(NewRequest {
                kind,
                sender: self.me.clone(),
                target,
                payload,
                work_version: work.map(|(_, version)| *version),
                task_id: work.map(|(task, _)| task.clone()),
            })
            .context("cannot make a request")
    }

    /// Nobody can approve this task's plans in this run: nobody is offered it any more.
    fn give_up(&mut self, work: &Work) -> anyhow::Result<()> {
        let (why, note) = self.gate.verdict(Released::Failed, None);
        self.release(work, why, note)?;
        if let Some(held) = &mut self.context.desk.state().assignment {
            held.over = true;
        }
        self.assignment_over()?;
        self.queue.push_back(Event::TaskOver(Outcome::Released));
        Ok(())
    }

    /// The pending plan's record, read again.
    pub(super) fn plan_looked_at(&mut self, record: &Record) -> anyhow::Result<()> {
        let work = self.open_work();
        let unattended = self.unattended();
        let Some(decided) = self.gate.look(record, work.as_ref(), unattended) else {
            return Ok(());
        };
        self.gate_changed()?;
        self.queue.push_back(Event::PlanSettled);
        match self.wait.take() {
            Some(Wait::Plan(id, reply)) if id == record.request_id => {
                answer(&reply, Ok(decided.text));
                self.queue.push_back(Event::WaitOver);
            }
            other => {
                self.wait = other;
                if decided.is_answer {
                    self.notices.push(prompt::notice(&decided.text));
                    self.decision_waits = true;
                }
            }
        }
        Ok(())
    }

    /// The record of the permission question that a tool waits for, read again.
    pub(super) fn permission_looked_at(&mut self, record: &Record) -> anyhow::Result<()> {
        let comment = record.feedback.clone().unwrap_or_default();
        let said = match record.status {
            RequestStatus::Pending => return Ok(()),
            RequestStatus::Allowed => Ok(comment),
            RequestStatus::Denied => Err(denied_text(&comment)),
            RequestStatus::Acknowledged
            | RequestStatus::Completed
            | RequestStatus::Failed
            | RequestStatus::Approved
            | RequestStatus::Rejected
            | RequestStatus::Stale
            | RequestStatus::Withdrawn
            | RequestStatus::Accepted
            | RequestStatus::Declined => Err("the question was withdrawn".to_owned()),
        };
        let Some(Wait::Permission(_, ask, reply)) = self.wait.take() else {
            return Ok(());
        };
        let always = ask.always.as_ref();
        if let Some(rule) = always.filter(|_| record.scope.as_deref() == Some("always")) {
            self.keep_rule(rule, record)?;
        }
        if let (Err(told), RequestStatus::Denied) = (&said, record.status) {
            let task = self.open_work().map(|(task, _)| task);
            self.denied.remember(task, &ask, told.clone());
        }
        if record.status == RequestStatus::Allowed {
            self.tell_neighbours(&ask);
        }
        answer(&reply, said);
        self.queue.push_back(Event::WaitOver);
        Ok(())
    }

    /// Keeps what the person answered for always.
    fn keep_rule(&mut self, rule: &str, record: &Record) -> anyhow::Result<()> {
        let denied = record.status == RequestStatus::Denied;
        if denied {
            self.denied.remember_rule(rule);
        } else {
            self.context
                .grants
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(rule.to_owned());
        }
        grants::keep(
            &self.workspace,
            &self.me,
            (rule, denied),
            &record.request_id,
            self.settings.durability(),
        )?;
        Ok(())
    }

    /// Ends what a tool waits for without its decision.
    pub(super) fn end_wait(&mut self, why: WaitEnd) -> anyhow::Result<()> {
        match self.wait.take() {
            Some(Wait::Plan(id, reply)) => match why {
                WaitEnd::StillPending | WaitEnd::Unanswered => {
                    let text = format!(
                        "your plan {id} is still pending: you have new messages; its decision will be told when it comes"
                    );
                    answer(&reply, Ok(text));
                }
                WaitEnd::Stopping => {
                    self.end_plan(&id, RequestStatus::Withdrawn);
                    self.gate.withdrawn();
                    self.gate_changed()?;
                    self.queue.push_back(Event::PlanSettled);
                    answer(
                        &reply,
                        Err("the wait for the plan's decision was ended".to_owned()),
                    );
                }
            },
            Some(Wait::Permission(id, _, reply)) => {
                self.end_request(RequestKind::Permission, &id, RequestStatus::Withdrawn);
                let text = match why {
                    WaitEnd::Unanswered => UNANSWERED,
                    WaitEnd::StillPending | WaitEnd::Stopping => {
                        "the permission question was withdrawn unanswered"
                    }
                };
                answer(&reply, Err(text.to_owned()));
            }
            None => {}
        }
        Ok(())
    }
}

fn denied_text(comment: &str) -> String {
    match comment.trim() {
        "" => "the person denied this call; do not try it again".to_owned(),
        comment => format!("the person denied this call: {comment}"),
    }
}

/// A tool that was cut meanwhile hears nothing, which is no failure.
fn answer(reply: &Sender<Answer>, said: Answer) {
    drop(reply.send(said));
}
