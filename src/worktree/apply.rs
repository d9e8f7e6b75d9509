//! Merging a worktree's branch into the workspace's (SPEC §7.5): tried first, then applied as one step forward.
//!
//! The merged commit is made before anything in the workspace moves, so the step is a fast-forward, which git does wholly
//! or refuses: no merge is ever left half done with conflict marks in the person's files.

use std::path::{Path, PathBuf};

use super::changes::{uncommitted, uncommitted_files};
use super::checkout;
use super::git::{CHECKOUT, Git, GitError, nul_separated};
use super::merge::{Trial, commit_merge, try_merge};
use super::repository::Repository;
use super::usable::registered;
use super::view::settle;
use crate::ids::WorktreeName;
use crate::store::fault::{self, Point};
use crate::workspace::Workspace;

/// How many files a refusal names.
const NAMED: usize = 20;

/// What a merge did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The workspace's branch.
    pub into: String,
    /// How many commits it has now that it had not; 0 if it had them all before.
    pub commits: usize,
    /// The diffstat of the step.
    pub stat: String,
    /// What stayed behind in the worktree, in words: changes that are in no commit of the branch.
    pub left_behind: Option<String>,
}

impl Merged {
    /// In words, for whoever asked for the merge of worktree `name`.
    pub fn told(&self, name: &WorktreeName) -> String {
        let branch = name.branch();
        let mut text = match self.commits {
            0 => format!("{} has all of {branch} already", self.into),
            1 => format!("merged {branch} into {}: 1 commit", self.into),
            commits => format!("merged {branch} into {}: {commits} commits", self.into),
        };
        for more in [Some(self.stat.trim_end()), self.left_behind.as_deref()] {
            if let Some(more) = more.filter(|more| !more.is_empty()) {
                text.push('\n');
                text.push_str(more);
            }
        }
        text
    }
}

/// Why nothing was merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// Nothing was changed; why.
    #[error("{0}")]
    Refused(String),
    /// git failed on the way; the text lists what exists and starts with `Partial operation`.
    #[error("{0}")]
    Partial(String),
}

/// Merges branch `wt/<name>` into the workspace's branch. The worktree itself may be gone: its branch stays.
pub fn merge(workspace: &Workspace, name: &WorktreeName) -> Result<Merged, MergeError> {
    let git = Git::in_workspace(workspace.root());
    let refused = |why: String| {
        MergeError::Refused(format!(
            "worktree {name} was not merged: {why}; nothing was changed"
        ))
    };
    let step = prepare(workspace, name, &git).map_err(refused)?;
    fault::here(Point::MergePrepared);
    if step.commits > 0 {
        go(&git, &step).map_err(|failure| match failure {
            Failure::Untouched(why) => refused(why),
            Failure::Halfway(why, files) => MergeError::Partial(halfway(name, &step, &why, &files)),
        })?;
    }
    Ok(Merged {
        stat: stat(&git, &step).unwrap_or_else(|error| error.to_string()),
        left_behind: left_behind(workspace, name),
        into: step.into,
        commits: step.commits,
    })
}

/// A merge that was tried and can be applied.
pub(super) struct Step {
    /// The checkout in words.
    pub(super) place: String,
    /// Its branch.
    pub(super) into: String,
    /// Its commit.
    pub(super) from: String,
    /// The commit that it goes forward to.
    pub(super) to: String,
    pub(super) commits: usize,
    /// What has uncommitted changes there.
    pub(super) uncommitted: Vec<PathBuf>,
}

