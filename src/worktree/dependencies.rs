//! Whether the work of a dependency is where it is built on, and bringing it there (SPEC §3.2).
//!
//! Work counts by commits: a branch is in a place if its last commit is an ancestor of the place's own. A branch that is
//! gone was merged, or nobody wants it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::apply::{self, Failure, Step};
use super::changes::uncommitted_files;
use super::checkout;
use super::git::{CHECKOUT, Git, GitError};
use super::index;
use super::merge::{Trial, commit_merge, try_merge};
use super::repository::{Repository, pointer};
use super::usable::registered;
use super::view::{is_id, settle};
use crate::ids::WorktreeName;
use crate::workspace::Workspace;

/// How a branch stands to a place where its work is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// The place has it.
    Holds,
    /// It can be merged there.
    Waits,
    /// These files would need somebody.
    Conflict(Vec<PathBuf>),
}

/// Remembers how pairs of commits stand to each other, which never changes: a second question costs a look at files.
#[derive(Debug)]
pub struct Branches {
    workspace: Workspace,
    known: Mutex<HashMap<Pair, Standing>>,
}

/// Two commits, ours and theirs, and whether their merge was tried.
type Pair = (String, String, bool);

impl Branches {
    /// Those of `workspace`.
    pub fn new(workspace: Workspace) -> Self {
        Self {
            workspace,
            known: Mutex::default(),
        }
    }

    /// Whether `place`, a worktree or the workspace (`None`), has the branch of `worktree`; `Err` says what is waited for.
    pub fn contains(
        &self,
        place: Option<&WorktreeName>,
        worktree: &WorktreeName,
    ) -> Result<(), String> {
        let branch = worktree.branch();
        let unknown = |why| format!("whether {branch} is there cannot be said; {why}");
        match (self.standing(place, worktree).map_err(unknown)?, place) {
            (Standing::Holds, _) => Ok(()),
            (Standing::Waits | Standing::Conflict(_), None) => {
                Err(format!("waits for {branch} to be merged"))
            }
            (Standing::Waits, Some(place)) => Err(format!(
                "waits for {branch} to be merged into worktree {place}"
            )),
            (Standing::Conflict(files), Some(place)) => Err(conflict(place, worktree, &files)),
        }
    }

