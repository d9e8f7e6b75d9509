//! The rules of the board as pure functions: what a task waits for, whom it is offered to, and what each change makes
//! of it. No clock, file or lock; `now` is given.

use super::{
    BoardError, Claimant, MAX_DESCRIPTION, MAX_SUBJECT, NewTask, Status, Task, TaskPatch, Verified,
    VerifyRun,
};
use crate::clock::Timestamp;
use crate::ids::{AgentName, TaskId, WorktreeName};

/// Longest assignee, in characters.
const MAX_ASSIGNEE: usize = 200;

/// Why a task is given back; decides whether the attempt counts (SPEC §3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Released {
    /// At a shutdown, or by the lead: the attempt is taken back.
    Orderly,
    /// By recovery or after a failed round: the attempt counts.
    Failed,
    /// Nobody could bring it to an end in this run: the attempt counts, and it is not offered again until the person
    /// releases it or another lead starts. The note says why.
    NotAgain,
    /// By the person: attempts go to 0.
    ByPerson,
}

/// How a task that another one depends on stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Standing {
    Missing,
    Damaged,
    Is(Status),
}

/// Why `standing` of the dependency `id` keeps a task waiting; `None` if it counts as completed.
///
/// Every question of whether a dependency is done comes here.
pub(super) fn obstacle(id: &TaskId, standing: &Standing) -> Option<String> {
    match standing {
        Standing::Is(Status::Completed) => None,
        Standing::Missing => Some(format!("{id} does not exist")),
        Standing::Damaged => Some(format!("{id} is damaged")),
        Standing::Is(Status::Pending) => Some(format!("{id} is pending")),
        Standing::Is(Status::InProgress) => Some(format!("{id} is in progress")),
        Standing::Is(Status::Cancelled) => Some(format!("{id} was cancelled")),
        Standing::Is(Status::Other(status)) => Some(format!("{id} is {status:?}")),
    }
}

/// What a task waits for: the first dependency that no work will complete, else the first that is not completed yet.
pub(super) fn waits_for(
    task: &Task,
    mut standing: impl FnMut(&TaskId) -> Standing,
) -> Option<String> {
    let mut first = None;
    for id in &task.blocked_by {
        let now = standing(id);
        let Some(why) = obstacle(id, &now) else {
            continue;
        };
        if !matches!(now, Standing::Is(Status::Pending | Status::InProgress)) {
            return Some(why);
        }
        first = first.or(Some(why));
    }
    first
}

/// Whether a task for `assignee` may be claimed by `claimant`: its name, else its role, whatever the case.
pub(super) fn fits(assignee: Option<&str>, claimant: Claimant<'_>) -> bool {
    let Some(assignee) = assignee else {
        return true;
    };
    AgentName::parse(assignee).is_ok_and(|name| name == *claimant.name)
        || assignee.to_lowercase() == claimant.role.to_lowercase()
}

/// The task as claimed by `claimant`. `waits` is what keeps it from being ready, `held` a task that `claimant` has.
pub(super) fn claim(
    task: &Task,
    claimant: Claimant<'_>,
    waits: Option<String>,
    held: Option<&TaskId>,
    max_attempts: u32,
    now: Timestamp,
) -> Result<Task, BoardError> {
    let id = &task.id;
    match (&task.status, &task.owner) {
        (Status::InProgress, Some(owner)) if owner == claimant.name => {
            return refuse(format!("{id} is yours already; go on with it"));
        }
        (Status::InProgress | Status::Pending, Some(owner)) => return Err(owned(id, owner)),
        (Status::Pending, None) => {}
        (status, _) => {
            return refuse(format!(
                "{id} is {}; only a pending task can be claimed",
                words(status)
            ));
        }
    }
    if let Some(held) = held {
        return refuse(format!(
            "{} already has {held}; complete it before claiming another",
            claimant.name
        ));
    }
    if let Some(why) = waits {
        return refuse(format!("{id} cannot be claimed yet; {why}"));
    }
    if !fits(task.assignee.as_deref(), claimant) {
        return refuse(format!(
            "{id} is assigned to {}; claim another task",
            task.assignee.as_deref().unwrap_or_default()
        ));
    }
    if task.attempts >= max_attempts {
        return refuse(format!(
            "{id} failed {} times; the person can offer it again with `lead task release {id}`",
            task.attempts
        ));
    }
    Ok(Task {
        status: Status::InProgress,
        owner: Some(claimant.name.clone()),
        work_version: task.work_version + 1,
        attempts: task.attempts + 1,
        verified: None,
        updated_at: now,
        ..task.clone()
    })
}

/// The task of `owner` with what its verify command came to.
pub(super) fn verified(
    task: &Task,
    owner: &AgentName,
    version: u64,
    run: VerifyRun,
    now: Timestamp,
) -> Result<Task, BoardError> {
    holds(task, owner, version)?;
    Ok(Task {
        verified: Some(Verified::Run(run)),
        updated_at: now,
        ..task.clone()
    })
}

