//! What follows when a teammate's process has ended: its task, its questions, its record, its next start.

use std::fmt::Write as _;
use std::time::Duration;

use super::fleet::{Ending, Happened, Tie};
use super::launch::Orders;
use super::owed::Debt;
use super::session::Session;
use crate::board::{BoardError, Claimant, Released, Task};
use crate::ids::{AgentName, RequestId, TaskId};
use crate::mailbox::Kind;
use crate::request::{Decision, RequestKind, RequestStatus};
use crate::team::MemberStatus;

/// What is said of the end of one whose process the person has ended.
pub const KILLED: &str = "the person has killed it";

impl Session {
    /// Gives back what a gone owner holds.
    pub(super) fn release_task_of(&mut self, name: &AgentName, why: Released) {
        let released = self.try_release(name, why);
        let debt = Debt::Release(name.clone(), why);
        if released.is_ok() {
            self.crew.owed.paid(&debt);
        }
        match released {
            Ok(Some(task)) => {
                self.crew.dropped.insert(name.clone(), task.id.clone());
                self.void_plans_of(name);
                let limit = self.options.settings.max_attempts;
                if task.attempts >= limit.unwrap_or(crate::agent::joined::MAX_ATTEMPTS) {
                    let text = format!(
                        "{} {:?} was tried {} times and is not offered any more",
                        task.id, task.subject, task.attempts
                    );
                    self.say(text.clone());
                    self.tell_model(name, Kind::ErrorReport, text);
                }
            }
            Err(error) if self.crew.owed.add(debt) => self.complain(
                &format!("the task of {name} was not given back; it is tried again"),
                &error,
            ),
            Ok(None) | Err(_) => {}
        }
    }

    fn try_release(&mut self, name: &AgentName, why: Released) -> Result<Option<Task>, BoardError> {
        // Locked first: who was killed between its claim and the journal's line is found by whoever catches up there.
        let mut board = self.files.board.lock(&AgentName::lead())?;
        let Some(task) = self.files.board.owned_by(name)? else {
            return Ok(None);
        };
        let holder = Some((name, task.work_version));
        let (task, _) = board.release(&task.id, holder, why, None)?;
        Ok(Some(task))
    }

    pub(super) fn crashed(&mut self, name: &AgentName, again_in: Option<Duration>) {
        self.withdraw_questions_of(name, "the process that asked is gone");
        let end = self.crew.ends.get(name).cloned().unwrap_or_default();
        let person = self
            .fleet
            .get(name)
            .is_some_and(|unit| unit.tie == Tie::Person);
        let next = match again_in {
            Some(pause) if pause.is_zero() => "it is started again".to_owned(),
            Some(pause) => format!("it is started again in {} s", pause.as_secs()),
            None if person => "a person started it; it is not started again".to_owned(),
            None => "it ended too often and is not started again".to_owned(),
        };
        let mut text = format!("its process ended without having stopped; {next}");
        if let Some(task) = self.crew.dropped.get(name) {
            let _ = write!(text, "; {task} is back on the board");
        }
        let _ = write!(text, "; {end}");
        if !person {
            let failed = again_in.is_none();
            self.write_member(name, |member| {
                member.pid = None;
                member.task = None;
                member.last_error = Some(end.clone());
                if failed {
                    member.status = MemberStatus::Failed;
                } else {
                    member.status = MemberStatus::Starting;
                    member.restarts += 1;
                }
            });
        }
        self.show_note(name, &text);
        self.tell_model(name, Kind::ErrorReport, text);
    }

    /// The end of a teammate that is not started again.
    pub(super) fn over(&mut self, name: &AgentName, failed: bool) {
        self.withdraw_questions_of(name, "the process that asked is gone");
        let end = self.crew.ends.get(name).cloned().unwrap_or_default();
        self.write_member(name, |member| {
            member.pid = None;
            member.task = None;
            if !matches!(member.status, MemberStatus::Stopped | MemberStatus::Failed) {
                member.status = if failed {
                    member.last_error = Some(end.clone());
                    MemberStatus::Failed
                } else {
                    MemberStatus::Stopped
                };
            }
        });
        if let Some(id) = self.crew.stops.remove(name) {
            self.close_stop(&id);
        }
        let member = self.files.roster.get(name).ok().flatten();
        let why = member.and_then(|member| member.last_error).unwrap_or(end);
        self.show_note(name, if failed { &why } else { "stopped" });
        self.crew.farewells.remove(name);
        if failed && self.leaving.is_none() {
            let text = format!("ended for good and is not started again: {why}");
            self.tell_model(name, Kind::ErrorReport, text);
        }
        self.show_leaving();
    }

    /// A request to stop whose target has ended is answered, one way or the other.
    pub(super) fn close_stop(&mut self, id: &RequestId) {
        let failed = Decision {
            kind: RequestKind::Shutdown,
            by: AgentName::lead(),
            status: RequestStatus::Failed,
            feedback: Some("it ended without a farewell".to_owned()),
            scope: None,
        };
        // Refused if it was completed as it should be.
        if let Ok(record) = self.files.requests.decide(id, &failed) {
            self.closed(record);
        }
    }

    pub(super) fn launch_again(&mut self, name: &AgentName, epoch: u64) {
        let Some(orders) = self.orders_for(name) else {
            return self.happen(
                name,
                Happened::Ended {
                    epoch,
                    how: Ending::Failed,
                },
            );
        };
        let task = self.claim_again(&orders);
        self.write_member(name, |member| {
            member.status = MemberStatus::Starting;
            member.pid = None;
            member.task.clone_from(&task);
        });
        match self.launcher.start(&orders, task.as_ref()) {
            Ok(launched) => self.track(name, epoch, launched),
            Err(error) => {
                self.crew.ends.insert(name.clone(), error.to_string());
                self.happen(
                    name,
                    Happened::Ended {
                        epoch,
                        how: Ending::Crashed,
                    },
                );
            }
        }
    }

    fn orders_for(&mut self, name: &AgentName) -> Option<Orders> {
        if let Some(orders) = self.crew.orders.get(name) {
            return Some(orders.clone());
        }
        let member = self.files.roster.get(name).ok().flatten()?;
        let orders = Orders {
            name: member.name,
            role: member.role,
            prompt: member.prompt.unwrap_or_default(),
            require_plan: member.require_plan,
            model: member.model,
        };
        self.crew.orders.insert(name.clone(), orders.clone());
        Some(orders)
    }

    /// Claims the task that a dead teammate gave back, if it is still free.
    fn claim_again(&mut self, orders: &Orders) -> Option<TaskId> {
        let id = self.crew.dropped.remove(&orders.name)?;
        let claimant = Claimant {
            name: &orders.name,
            role: &orders.role,
        };
        let task = self.files.board.get(&id).ok()?;
        let board = &self.files.board;
        board.look_ahead(task.worktree.as_ref(), &task.blocked_by);
        let mut board = self.files.board.lock(&AgentName::lead()).ok()?;
        board.claim(&id, claimant).ok().map(|task| task.id)
    }
}
