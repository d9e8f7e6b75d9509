//! Teammates that were lost with an earlier lead: told to the model, offered to the person, started again.

use super::fleet::Unit;
use super::session::Session;
use super::{Account, Lost};
use crate::clock;
use crate::ids::{AgentName, TaskId};
use crate::request::{NewRequest, RequestKind};
use crate::tool::{ProposedMember, TeamProposal};

impl Session {
    /// Asks whether those that are lost are to be started again, with their conversations.
    pub(super) fn offer_to_revive(&mut self, lost: &[Lost]) {
        if lost.is_empty() {
            return;
        }
        let members = lost
            .iter()
            .map(|one| ProposedMember {
                name: one.name.to_string(),
                role: one.role.clone(),
                model: self
                    .files
                    .roster
                    .get(&one.name)
                    .ok()
                    .flatten()
                    .map(|member| member.model),
                task: self.crew.dropped.get(&one.name).map(TaskId::to_string),
            })
            .collect();
        let proposal = TeamProposal {
            members,
            rationale:
                "They were lost with an earlier lead. Start them again, each with its conversation?"
                    .to_owned(),
        };
        let made = self.files.requests.create(NewRequest {
            kind: RequestKind::Team,
            sender: AgentName::lead(),
            target: AgentName::user(),
            payload: serde_json::json!(proposal),
            work_version: None,
            task_id: None,
        });
        match made {
            Ok(record) => {
                let names = lost.iter().map(|one| one.name.clone()).collect();
                self.revivals.insert(record.request_id.clone(), names);
                self.opened(record);
            }
            Err(error) => self.complain("nobody was asked about lost teammates", &error),
        }
    }

    /// Starts a lost teammate again, with its conversation.
    pub(super) fn revive(&mut self, name: &AgentName) {
        if self.fleet.get(name).is_some_and(Unit::is_there) {
            return;
        }
        self.watcher.watch(&self.files.workspace.member(name));
        self.write_member(name, |member| member.restarts += 1);
        self.fleet
            .insert(name.clone(), Unit::reviving(clock::instant()));
    }

    pub(super) fn account_text(&self, account: &Account) -> String {
        let mut lines = vec!["This workspace was worked in before.".to_owned()];
        let members = self.files.roster.list().unwrap_or_default();
        for member in &members {
            lines.push(format!("- {}", self.describe(member)));
        }
        for (id, subject, owner) in &account.released {
            lines.push(format!(
                "- {id} {subject:?} was in progress with {owner}, who is gone: it is pending again"
            ));
        }
        for name in &account.undone {
            lines.push(format!(
                "- the start of {name} was cut short: it was undone"
            ));
        }
        for record in &account.withdrawn {
            lines.push(format!(
                "- {} ({}) of {}, who is gone: it is over",
                record.request_id, record.kind, record.sender
            ));
        }
        for record in &account.questions {
            lines.push(format!(
                "- {} ({}) of {} waits for its answer",
                record.request_id, record.kind, record.sender
            ));
        }
        if account.leftovers > 0 {
            lines.push(format!(
                "- processes that commands of an earlier run had left running, ended: {}",
                account.leftovers
            ));
        }
        for troubled in &account.worktrees {
            lines.push(format!("- {troubled}"));
        }
        for damaged in &account.damaged {
            lines.push(format!("- damaged: {damaged}"));
        }
        if !account.open.is_empty() {
            lines.push("Open tasks:".to_owned());
        }
        for (id, subject) in &account.open {
            lines.push(format!("- {id} {subject}"));
        }
        if account.more_open > 0 {
            lines.push(format!("- and {} more", account.more_open));
        }
        lines.join("\n")
    }
}