fn prepare(workspace: &Workspace, name: &WorktreeName, git: &Git) -> Result<Step, String> {
    settle(workspace, name)?;
    let into = check_workspace(workspace, git)?;
    let branch = name.branch();
    let from = git.text(&["rev-parse", "HEAD"]).map_err(words)?;
    let theirs = git
        .text(&[
            "rev-parse",
            "--verify",
            "--quiet",
            &format!("refs/heads/{branch}^{{commit}}"),
        ])
        .map_err(|_| {
            format!("there is no branch {branch}; `lead worktree list` shows what there is")
        })?;
    let uncommitted = uncommitted_files(git).map_err(words)?;
    let mut step = Step {
        place: "the workspace".to_owned(),
        into,
        commits: commits_between(git, &from, &theirs)?,
        to: theirs.clone(),
        from,
        uncommitted,
    };
    if step.commits == 0 {
        return Ok(step);
    }
    let tree = match try_merge(git, &step.from, &theirs).map_err(words)? {
        Trial::Clean { tree } => tree,
        Trial::Conflict { files } => {
            return Err(format!(
                "{branch} conflicts with {} in {}; merge {} into it in its worktree first, where the conflict can be resolved",
                step.into,
                listed(&files),
                step.into
            ));
        }
    };
    check_files(workspace.root(), git, &step, &tree)?;
    if commits_between(git, &theirs, &step.from)? > 0 {
        let message = format!("Merge branch '{branch}'");
        step.to = commit_merge(git, &tree, &[&step.from, &theirs], &message).map_err(words)?;
    }
    Ok(step)
}

/// The workspace's branch, if something can be merged into it now.
fn check_workspace(workspace: &Workspace, git: &Git) -> Result<String, String> {
    checkout::check(workspace.root(), git)?;
    let repository = Repository::at(workspace.root())
        .map_err(|error| format!("the repository cannot be read ({error})"))?
        .ok_or("the workspace is not a git checkout")?;
    if let Some(what) = checkout::unfinished(git, &repository) {
        return Err(format!(
            "{what} is in progress in the workspace; end it first"
        ));
    }
    git.text(&["symbolic-ref", "--quiet", "--short", "HEAD"])
        .map_err(|_| {
            "the workspace is on no branch (its HEAD is detached); check out the branch to merge into"
                .to_owned()
        })
}

/// How many commits `there` has that `here` lacks.
pub(super) fn commits_between(git: &Git, here: &str, there: &str) -> Result<usize, String> {
    let count = git
        .text(&["rev-list", "--count", &format!("{here}..{there}")])
        .map_err(words)?;
    count
        .parse()
        .map_err(|_| format!("git counted {count:?} commits"))
}

/// Refuses what the step would overwrite: the runtime's own files, and whatever is in no commit.
pub(super) fn check_files(root: &Path, git: &Git, step: &Step, tree: &str) -> Result<(), String> {
    let touched = touched(git, &step.from, tree, "ADMT").map_err(words)?;
    let runtime: Vec<PathBuf> = touched
        .iter()
        .filter(|path| is_runtime_file(path))
        .cloned()
        .collect();
    if !runtime.is_empty() {
        return Err(format!(
            "it changes the team's own files, which are no part of the work: {}; take them out of the branch",
            listed(&runtime)
        ));
    }
    let mut in_the_way: Vec<PathBuf> = step
        .uncommitted
        .iter()
        .filter(|dirty| touched.iter().any(|path| overlap(path, dirty)))
        .cloned()
        .collect();
    // An ignored file is in no commit either, and `git status` does not tell it.
    let added = self::touched(git, &step.from, tree, "A").map_err(words)?;
    in_the_way.extend(
        added
            .into_iter()
            .filter(|path| {
                std::fs::symlink_metadata(root.join(path)).is_ok_and(|meta| !meta.is_dir())
            })
            .filter(|path| !step.uncommitted.contains(path)),
    );
    if in_the_way.is_empty() {
        return Ok(());
    }
    Err(format!(
        "it changes files that have uncommitted changes in {}: {}; commit them or move them away",
        step.place,
        listed(&in_the_way)
    ))
}

/// The files whose kind of change, a letter of git's, is one of `kinds`.
fn touched(git: &Git, from: &str, to: &str, kinds: &str) -> Result<Vec<PathBuf>, GitError> {
    let filter = format!("--diff-filter={kinds}");
    let listed = git.look(&[
        "diff-tree",
        "-r",
        "-z",
        "--no-renames",
        "--name-only",
        &filter,
        from,
        to,
    ])?;
    Ok(nul_separated(&listed).collect())
}

/// Whether one is the other, or a directory around it.
fn overlap(one: &Path, other: &Path) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

