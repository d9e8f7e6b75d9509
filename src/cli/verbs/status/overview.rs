//! What the files tell about the team at one moment. What cannot be read is listed; the rest is there all the same.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::board::{Entry, Status, TaskView};
use crate::cli::exit::Failure;
use crate::cli::place::Place;
use crate::cli::safe::safe_line;
use crate::cli::verbs::team;
use crate::ids::AgentName;
use crate::mailbox::inbox;
use crate::model::gate::{self, Held};
use crate::request::Record;
use crate::team::{Session, lead_presence};
use crate::workspace::Workspace;

/// Everything that `lead status` shows.
#[derive(Debug, Default)]
pub(super) struct Overview {
    /// The lead of the last session; `None` before the first.
    pub(super) lead: Option<Lead>,
    /// All teammates.
    pub(super) team: Vec<team::Living>,
    /// Valid tasks in the order of offering.
    pub(super) tasks: Vec<TaskView>,
    /// How many there are of each kind; `None` if that cannot be told.
    pub(super) counts: Option<Counts>,
    /// Open requests, oldest first.
    pub(super) requests: Vec<Record>,
    /// How many messages wait for each.
    pub(super) mail: BTreeMap<AgentName, usize>,
    /// Providers that asked everybody to wait.
    pub(super) held: Vec<(String, Held)>,
    /// What cannot be read, and is therefore missing above.
    pub(super) damaged: Vec<Damaged>,
}

/// The lead as its session and its locks tell.
#[derive(Debug)]
pub(super) struct Lead {
    /// Its process, if it lives.
    pub(super) pid: u32,
    /// Whether it lives.
    pub(super) alive: bool,
    /// What it has written of itself.
    pub(super) session: Session,
}

/// A file or directory that cannot be read.
#[derive(Debug)]
pub(super) struct Damaged {
    path: PathBuf,
    /// In words, the path among them.
    pub(super) why: String,
}

/// Tasks by their status.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) pending: usize,
    pub(super) in_progress: usize,
    pub(super) completed: usize,
    pub(super) cancelled: usize,
    /// Of the pending ones.
    pub(super) ready: usize,
    pub(super) damaged: usize,
}

impl Overview {
    /// Reads the files as they are now.
    pub(super) fn read(place: &Place) -> Self {
        let workspace = &place.workspace;
        let mut damaged = Vec::new();
        if !workspace.root().is_dir() {
            let root = workspace.root().to_path_buf();
            damaged.push(Damaged::of(root, "the workspace is gone"));
        }
        let mut mail = BTreeMap::new();
        for agent in place.agents() {
            let waiting = inbox::waiting(workspace, &agent);
            if let Some(waiting) = or_damaged(waiting, workspace.mailbox(&agent), &mut damaged) {
                mail.insert(agent, waiting.len());
            }
        }
        let board = place
            .board()
            .and_then(|board| Ok(board.views_and_damaged()?));
        let board = or_damaged(board, workspace.tasks_dir(), &mut damaged);
        let knows_tasks = board.is_some();
        let (tasks, bad_tasks) = board.unwrap_or_default();
        let team = or_damaged(team::living(place), workspace.members_dir(), &mut damaged);
        let requests = place.requests().open_ones(None);
        let requests = or_damaged(requests, workspace.requests_dir(), &mut damaged);
        damaged.extend(bad_tasks.iter().filter_map(Damaged::of_task));
        damaged.extend(bad_records(place));
        Self {
            lead: Lead::of(workspace),
            team: team.unwrap_or_default(),
            counts: knows_tasks.then(|| Counts::of(&tasks, bad_tasks.len())),
            tasks,
            requests: requests.unwrap_or_default(),
            mail,
            held: gate::closed(workspace),
            damaged,
        }
    }

    /// The object of SPEC §14.
    pub(super) fn json(&self) -> Value {
        let teammates: Vec<Value> = self.team.iter().map(team::Living::json).collect();
        json!({
            "lead": self.lead.as_ref().map(Lead::json),
            "teammates": teammates,
            "tasks": self.counts.as_ref().map(Counts::json),
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

    /// Agents that have mail.
    pub(super) fn waiting_mail(&self) -> impl Iterator<Item = (&AgentName, usize)> {
        let mail = self.mail.iter().map(|(agent, count)| (agent, *count));
        mail.filter(|(_, count)| *count > 0)
    }

    /// The lead in words, safe for a terminal.
    pub(super) fn lead_text(&self) -> String {
        let Some(lead) = &self.lead else {
            return "none yet; `lead` starts one".to_owned();
        };
        let session = &lead.session;
        let model = safe_line(&session.model, 80);
        if lead.alive {
            let status = safe_line(&session.status, 80);
            format!(
                "{status} on {model}, pid {}, since {}",
                lead.pid, session.started_at
            )
        } else {
            format!("not running; last session {} on {model}", session.id)
        }
    }

    /// Whether a lead lives.
    pub(super) fn has_lead(&self) -> bool {
        self.lead.as_ref().is_some_and(|lead| lead.alive)
    }
}

impl Lead {
    fn of(workspace: &Workspace) -> Option<Self> {
        let alive = lead_presence::living_lead(workspace);
        let session = Session::load(workspace)?;
        Some(Self {
            pid: alive.flatten().unwrap_or(session.pid),
            alive: alive.is_some(),
            session,
        })
    }

    fn json(&self) -> Value {
        json!({
            "pid": self.pid,
            "alive": self.alive,
            "model": self.session.model,
            "status": self.session.status,
            "since": self.session.started_at,
            "session": self.session.id,
        })
    }
}

impl Damaged {
    fn of_task(entry: &Entry) -> Option<Self> {
        match entry {
            Entry::Damaged { path, why, .. } => Some(Self::of(path.clone(), why)),
            Entry::Task(_) => None,
        }
    }

    fn of(path: PathBuf, why: &str) -> Self {
        let why = format!("{}: {why}", path.display());
        Self { path, why }
    }
}

/// Records of members, requests and the session that are no records. Directories that cannot be read are told of already.
fn bad_records(place: &Place) -> Vec<Damaged> {
    let members = place.roster().damaged().unwrap_or_default();
    let requests = place.requests().damaged().unwrap_or_default();
    let session = Session::fault(&place.workspace).map(|why| (place.workspace.session(), why));
    let all = members.into_iter().chain(requests).chain(session);
    all.map(|(path, why)| Damaged::of(path, &why)).collect()
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

impl Counts {
    fn json(&self) -> Value {
        json!({
            "pending": self.pending,
            "in_progress": self.in_progress,
            "completed": self.completed,
            "cancelled": self.cancelled,
            "ready": self.ready,
            "damaged": self.damaged,
        })
    }

    fn of(tasks: &[TaskView], damaged: usize) -> Self {
        let mut counts = Self {
            damaged,
            ..Self::default()
        };
        for view in tasks {
            counts.ready += usize::from(view.ready);
            match view.task.status {
                Status::Pending => counts.pending += 1,
                Status::InProgress => counts.in_progress += 1,
                Status::Completed => counts.completed += 1,
                Status::Cancelled => counts.cancelled += 1,
                Status::Other(_) => {}
            }
        }
        counts
    }
}
