//! Where `HEAD` of a worktree stands, and how to go back from where it should not be.
//!
//! Ordinary git moves it for a while: what a rebase or a bisect will come back from by itself is no fault.

use std::fmt;

use super::git::Git;
use super::repository::{Registration, Repository, pointer};
use super::usable::trusted;
use super::view::{is_id, lookup, settle};
use crate::ids::WorktreeName;
use crate::store::{Durability, atomic};
use crate::workspace::Workspace;

/// What a rebase and a bisect leave in a worktree's git directory while they last.
const REBASES: [&str; 2] = ["rebase-merge", "rebase-apply"];
const BISECT: &str = "BISECT_START";

/// How much of a branch's name is said, in characters.
const NAMED: usize = 80;

/// Why a worktree cannot be worked in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// Only its `HEAD` stands elsewhere: whoever works in it can go back.
    #[error("{0}")]
    Astray(Astray),
    /// Anything else, in words.
    #[error("{0}")]
    Broken(String),
}

impl From<Unusable> for String {
    fn from(why: Unusable) -> Self {
        why.to_string()
    }
}

/// A worktree that is in order but for where its `HEAD` stands. Shown as what a person can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Astray {
    name: WorktreeName,
    /// Where it stands.
    found: String,
    /// How the agent whose worktree it is goes back.
    back: String,
    /// The command for a person, whose git does not know the agent's own branches.
    for_person: String,
    /// There is no `HEAD` that git would read.
    lost: bool,
}

impl fmt::Display for Astray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            found,
            for_person,
            ..
        } = self;
        write!(
            f,
            "worktree {name} cannot be used: {found}; to go back run `{for_person}` in .worktrees/{name}"
        )
    }
}

impl Astray {
    /// Puts a `HEAD` that is lost back on the branch. One that stands elsewhere is left to whoever put it there. No command
    /// of the agent may be running.
    pub fn put_back(&self, workspace: &Workspace) -> Result<(), String> {
        if !self.lost {
            return Ok(());
        }
        let (_, registration) = trusted(workspace, &self.name)?;
        let text = format!("ref: refs/heads/{}\n", self.name.branch());
        let file = registration.git_dir.join("HEAD");
        atomic::replace(&file, text.as_bytes(), Durability::Process)
            .map_err(|error| format!("its HEAD cannot be put back ({error})"))
    }

    /// Why a tool of the agent is refused.
    pub fn refusal(&self) -> String {
        format!(
            "worktree {} cannot be used: {}; {}, then try again",
            self.name, self.found, self.back
        )
    }

    /// What the agent is told after a command that has left it so.
    pub fn note(&self) -> String {
        let branch = self.name.branch();
        format!(
            "HEAD is not on {branch}: {}; commits made here count only once they are merged into {branch}, and until HEAD is back \
             on it no other tool works here; {}",
            self.found, self.back
        )
    }
}

/// What `HEAD` says.
#[derive(Debug, PartialEq, Eq)]
enum Head {
    /// The full name of a reference, which need not exist.
    On(String),
    Detached,
    Missing,
    /// Nothing that git would take.
    Damaged,
}

impl Head {
    fn parsed(text: Option<&str>) -> Self {
        match text.map(str::trim_end) {
            None => Self::Missing,
            Some(text) => match text.strip_prefix("ref: ") {
                Some(reference) if reference.starts_with("refs/") => Self::On(reference.to_owned()),
                None if is_id(text) => Self::Detached,
                Some(_) | None => Self::Damaged,
            },
        }
    }
}

/// Whether `HEAD` of the worktree is on its branch, or will be.
pub(super) fn check(
    workspace: &Workspace,
    repository: &Repository,
    registration: &Registration,
    name: &WorktreeName,
) -> Result<(), Unusable> {
    let wanted = format!("refs/heads/{}", name.branch());
    let head = read(workspace, repository, registration, name)
        .map_err(|why| Unusable::Broken(format!("worktree {name} cannot be used: {why}")))?;
    if head == Head::On(wanted.clone()) || busy_on(registration, &wanted) {
        return Ok(());
    }
    let way = Way {
        workspace,
        repository,
        registration,
        name,
    };
    Err(Unusable::Astray(way.back_from(&head)))
}

fn read(
    workspace: &Workspace,
    repository: &Repository,
    registration: &Registration,
    name: &WorktreeName,
) -> Result<Head, String> {
    if repository.has_reftable() {
        let git = Git::in_worktree(repository, registration, &workspace.worktree(name));
        let on = git.text(&["symbolic-ref", "-q", "HEAD"]);
        return Ok(on.map_or(Head::Detached, Head::On));
    }
    let text = pointer(&registration.git_dir.join("HEAD"));
    let text = text.map_err(|error| format!("its HEAD: {error}"))?;
    Ok(Head::parsed(text.as_deref()))
}

