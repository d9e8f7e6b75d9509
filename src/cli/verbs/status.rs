//! `lead status`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::{requests, team};
use crate::board::{Entry, Status, TaskView};
use crate::cli::exit::{Failure, Kind, Outcome};
use crate::cli::place::Place;
use crate::cli::shell;
use crate::ids::AgentName;
use crate::mailbox::inbox;
use crate::model::gate::{self, Held};
use crate::team::{Session, lead_presence};

/// Prints who is there, what is open, and what waits for an answer.
pub fn run(place: &Place, as_json: bool) -> Outcome {
    let overview = Overview::read(place)?;
    if as_json {
        shell::out_json(&overview.json());
    } else {
        overview.print(place);
    }
    Ok(Kind::Completed)
}

struct Overview {
    lead: Option<Value>,
    team: Vec<team::Living>,
    counts: Counts,
    requests: Vec<crate::request::Record>,
    mail: BTreeMap<AgentName, usize>,
    /// Providers that asked everybody to wait.
    held: Vec<(String, Held)>,
    /// What cannot be read, and is therefore missing above.
    damaged: Vec<Damaged>,
}

/// A file or directory that cannot be read.
struct Damaged {
    path: PathBuf,
    why: String,
}

#[derive(Default)]
struct Counts {
    pending: usize,
    in_progress: usize,
    completed: usize,
    cancelled: usize,
    ready: usize,
    damaged: usize,
}

impl Overview {
    fn read(place: &Place) -> Result<Self, Failure> {
        let board = place.board()?;
        let workspace = &place.workspace;
        let mut damaged = Vec::new();
        let mut mail = BTreeMap::new();
        for agent in place.agents() {
            let waiting = inbox::waiting(workspace, &agent);
            if let Some(waiting) = or_damaged(waiting, workspace.mailbox(&agent), &mut damaged) {
                mail.insert(agent, waiting.len());
            }
        }
        let tasks = board.list().and_then(|all| Ok((all, board.views()?)));
        let tasks = or_damaged(tasks, workspace.tasks_dir(), &mut damaged);
        let team = or_damaged(team::living(place), workspace.members_dir(), &mut damaged);
        let requests = place.requests().open_ones(None);
        let requests = or_damaged(requests, workspace.requests_dir(), &mut damaged);
        Ok(Self {
            lead: lead(place),
            team: team.unwrap_or_default(),
            counts: tasks.map_or_else(Counts::default, |(all, views)| Counts::of(&all, &views)),
            requests: requests.unwrap_or_default(),
            mail,
            held: gate::closed(workspace),
            damaged,
        })
    }

    fn json(&self) -> Value {
        let teammates: Vec<Value> = self.team.iter().map(team::Living::json).collect();
        json!({
            "lead": self.lead,
            "teammates": teammates,
            "tasks": {
                "pending": self.counts.pending,
                "in_progress": self.counts.in_progress,
                "completed": self.counts.completed,
                "cancelled": self.counts.cancelled,
                "ready": self.counts.ready,
                "damaged": self.counts.damaged,
            },
            "requests": self.requests,
            "held": self.held.iter().map(|(provider, held)| {
                json!({"provider": provider, "until": held.until, "by": held.by, "why": held.why})
            }).collect::<Vec<_>>(),
            "mail": self.mail.iter().map(|(agent, n)| (agent.to_string(), json!(n))).collect::<serde_json::Map<_, _>>(),
            "damaged": self.damaged.iter().map(|damaged| {
                json!({"path": damaged.path, "why": damaged.why})
            }).collect::<Vec<_>>(),
        })
    }

    fn print(&self, place: &Place) {
        let style = place.style;
        shell::out_line(&format!(
            "{} {}",
            style.bold("workspace"),
            place.workspace.root().display()
        ));
        shell::out_line(&format!(
            "{} {}",
            style.bold("lead"),
            lead_text(self.lead.as_ref())
        ));
        let counts = &self.counts;
        let damaged = match counts.damaged {
            0 => String::new(),
            n => format!(", {}", style.bad(&format!("{n} damaged"))),
        };
        shell::out_line(&format!(
            "{} {} pending ({} ready), {} in progress, {} completed, {} cancelled{damaged}",
            style.bold("tasks"),
            counts.pending,
            counts.ready,
            counts.in_progress,
            counts.completed,
            counts.cancelled,
        ));
        for (provider, held) in &self.held {
            let why = crate::cli::safe::safe_line(&held.why, 200);
            shell::out_line(&style.warn(&format!(
                "all agents of {provider} wait until {}: {why}",
                held.until
            )));
        }
        team::print(&self.team);
        requests::print(&self.requests);
        let waiting: Vec<String> = self
            .mail
            .iter()
            .filter(|(_, n)| **n > 0)
            .map(|(agent, n)| format!("{agent} {n}"))
            .collect();
        if !waiting.is_empty() {
            shell::out_line(&format!(
                "{} {}",
                style.bold("waiting mail"),
                waiting.join(", ")
            ));
        }
        for damaged in &self.damaged {
            let why = crate::cli::safe::safe_line(&damaged.why, 500);
            shell::out_line(&format!("{} {why}", style.bad("damaged")));
        }
    }
}

/// What was read; else `path` is listed with why not.
fn or_damaged<T>(
    read: Result<T, impl Into<Failure>>,
    path: PathBuf,
    damaged: &mut Vec<Damaged>,
) -> Option<T> {
    read.map_err(|error| {
        let why = error.into().text().to_owned();
        damaged.push(Damaged { path, why });
    })
    .ok()
}

fn lead(place: &Place) -> Option<Value> {
    let alive = lead_presence::living_lead(&place.workspace);
    let session = Session::load(&place.workspace)?;
    Some(json!({
        "pid": alive.flatten().unwrap_or(session.pid),
        "alive": alive.is_some(),
        "model": session.model,
        "status": session.status,
        "since": session.started_at,
        "session": session.id,
    }))
}

fn lead_text(lead: Option<&Value>) -> String {
    let Some(lead) = lead else {
        return "none yet; `lead` starts one".to_owned();
    };
    let text = |key: &str| crate::cli::safe::safe_line(lead[key].as_str().unwrap_or_default(), 80);
    if lead["alive"] == true {
        format!(
            "{} on {}, pid {}, since {}",
            text("status"),
            text("model"),
            lead["pid"],
            text("since")
        )
    } else {
        format!(
            "not running; last session {} on {}",
            text("session"),
            text("model")
        )
    }
}

impl Counts {
    fn of(entries: &[Entry], views: &[TaskView]) -> Self {
        let mut counts = Self {
            ready: views.iter().filter(|view| view.ready).count(),
            ..Self::default()
        };
        for entry in entries {
            match entry {
                Entry::Damaged { .. } => counts.damaged += 1,
                Entry::Task(task) => match task.status {
                    Status::Pending => counts.pending += 1,
                    Status::InProgress => counts.in_progress += 1,
                    Status::Completed => counts.completed += 1,
                    Status::Cancelled => counts.cancelled += 1,
                    Status::Other(_) => {}
                },
            }
        }
        counts
    }
}