/// The task as completed by `owner` under `version`.
pub(super) fn complete(
    task: &Task,
    owner: &AgentName,
    version: u64,
    result: Option<String>,
    now: Timestamp,
) -> Result<Task, BoardError> {
    holds(task, owner, version)?;
    if let Some(result) = result.as_deref()
        && result.len() > MAX_DESCRIPTION
    {
        return refuse(format!(
            "the result has {} bytes; at most {MAX_DESCRIPTION} are kept; put it into a file and name the file",
            result.len()
        ));
    }
    Ok(Task {
        status: Status::Completed,
        result: result.or_else(|| task.result.clone()),
        updated_at: now,
        ..task.clone()
    })
}

/// The task as completed by the person. In progress, its version is raised, so that its owner's is stale.
pub(super) fn complete_by_person(
    task: &Task,
    force: bool,
    now: Timestamp,
) -> Result<Task, BoardError> {
    let id = &task.id;
    let running = task.status == Status::InProgress;
    if task.status == Status::Completed {
        return refuse(format!("{id} is completed already"));
    }
    if running && !force {
        return refuse(in_progress(task, "complete"));
    }
    Ok(Task {
        status: Status::Completed,
        work_version: task.work_version + u64::from(running),
        updated_at: now,
        ..task.clone()
    })
}

/// The task as given back.
pub(super) fn release(
    task: &Task,
    holder: Option<(&AgentName, u64)>,
    why: Released,
    note: Option<String>,
    now: Timestamp,
) -> Result<Task, BoardError> {
    if let Some((owner, version)) = holder {
        holds(task, owner, version)?;
    }
    let attempts = match why {
        Released::Orderly => task.attempts.saturating_sub(1),
        Released::Failed | Released::NotAgain => task.attempts,
        Released::ByPerson => 0,
    };
    let note = note.map(cut);
    let not_offered = match why {
        Released::NotAgain => note.clone().or_else(|| Some("it was given up".to_owned())),
        Released::ByPerson => None,
        Released::Orderly | Released::Failed => task.not_offered.clone(),
    };
    let untouched = task.status == Status::Pending && task.owner.is_none();
    if task.status != Status::InProgress && why != Released::ByPerson {
        return refuse(format!(
            "{} is {}; only a task in progress is released",
            task.id,
            words(&task.status)
        ));
    }
    Ok(Task {
        status: Status::Pending,
        owner: None,
        work_version: task.work_version + u64::from(!untouched),
        attempts,
        result: note.or_else(|| task.result.clone()),
        not_offered,
        updated_at: now,
        ..task.clone()
    })
}

/// The task as offered again after an earlier run had given it up; `None` if that holds for it already.
pub(super) fn offer_anew(task: &Task, now: Timestamp) -> Option<Task> {
    task.not_offered.as_ref()?;
    Some(Task {
        not_offered: None,
        updated_at: now,
        ..task.clone()
    })
}

/// The task as cancelled. In progress, its version is raised, so that its owner's is stale.
pub(super) fn cancel(task: &Task, force: bool, now: Timestamp) -> Result<Task, BoardError> {
    let id = &task.id;
    let running = task.status == Status::InProgress;
    match &task.status {
        Status::Cancelled => return refuse(format!("{id} is cancelled already")),
        Status::InProgress if !force => return refuse(in_progress(task, "cancel")),
        Status::Completed if !force => {
            return refuse(format!(
                "{id} is completed; use --force to cancel it all the same"
            ));
        }
        Status::Pending | Status::InProgress | Status::Completed | Status::Other(_) => {}
    }
    Ok(Task {
        status: Status::Cancelled,
        owner: if running { None } else { task.owner.clone() },
        work_version: task.work_version + u64::from(running),
        updated_at: now,
        ..task.clone()
    })
}

/// The task with `patch` applied. Whether the dependencies exist and close no cycle is the caller's to look up.
pub(super) fn update(task: &Task, patch: &TaskPatch, now: Timestamp) -> Result<Task, BoardError> {
    untouched(task, "changed")?;
    let mut changed = task.clone();
    if let Some(subject) = &patch.subject {
        check_subject(subject)?;
        subject.clone_into(&mut changed.subject);
    }
    if let Some(description) = &patch.description {
        check_description(description)?;
        description.clone_into(&mut changed.description);
    }
    if let Some(assignee) = &patch.assignee {
        changed.assignee = checked_assignee(assignee.as_deref())?;
    }
    changed
        .blocked_by
        .retain(|id| !patch.remove_blocked_by.contains(id));
    for id in &patch.add_blocked_by {
        if !changed.blocked_by.contains(id) {
            changed.blocked_by.push(id.clone());
        }
    }
    changed.updated_at = now;
    Ok(changed)
}

