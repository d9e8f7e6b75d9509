//! Putting in order what an earlier lead left (SPEC §15): who lives, what the dead held, what is still asked.
//!
//! The order makes a crash in the middle harmless: each step is found undone or done by the next start.

use super::session::Session;
use super::{Account, Lost, Shown};
use crate::agent::joined::absent;
use crate::board::{Entry, Released, Status, Task};
use crate::clock;
use crate::ids::AgentName;
use crate::request::{Record, RequestKind, RequestStatus};
use crate::team::{Member, MemberStatus};

/// How many open tasks the account names.
const MAX_LISTED: usize = 50;

fn by_person(member: &Member) -> bool {
    member.started_by.as_ref() == Some(&AgentName::user())
}

/// What is to be made of a member that an earlier lead left, by its record and whether it lives: pure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    /// It lives: it is taken over.
    Lives,
    /// A start that a crash cut short: it is undone.
    HalfStarted,
    /// It ended as it should.
    Done,
    /// Its process is gone and somebody may want it back.
    Lost,
}

fn left(member: &Member, alive: bool) -> Left {
    let lead_lost = member
        .last_error
        .as_deref()
        .is_some_and(|error| error.contains("lead lost"));
    match member.status {
        _ if alive => Left::Lives,
        MemberStatus::Starting if member.restarts == 0 && member.turns == 0 => Left::HalfStarted,
        MemberStatus::Stopped => Left::Done,
        MemberStatus::Failed if !lead_lost => Left::Done,
        MemberStatus::Failed
        | MemberStatus::Starting
        | MemberStatus::Working
        | MemberStatus::Idle
        | MemberStatus::WaitingApproval
        | MemberStatus::Stopping => Left::Lost,
    }
}

impl Session {
    /// Brings members, tasks and requests in order; shows what was found and keeps it for the model.
    pub(super) fn recover(&mut self) -> anyhow::Result<()> {
        let mut account = Account {
            mail: self.mind.waiting.len(),
            ..Account::default()
        };
        for member in self.files.roster.list()? {
            self.recover_member(&member, &mut account)?;
        }
        self.recover_tasks(&mut account)?;
        self.recover_requests(&mut account)?;
        if account == Account::default() {
            return Ok(());
        }
        self.mind.account = Some(self.account_text(&account));
        let lost = account.lost.clone();
        self.ui.show(Shown::Recovered(account));
        self.offer_to_revive(&lost);
        Ok(())
    }

    fn recover_member(&mut self, member: &Member, account: &mut Account) -> anyhow::Result<()> {
        let name = &member.name;
        match left(member, self.files.roster.is_alive(name)) {
            Left::Lives => {
                self.adopt(name);
                account.adopted.push(name.clone());
            }
            Left::HalfStarted => {
                if let Some(task) = self.files.board.owned_by(name)? {
                    self.release_dead(&task, Released::Orderly, account)?;
                }
                self.files.roster.remove(name)?;
                account.undone.push(name.clone());
            }
            Left::Done => {}
            // A person who started one starts it again.
            Left::Lost if by_person(member) => {}
            Left::Lost => account.lost.push(Lost {
                name: name.clone(),
                role: member.role.clone(),
                why: member
                    .last_error
                    .clone()
                    .unwrap_or_else(|| absent(member.status).to_owned()),
            }),
        }
        Ok(())
    }

    /// Tasks of owners that do not live go back; the lead's own, too: its assignment ended with its process.
    fn recover_tasks(&mut self, account: &mut Account) -> anyhow::Result<()> {
        for entry in self.files.board.list()? {
            let task = match entry {
                Entry::Damaged { id, why, .. } => {
                    account.damaged.push(format!("{id}: {why}"));
                    continue;
                }
                Entry::Task(task) => *task,
            };
            let dead = task
                .owner
                .as_ref()
                .filter(|owner| !self.files.roster.is_alive(owner));
            if task.status == Status::InProgress && dead.is_some() {
                self.release_dead(&task, Released::Failed, account)?;
            }
            // What an earlier run could not bring to an end may go better in this one.
            if task.not_offered.is_some() {
                let mut board = self.files.board.lock(&AgentName::lead())?;
                board.offer_anew(&task.id)?;
            }
            if matches!(task.status, Status::Pending | Status::InProgress) {
                if account.open.len() < MAX_LISTED {
                    account.open.push((task.id, task.subject));
                } else {
                    account.more_open += 1;
                }
            }
        }
        Ok(())
    }

