//! `lead team list`.

use clap::Subcommand;
use serde_json::{Value, json};

use crate::cli::exit::{Failure, Kind, Outcome};
use crate::cli::place::Place;
use crate::cli::shell;
use crate::cli::table::Table;
use crate::team::{Member, MemberStatus};

/// What is done with the team.
#[derive(Debug, Subcommand)]
pub enum TeamVerb {
    /// All teammates
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

/// A member with what its lock says.
#[derive(Debug)]
pub struct Living {
    /// The record.
    pub member: Member,
    /// Whether its process lives.
    pub alive: bool,
}

/// Runs the verb.
pub fn run(place: &Place, verb: &TeamVerb) -> Outcome {
    let TeamVerb::List { json } = verb;
    let team = living(place)?;
    if *json {
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
    Ok(members
        .into_iter()
        .map(|member| Living {
            alive: roster.is_alive(&member.name),
            member,
        })
        .collect())
}

impl Living {
    /// The record with `alive` added.
    pub fn json(&self) -> Value {
        let mut value = json!(self.member);
        value["alive"] = self.alive.into();
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
        match &self.member.last_error {
            Some(error) if !self.alive => format!("{status}: {error}"),
            _ => status.to_owned(),
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