/// A rebase or bisect detaches the head for a while and notes the branch that it will go back to.
fn busy_on(registration: &Registration, wanted: &str) -> bool {
    let short = wanted.trim_start_matches("refs/heads/");
    REBASES
        .iter()
        .any(|dir| noted(registration, &format!("{dir}/head-name")).as_deref() == Some(wanted))
        || noted(registration, BISECT).as_deref() == Some(short)
}

fn noted(registration: &Registration, file: &str) -> Option<String> {
    let text = pointer(&registration.git_dir.join(file)).ok()??;
    Some(text.trim_end().to_owned())
}

/// What is needed to say how to go back.
struct Way<'a> {
    workspace: &'a Workspace,
    repository: &'a Repository,
    registration: &'a Registration,
    name: &'a WorktreeName,
}

impl Way<'_> {
    fn back_from(&self, head: &Head) -> Astray {
        let branch = self.name.branch();
        let found = match head {
            Head::On(reference) => format!("it is on branch {}, not {branch}", spoken(reference)),
            Head::Detached => format!("it is on no branch, not on {branch}"),
            Head::Missing => "its HEAD is missing".to_owned(),
            Head::Damaged => "its HEAD was changed to what git does not read".to_owned(),
        };
        let lost = matches!(head, Head::Missing | Head::Damaged);
        let (back, for_person) = if lost {
            let file = self.registration.git_dir.join("HEAD");
            (
                "any command of bash puts it back".to_owned(),
                format!("echo 'ref: refs/heads/{branch}' > '{}'", file.display()),
            )
        } else {
            // The person's git must know the commits. What cannot be taken over is told by others.
            drop(settle(self.workspace, self.name));
            let command = self.command();
            let before = self.before(head).unwrap_or_default();
            (
                format!("go back with bash: `{command}`"),
                format!("{before}{command}"),
            )
        };
        Astray {
            name: self.name.clone(),
            found,
            back,
            for_person,
            lost,
        }
    }

    fn command(&self) -> String {
        let is_there = |dir: &str| self.registration.git_dir.join(dir).is_dir();
        let first = if REBASES.into_iter().any(is_there) {
            "git rebase --abort && "
        } else if noted(self.registration, BISECT).is_some() {
            "git bisect reset && "
        } else {
            ""
        };
        let option = if self.has_branch() { "" } else { "-b " };
        format!("{first}git checkout {option}{}", self.name.branch())
    }

    /// Whether the branch is there, or will be at the agent's next command.
    fn has_branch(&self) -> bool {
        let branch = format!("refs/heads/{}", self.name.branch());
        self.is_known(&branch) || self.own(&branch).is_some()
    }

    /// What a person runs first where `HEAD` names a branch that only the agent has: git then knows which commit it is at,
    /// and says itself how to keep that. No text that an agent can choose is part of it.
    fn before(&self, head: &Head) -> Option<String> {
        let Head::On(reference) = head else {
            return None;
        };
        let id = self.own(reference).filter(|_| !self.is_known(reference))?;
        Some(format!(
            "git update-ref --no-deref HEAD {} && ",
            id.get(..10)?
        ))
    }

    /// What the agent's own view has under that name.
    fn own(&self, reference: &str) -> Option<String> {
        let view = self.workspace.git_view(self.name).join("view");
        lookup(&view, reference).ok().flatten()
    }

    fn is_known(&self, reference: &str) -> bool {
        let common = &self.repository.common;
        if self.repository.has_reftable() {
            let git = Git::in_repository(common);
            return git
                .look(&["rev-parse", "--verify", "--quiet", reference])
                .is_ok();
        }
        lookup(common, reference).is_ok_and(|found| found.is_some())
    }
}

/// As a person calls it, cut: whoever can write `HEAD` chooses it.
fn spoken(reference: &str) -> String {
    let name = reference.strip_prefix("refs/heads/").unwrap_or(reference);
    name.chars().take(NAMED).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_as_git_reads_them() {
        let id = "a".repeat(40);
        for (text, head) in [
            (None, Head::Missing),
            (
                Some("ref: refs/heads/wt/w\n"),
                Head::On("refs/heads/wt/w".to_owned()),
            ),
            (Some("ref: elsewhere\n"), Head::Damaged),
            (Some(id.as_str()), Head::Detached),
            (Some("aaaa\n"), Head::Damaged),
            (Some(""), Head::Damaged),
        ] {
            assert_eq!(Head::parsed(text), head, "{text:?}");
        }
    }
}