/// Whether a path in the checkout is one that only the runtime writes; file systems may not tell the cases apart.
fn is_runtime_file(path: &Path) -> bool {
    let lower = path.to_string_lossy().to_lowercase();
    let lower = Path::new(&lower);
    lower == Path::new(".team")
        || [".tasks", ".mailboxes", ".worktrees", ".team/state"]
            .iter()
            .any(|own| lower.starts_with(own))
}

/// How a step failed.
pub(super) enum Failure {
    /// The checkout is as it was.
    Untouched(String),
    /// These files differ now.
    Halfway(String, Vec<PathBuf>),
}

pub(super) fn go(git: &Git, step: &Step) -> Result<(), Failure> {
    let args = [
        "merge",
        "--ff-only",
        "--no-overwrite-ignore",
        "--no-autostash",
        "--no-verify-signatures",
        "--no-stat",
        "--quiet",
        &step.to,
    ];
    let Err(error) = git.run(&args, CHECKOUT) else {
        return Ok(());
    };
    let now = uncommitted_files(git).unwrap_or_default();
    let changed: Vec<PathBuf> = now
        .into_iter()
        .filter(|path| !step.uncommitted.contains(path))
        .collect();
    Err(if changed.is_empty() {
        Failure::Untouched(error.to_string())
    } else {
        Failure::Halfway(error.to_string(), changed)
    })
}

fn halfway(name: &WorktreeName, step: &Step, why: &str, files: &[PathBuf]) -> String {
    format!(
        "Partial operation: worktree {name} is not merged ({why}). {} is still at {}, branch {} is as it was, but these files \
         of the workspace were written: {}. Look at them with `git status`; `git restore --source=HEAD FILE` takes one back, \
         a new one is deleted by hand; then merge again.",
        step.into,
        short(&step.from),
        name.branch(),
        listed(files)
    )
}

fn stat(git: &Git, step: &Step) -> Result<String, GitError> {
    if step.commits == 0 {
        return Ok(String::new());
    }
    git.text(&[
        "diff",
        "--no-ext-diff",
        "--no-textconv",
        "--stat=100",
        "--stat-count=20",
        &step.from,
        &step.to,
    ])
}

/// What the worktree holds that its branch does not.
fn left_behind(workspace: &Workspace, name: &WorktreeName) -> Option<String> {
    let path = workspace.worktree(name);
    std::fs::symlink_metadata(&path).ok()?;
    let (repository, registration) = match registered(workspace, name) {
        Ok(found) => found,
        Err(why) => return Some(why.into()),
    };
    match uncommitted(&Git::in_worktree(&repository, &registration, &path)) {
        Ok(0) => None,
        Ok(1) => Some(format!(
            "1 uncommitted change in worktree {name} is not merged"
        )),
        Ok(changes) => Some(format!(
            "{changes} uncommitted changes in worktree {name} are not merged"
        )),
        Err(error) => Some(error.to_string()),
    }
}

/// Files in one line, the first few by name.
pub(super) fn listed(files: &[PathBuf]) -> String {
    let mut names: Vec<String> = files
        .iter()
        .take(NAMED)
        .map(|path| path.display().to_string())
        .collect();
    if files.len() > NAMED {
        names.push(format!("and {} more", files.len() - NAMED));
    }
    names.join(", ")
}

fn short(id: &str) -> &str {
    id.get(..10).unwrap_or(id)
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "used as a function of map_err"
)]
fn words(error: GitError) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runtimes_own_files_are_told_from_the_teams_settings() {
        for own in [
            ".tasks/task_00000000.json",
            ".Tasks",
            ".mailboxes/lead.jsonl",
            ".worktrees/a",
            ".team/state/session.json",
            ".team/State",
            ".team",
        ] {
            assert!(is_runtime_file(Path::new(own)), "{own}");
        }
        for work in [
            ".team/team.json",
            ".team/agents/coder.md",
            ".tasks.example/x",
            "src/.tasks",
            "a",
        ] {
            assert!(!is_runtime_file(Path::new(work)), "{work}");
        }
    }

    #[test]
    fn long_lists_of_files_are_cut() {
        let files: Vec<PathBuf> = (0..25).map(|n| PathBuf::from(format!("f{n}"))).collect();
        assert!(listed(&files).ends_with("f19, and 5 more"));
        assert_eq!(listed(&files[..1]), "f0");
    }
}
