//! What was done in a worktree, as text for the lead.

use std::path::Path;

use super::changes::uncommitted;
use super::git::{Git, GitError};
use super::usable::registered;
use super::view::settle;
use crate::ids::WorktreeName;
use crate::workspace::Workspace;

/// How many commits and how many lines of the diffstat are named.
const SHOWN: usize = 20;
/// How much of each of these lines, in characters.
const LINE: usize = 200;

/// Branch, commits, diffstat and uncommitted changes of a worktree against the workspace's branch, as text for the lead;
/// `None` if the workspace has no such worktree.
pub fn summary(workspace: &Workspace, name: &WorktreeName) -> Option<String> {
    let path = workspace.worktree(name);
    if std::fs::symlink_metadata(&path).is_err() {
        return None;
    }
    let untaken = settle(workspace, name).err();
    let mut told = match registered(workspace, name) {
        Ok((repository, registration)) => {
            let inside = Git::in_worktree(&repository, &registration, &path);
            told(workspace.root(), name, &inside)
                .unwrap_or_else(|error| format!("worktree {name}: {error}"))
        }
        Err(why) => why.into(),
    };
    if let Some(untaken) = untaken {
        told.push('\n');
        told.push_str(&untaken);
    }
    Some(told)
}

fn told(root: &Path, name: &WorktreeName, inside: &Git) -> Result<String, GitError> {
    let outside = Git::in_workspace(root);
    let branch = format!("refs/heads/{}", name.branch());
    let ahead = outside.text(&[
        "log",
        "--no-decorate",
        "--format=%h %s",
        &format!("HEAD..{branch}"),
    ])?;
    let stat = outside.text(&[
        "diff",
        "--no-ext-diff",
        "--no-textconv",
        "--stat=100",
        &format!("HEAD...{branch}"),
    ])?;
    let changes = uncommitted(inside)?;
    let commits: Vec<&str> = ahead.lines().collect();
    let mut text = format!(
        "worktree {name}, branch {}: {}, {}",
        name.branch(),
        counted(
            commits.len(),
            "commit ahead",
            "commits ahead of the workspace"
        ),
        counted(changes, "uncommitted change", "uncommitted changes"),
    );
    push_lines(&mut text, &commits);
    push_lines(&mut text, &stat.lines().collect::<Vec<_>>());
    Ok(text)
}

fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// The first lines, and the last, which in a diffstat is the sum.
fn push_lines(text: &mut String, lines: &[&str]) {
    let mut push = |line: &str| {
        text.push_str("\n  ");
        text.extend(line.trim().chars().take(LINE));
    };
    for line in lines.iter().take(SHOWN) {
        push(line);
    }
    if lines.len() > SHOWN + 1 {
        push(&format!("… {} more lines", lines.len() - SHOWN - 1));
    }
    if let Some(last) = lines.get(SHOWN..).and_then(<[&str]>::last) {
        push(last);
    }
}
