//! Every file of the runtime's own in a workspace, and what each is. Others in the same directories are left alone.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::ids::{AgentName, RequestId, TaskId};
use crate::store::{StoreError, atomic};
use crate::workspace::Workspace;

/// A file of ours, or what stands in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Where.
    pub path: PathBuf,
    /// What it is by its name.
    pub what: What,
}

/// What a file is by its name. The order is that in which they are mended: what others need comes first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// A directory of ours.
    Directory,
    /// Only locked; what stands in it is for people.
    Lock,
    /// `.tasks/task_<8 hex>.json`
    Task(TaskId),
    /// Named like a task, with no id in it.
    Misnamed,
    /// `members/<name>.json`
    Member(AgentName),
    /// `requests/req_<8 hex>.json`
    Request(RequestId),
    /// `session.json`
    Session,
    /// `script.json`
    ScriptNames,
    /// `leases/held.json`
    Leases,
    /// One JSON object a line.
    Lines(LineFile),
    /// `.tasks/.index`
    Index,
    /// Anything in it will do: `.bell`, logs, `gate.json`.
    Output,
    /// A temporary file.
    Leftover,
}

/// A file of lines.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum LineFile {
    /// The board's, or the one before it.
    Journal,
    /// An agent's waiting mail.
    Mailbox(AgentName),
    /// An agent's conversation, or an earlier one of that name.
    Transcript(AgentName),
    /// The mail that an agent took in.
    Archive(AgentName),
    /// `usage.jsonl`
    Usage,
    /// `grants.jsonl`
    Grants,
}

impl What {
    /// The check that it belongs to.
    pub fn check(&self) -> &'static str {
        match self {
            Self::Directory => "directories",
            Self::Lock => "locks",
            Self::Task(_) | Self::Misnamed => "tasks",
            Self::Member(_) => "members",
            Self::Request(_) => "requests",
            Self::Session | Self::ScriptNames => "session",
            Self::Leases => "leases",
            Self::Lines(LineFile::Journal) => "journal",
            Self::Lines(LineFile::Mailbox(_)) => "mailboxes",
            Self::Lines(LineFile::Transcript(_)) => "transcripts",
            Self::Lines(LineFile::Archive(_)) => "archives",
            Self::Lines(LineFile::Usage) => "usage",
            Self::Lines(LineFile::Grants) => "grants",
            Self::Index => "index",
            Self::Output => "outputs",
            Self::Leftover => "leftovers",
        }
    }

    /// The process that has it open for as long as it lives, so that it cannot be moved from under it.
    pub fn held_open_by(&self) -> Option<&AgentName> {
        match self {
            Self::Lines(LineFile::Transcript(owner)) => Some(owner),
            _ => None,
        }
    }
}

/// All files of ours in `workspace`, in the order of [`What`], then of their paths.
pub fn all(workspace: &Workspace) -> Result<Vec<Kept>, StoreError> {
    let (found, unlisted) = all_listed(workspace);
    match unlisted.into_iter().next() {
        Some((_, error)) => Err(error),
        None => Ok(found),
    }
}

/// Those that can be found, and the directories that cannot be listed.
pub fn all_listed(workspace: &Workspace) -> (Vec<Kept>, Vec<(PathBuf, StoreError)>) {
    type Naming = fn(&str) -> Option<What>;
    let state = workspace.state_dir();
    let places: [(PathBuf, Naming); 10] = [
        (workspace.tasks_dir(), in_tasks),
        (workspace.mailboxes_dir(), in_mailboxes),
        (state.clone(), in_state),
        (workspace.members_dir(), in_members),
        (workspace.requests_dir(), in_requests),
        (workspace.transcripts_dir(), in_transcripts),
        (workspace.leases_dir(), in_leases),
        (workspace.archive_dir(), in_archive),
        (workspace.logs_dir(), in_logs),
        (workspace.quarantine_dir(), leftover),
    ];
    let (mut found, mut unlisted) = (Vec::new(), Vec::new());
    for (dir, naming) in places {
        let names = match names(&dir) {
            Ok(Some(names)) => names,
            Ok(None) => continue,
            Err(error) => {
                unlisted.push((dir, error));
                continue;
            }
        };
        found.extend(names.iter().filter_map(|name| {
            let what = naming(name)?;
            let path = dir.join(name);
            Some(Kept { path, what })
        }));
        found.push(Kept {
            path: dir,
            what: What::Directory,
        });
    }
    found.sort_by(|a, b| (&a.what, &a.path).cmp(&(&b.what, &b.path)));
    (found, unlisted)
}

