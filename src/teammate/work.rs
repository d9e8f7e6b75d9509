//! A teammate's tasks: claiming, taking on, giving back, and what a round begins with.

use anyhow::Context as _;
use serde_json::{Value, json};

use super::gate::Work;
use super::letters;
use super::machine::{Event, Outcome, Part};
use super::mate::Mate;
use crate::agent::Input;
use crate::agent::prompt;
use crate::board::{BoardError, Claimant, Released, Status, Task};
use crate::ids::{RequestId, TaskId};
use crate::mailbox::Message;
use crate::request::{Decision, RequestKind, RequestStatus};
use crate::tool::{assignment_for, assignment_text};

/// The transcript's note of the assignment that the model was told of.
pub(super) const ASSIGNMENT: &str = "assignment";
/// How many offered tasks are looked at at once.
const LOOK: usize = 16;

/// The assignment that such a note names.
pub(super) fn noted(note: &Value) -> Option<Work> {
    let task = note.get("task")?.as_str()?.parse().ok()?;
    Some((task, note.get("version")?.as_u64()?))
}

impl Mate {
    /// Claims the first offered task that can be had; a lost race tries the next.
    pub(super) fn claim(&mut self) -> anyhow::Result<bool> {
        loop {
            let offered = self.offered(LOOK)?;
            if offered.is_empty() {
                return Ok(false);
            }
            for task in offered {
                if self.claim_one(&task.id)? {
                    return Ok(true);
                }
            }
        }
    }

    pub(super) fn offered(&self, limit: usize) -> anyhow::Result<Vec<Task>> {
        let claimant = Claimant {
            name: &self.me,
            role: &self.context.role,
        };
        self.context
            .board
            .offered(claimant, limit)
            .context("cannot look for tasks")
    }

    /// Claims `id` if it is still offered.
    pub(super) fn claim_one(&mut self, id: &TaskId) -> anyhow::Result<bool> {
        let claimant = Claimant {
            name: &self.me,
            role: &self.context.role,
        };
        let claimed = self
            .context
            .board
            .lock(&self.me)
            .and_then(|mut board| board.claim(id, claimant));
        match claimed {
            Ok(task) => self.take_on(task),
            Err(error @ (BoardError::Lock(_) | BoardError::Store(_))) => {
                Err(error).with_context(|| format!("cannot claim {id}"))
            }
            Err(
                error @ (BoardError::Unknown(_)
                | BoardError::Damaged { .. }
                | BoardError::Owned { .. }
                | BoardError::Refused(_)
                | BoardError::Stale { .. }),
            ) => {
                tracing::info!(%error, "not claimed");
                Ok(false)
            }
        }
    }

    /// Makes a task that this teammate owns its assignment; one that cannot be worked on goes back.
    pub(super) fn take_on(&mut self, task: Task) -> anyhow::Result<bool> {
        let work = (task.id.clone(), task.work_version);
        match assignment_for(&self.workspace, task) {
            Ok(assignment) => {
                self.context.desk.state().assignment = Some(assignment);
                self.took_on(&work)?;
                Ok(true)
            }
            Err(why) => {
                self.release(&work, Released::Orderly, Some(why.clone()))?;
                self.tell(&letters::error_report(&self.me, &why, Some(&work)))?;
                Ok(false)
            }
        }
    }

    /// The desk holds a new assignment.
    pub(super) fn took_on(&mut self, work: &Work) -> anyhow::Result<()> {
        self.gate.opened();
        self.gate_changed()?;
        self.card
            .change(|member| member.task = Some(work.0.clone()))?;
        Ok(())
    }

    /// The model was told of its assignment: a restart does not tell it again.
    pub(super) fn told_of(&mut self) -> anyhow::Result<()> {
        let value = self.work().map_or(
            Value::Null,
            |(task, version)| json!({ "task": task, "version": version }),
        );
        self.note(ASSIGNMENT, value)
    }

    /// Gives a task back, if it is still this teammate's.
    pub(super) fn release(
        &mut self,
        work: &Work,
        why: Released,
        note: Option<String>,
    ) -> anyhow::Result<()> {
        let (id, version) = work;
        let released = self
            .context
            .board
            .lock(&self.me)
            .and_then(|mut board| board.release(id, Some((&self.me, *version)), why, note));
        match released {
            Ok((task, _)) => {
                let exhausted = task.attempts >= self.settings.max_attempts();
                self.tell(&letters::released(&self.me, &task, exhausted))
            }
            Err(error @ (BoardError::Lock(_) | BoardError::Store(_))) => {
                Err(error).with_context(|| format!("cannot give back {id}"))
            }
            Err(error) => {
                tracing::info!(%error, "not given back");
                Ok(())
            }
        }
    }

