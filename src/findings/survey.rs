//! All findings of a workspace. Reads only; what is to be done about each is named, not done.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::Books;
use super::files::{self, Kept, LineFile, What};
use super::ground::{Fate, Ground, Left, ReadFailed};
use super::judge::{BadLine, Depth, Fault, judge};
use super::leases;
use super::trees;
use crate::board::{self, Entry};
use crate::ids::{AgentName, RequestId, TaskId};
use crate::request::{RequestKind, RequestStatus};
use crate::store::StoreError;
use crate::store::watch::Stamp;

/// How many open tasks are named one by one.
pub const MAX_LISTED: usize = 50;

/// Something that is not in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The check that found it.
    pub check: &'static str,
    /// What it is about and what is wrong.
    pub detail: String,
    /// What is to be done.
    pub remedy: Remedy,
}

/// What is to be done about a finding.
#[derive(Debug, Clone, PartialEq)]
pub enum Remedy {
    /// Nothing: it is as it should be, and good to know.
    None,
    /// Only a person can say; this in words.
    Person(String),
    /// It is put right by somebody who lives; this in words.
    Others(String),
    /// It can be put right now.
    Act(Act),
}

/// What puts something right.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// Moves a file into quarantine. Only after a second look.
    SetAside(Seen, String),
    /// Moves lines of a file into quarantine. Only after a second look.
    SetLinesAside(Seen, Vec<BadLine>),
    /// Deletes a temporary file. Only after a second look.
    Sweep(Seen),
    /// Sets the permission bits.
    SetMode(PathBuf, u32),
    /// Locks the board once, so that what a killed process left is told.
    CatchUp,
    /// Gives a task back whose owner (`None`: nobody) is gone.
    Release(TaskId, Option<AgentName>, u64),
    /// Ends the leases of an agent that is gone.
    EndLeases(AgentName),
    /// Takes back a start that a crash cut short.
    Undo(AgentName),
    /// Closes a request that nobody waits for any more.
    Close(RequestId, RequestKind, RequestStatus),
}

/// A file and how it looked.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// The file.
    pub kept: Kept,
    /// Its look.
    pub stamp: Stamp,
}

/// What was looked at, and what was found.
#[derive(Debug, Default)]
pub struct Survey {
    /// Each check with how many things it looked at, in the order of looking.
    pub looked: Vec<(&'static str, usize)>,
    /// What was found, in the same order.
    pub findings: Vec<Finding>,
}

/// Looks at all of the workspace.
pub fn survey(books: Books<'_>) -> Survey {
    let mut survey = Survey::default();
    let (kept, unlisted) = files::all_listed(books.workspace);
    let lead = crate::team::lead_presence::is_there(books.workspace);
    for one in &kept {
        survey.looked_at(one.what.check());
        if let Some(finding) = of_file(books, one, Depth::Lines, lead) {
            survey.findings.push(finding);
        }
    }
    for (_, error) in &unlisted {
        survey.look("reading", 1, vec![unlistable(error)]);
    }
    let dirs = unlisted.into_iter().map(|(path, _)| Kept {
        path,
        what: What::Directory,
    });
    let with_modes: Vec<Kept> = kept.iter().cloned().chain(dirs).collect();
    survey.look("modes", with_modes.len(), modes(books, &with_modes));
    survey.look("names", kept.len(), clashes(books, &kept));
    let change = books.board.unfinished().map(|why| {
        let why = format!("{}: {why}", shown(books, &books.workspace.board_lock()));
        finding("board", why, Remedy::Act(Act::CatchUp))
    });
    survey.look("board", 1, change.into_iter().collect());
    let ground = match Ground::read(books) {
        Ok(ground) => ground,
        Err(error) => {
            survey.look("reading", 1, vec![unread(&error)]);
            return survey;
        }
    };
    let open = ground.open_tasks().count();
    survey.look("owners", open, owners(&ground));
    survey.look("open", open, open_tasks(&ground));
    survey.look("dependencies", open, dependencies(books, &ground));
    survey.look("leases", 1, leases::of_the_dead(books, &ground));
    survey.look("worktrees", open, trees::worktrees(books, &ground));
    survey.look("team", ground.members.len(), team(&ground));
    survey.look("questions", ground.requests.len(), questions(&ground));
    survey
}

/// What stands in it is not looked at.
fn unlistable(error: &StoreError) -> Finding {
    let remedy = "give yourself the right to read it, and look again".to_owned();
    finding(
        "reading",
        format!("{error}; {}", error.source),
        Remedy::Person(remedy),
    )
}

/// The rest takes tasks, members and requests together.
fn unread(error: &ReadFailed) -> Finding {
    let cause = std::error::Error::source(error).map_or_else(String::new, |why| format!("; {why}"));
    let detail = format!("{error}{cause}; what the files say together is not looked at");
    let remedy = "put right what cannot be read, and look again".to_owned();
    finding("reading", detail, Remedy::Person(remedy))
}

impl Survey {
    fn looked_at(&mut self, check: &'static str) {
        match self.looked.last_mut() {
            Some((last, count)) if *last == check => *count += 1,
            _ => self.looked.push((check, 1)),
        }
    }

