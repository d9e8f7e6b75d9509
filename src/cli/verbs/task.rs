//! `lead task list|show|add|update|release|complete|cancel`.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::task_change;
use crate::board::{Board, Entry, Status, TaskView, Verified, VerifyRun};
use crate::cli::exit::{Failure, Kind, Outcome};
use crate::cli::place::Place;
use crate::cli::safe::{safe, safe_line};
use crate::cli::shell;
use crate::cli::table::Table;
use crate::ids::{AgentName, TaskId, WorktreeName};

/// What is done with tasks.
#[derive(Debug, Subcommand)]
pub enum TaskVerb {
    /// All tasks in the order of offering
    #[command(after_help = "Example:\n  lead task list --json")]
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// One task in full
    #[command(after_help = "Example:\n  lead task show task_1a2b3c4d")]
    Show {
        /// The task's id
        id: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a task; prints its id
    #[command(
        after_help = "Example:\n  lead task add \"Write the parser\" --description \"It reads key = value lines.\" --assignee alice"
    )]
    Add(AddArgs),
    /// Change a task that nobody has begun
    #[command(
        after_help = "Example:\n  lead task update task_1a2b3c4d --add-blocked-by task_99887766"
    )]
    Update(UpdateArgs),
    /// Give a task back, its attempts set to 0
    #[command(after_help = "Example:\n  lead task release task_1a2b3c4d --force")]
    Release(EndArgs),
    /// Count a task as done
    #[command(after_help = "Example:\n  lead task complete task_1a2b3c4d --force")]
    Complete(EndArgs),
    /// Give a task up
    #[command(after_help = "Example:\n  lead task cancel task_1a2b3c4d --force")]
    Cancel(EndArgs),
}

/// A task that is ended or given back.
#[derive(Debug, Args)]
pub struct EndArgs {
    /// The task's id
    pub id: String,
    /// Also one in progress: its owner loses it
    #[arg(long)]
    pub force: bool,
    /// As JSON: the task
    #[arg(long)]
    pub json: bool,
}

/// A new task.
#[derive(Debug, Args)]
pub struct AddArgs {
    /// One line
    pub subject: String,
    /// All that is to be known
    #[arg(long, value_name = "T", default_value = "")]
    pub description: String,
    /// A task that must be completed before; may be given again
    #[arg(long, value_name = "ID")]
    pub blocked_by: Vec<String>,
    /// A teammate's name or a role
    #[arg(long, value_name = "A")]
    pub assignee: Option<String>,
    /// A worktree of its own, made now
    #[arg(long, value_name = "NAME")]
    pub worktree: Option<String>,
    /// A command that must succeed before it counts as completed
    #[arg(long, value_name = "COMMAND")]
    pub verify: Option<String>,
    /// As JSON: the task
    #[arg(long)]
    pub json: bool,
}

/// A change of a task.
#[derive(Debug, Args)]
pub struct UpdateArgs {
    /// The task's id
    pub id: String,
    /// New subject
    #[arg(long, value_name = "T")]
    pub subject: Option<String>,
    /// New description
    #[arg(long, value_name = "T")]
    pub description: Option<String>,
    /// A task that must be completed before; may be given again
    #[arg(long, value_name = "ID")]
    pub add_blocked_by: Vec<String>,
    /// A dependency to take away; may be given again
    #[arg(long, value_name = "ID")]
    pub remove_blocked_by: Vec<String>,
    /// A teammate's name or a role; empty takes it away
    #[arg(long, value_name = "A")]
    pub assignee: Option<String>,
    /// As JSON: the task
    #[arg(long)]
    pub json: bool,
}

impl TaskVerb {
    /// Whether it changes nothing.
    pub fn only_reads(&self) -> bool {
        matches!(self, Self::List { .. } | Self::Show { .. })
    }
}

/// Runs the verb.
pub fn run(place: &Place, verb: &TaskVerb) -> Outcome {
    match verb {
        TaskVerb::List { json } => list(&place.board()?, *json),
        TaskVerb::Show { id, json } => show(&place.board()?, id, *json),
        TaskVerb::Add(args) => task_change::add(place, args),
        TaskVerb::Update(args) => task_change::update(place, args),
        TaskVerb::Release(args) => task_change::release(place, args),
        TaskVerb::Complete(args) => task_change::complete(place, args),
        TaskVerb::Cancel(args) => task_change::cancel(place, args),
    }
}

/// Reads a task's id as typed.
pub fn id(text: &str) -> Result<TaskId, Failure> {
    TaskId::parse(text)
        .map_err(|error| Failure::usage(format!("{error}; `lead task list` lists ids")))
}