/// The names in `dir`; none if it is no directory, `None` if nothing is there.
fn names(dir: &Path) -> Result<Option<Vec<String>>, StoreError> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let is_dangling_link = dir.symlink_metadata().is_ok();
            return Ok(is_dangling_link.then(Vec::new));
        }
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            // Of what is beneath something that is no directory, only that is told.
            let is_there = dir.symlink_metadata().is_ok();
            return Ok(is_there.then(Vec::new));
        }
        Err(error) => return Err(StoreError::new("list", dir, error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(StoreError::of("list", dir))?.file_name();
        names.extend(name.into_string().ok());
    }
    Ok(Some(names))
}

/// `.<file name with an end>.<random>.tmp`
fn leftover(name: &str) -> Option<What> {
    (atomic::is_leftover(name) && name.matches('.').count() > 3).then_some(What::Leftover)
}

/// Here people keep files of their own, too.
fn in_tasks(name: &str) -> Option<What> {
    match name {
        _ if atomic::is_leftover(name) => [".task_", "..index."]
            .iter()
            .any(|start| name.starts_with(start))
            .then_some(What::Leftover),
        ".lock" => Some(What::Lock),
        ".journal.jsonl" | ".journal.1.jsonl" => Some(What::Lines(LineFile::Journal)),
        ".index" => Some(What::Index),
        ".bell" => Some(What::Output),
        _ => {
            let stem = name.strip_suffix(".json")?;
            stem.strip_prefix("task_")?;
            Some(TaskId::parse(stem).map_or(What::Misnamed, What::Task))
        }
    }
}

fn in_mailboxes(name: &str) -> Option<What> {
    let Some(stem) = name.strip_suffix(".jsonl") else {
        return leftover(name);
    };
    let owner = AgentName::parse(stem).ok()?;
    Some(What::Lines(LineFile::Mailbox(owner)))
}

fn in_state(name: &str) -> Option<What> {
    match name {
        "lead.lock" | "lead.alive" | "worktrees.lock" => Some(What::Lock),
        "session.json" => Some(What::Session),
        "script.json" => Some(What::ScriptNames),
        // What it holds only ever delays, and what cannot be read holds nobody back.
        "gate.json" => Some(What::Output),
        "usage.jsonl" => Some(What::Lines(LineFile::Usage)),
        "grants.jsonl" => Some(What::Lines(LineFile::Grants)),
        _ => leftover(name),
    }
}

fn in_members(name: &str) -> Option<What> {
    if name == ".write.lock" {
        return Some(What::Lock);
    }
    let (stem, end) = name.rsplit_once('.')?;
    match (AgentName::parse_teammate(stem), end) {
        (Ok(agent), "json") => Some(What::Member(agent)),
        (Ok(_), "lock") => Some(What::Lock),
        _ => leftover(name),
    }
}

fn in_requests(name: &str) -> Option<What> {
    if name == ".lock" {
        return Some(What::Lock);
    }
    match name.strip_suffix(".json") {
        Some(stem) => RequestId::parse(stem).ok().map(What::Request),
        None => leftover(name),
    }
}

fn in_leases(name: &str) -> Option<What> {
    match name {
        ".lock" => Some(What::Lock),
        "held.json" => Some(What::Leases),
        _ => leftover(name),
    }
}

fn in_transcripts(name: &str) -> Option<What> {
    let stem = name.strip_suffix(".jsonl")?;
    let owner = AgentName::parse(stem.split('.').next()?).ok()?;
    Some(What::Lines(LineFile::Transcript(owner)))
}

fn in_archive(name: &str) -> Option<What> {
    let owner = AgentName::parse(name.strip_suffix(".jsonl")?).ok()?;
    Some(What::Lines(LineFile::Archive(owner)))
}

fn in_logs(name: &str) -> Option<What> {
    name.strip_suffix(".log").map(|_| What::Output)
}