    fn look(&mut self, check: &'static str, count: usize, found: Vec<Finding>) {
        self.looked.push((check, count));
        self.findings.extend(found);
    }
}

/// What is wrong with one file, and what is to be done about it while a `lead` lives or not.
pub(super) fn of_file(books: Books<'_>, kept: &Kept, depth: Depth, lead: bool) -> Option<Finding> {
    // Before the reading: what changes meanwhile looks different next time.
    let stamp = Stamp::of(&kept.path);
    let name = shown(books, &kept.path);
    let seen = Seen {
        kept: kept.clone(),
        stamp,
    };
    let fault = match judge(books, kept, depth) {
        Ok(fault) => fault?,
        Err(error) => {
            let detail = format!("{name}: {error}; {}", error.source);
            let remedy = Remedy::Person("make it readable, or move it away".to_owned());
            return Some(finding(kept.what.check(), detail, remedy));
        }
    };
    let (detail, remedy) = match fault {
        Fault::File(why) => {
            let remedy = whole_file(books, &seen, &why, lead);
            (format!("{name}: {why}"), remedy)
        }
        Fault::Lines(bad) => (
            lines_text(&name, &bad),
            Remedy::Act(Act::SetLinesAside(seen, bad)),
        ),
    };
    Some(finding(kept.what.check(), detail, remedy))
}

fn whole_file(books: Books<'_>, seen: &Seen, why: &str, lead: bool) -> Remedy {
    let what = &seen.kept.what;
    if *what == What::Leftover {
        return Remedy::Act(Act::Sweep(seen.clone()));
    }
    if *what == What::Lock && why.contains("hard link") {
        // Somebody may hold it: whoever makes another one would hold that one, too.
        return Remedy::Person("delete its other name".to_owned());
    }
    if let Some(owner) = what.held_open_by()
        && (books.roster.is_alive(owner) || (lead && owner.is_lead()))
    {
        return Remedy::Others(format!("when {owner} has ended; try again then"));
    }
    if *what == What::Session && lead {
        return Remedy::Others("by the lead that runs, with its next change of status".to_owned());
    }
    Remedy::Act(Act::SetAside(seen.clone(), why.to_owned()))
}

fn lines_text(name: &str, bad: &[BadLine]) -> String {
    let first = bad
        .first()
        .map(|line| format!("at byte {}: {}", line.offset, line.why))
        .unwrap_or_default();
    match bad.len() {
        1 => format!("{name}: a line cannot be read, {first}"),
        more => format!("{name}: {more} lines cannot be read, the first {first}"),
    }
}

/// Files that others may read or write. In `.tasks` people keep files of their own making, which others may well read.
fn modes(books: Books<'_>, kept: &[Kept]) -> Vec<Finding> {
    let mut found = Vec::new();
    for one in kept.iter().filter(|one| one.what != What::Leftover) {
        let Ok(metadata) = one.path.symlink_metadata() else {
            continue;
        };
        let in_tasks = one.path.starts_with(books.workspace.tasks_dir());
        let unwanted = if in_tasks { 0o022 } else { 0o077 };
        let needed = if metadata.is_dir() { 0o700 } else { 0o600 };
        let mode = metadata.permissions().mode() & 0o777;
        if !(metadata.is_file() || metadata.is_dir()) {
            continue;
        }
        let what = if mode & needed != needed {
            "its owner may not read and change it"
        } else if mode & unwanted & 0o022 != 0 {
            "others may write it"
        } else if mode & unwanted != 0 {
            "others may read it"
        } else {
            continue;
        };
        let detail = format!("{}: {what} (mode {mode:03o})", shown(books, &one.path));
        let act = Act::SetMode(one.path.clone(), (mode | needed) & !unwanted);
        found.push(finding("modes", detail, Remedy::Act(act)));
    }
    found
}

/// Files whose names differ only in case: they are one agent's, and only one of them is used.
fn clashes(books: Books<'_>, kept: &[Kept]) -> Vec<Finding> {
    let mut same: BTreeMap<String, Vec<&Path>> = BTreeMap::new();
    for one in kept {
        if let What::Member(_) | What::Lines(LineFile::Mailbox(_) | LineFile::Archive(_)) = one.what
        {
            let key = one.path.to_string_lossy().to_ascii_lowercase();
            same.entry(key).or_default().push(&one.path);
        }
    }
    same.into_values()
        .filter(|paths| paths.len() > 1)
        .map(|paths| {
            let names: Vec<String> = paths.iter().map(|path| shown(books, path)).collect();
            finding(
                "names",
                format!(
                    "{}: names that differ only in case are one agent's",
                    names.join(", ")
                ),
                Remedy::Person(
                    "join what they hold in one of them, and move the others away".to_owned(),
                ),
            )
        })
        .collect()
}

fn owners(ground: &Ground) -> Vec<Finding> {
    ground
        .orphans()
        .map(|task| {
            let who = match &task.owner {
                Some(owner) => format!("{owner}, who is gone"),
                None => "nobody".to_owned(),
            };
            let detail = format!("{}: in progress with {who}", task.id);
            let remedy = if ground.lead {
                Remedy::Others("by the lead that runs".to_owned())
            } else {
                let (id, owner) = (task.id.clone(), task.owner.clone());
                Remedy::Act(Act::Release(id, owner, task.work_version))
            };
            finding("owners", detail, remedy)
        })
        .collect()
}

/// What a starting lead tells of the board, too.
fn open_tasks(ground: &Ground) -> Vec<Finding> {
    let count = ground.open_tasks().count();
    if count == 0 {
        return Vec::new();
    }
    let named = ground.open_tasks().take(MAX_LISTED);
    let mut named: Vec<String> = named
        .map(|task| format!("{} {}", task.id, task.subject))
        .collect();
    if count > MAX_LISTED {
        named.push(format!("and {} more", count - MAX_LISTED));
    }
    let detail = format!("{count} open: {}", named.join("; "));
    vec![finding("open", detail, Remedy::None)]
}

fn dependencies(books: Books<'_>, ground: &Ground) -> Vec<Finding> {
    let missing = ground
        .missing_dependencies()
        .into_iter()
        .map(|(task, missing)| {
            let missing: Vec<&str> = missing.into_iter().map(TaskId::as_str).collect();
            let missing = missing.join(", ");
            finding(
                "dependencies",
                format!(
                    "{}: waits for {missing}, of which there is no file",
                    task.id
                ),
                Remedy::Person(format!(
                    "lead task update {} --remove-blocked-by ID, or put the file back",
                    task.id
                )),
            )
        });
    let cycles = books.board.cycles().unwrap_or_default();
    let cycles = cycles.into_iter().map(|cycle| {
        finding(
            "dependencies",
            format!("tasks wait for themselves: {}", board::arrows(&cycle)),
            Remedy::Person("lead task update ID --remove-blocked-by ID for one of them".to_owned()),
        )
    });
    missing.chain(cycles).collect()
}

fn team(ground: &Ground) -> Vec<Finding> {
    let mut found = Vec::new();
    for (member, _) in &ground.members {
        let name = &member.name;
        match ground.left(member) {
            Left::Done => {}
            Left::Lives => found.push(finding(
                "team",
                format!("{name} lives ({})", member.role),
                Remedy::None,
            )),
            Left::Lost => found.push(finding(
                "team",
                format!("{name}: its process is gone; the next lead offers to start it again"),
                Remedy::None,
            )),
            Left::HalfStarted if ground.lead => {}
            Left::HalfStarted => found.push(finding(
                "team",
                format!("{name}: its start was cut short"),
                Remedy::Act(Act::Undo(name.clone())),
            )),
        }
    }
    found
}

fn questions(ground: &Ground) -> Vec<Finding> {
    let mut found = Vec::new();
    for request in &ground.requests {
        let status = match ground.fate(request) {
            Fate::Asked | Fate::Told | Fate::Stopping | Fate::Over(RequestStatus::Declined) => {
                continue;
            }
            Fate::Over(status) => status,
            Fate::Stopped => RequestStatus::Failed,
        };
        let gone = match request.kind {
            RequestKind::Shutdown | RequestKind::PlanWish => &request.target,
            _ => &request.sender,
        };
        let detail = format!(
            "{}: a {} request of {gone}, who is gone, is {}",
            request.request_id, request.kind, request.status
        );
        let remedy = if ground.lead {
            Remedy::Others("by the lead that runs".to_owned())
        } else {
            Remedy::Act(Act::Close(request.request_id.clone(), request.kind, status))
        };
        found.push(finding("questions", detail, remedy));
    }
    found
}

pub(super) fn finding(check: &'static str, detail: String, remedy: Remedy) -> Finding {
    Finding {
        check,
        detail,
        remedy,
    }
}

/// A path as it is told: below the root.
pub(super) fn shown(books: Books<'_>, path: &Path) -> String {
    let below = path.strip_prefix(books.workspace.root()).unwrap_or(path);
    below.display().to_string()
}

/// Files that are not what they should be, one text each: what a starting lead tells of. The lines of files are not read.
pub fn damaged(books: Books<'_>, ground: &Ground) -> Result<Vec<String>, ReadFailed> {
    let mut told: Vec<String> = ground
        .entries
        .iter()
        .filter_map(|entry| match entry {
            Entry::Damaged { id, why, .. } => Some(format!("{id}: {why}")),
            Entry::Task(_) => None,
        })
        .collect();
    for kept in files::all(books.workspace)? {
        match kept.what {
            // Read already, derived, or nothing to speak of.
            What::Task(_) | What::Misnamed | What::Index | What::Leftover => {}
            _ => {
                let found = of_file(books, &kept, Depth::Names, true);
                told.extend(found.map(|found| found.detail));
            }
        }
    }
    Ok(told)
}