fn list(board: &Board, as_json: bool) -> Outcome {
    let (views, damaged) = board.views_and_damaged()?;
    let damaged = damaged.iter().filter_map(|entry| match entry {
        Entry::Damaged { id, path, why } => Some((id, path, why)),
        Entry::Task(_) => None,
    });
    if as_json {
        let mut all: Vec<Value> = views.iter().map(view_json).collect();
        all.extend(damaged.map(|(id, _, why)| json!({ "id": id, "damaged": why, "ready": false })));
        shell::out_json(&Value::Array(all));
        return Ok(Kind::Completed);
    }
    let lines = view_lines(&views);
    if lines.is_empty() {
        shell::out_line("no tasks");
    }
    for line in lines {
        shell::out_line(&line);
    }
    for (_, path, why) in damaged {
        let why = safe_line(&format!("damaged: {}: {why}", path.display()), 400);
        shell::out_line(&why);
    }
    Ok(Kind::Completed)
}

fn show(board: &Board, text: &str, as_json: bool) -> Outcome {
    let view = board.view(&id(text)?).map_err(|error| {
        Failure::failed(format!(
            "{error}; it cannot be shown; `lead task list` lists what there is"
        ))
    })?;
    if as_json {
        shell::out_json(&view_json(&view));
    } else {
        shell::out_line(&view_text(&view));
    }
    Ok(Kind::Completed)
}

/// The task with `ready` and `blockedReason` added.
pub fn view_json(view: &TaskView) -> Value {
    let mut value = json!(view.task);
    value["ready"] = view.ready.into();
    value["blockedReason"] = json!(view.blocked_reason);
    value
}

/// A table of tasks; empty without any.
pub fn view_lines(views: &[TaskView]) -> Vec<String> {
    let mut table = Table::new(&["id", "status", "owner", "worktree", "subject"]);
    for view in views {
        let task = &view.task;
        table.row(&[
            task.id.to_string(),
            status_text(view),
            task.owner
                .as_ref()
                .map_or_else(|| "-".to_owned(), ToString::to_string),
            task.worktree
                .as_ref()
                .map_or_else(|| "-".to_owned(), ToString::to_string),
            task.subject.clone(),
        ]);
    }
    table.lines()
}

/// A task in full, safe for a terminal.
pub fn view_text(view: &TaskView) -> String {
    let task = &view.task;
    let blocked_by: Vec<&str> = task.blocked_by.iter().map(TaskId::as_str).collect();
    let optional = |value: Option<&str>| value.unwrap_or("-").to_owned();
    let run = match &task.verified {
        Some(Verified::Run(run)) => Some(run),
        Some(Verified::Other(_)) | None => None,
    };
    let pairs = [
        ("id", task.id.to_string()),
        ("subject", task.subject.clone()),
        ("status", status_text(view)),
        (
            "owner",
            optional(task.owner.as_ref().map(AgentName::as_str)),
        ),
        ("assignee", optional(task.assignee.as_deref())),
        (
            "blocked by",
            if blocked_by.is_empty() {
                "-".to_owned()
            } else {
                blocked_by.join(", ")
            },
        ),
        (
            "worktree",
            optional(task.worktree.as_ref().map(WorktreeName::as_str)),
        ),
        ("verify", optional(task.verify.as_deref())),
        ("verified", optional(run.map(verified_text).as_deref())),
        ("attempts", task.attempts.to_string()),
        ("changed", task.updated_at.to_string()),
    ];
    let mut text: Vec<String> = pairs
        .iter()
        .map(|(key, value)| format!("{key:<10} {}", safe_line(value, 400)))
        .collect();
    for (title, body) in [
        ("", Some(&task.description)),
        ("verify said:\n", run.map(|run| &run.output)),
        ("result: ", task.result.as_ref()),
    ] {
        if let Some(body) = body.filter(|body| !body.is_empty()) {
            text.push(format!("\n{title}{}", safe(body)));
        }
    }
    text.join("\n")
}

/// What a run of a task's verify command came to, in one line.
fn verified_text(run: &VerifyRun) -> String {
    let passed = if run.passed { "yes" } else { "no" };
    format!("{passed}: `{}` {} at {}", run.command, run.how, run.at)
}

/// A task's status in words.
pub fn status_text(view: &TaskView) -> String {
    match (&view.task.status, &view.blocked_reason) {
        (Status::Pending, _) if view.ready => match &view.task.assignee {
            Some(who) => format!("ready for {who}"),
            None => "ready".to_owned(),
        },
        (Status::Pending, Some(why)) => format!("blocked: {why}"),
        (Status::Pending, None) => "pending".to_owned(),
        (Status::InProgress, _) => "in progress".to_owned(),
        (Status::Completed, _) => "completed".to_owned(),
        (Status::Cancelled, _) => "cancelled".to_owned(),
        (Status::Other(other), _) => other.clone(),
    }
}
