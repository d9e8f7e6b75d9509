//! What the person changes on the board. A former owner and a living lead are told by message; the journal says `user`.

use super::task::{self, AddArgs, EndArgs, UpdateArgs};
use serde_json::json;

use crate::board::{Board, BoardError, NewTask, Released, Task, TaskPatch};
use crate::cli::exit::{Failure, Kind, Outcome};
use crate::cli::place::Place;
use crate::cli::safe::safe_line;
use crate::cli::shell;
use crate::ids::{AgentName, TaskId, WorktreeName};
use crate::mailbox::{self, Message};
use crate::worktree;

/// Longest line about a worktree, in characters.
const MAX_LINE: usize = 2_000;

/// `lead task add`
pub fn add(place: &Place, args: &AddArgs) -> Outcome {
    let blocked_by = ids(&args.blocked_by)?;
    let worktree = args.worktree.as_deref().map(WorktreeName::parse);
    let worktree = worktree.transpose().map_err(Failure::usage)?;
    let new = NewTask {
        id: TaskId::random(),
        subject: args.subject.clone(),
        description: args.description.clone(),
        blocked_by,
        assignee: args.assignee.clone(),
        worktree: worktree.clone(),
        verify: args.verify.clone(),
    };
    let board = place.board_to_change()?;
    new.check().map_err(Failure::usage)?;
    for id in &new.blocked_by {
        match board.get(id) {
            // A damaged one exists; it blocks until it is mended.
            Ok(_) | Err(BoardError::Damaged { .. }) => {}
            Err(error) => return Err(refused(error)),
        }
    }
    if let Some(name) = &worktree {
        worktree::create(&place.workspace, name).map_err(Failure::failed)?;
        bring_in(place, &board, name, &new.blocked_by);
    }
    let created = board
        .lock(&AgentName::user())
        .and_then(|mut board| board.create(std::slice::from_ref(&new)))
        .map_err(|error| match &worktree {
            Some(name) => Failure::failed(format!(
                "Partial success: worktree {name} was made, but no task; {error}; `lead worktree remove {name}` takes it \
                 back, its branch {} stays",
                name.branch()
            )),
            None => refused(error),
        })?;
    place.keep_out_of_git();
    let task = created
        .into_iter()
        .next()
        .ok_or_else(|| Failure::failed("the board made no task"))?;
    if args.json {
        shell::out_json(&serde_json::to_value(&task)?);
    } else {
        shell::out_line(task.id.as_str());
    }
    Ok(Kind::Completed)
}

/// Merges the branches of completed dependencies into a new worktree. One that cannot be merged keeps the task waiting.
fn bring_in(place: &Place, board: &Board, name: &WorktreeName, blocked_by: &[TaskId]) {
    for branch in board.branches_for(name, blocked_by) {
        if let Err(error) = worktree::bring(&place.workspace, name, &branch) {
            shell::err_line(&safe_line(
                &format!("the task is blocked: {error}"),
                MAX_LINE,
            ));
        }
    }
}

/// `lead task update`
pub fn update(place: &Place, args: &UpdateArgs) -> Outcome {
    let patch = TaskPatch {
        subject: args.subject.clone(),
        description: args.description.clone(),
        assignee: args
            .assignee
            .as_ref()
            .map(|who| Some(who.clone()).filter(|who| !who.is_empty())),
        add_blocked_by: ids(&args.add_blocked_by)?,
        remove_blocked_by: ids(&args.remove_blocked_by)?,
    };
    if patch == TaskPatch::default() {
        return Err(Failure::usage(
            "nothing to change was given; nothing was done; `lead task update --help` shows what there is",
        ));
    }
    let id = task::id(&args.id)?;
    let task = place
        .board_to_change()?
        .lock(&AgentName::user())
        .and_then(|mut board| board.update(&id, &patch))
        .map_err(refused)?;
    if args.json {
        shell::out_json(&json!(task));
    } else {
        shell::out_line(&format!("{} changed", task.id));
    }
    Ok(Kind::Completed)
}

/// `lead task release`
pub fn release(place: &Place, args: &EndArgs) -> Outcome {
    let id = task::id(&args.id)?;
    let board = place.board_to_change()?;
    let mut locked = board.lock(&AgentName::user()).map_err(refused)?;
    // Under the lock: it may be claimed at this moment.
    refuse_in_progress(&board.get(&id).map_err(refused)?, args.force)?;
    let released = locked.release(&id, None, Released::ByPerson, None);
    drop(locked);
    let (task, former) = released.map_err(refused)?;
    tell(place, &task, former.as_ref(), "released")?;
    if args.json {
        shell::out_json(&json!(task));
    } else {
        shell::out_line(&format!("{id} released"));
    }
    Ok(Kind::Completed)
}

