//! Who a name stands for: the lead, and the members with how each is.

use crate::ids::{self, AgentName};
use crate::mailbox::{Directory, Recipient};
use crate::team::{Member, MemberStatus, Roster, lead_presence};
use crate::workspace::Workspace;

/// The team of a workspace as the mailbox sees it.
#[derive(Debug, Clone)]
pub struct TeamDirectory {
    workspace: Workspace,
    roster: Roster,
}

impl TeamDirectory {
    /// Of a workspace.
    pub fn new(workspace: Workspace, roster: Roster) -> Self {
        Self { workspace, roster }
    }

    fn members(&self) -> Vec<Member> {
        self.roster.list().unwrap_or_default()
    }

    /// Its mailbox is always there; without a living lead mail waits for the next one.
    fn lead(&self) -> Recipient {
        let name = AgentName::lead();
        if lead_presence::is_there(&self.workspace) {
            return Recipient::Present(name);
        }
        Recipient::Absent {
            name,
            state: "no lead is running".to_owned(),
        }
    }

    /// How a member is whose process is gone.
    fn state(&self, member: &Member) -> String {
        match member.status {
            MemberStatus::Stopped => "stopped".to_owned(),
            MemberStatus::Failed => match &member.last_error {
                Some(error) => format!("failed: {error}"),
                None => "failed".to_owned(),
            },
            MemberStatus::Starting => "starting".to_owned(),
            MemberStatus::Working
            | MemberStatus::Idle
            | MemberStatus::WaitingApproval
            | MemberStatus::Stopping => match self.roster.lost_since(member) {
                Some(since) => format!("lost since {} UTC", since.time_of_day()),
                None => "lost".to_owned(),
            },
        }
    }
}

impl Directory for TeamDirectory {
    fn lookup(&self, name: &AgentName) -> Recipient {
        if name.is_lead() || *name == AgentName::user() {
            return self.lead();
        }
        let members = self.members();
        let Some(member) = members.iter().find(|member| member.name == *name) else {
            return unknown(name, &members);
        };
        if self.roster.is_alive(&member.name) {
            return Recipient::Present(member.name.clone());
        }
        Recipient::Absent {
            name: member.name.clone(),
            state: self.state(member),
        }
    }

    fn everybody_but(&self, from: &AgentName) -> Vec<AgentName> {
        let living = self
            .members()
            .into_iter()
            .map(|member| member.name)
            .filter(|name| self.roster.is_alive(name));
        std::iter::once(AgentName::lead())
            .chain(living)
            .filter(|name| name != from)
            .collect()
    }
}

fn unknown(name: &AgentName, members: &[Member]) -> Recipient {
    let existing: Vec<String> = std::iter::once("lead".to_owned())
        .chain(members.iter().map(|member| member.name.to_string()))
        .collect();
    Recipient::Unknown {
        nearest: ids::nearest(name.as_str(), existing.iter().map(String::as_str))
            .map(str::to_owned),
        existing,
    }
}
