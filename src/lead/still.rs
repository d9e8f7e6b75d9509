//! Looks whether anything still moves when nobody is there to move it, and sums the session up.

use super::headless::{self, Moves, Snapshot, Verdict};
use super::session::Session;
use super::{EndStatus, SessionResult};
use crate::board::{Claimant, Entry, Status};
use crate::clock;
use crate::ids::TaskId;
use crate::mailbox::{Message, inbox};
use crate::model::Gate;
use crate::team::{Member, MemberStatus, usage};

impl Session {
    /// Without a person the session ends once nothing can move (SPEC §14).
    pub(super) fn end_if_still(&mut self) -> anyhow::Result<()> {
        if !self.nobody_answers() {
            return Ok(());
        }
        if self.time_is_up() && self.over_limit() {
            // Also what runs now must end: a call that hangs could go on for minutes.
            self.leave(None, false);
            return Ok(());
        }
        if self.mind.thinker.is_busy() || self.person.is_served() {
            return Ok(());
        }
        if self.over_limit() {
            if !self.fleet.is_moving() {
                self.leave(None, false);
            }
            return Ok(());
        }
        if self.wants_round() || self.fleet.is_moving() {
            self.standstill.moving();
            return Ok(());
        }
        let snapshot = self.snapshot()?;
        let can_think = self.mind.failure.is_none();
        match self
            .standstill
            .judge(&snapshot, can_think, clock::instant())
        {
            Verdict::Moving if self.wants_round() => self.think()?,
            Verdict::Moving => {}
            Verdict::AskLead => {
                let open = self.open_with_reasons()?;
                self.mind.nudge = Some(headless::standstill_text(&open));
                self.think()?;
            }
            Verdict::Over => {
                if let Some(text) = headless::denied_text(self.person.denied.len()) {
                    self.say(text);
                }
                if let Some(text) = headless::incomplete_text(&snapshot.open, self.person.missed) {
                    self.say(text);
                }
                self.leave(None, false);
            }
        }
        Ok(())
    }

    /// Statuses, then mailboxes, then the board: the order that makes it true (see [`headless`]).
    fn snapshot(&mut self) -> anyhow::Result<Snapshot> {
        let members = self.living_members();
        let moves = self.first_mover(&members)?;
        let open = self.open_tasks()?;
        self.show_board_news();
        Ok(Snapshot {
            moves,
            open,
            mark: self.journal.mark(),
        })
    }

    fn first_mover(&mut self, members: &[Member]) -> anyhow::Result<Option<Moves>> {
        if members
            .iter()
            .any(|member| member.status != MemberStatus::Idle)
        {
            return Ok(Some(Moves::Teammate));
        }
        for member in members {
            let waiting = inbox::waiting(&self.files.workspace, &member.name)?;
            if waiting.iter().any(wakes) {
                return Ok(Some(Moves::Mail));
            }
        }
        self.take_mail()?;
        if self.wants_round() {
            return Ok(Some(Moves::Mail));
        }
        self.show_board_news();
        self.bring_branches();
        if self.bringing.under_way {
            return Ok(Some(Moves::Branch));
        }
        for member in members {
            let claimant = Claimant {
                name: &member.name,
                role: &member.role,
            };
            if !self.files.board.offered(claimant, 1)?.is_empty() {
                let gate = Gate::new(&self.files.workspace, &member.model, member.name.as_str());
                let held = gate.closed().map(|held| Moves::Held(held.left()));
                return Ok(Some(held.unwrap_or(Moves::Offer)));
            }
        }
        Ok((!self.questions.is_empty()).then_some(Moves::Question))
    }

    /// Fresh records of all teammates that live, also of those that a person started.
    fn living_members(&self) -> Vec<Member> {
        self.fleet
            .there()
            .iter()
            .filter_map(|name| self.files.roster.get(name).ok().flatten())
            .collect()
    }

    /// Pending and in progress, in the order of offering.
    pub(super) fn open_tasks(&self) -> anyhow::Result<Vec<(TaskId, String)>> {
        let entries = self.files.board.list()?;
        Ok(entries
            .into_iter()
            .filter_map(|entry| match entry {
                Entry::Task(task) if is_open(&task.status) => Some((task.id, task.subject)),
                Entry::Task(_) | Entry::Damaged { .. } => None,
            })
            .collect())
    }

    /// The same with what each waits for, for whoever may do something about it.
    fn open_with_reasons(&self) -> anyhow::Result<Vec<(TaskId, String)>> {
        let views = self.files.board.views()?;
        Ok(views
            .into_iter()
            .filter(|view| is_open(&view.task.status))
            .map(|view| {
                let subject = view.task.subject;
                let text = match view.blocked_reason {
                    Some(why) => format!("{subject} (blocked: {why})"),
                    None => subject,
                };
                (view.task.id, text)
            })
            .collect())
    }

    /// What the session came to.
    pub(super) fn result(&self) -> anyhow::Result<SessionResult> {
        let leaving = self.leaving.as_ref();
        let happened = [
            (!self.open_tasks()?.is_empty(), EndStatus::Incomplete),
            (self.mind.failure.is_some(), EndStatus::Failed),
            (self.limit.is_some(), EndStatus::Limit),
            (
                leaving.is_some_and(|leaving| leaving.interrupted),
                EndStatus::Interrupted,
            ),
        ];
        let happened = happened.iter().filter(|(so, _)| *so);
        Ok(SessionResult {
            status: headless::status(happened.map(|(_, status)| *status)),
            signal: leaving.and_then(|leaving| leaving.signal),
            result: self.mind.thinker.last_text().unwrap_or_default(),
            failure: self.mind.failure.clone(),
            tasks: self.files.board.list()?,
            teammates: self.files.roster.list()?,
            prices: self.options.settings.prices.clone(),
            usage: usage::spent(&self.files.workspace, Some(self.record.id.as_str()))?,
            duration: self.started.elapsed(),
            session: self.record.id.clone(),
        })
    }
}

fn is_open(status: &Status) -> bool {
    matches!(status, Status::Pending | Status::InProgress)
}

/// Whether a message in a teammate's mailbox will make it move.
fn wakes(message: &Message) -> bool {
    message.kind.is_control() || message.starts_round()
}
