//! `lead team`, and how teammates are listed wherever they are.

use std::collections::BTreeMap;

use clap::Subcommand;
use serde_json::{Value, json};

use super::team_end;
use crate::cli::exit::{Failure, Kind, Outcome};
use crate::cli::place::Place;
use crate::cli::shell;
use crate::cli::table::Table;
use crate::clock::Timestamp;
use crate::ids::AgentName;
use crate::team::{Member, MemberStatus, Session, lead_presence};

/// What is done with the team.
#[derive(Debug, Subcommand)]
pub enum TeamVerb {
    /// All teammates
    #[command(after_help = "Example:\n  lead team list --json")]
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Ask a teammate to stop: it wraps up, says what is open, and gives its task back
    #[command(after_help = "Example:\n  lead team stop alice")]
    Stop {
        /// Its name
        name: String,
        /// As JSON: the request, which says how far it has come
        #[arg(long)]
        json: bool,
    },
    /// End a teammate's process, as one that does not stop; it is not started again
    #[command(after_help = "Example:\n  lead team kill alice")]
    Kill {
        /// Its name
        name: String,
        /// As JSON: the request to stop, closed
        #[arg(long)]
        json: bool,
    },
}

impl TeamVerb {
    /// Whether it changes nothing.
    pub fn only_reads(&self) -> bool {
        matches!(self, Self::List { .. })
    }
}

/// A member with what its lock says.
#[derive(Debug)]
pub struct Living {
    /// The record.
    pub member: Member,
    /// Whether its process lives.
    pub alive: bool,
    /// Since when it is lost, if it is.
    pub lost: Option<Timestamp>,
    /// Since when it works without a sign, as its lead says.
    pub stalled: Option<Timestamp>,
}

/// Runs the verb.
pub fn run(place: &Place, verb: &TeamVerb) -> Outcome {
    match verb {
        TeamVerb::List { json } => list(place, *json),
        TeamVerb::Stop { name, json } => team_end::stop(place, name, *json),
        TeamVerb::Kill { name, json } => team_end::kill(place, name, *json),
    }
}

fn list(place: &Place, as_json: bool) -> Outcome {
    let team = living(place)?;
    if as_json {
        shell::out_json(&team.iter().map(Living::json).collect());
    } else if team.is_empty() {
        shell::out_line("no teammates");
    } else {
        print(&team);
    }
    Ok(Kind::Completed)
}

/// All members.
pub fn living(place: &Place) -> Result<Vec<Living>, Failure> {
    let roster = place.roster();
    let members = roster.list()?;
    let stalled = stalled(place);
    Ok(members
        .into_iter()
        .map(|member| {
            let alive = roster.is_alive(&member.name);
            Living {
                alive,
                lost: roster.lost_since(&member),
                stalled: stalled.get(&member.name).copied().filter(|_| alive),
                member,
            }
        })
        .collect())
}

/// Only a living lead knows.
fn stalled(place: &Place) -> BTreeMap<AgentName, Timestamp> {
    lead_presence::living_lead(&place.workspace)
        .and_then(|_| Session::load(&place.workspace))
        .map(|session| session.stalled)
        .unwrap_or_default()
}

impl Living {
    /// The record with `alive` added, and `lostSince` or `stalledSince` if it is.
    pub fn json(&self) -> Value {
        let mut value = json!(self.member);
        value["alive"] = self.alive.into();
        for (key, since) in [("lostSince", self.lost), ("stalledSince", self.stalled)] {
            if let Some(since) = since {
                value[key] = json!(since);
            }
        }
        value
    }

    /// Its status in words: a dead one that did not stop is lost.
    pub fn status_text(&self) -> String {
        let status = match self.member.status {
            MemberStatus::Stopped => "stopped",
            MemberStatus::Failed => "failed",
            _ if !self.alive => "lost",
            MemberStatus::Starting => "starting",
            MemberStatus::Working => "working",
            MemberStatus::Idle => "idle",
            MemberStatus::WaitingApproval => "waiting for approval",
            MemberStatus::Stopping => "stopping",
        };
        let since = |at: Timestamp| format!("{status} since {} UTC", at.time_of_day());
        if let Some(at) = self.stalled {
            return format!("stalled since {} UTC", at.time_of_day());
        }
        let status = self.lost.map_or_else(|| status.to_owned(), since);
        match &self.member.last_error {
            Some(error) if !self.alive => format!("{status}: {error}"),
            _ => status,
        }
    }
}

/// Prints the table; nothing without members.
pub fn print(team: &[Living]) {
    for line in lines(team) {
        shell::out_line(&line);
    }
}

/// The table; empty without members.
pub fn lines(team: &[Living]) -> Vec<String> {
    let mut table = Table::new(&["name", "role", "status", "task", "turns", "tokens", "model"]);
    for living in team {
        let member = &living.member;
        table.row(&[
            member.name.to_string(),
            member.role.clone(),
            living.status_text(),
            member
                .task
                .as_ref()
                .map_or_else(|| "-".to_owned(), ToString::to_string),
            member.turns.to_string(),
            member.tokens.to_string(),
            member.model.clone(),
        ]);
    }
    table.lines()
}
