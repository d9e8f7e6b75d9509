//! Whether a message is to be held, by what the files say: who said what, and what has changed since.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::walk::{Rules, visit};
use super::{AgentContext, brake};
use crate::ids::AgentName;
use crate::mailbox::exchange;
use crate::store::StoreError;
use crate::team::Session;
use crate::workspace::{RUNTIME_DIRS, Workspace};

/// Whether `context`'s agent and `to` have only talked for too long. The files of the workspace are looked through only then.
pub(crate) fn is_held(context: &AgentContext, to: &AgentName) -> Result<bool, StoreError> {
    let workspace = &context.workspace;
    let moved = board_moved(workspace).max(person_moved(workspace));
    let spoken = exchange::between(workspace, &context.agent, to, moved)?;
    let moved = moved.max(brake::person_spoke(&spoken));
    Ok(
        brake::only_talk_since(&spoken, moved)
            .is_some_and(|since| !files_changed(workspace, since)),
    )
}

/// Every change of the board appends to its journal.
fn board_moved(workspace: &Workspace) -> u64 {
    let journal = workspace.journal().symlink_metadata();
    journal.map_or(0, |found| ms(found.modified().ok()))
}

fn person_moved(workspace: &Workspace) -> u64 {
    Session::load(workspace)
        .and_then(|session| session.person_at)
        .map_or(0, crate::clock::Timestamp::as_ms)
}

fn files_changed(workspace: &Workspace, since: u64) -> bool {
    let checkouts = std::fs::read_dir(workspace.worktrees_dir());
    let checkouts = checkouts.into_iter().flatten().flatten();
    std::iter::once(workspace.root().to_path_buf())
        .chain(checkouts.map(|entry| entry.path()))
        .any(|dir| any_newer(&dir, workspace.root(), since))
}

/// Whether something beneath `dir` that git does not ignore was changed after `since`; a file that was removed changes its
/// directory.
fn any_newer(dir: &Path, root: &Path, since: u64) -> bool {
    let (Ok(dir), Ok(root)) = (dir.canonicalize(), root.canonicalize()) else {
        return false;
    };
    let is_runtimes = |path: &Path| {
        let name = path.file_name().unwrap_or_default();
        name == ".git"
            || path.parent() == Some(dir.as_path()) && RUNTIME_DIRS.iter().any(|ours| name == *ours)
    };
    let mut newer = false;
    let walked = visit(&dir, Rules::of(&dir, &root), is_runtimes, |met| {
        newer = ms(Some(met.changed())) > since;
        if newer {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    walked.is_ok() && newer
}

fn ms(at: Option<SystemTime>) -> u64 {
    at.and_then(|at| at.duration_since(UNIX_EPOCH).ok())
        .map_or(0, |since| {
            u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
        })
}