    fn release_dead(
        &mut self,
        task: &Task,
        why: Released,
        account: &mut Account,
    ) -> anyhow::Result<()> {
        let Some(owner) = &task.owner else {
            return Ok(());
        };
        let mut board = self.files.board.lock(&AgentName::lead())?;
        board.release(&task.id, Some((owner, task.work_version)), why, None)?;
        drop(board);
        let released = (task.id.clone(), task.subject.clone(), owner.clone());
        account.released.push(released);
        self.crew.dropped.insert(owner.clone(), task.id.clone());
        Ok(())
    }

    /// Questions of the living are shown again; permission questions of the dead, and proposals of an earlier
    /// conversation, are over.
    fn recover_requests(&mut self, account: &mut Account) -> anyhow::Result<()> {
        for record in self.files.requests.open_ones(None)? {
            let id = record.request_id.clone();
            match record.kind {
                RequestKind::Permission | RequestKind::Team if record.sender.is_lead() => {
                    self.end_old_question(&record);
                    account.withdrawn.push(record);
                }
                RequestKind::Permission if !self.files.roster.is_alive(&record.sender) => {
                    self.opened(record.clone());
                    account.withdrawn.push(record);
                }
                RequestKind::Shutdown => {
                    if self.files.roster.is_alive(&record.target) {
                        let until = clock::instant() + self.shutdown_wait();
                        drop(self.request_stop(&record.target, until, false));
                    } else {
                        self.close_stop(&id);
                    }
                }
                RequestKind::Permission | RequestKind::PlanApproval | RequestKind::Team => {
                    account.questions.push(record.clone());
                    self.opened(record);
                }
            }
        }
        drop(self.files.requests.forget_old());
        Ok(())
    }

    /// A question of an earlier lead's own tool: that call was closed as interrupted.
    fn end_old_question(&mut self, record: &Record) {
        let status = if record.kind == RequestKind::Team {
            RequestStatus::Declined
        } else {
            RequestStatus::Withdrawn
        };
        let decision = crate::request::Decision {
            kind: record.kind,
            by: record.target.clone(),
            status,
            feedback: Some("the lead that asked is gone".to_owned()),
            scope: None,
        };
        if let Err(error) = self.files.requests.decide(&record.request_id, &decision) {
            self.complain("an old question was not closed", &error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timestamp;
    use crate::team::PlanGate;

    #[test]
    fn what_was_left_is_told_apart_by_record_and_lock() {
        use MemberStatus as S;
        let member = |status, turns, restarts, error: Option<&str>| Member {
            name: AgentName::parse("alice").unwrap(),
            role: "coder".into(),
            model: "m".into(),
            status,
            pid: None,
            started_at: Timestamp::from_ms(1),
            task: None,
            plan_gate: PlanGate::NotRequired,
            plan_request: None,
            turns,
            tokens: 0,
            restarts,
            last_error: error.map(Into::into),
            started_by: None,
            extra: serde_json::Map::default(),
        };
        for (member, alive, wanted) in [
            (member(S::Idle, 3, 0, None), true, Left::Lives),
            (member(S::Starting, 0, 0, None), true, Left::Lives),
            (member(S::Starting, 0, 0, None), false, Left::HalfStarted),
            (member(S::Starting, 4, 1, None), false, Left::Lost),
            (member(S::Stopped, 4, 0, None), false, Left::Done),
            (member(S::Failed, 4, 0, Some("bad key")), false, Left::Done),
            (
                member(S::Failed, 4, 0, Some("lead lost")),
                false,
                Left::Lost,
            ),
            (member(S::Working, 4, 0, None), false, Left::Lost),
            (member(S::Idle, 4, 0, None), false, Left::Lost),
        ] {
            assert_eq!(left(&member, alive), wanted, "{member:?}");
        }
    }
}
