//! Tasks made in this turn: on the lead's desk until the turn's tools have run, then on the board together (SPEC §3.2).
//! Where nobody lives who could claim them, those made before the person is asked something are published before the question:
//! it may stay open for hours, in which other terminals see them, and a killed lead leaves no worktree without its task.

use crate::board::{BoardError, LockedBoard, NewTask};
use crate::ids::{TaskId, WorktreeName};
use crate::tool::AgentContext;
use crate::tool::errors::board_words;

/// Puts the staged tasks on the board, all or none. After an error they are no longer staged: the model is told and may
/// make them again.
pub(crate) fn publish(context: &AgentContext) -> Result<(), String> {
    let (staged, published) = {
        let mut desk = context.desk.state();
        let staged = std::mem::take(&mut desk.staged);
        (staged, std::mem::take(&mut desk.published))
    };
    if staged.is_empty() {
        return Ok(());
    }
    put_on_board(context, &staged).map_err(|why| {
        let not_made = if published.is_empty() {
            format!(
                "the tasks of this turn were not made: {why}; none of them is on the board; make them again"
            )
        } else {
            let there: Vec<&str> = published.iter().map(TaskId::as_str).collect();
            format!(
                "of the tasks of this turn only {} are on the board; the others were not made: {why}; make those again",
                there.join(", ")
            )
        };
        match left_worktrees(context, &staged) {
            None => not_made,
            Some(left) => format!("Partial success: {not_made}. {left}"),
        }
    })
}

/// Before a call that waits for the person: puts the staged tasks on the board, all or none. After an error they are still
/// staged, and the end of the turn tries again. While teammates live it waits for that end: one of them could claim a task
/// that is half described.
pub(crate) fn publish_before_asking(context: &AgentContext) -> Result<(), String> {
    let staged = context.desk.state().staged.clone();
    let claimants = context.directory.everybody_but(&context.agent);
    if staged.is_empty() || !claimants.is_empty() {
        return Ok(());
    }
    put_on_board(context, &staged)
        .map_err(|why| format!("the tasks of this turn are not on the board: {why}"))?;
    let mut desk = context.desk.state();
    desk.staged.clear();
    desk.published
        .extend(staged.into_iter().map(|task| task.id));
    Ok(())
}

fn put_on_board(context: &AgentContext, staged: &[NewTask]) -> Result<(), String> {
    check_worktrees(context, staged)?;
    lock_and(context, |board| board.create(staged).map(drop))
}

/// That nobody has removed a worktree meanwhile that was made for a task which is on no board yet: a turn may wait long for
/// the person.
pub(crate) fn check_worktrees(context: &AgentContext, staged: &[NewTask]) -> Result<(), String> {
    let bound = staged.iter().filter_map(|task| task.worktree.as_ref());
    for name in bound {
        if !context.workspace.worktree(name).is_dir() {
            return Err(format!("worktree {name} was removed meanwhile"));
        }
    }
    Ok(())
}

/// One change of the board by this agent; errors in words for a model.
pub(crate) fn lock_and<T>(
    context: &AgentContext,
    change: impl FnOnce(&mut LockedBoard<'_>) -> Result<T, BoardError>,
) -> Result<T, String> {
    context
        .board
        .lock(&context.agent)
        .and_then(|mut board| change(&mut board))
        .map_err(|error| board_words(&error))
}

/// Worktrees that were made for tasks which are not on the board.
fn left_worktrees(context: &AgentContext, staged: &[NewTask]) -> Option<String> {
    let made: Vec<String> = staged
        .iter()
        .filter_map(|task| task.worktree.as_ref())
        .map(|name| (name, context.workspace.worktree(name)))
        .filter(|(_, path)| path.is_dir())
        .map(|(name, path)| format!("- {} on branch {}", path.display(), name.branch()))
        .collect();
    (!made.is_empty()).then(|| {
        format!(
            "These worktrees were made and are bound to no task:\n{}\nNothing was deleted. Choose other names now; to remove \
             one, the person runs `lead worktree remove NAME`, then `git branch -D wt/NAME`.",
            made.join("\n")
        )
    })
}

/// After a spawn order has carried the staged tasks away: those that it has not put on the board are staged again.
pub(crate) fn restore(context: &AgentContext, carried: Vec<NewTask>) {
    let unpublished = carried
        .into_iter()
        .filter(|task| matches!(context.board.get(&task.id), Err(BoardError::Unknown(_))));
    let mut desk = context.desk.state();
    let later = std::mem::take(&mut desk.staged);
    desk.staged = unpublished.chain(later).collect();
}

/// The staged task of that id.
pub(crate) fn get(context: &AgentContext, id: &TaskId) -> Option<NewTask> {
    let desk = context.desk.state();
    desk.staged.iter().find(|task| task.id == *id).cloned()
}

/// Changes the staged task of that id; whether there is one.
pub(crate) fn change(
    context: &AgentContext,
    id: &TaskId,
    change: impl FnOnce(&mut NewTask),
) -> bool {
    let mut desk = context.desk.state();
    match desk.staged.iter_mut().find(|task| task.id == *id) {
        Some(task) => {
            change(task);
            true
        }
        None => false,
    }
}

/// Which task uses the worktree `name` already, staged or on the board.
pub(crate) fn user_of(
    context: &AgentContext,
    name: &WorktreeName,
) -> Result<Option<TaskId>, String> {
    let staged = context
        .desk
        .state()
        .staged
        .iter()
        .find(|task| task.worktree.as_ref() == Some(name))
        .map(|task| task.id.clone());
    if staged.is_some() {
        return Ok(staged);
    }
    let views = context.board.views().map_err(|error| board_words(&error))?;
    Ok(views
        .into_iter()
        .find(|view| view.task.worktree.as_ref() == Some(name))
        .map(|view| view.task.id))
}

/// Checks that every one of `ids` is a task, on the board or staged.
pub(crate) fn check_exist(
    context: &AgentContext,
    field: &str,
    ids: &[TaskId],
) -> Result<(), String> {
    for id in ids {
        if get(context, id).is_none() {
            context
                .board
                .get(id)
                .map_err(|error| format!("`{field}`: {}", board_words(&error)))?;
        }
    }
    Ok(())
}

/// Reads ids of tasks from an argument.
pub(crate) fn parse_ids(field: &str, texts: Option<Vec<String>>) -> Result<Vec<TaskId>, String> {
    let mut ids = Vec::new();
    for (index, text) in texts.unwrap_or_default().iter().enumerate() {
        let id =
            TaskId::parse(text.trim()).map_err(|error| format!("`{field}[{index}]`: {error}"))?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// Reads one id of a task.
pub(crate) fn parse_id(field: &str, text: &str) -> Result<TaskId, String> {
    TaskId::parse(text.trim()).map_err(|error| format!("`{field}`: {error}"))
}