    /// The assignment is over, whoever ended it: its plan no longer counts.
    pub(super) fn assignment_over(&mut self) -> anyhow::Result<()> {
        if let Some(request) = self.gate.closed() {
            self.end_plan(&request, RequestStatus::Stale);
        }
        self.gate_changed()?;
        self.card.change(|member| member.task = None)?;
        Ok(())
    }

    /// Forgets the assignment with its directory.
    pub(super) fn close_assignment(&mut self) -> anyhow::Result<()> {
        self.context.desk.state().assignment = None;
        self.assignment_over()?;
        self.note(ASSIGNMENT, Value::Null)
    }

    /// Looks whether the assignment is still this teammate's on the board.
    pub(super) fn check_assignment(&mut self) -> anyhow::Result<()> {
        let Some((id, version)) = self.open_work() else {
            return Ok(());
        };
        let mine = match self.context.board.get(&id) {
            Ok(task) => {
                task.owner.as_ref() == Some(&self.me)
                    && task.work_version == version
                    && task.status == Status::InProgress
            }
            Err(BoardError::Unknown(_)) => false,
            // A torn file is no verdict.
            Err(_) => true,
        };
        if mine {
            return Ok(());
        }
        if let Some(held) = &mut self.context.desk.state().assignment {
            held.over = true;
        }
        self.assignment_over()?;
        self.queue.push_back(Event::TaskOver(Outcome::TakenAway));
        Ok(())
    }

    /// Everything that is put before the model at a round's beginning, in order.
    pub(super) fn inputs(&mut self, parts: &[Part]) -> Vec<Input> {
        let mut inputs = Vec::new();
        if parts.contains(&Part::Prompt) {
            inputs.extend(self.prompt.take().map(Input::text));
        }
        inputs.extend(self.waiting_inputs());
        for part in parts {
            match part {
                Part::Prompt => {}
                Part::Restarted => inputs.push(prompt::restarted()),
                Part::Assignment => inputs.extend(self.assignment_input()),
                Part::Reminder => {
                    let held = self.assignment();
                    inputs.extend(held.map(|held| prompt::reminder(&held.snapshot)));
                }
                Part::WrapUp => {
                    let held = self.assignment().filter(|held| !held.over);
                    inputs.push(prompt::wrap_up(held.as_ref().map(|held| &*held.snapshot)));
                }
            }
        }
        inputs
    }

    /// Mail and decisions that wait.
    pub(super) fn waiting_inputs(&mut self) -> Vec<Input> {
        let mail: Vec<Message> = std::mem::take(&mut self.mail);
        let mut inputs = Vec::new();
        if let Some(began) = self.began_at.take()
            && mail.iter().any(|message| message.timestamp < began.as_ms())
        {
            inputs.push(prompt::older_mail(began));
        }
        inputs.extend(prompt::render_mail(&mail, false));
        inputs.append(&mut self.notices);
        inputs
    }

    fn assignment_input(&self) -> Option<Input> {
        let held = self.assignment()?;
        let text = assignment_text(&self.context.board, &held);
        Some(prompt::assignment(&text, !self.gate.state().is_open()))
    }

    /// Sends to the lead; synced when this returns.
    pub(super) fn tell(&self, message: &Message) -> anyhow::Result<()> {
        self.context
            .post
            .deliver(message)
            .with_context(|| format!("cannot send the lead a {:?}", message.kind))
    }

    /// Ends a plan request without an answer; that it was answered meanwhile is no failure.
    pub(super) fn end_plan(&self, request: &RequestId, status: RequestStatus) {
        self.end_request(RequestKind::PlanApproval, request, status);
    }

    pub(super) fn end_request(
        &self,
        kind: RequestKind,
        request: &RequestId,
        status: RequestStatus,
    ) {
        let decision = Decision {
            kind,
            by: self.me.clone(),
            status,
            feedback: None,
            scope: None,
        };
        if let Err(error) = self.requests.decide(request, &decision) {
            tracing::info!(%error, "a request was not ended");
        }
    }

    /// Writes the gate where tools and others see it.
    pub(super) fn gate_changed(&mut self) -> anyhow::Result<()> {
        let (state, request) = (self.gate.state(), self.gate.request().cloned());
        {
            let mut desk = self.context.desk.state();
            desk.gate = state;
            desk.plan_request.clone_from(&request);
        }
        self.card.change(|member| {
            member.plan_gate = state;
            member.plan_request = request;
        })?;
        Ok(())
    }
}
