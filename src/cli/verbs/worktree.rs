//! `lead worktree list|diff|merge|remove`.

use clap::Subcommand;
use serde_json::{Value, json};

use crate::cli::exit::{Failure, Kind, Outcome};
use crate::cli::place::Place;
use crate::cli::safe::{safe, safe_line};
use crate::cli::shell;
use crate::cli::table::Table;
use crate::ids::{AgentName, WorktreeName};
use crate::tool::{self, Worktree};
use crate::worktree;

/// Longest line about a file or a problem, in characters.
const MAX_LINE: usize = 4000;

/// What is done with worktrees.
#[derive(Debug, Subcommand)]
pub enum WorktreeVerb {
    /// All worktrees with their tasks, and how each stands
    #[command(after_help = "Example:\n  lead worktree list --json")]
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// What a worktree changes, committed or not, as a patch
    #[command(after_help = "Example:\n  lead worktree diff docs")]
    Diff {
        /// The worktree's name
        name: String,
    },
    /// Merge a worktree's branch into the workspace's; refused without any change if that does not go cleanly
    #[command(after_help = "Example:\n  lead worktree merge docs")]
    Merge {
        /// The worktree's name
        name: String,
    },
    /// Remove a worktree; its branch stays
    #[command(after_help = "Example:\n  lead worktree remove docs")]
    Remove {
        /// The worktree's name
        name: String,
        /// Also if it holds what is in no commit, which is lost then
        #[arg(long)]
        discard_changes: bool,
    },
}

impl WorktreeVerb {
    /// Whether it changes nothing.
    pub fn only_reads(&self) -> bool {
        matches!(self, Self::List { .. } | Self::Diff { .. })
    }
}

/// Runs the verb.
pub fn run(place: &Place, verb: &WorktreeVerb) -> Outcome {
    match verb {
        WorktreeVerb::List { json } => list(place, *json),
        WorktreeVerb::Diff { name } => diff(place, &parse(name)?),
        WorktreeVerb::Merge { name } => merge(place, &parse(name)?),
        WorktreeVerb::Remove {
            name,
            discard_changes,
        } => remove(place, &parse(name)?, *discard_changes),
    }
}

fn parse(name: &str) -> Result<WorktreeName, Failure> {
    WorktreeName::parse(name)
        .map_err(|error| Failure::usage(format!("{error}; `lead worktree list` lists names")))
}

fn list(place: &Place, as_json: bool) -> Outcome {
    let found = tool::worktrees(&place.workspace, &place.board()?, &place.roster())?;
    if as_json {
        shell::out_json(&found.iter().map(json).collect());
    } else if found.is_empty() {
        shell::out_line("no worktrees");
    }
    if !as_json {
        for line in lines(&found) {
            shell::out_line(&line);
        }
    }
    Ok(Kind::Completed)
}

fn json(worktree: &Worktree) -> Value {
    let Worktree {
        state,
        path,
        task,
        in_use_by,
    } = worktree;
    json!({
        "name": state.name,
        "path": path,
        "task": task.as_ref().map(|task| &task.id),
        "owner": task.as_ref().and_then(|task| task.owner.as_ref()),
        "branch": state.name.branch(),
        "ahead": state.ahead,
        "behind": state.behind,
        "changes": state.changes,
        "inUse": in_use_by.is_some(),
        "inUseBy": in_use_by,
        "problem": state.problem,
    })
}

/// A table of worktrees, their problems below it; empty without any.
pub fn lines(worktrees: &[Worktree]) -> Vec<String> {
    fn or_dash<T: ToString>(value: Option<T>) -> String {
        value.map_or_else(|| "-".to_owned(), |value| value.to_string())
    }
    let mut table = Table::new(&[
        "name",
        "task",
        "owner",
        "branch",
        "ahead",
        "behind",
        "changes",
        "in use by",
    ]);
    for worktree in worktrees {
        let state = &worktree.state;
        let task = worktree.task.as_ref();
        table.row(&[
            state.name.to_string(),
            or_dash(task.map(|task| &task.id)),
            or_dash(task.and_then(|task| task.owner.as_ref())),
            state.name.branch(),
            or_dash(state.ahead),
            or_dash(state.behind),
            or_dash(state.changes),
            or_dash(worktree.in_use_by.as_ref()),
        ]);
    }
    let problems = worktrees.iter().filter_map(|worktree| {
        let problem = worktree.state.problem.as_ref()?;
        Some(safe_line(
            &format!("{}: {problem}", worktree.state.name),
            MAX_LINE,
        ))
    });
    table.lines().into_iter().chain(problems).collect()
}

/// The patch goes to standard output as git made it, unless a terminal would act on it; everything else to standard error.
fn diff(place: &Place, name: &WorktreeName) -> Outcome {
    let found = worktree::difference(&place.workspace, name).map_err(Failure::failed)?;
    if shell::stdout_is_terminal() {
        shell::out(&safe(&String::from_utf8_lossy(&found.patch)));
    } else {
        shell::out_bytes(&found.patch);
    }
    let note = |text: String| shell::err_line(&safe_line(&text, MAX_LINE));
    if let Some(why) = found.problem {
        note(format!("only branch {} was compared; {why}", name.branch()));
    }
    for path in found.untracked {
        note(format!("untracked, not in the patch: {}", path.display()));
    }
    Ok(Kind::Completed)
}

fn merge(place: &Place, name: &WorktreeName) -> Outcome {
    let merged = worktree::merge(&place.workspace, name).map_err(Failure::failed)?;
    // Tasks that work in the workspace may have waited for it.
    place.board_to_change()?.lock(&AgentName::user())?.wake();
    shell::out_line(&safe(&merged.told(name)));
    Ok(Kind::Completed)
}

fn remove(place: &Place, name: &WorktreeName, discard: bool) -> Outcome {
    let lost = tool::remove_worktree(
        &place.workspace,
        &place.board()?,
        &place.roster(),
        name,
        discard,
    )
    .map_err(Failure::failed)?;
    shell::out_line(&format!(
        "worktree {name} removed; branch {} stays",
        name.branch()
    ));
    for what in lost {
        shell::out_line(&safe_line(&format!("lost with it: {what}"), MAX_LINE));
    }
    Ok(Kind::Completed)
}
