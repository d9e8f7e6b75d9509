//! Whether a message is to be held, by what the files say: who said what, and what has changed since.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use ignore::WalkBuilder;

use super::{AgentContext, brake};
use crate::ids::AgentName;
use crate::mailbox::exchange;
use crate::store::StoreError;
use crate::team::Session;
use crate::workspace::{RUNTIME_DIRS, Workspace};

/// Most entries that are looked at for a change.
const MAX_ENTRIES: usize = 1_000_000;

/// Whether `context`'s agent and `to` have only talked for too long. The files of the workspace are looked through only then.
pub(crate) fn is_held(context: &AgentContext, to: &AgentName) -> Result<bool, StoreError> {
    let workspace = &context.workspace;
    let spoken = exchange::between(workspace, &context.agent, to)?;
    let moved = board_moved(workspace)
        .max(person_moved(workspace))
        .max(brake::person_spoke(&spoken));
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
        .any(|dir| any_newer(&dir, since))
}

/// Whether something beneath `dir` that git does not ignore was changed after `since`; a file that was removed changes its
/// directory.
fn any_newer(dir: &Path, since: u64) -> bool {
    WalkBuilder::new(dir)
        .hidden(false)
        .require_git(false)
        .filter_entry(|entry| {
            let name = entry.file_name();
            let runtimes = entry.depth() == 1 && RUNTIME_DIRS.iter().any(|dir| name == *dir);
            !runtimes && name != ".git"
        })
        .build()
        .take(MAX_ENTRIES)
        .flatten()
        .filter(|entry| entry.depth() > 0)
        .any(|entry| {
            let found = entry.metadata().ok();
            ms(found.and_then(|found| found.modified().ok())) > since
        })
}

fn ms(at: Option<SystemTime>) -> u64 {
    at.and_then(|at| at.duration_since(UNIX_EPOCH).ok())
        .map_or(0, |since| {
            u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
        })
}
