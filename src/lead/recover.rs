//! Putting in order what an earlier lead left (SPEC §15): who lives, what the dead held, what is still asked.
//!
//! The order makes a crash in the middle harmless: each step is found undone or done by the next start.

use super::session::Session;
use super::{Account, Lost, Shown};
use crate::agent::joined::absent;
use crate::board::{BoardError, Released, Task};
use crate::clock;
use crate::findings::survey::MAX_LISTED;
use crate::findings::{self, Fate, Ground, Left};
use crate::ids::AgentName;
use crate::request::{Record, RequestKind, RequestStatus};
use crate::team::{Member, Presence};
use crate::worktree;

fn by_person(member: &Member) -> bool {
    member.started_by.as_ref() == Some(&AgentName::user())
}

impl Session {
    /// Brings members, tasks and requests in order; shows what was found and keeps it for the model.
    pub(super) fn recover(&mut self) -> anyhow::Result<()> {
        let ground = Ground::read(self.files.books())?.of_a_new_lead();
        let mut account = Account {
            mail: self.mind.waiting.len(),
            damaged: findings::damaged(self.files.books(), &ground)?,
            worktrees: worktree::view::settle_all(&self.files.workspace)
                .into_iter()
                .chain(
                    findings::worktrees(self.files.books(), &ground)
                        .into_iter()
                        .map(|found| found.detail),
                )
                .collect(),
            leftovers: findings::end_leftovers(self.files.books()),
            ..Account::default()
        };
        self.recover_tasks(&ground, &mut account)?;
        for (member, _) in &ground.members {
            self.recover_member(member, ground.left(member), &mut account)?;
        }
        self.recover_requests(&ground, &mut account);
        // Whoever came, claimed or died since the ground was read: no event will tell of it.
        self.meet_all_owners();
        if account == Account::default() {
            return Ok(());
        }
        self.mind.account = Some(self.account_text(&account));
        let lost = account.lost.clone();
        self.ui.show(Shown::Recovered(account));
        self.offer_to_revive(&lost);
        Ok(())
    }

    fn recover_member(
        &mut self,
        member: &Member,
        left: Left,
        account: &mut Account,
    ) -> anyhow::Result<()> {
        let name = &member.name;
        match left {
            Left::Lives => {
                self.adopt(name);
                account.adopted.push(name.clone());
            }
            Left::HalfStarted => self.undo_start(name, account)?,
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

    /// The name's lock is held meanwhile: a process of that start that comes up only now finds no record, and ends.
    fn undo_start(&mut self, name: &AgentName, account: &mut Account) -> anyhow::Result<()> {
        let Some(presence) = Presence::take(&self.files.workspace, name)? else {
            self.adopt(name);
            account.adopted.push(name.clone());
            return Ok(());
        };
        self.files.roster.remove(name)?;
        account.undone.push(name.clone());
        drop(presence);
        Ok(())
    }

    /// Tasks of owners that do not live go back; the lead's own, too: its assignment ended with its process. A start that
    /// was cut short takes its attempt back.
    fn recover_tasks(&mut self, ground: &Ground, account: &mut Account) -> anyhow::Result<()> {
        for task in ground.orphans() {
            let was_starting = ground.members.iter().any(|(member, _)| {
                Some(&member.name) == task.owner.as_ref()
                    && ground.left(member) == Left::HalfStarted
            });
            let why = if was_starting {
                Released::Orderly
            } else {
                Released::Failed
            };
            self.release_dead(task, why, account)?;
        }
        for task in ground.tasks().filter(|task| task.not_offered.is_some()) {
            // What an earlier run could not bring to an end may go better in this one.
            let mut board = self.files.board.lock(&AgentName::lead())?;
            board.offer_anew(&task.id)?;
        }
        for task in ground.open_tasks() {
            if account.open.len() < MAX_LISTED {
                account.open.push((task.id.clone(), task.subject.clone()));
            } else {
                account.more_open += 1;
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
        // A process of a start that was cut short may have come up after all.
        if let Some(owner) = &task.owner
            && self.files.roster.is_alive(owner)
        {
            return Ok(());
        }
        let holder = task.owner.as_ref().map(|owner| (owner, task.work_version));
        let mut board = self.files.board.lock(&AgentName::lead())?;
        let released = board.release(&task.id, holder, why, None);
        drop(board);
        match released {
            Ok(_) => {}
            Err(BoardError::Lock(error)) => return Err(error.into()),
            Err(BoardError::Store(error)) => return Err(error.into()),
            Err(changed) => {
                tracing::info!(%changed, "a task was not given back: it has changed since it was read");
                return Ok(());
            }
        }
        if let Some(owner) = &task.owner {
            let released = (task.id.clone(), task.subject.clone(), owner.clone());
            account.released.push(released);
            self.crew.dropped.insert(owner.clone(), task.id.clone());
        }
        Ok(())
    }

    /// Questions of the living are shown again; permission questions of the dead, and proposals of an earlier
    /// conversation, are over.
    fn recover_requests(&mut self, ground: &Ground, account: &mut Account) {
        for record in ground.requests.clone() {
            match ground.fate(&record) {
                Fate::Over(_) if record.sender.is_lead() => {
                    self.end_old_question(&record);
                    account.withdrawn.push(record);
                }
                // Opening it withdraws it: nobody waits.
                Fate::Over(_) => {
                    self.opened(record.clone());
                    account.withdrawn.push(record);
                }
                Fate::Stopping => {
                    let until = clock::instant() + self.shutdown_wait();
                    drop(self.request_stop(&record.target, until, false));
                }
                Fate::Told => {}
                Fate::Stopped => self.close_stop(&record.request_id),
                Fate::Asked => {
                    account.questions.push(record.clone());
                    self.opened(record);
                }
            }
        }
        drop(self.files.requests.forget_old());
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