    /// The same as a fact. For the workspace no conflict is looked for.
    pub fn standing(
        &self,
        place: Option<&WorktreeName>,
        worktree: &WorktreeName,
    ) -> Result<Standing, String> {
        settle(&self.workspace, worktree)?;
        if let Some(place) = place {
            settle(&self.workspace, place)?;
        }
        let root = self.workspace.root();
        let repository = Repository::around(root).map_err(|error| error.to_string())?;
        let Some(repository) = repository else {
            return Ok(Standing::Holds);
        };
        let git = Git::in_workspace(root);
        let Some(theirs) = tip(&repository, &git, worktree)? else {
            return Ok(Standing::Holds);
        };
        let ours = match place {
            Some(place) => tip(&repository, &git, place)?
                .ok_or_else(|| format!("the branch {} is missing", place.branch()))?,
            None => match head(&repository, &git)? {
                Some(head) => head,
                None => return Ok(Standing::Waits),
            },
        };
        if ours == theirs {
            return Ok(Standing::Holds);
        }
        let pair = (ours, theirs, place.is_some());
        if let Some(standing) = self.known().get(&pair) {
            return Ok(standing.clone());
        }
        let standing = compare(&git, &pair.0, &pair.1, pair.2).map_err(words)?;
        self.known().insert(pair, standing.clone());
        Ok(standing)
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Pair, Standing>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a branch was not brought into a worktree, which is as it was.
#[derive(Debug, thiserror::Error)]
pub enum BringError {
    /// Somebody must decide how the two go together.
    #[error("{0}")]
    Conflict(String),
    /// Something else is in the way.
    #[error("{0}")]
    Failed(String),
}

/// Merges the branch of `worktree` into worktree `place`, which nobody works in; how many commits that brought.
///
/// Killed in between, it leaves a commit that nothing names, or files of the worktree that the next call refuses to
/// overwrite and names.
pub fn bring(
    workspace: &Workspace,
    place: &WorktreeName,
    worktree: &WorktreeName,
) -> Result<usize, BringError> {
    let branch = worktree.branch();
    let failed = |why: String| {
        BringError::Failed(format!(
            "{branch} was not merged into worktree {place}: {why}; nothing was changed"
        ))
    };
    settle(workspace, worktree).map_err(failed)?;
    let (repository, git) = inside(workspace, place).map_err(failed)?;
    if let Some(what) = checkout::unfinished(&git, &repository) {
        return Err(failed(format!("{what} is in progress there; end it first")));
    }
    let missing = || failed("one of the branches is missing".to_owned());
    let theirs = tip(&repository, &git, worktree)
        .map_err(failed)?
        .ok_or_else(missing)?;
    let ours = tip(&repository, &git, place)
        .map_err(failed)?
        .ok_or_else(missing)?;
    let tree = match try_merge(&git, &ours, &theirs).map_err(|error| failed(words(error)))? {
        Trial::Clean { tree } => tree,
        Trial::Conflict { files } => {
            return Err(BringError::Conflict(conflict(place, worktree, &files)));
        }
    };
    let step = step(&git, place, &branch, (&ours, &theirs), &tree).map_err(failed)?;
    if step.commits == 0 {
        return Ok(0);
    }
    apply::check_files(&workspace.worktree(place), &git, &step, &tree).map_err(failed)?;
    apply::go(&git, &step).map_err(|failure| match failure {
        Failure::Untouched(why) => failed(why),
        Failure::Halfway(why, files) => BringError::Failed(format!(
            "{branch} was merged into worktree {place} only in part ({why}); these files were written: {}; \
             put them back with `git restore` in there, then it is tried again",
            apply::listed(&files)
        )),
    })?;
    Ok(step.commits)
}

fn step(
    git: &Git,
    place: &WorktreeName,
    branch: &str,
    (ours, theirs): (&str, &str),
    tree: &str,
) -> Result<Step, String> {
    let mut step = Step {
        place: format!("worktree {place}"),
        into: place.branch(),
        commits: apply::commits_between(git, ours, theirs)?,
        from: ours.to_owned(),
        to: theirs.to_owned(),
        uncommitted: uncommitted_files(git).map_err(words)?,
    };
    if step.commits > 0 && apply::commits_between(git, theirs, ours)? > 0 {
        let message = format!("Merge branch '{branch}' into {}", step.into);
        step.to = commit_merge(git, tree, &[ours, theirs], &message).map_err(words)?;
    }
    Ok(step)
}

/// git in a worktree whose work is taken over and whose index names nothing outside, with its repository as seen from
/// there.
pub(super) fn inside(
    workspace: &Workspace,
    name: &WorktreeName,
) -> Result<(Repository, Git), String> {
    settle(workspace, name)?;
    let (repository, registration) = registered(workspace, name)?;
    let path = workspace.worktree(name);
    let git = Git::in_worktree(&repository, &registration, &path);
    index::check(&git).map_err(|why| format!("worktree {name} cannot be used: {why}"))?;
    let seen = Repository {
        top: path,
        git_dir: registration.git_dir,
        common: repository.common,
    };
    Ok((seen, git))
}

fn conflict(place: &WorktreeName, worktree: &WorktreeName, files: &[PathBuf]) -> String {
    format!(
        "conflict in {}: {} cannot be merged into worktree {place} by itself",
        apply::listed(files),
        worktree.branch()
    )
}

fn compare(git: &Git, ours: &str, theirs: &str, try_it: bool) -> Result<Standing, GitError> {
    let args = ["merge-base", "--is-ancestor", theirs, ours];
    let ended = git.end(&args, CHECKOUT)?;
    match ended.code {
        Some(0) => return Ok(Standing::Holds),
        Some(1) if !try_it => return Ok(Standing::Waits),
        Some(1) => {}
        _ => return Err(ended.failed(&args)),
    }
    Ok(match try_merge(git, ours, theirs)? {
        Trial::Clean { .. } => Standing::Waits,
        Trial::Conflict { files } => Standing::Conflict(files),
    })
}

/// The last commit of a worktree's branch; `None` if there is no such branch.
fn tip(repository: &Repository, git: &Git, name: &WorktreeName) -> Result<Option<String>, String> {
    commit_of(repository, git, &format!("refs/heads/{}", name.branch()))
}

/// The workspace's commit; `None` before the first.
fn head(repository: &Repository, git: &Git) -> Result<Option<String>, String> {
    let text = pointer(&repository.git_dir.join("HEAD")).map_err(|error| error.to_string())?;
    let text = text.unwrap_or_default();
    match text.trim_end().strip_prefix("ref: ") {
        Some(reference) if !repository.has_reftable() => commit_of(repository, git, reference),
        Some(_) | None => ask(git, "HEAD"),
    }
}

/// Reads git's own file where there is one; packed references and tables are git's to read.
fn commit_of(
    repository: &Repository,
    git: &Git,
    reference: &str,
) -> Result<Option<String>, String> {
    let text = pointer(&repository.common.join(reference)).unwrap_or_default();
    match text.as_deref().map(str::trim_end) {
        Some(id) if is_id(id) => Ok(Some(id.to_owned())),
        Some(_) | None => ask(git, reference),
    }
}

fn ask(git: &Git, reference: &str) -> Result<Option<String>, String> {
    let wanted = format!("{reference}^{{commit}}");
    let args = ["rev-parse", "--verify", "--quiet", &wanted];
    let ended = git.end(&args, CHECKOUT).map_err(words)?;
    match ended.code {
        Some(0) => Ok(Some(
            String::from_utf8_lossy(&ended.stdout).trim_end().to_owned(),
        )),
        Some(1) => Ok(None),
        _ => Err(words(ended.failed(&args))),
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "used as a function of map_err"
)]
fn words(error: GitError) -> String {
    error.to_string()
}