/// `lead task complete`
pub fn complete(place: &Place, args: &EndArgs) -> Outcome {
    let id = task::id(&args.id)?;
    let board = place.board_to_change()?;
    let (mut done, former) = board
        .lock(&AgentName::user())
        .and_then(|mut board| board.complete_by_person(&id, args.force))
        .map_err(refused)?;
    done.unblocked.retain(|task| board.can_start(task));
    tell(place, &done.task, former.as_ref(), "completed")?;
    warn_of_leftovers(place, &done.task);
    if done.task.verify.is_some() {
        shell::err_line("its verify command was not run: your word counts");
    }
    let unblocked = done.unblocked.into_iter().map(|task| task.id).collect();
    let ended = Ended {
        task: &done.task,
        what: "completed",
        others: ("unblocked", unblocked),
        how: "is ready now",
    };
    ended.say(args.json);
    Ok(Kind::Completed)
}

/// What builds on the task starts from its branch. The person's own files are not committed unasked.
fn warn_of_leftovers(place: &Place, task: &Task) {
    let Some(name) = &task.worktree else { return };
    let why = match worktree::leftovers(&place.workspace, name) {
        Ok(None) => return,
        Ok(Some(left)) => format!("{} in .worktrees/{name} in no commit", left.counted()),
        Err(why) => why,
    };
    let text = format!(
        "warning: {why}; what builds on {} starts from {}; commit there what it should find",
        task.id,
        name.branch()
    );
    shell::err_line(&safe_line(&text, MAX_LINE));
}

/// `lead task cancel`
pub fn cancel(place: &Place, args: &EndArgs) -> Outcome {
    let id = task::id(&args.id)?;
    let (task, former, dependents) = place
        .board_to_change()?
        .lock(&AgentName::user())
        .and_then(|mut board| board.cancel(&id, args.force))
        .map_err(refused)?;
    tell(place, &task, former.as_ref(), "cancelled")?;
    let ended = Ended {
        task: &task,
        what: "cancelled",
        others: ("dependents", dependents),
        how: "waits for it and is blocked now",
    };
    ended.say(args.json);
    Ok(Kind::Completed)
}

/// What the end of a task means for others.
struct Ended<'a> {
    task: &'a Task,
    what: &'a str,
    /// What they are called in the JSON, and who they are.
    others: (&'a str, Vec<TaskId>),
    how: &'a str,
}

impl Ended<'_> {
    fn say(&self, as_json: bool) {
        let (key, others) = &self.others;
        if as_json {
            let mut task = json!(self.task);
            task[*key] = json!(others);
            return shell::out_json(&task);
        }
        shell::out_line(&format!("{} {}", self.task.id, self.what));
        for other in others {
            shell::out_line(&format!("{other} {}", self.how));
        }
    }
}

fn refuse_in_progress(task: &Task, force: bool) -> Result<(), Failure> {
    match (&task.owner, force) {
        (Some(owner), false) => Err(Failure::failed(format!(
            "{} is in progress; {owner} works on it; give --force to take it away",
            task.id
        ))),
        _ => Ok(()),
    }
}

/// Tells the former owner and a living lead.
fn tell(
    place: &Place,
    task: &Task,
    former: Option<&AgentName>,
    change: &str,
) -> Result<(), Failure> {
    let mut to: Vec<&AgentName> = former
        .into_iter()
        .filter(|owner| !owner.is_lead())
        .collect();
    let lead = AgentName::lead();
    if place.has_lead() {
        to.push(&lead);
    }
    let post = place.post()?;
    for name in to {
        let text = format!("The person has {change} {} ({}).", task.id, task.subject);
        let message = Message::new(
            &AgentName::user(),
            name,
            mailbox::Kind::TaskNotification,
            text,
        )
        .with("task_id", task.id.as_str())
        .with("change", change);
        post.deliver(&message)?;
    }
    Ok(())
}

fn ids(texts: &[String]) -> Result<Vec<TaskId>, Failure> {
    texts.iter().map(|text| task::id(text)).collect()
}

/// A refusal leaves everything as it was.
fn refused(error: BoardError) -> Failure {
    match error {
        BoardError::Lock(_) | BoardError::Store(_) => Failure::from(error),
        BoardError::Damaged { .. } => Failure::failed(format!(
            "{error}; nothing was changed; `lead doctor` says what to do"
        )),
        other => Failure::failed(format!(
            "{other}; nothing was changed; `lead task list` shows how things stand"
        )),
    }
}