/// The task as bound to `worktree`. Whether another one uses that name is the caller's to look up.
pub(super) fn bind(
    task: &Task,
    worktree: &WorktreeName,
    now: Timestamp,
) -> Result<Task, BoardError> {
    untouched(task, "bound to a worktree")?;
    if let Some(bound) = &task.worktree {
        return refuse(format!(
            "{} is bound to the worktree {bound} already",
            task.id
        ));
    }
    Ok(Task {
        worktree: Some(worktree.clone()),
        updated_at: now,
        ..task.clone()
    })
}

/// A new task at place `order` of its batch.
pub(super) fn create(new: &NewTask, order: u32, now: Timestamp) -> Result<Task, BoardError> {
    check_subject(&new.subject)?;
    check_description(&new.description)?;
    let mut blocked_by: Vec<TaskId> = Vec::with_capacity(new.blocked_by.len());
    for id in &new.blocked_by {
        if !blocked_by.contains(id) {
            blocked_by.push(id.clone());
        }
    }
    Ok(Task {
        id: new.id.clone(),
        subject: new.subject.clone(),
        description: new.description.clone(),
        status: Status::Pending,
        owner: None,
        blocked_by,
        worktree: new.worktree.clone(),
        assignee: checked_assignee(new.assignee.as_deref())?,
        verify: new.verify.clone().filter(|text| !text.trim().is_empty()),
        work_version: 0,
        attempts: 0,
        result: None,
        verified: None,
        not_offered: None,
        created_at: now,
        updated_at: now,
        order,
        extra: serde_json::Map::new(),
    })
}

/// Whether `owner` has the task in progress under `version`.
fn holds(task: &Task, owner: &AgentName, version: u64) -> Result<(), BoardError> {
    let id = &task.id;
    if task.work_version != version {
        return Err(BoardError::Stale {
            id: id.clone(),
            given: version,
            now: task.work_version,
        });
    }
    if task.status != Status::InProgress {
        return refuse(format!(
            "{id} is {}, not in progress; claim it first",
            words(&task.status)
        ));
    }
    match &task.owner {
        Some(other) if other != owner => Err(owned(id, other)),
        Some(_) => Ok(()),
        None => refuse(format!("{id} has no owner; claim it first")),
    }
}

fn untouched(task: &Task, act: &str) -> Result<(), BoardError> {
    if task.status != Status::Pending {
        return refuse(format!(
            "{} is {}; only a pending task that nobody has can be {act}",
            task.id,
            words(&task.status)
        ));
    }
    match &task.owner {
        Some(owner) => Err(owned(&task.id, owner)),
        None => Ok(()),
    }
}

fn check_subject(subject: &str) -> Result<(), BoardError> {
    let length = subject.chars().count();
    if subject.trim().is_empty() {
        refuse("a task needs a subject; say in one line what is to be done".to_owned())
    } else if length > MAX_SUBJECT {
        refuse(format!(
            "the subject has {length} characters; at most {MAX_SUBJECT} are allowed; put the rest into the description"
        ))
    } else if subject.contains(['\n', '\r']) {
        refuse("the subject has several lines; put the rest into the description".to_owned())
    } else {
        Ok(())
    }
}

fn check_description(description: &str) -> Result<(), BoardError> {
    if description.len() > MAX_DESCRIPTION {
        return refuse(format!(
            "the description has {} bytes; at most {MAX_DESCRIPTION} are allowed; put the rest into a file",
            description.len()
        ));
    }
    Ok(())
}

fn checked_assignee(assignee: Option<&str>) -> Result<Option<String>, BoardError> {
    let Some(text) = assignee.map(str::trim).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    if text.chars().count() > MAX_ASSIGNEE || text.chars().any(char::is_control) {
        return refuse(format!(
            "the assignee is no name or role; give one line of at most {MAX_ASSIGNEE} characters"
        ));
    }
    Ok(Some(text.to_owned()))
}

/// A note as kept: what does not fit is cut from its front, for an ending says more than a beginning.
fn cut(mut note: String) -> String {
    if note.len() > MAX_DESCRIPTION {
        let mut from = note.len() - MAX_DESCRIPTION;
        while !note.is_char_boundary(from) {
            from += 1;
        }
        note.drain(..from);
    }
    note
}

fn in_progress(task: &Task, act: &str) -> String {
    let owner = task.owner.as_ref().map_or("nobody", AgentName::as_str);
    format!(
        "{} is in progress by {owner}; use --force to {act} it and end that work",
        task.id
    )
}

/// A status in running text.
pub(super) fn words(status: &Status) -> &str {
    match status {
        Status::Pending => "pending",
        Status::InProgress => "in progress",
        Status::Completed => "completed",
        Status::Cancelled => "cancelled",
        Status::Other(other) => other,
    }
}

fn owned(id: &TaskId, owner: &AgentName) -> BoardError {
    BoardError::Owned {
        id: id.clone(),
        owner: owner.clone(),
    }
}

fn refuse<T>(why: String) -> Result<T, BoardError> {
    Err(BoardError::Refused(why))
}
