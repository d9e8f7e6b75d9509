//! Trees of the workspace as it stands, made through an index of our own.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::SnapshotError;
use super::aside::Aside;
use super::exact::{exact, forget_converted};
use super::left_out::LeftOut;
use super::rules::{add_what_new_rules_hide, joined};
use crate::ids::SessionId;
use crate::workspace::{AGENT, Workspace};
use crate::worktree::changes::nested;
use crate::worktree::exclude;
use crate::worktree::git::{Git, GitError};
use crate::worktree::repository::Repository;

/// For reading every file of a large workspace.
pub(in crate::worktree) const TIME: Duration = Duration::from_mins(2);

/// Takes what is listed on standard input.
const ADD: [&str; 6] = [
    "--no-literal-pathspecs",
    "add",
    "-A",
    "--ignore-errors",
    "--pathspec-from-file=-",
    "--pathspec-file-nul",
];

/// The repository of a workspace, with git in it and a place for indexes of our own.
pub(in crate::worktree) struct Ground {
    pub(in crate::worktree) repository: Repository,
    /// Finds everything but the index as git always does.
    pub(in crate::worktree) git: Git,
    /// Takes and gives files as its trees hold them.
    files: Git,
    /// Whether that is byte by byte.
    is_exact: bool,
    scratch: tempfile::TempDir,
    /// Where new objects are kept until they are taken in.
    aside: Option<Aside>,
}

/// The workspace as it stands: an index that matches the files, and its tree.
pub(in crate::worktree) struct Now {
    /// With that index.
    pub(in crate::worktree) git: Git,
    pub(in crate::worktree) tree: String,
    /// What git said of files that could not be read; empty if all could.
    pub(in crate::worktree) unread: String,
    /// What is in no tree at all.
    pub(in crate::worktree) left_out: LeftOut,
}

impl Ground {
    /// Whose trees hold the bytes of the files.
    pub(in crate::worktree) fn of(workspace: &Workspace) -> Result<Self, SnapshotError> {
        let root = workspace.root();
        let repository = Repository::around(root)?.ok_or(SnapshotError::NoCheckout)?;
        let git = Git::in_workspace(root).signed_by_the_runtime();
        let mut ground = Self::in_checkout(repository, git)?;
        ground.files = exact(&ground.git, &ground.repository, &ground.scratch("git"))?;
        ground.is_exact = true;
        Ok(ground)
    }

    /// The same with git that a lead which starts ends, if it was left running by one that was killed.
    pub(in crate::worktree) fn ended_by_the_next_start(mut self, workspace: &Workspace) -> Self {
        let mut mark = OsString::from("git@");
        mark.push(workspace.root());
        self.git = self.git.with(AGENT, &mark);
        self.files = self.files.with(AGENT, &mark);
        self
    }

    /// The same in any checkout, which `repository` is seen from and `git` runs in. Its trees hold what git would commit.
    pub(in crate::worktree) fn in_checkout(
        repository: Repository,
        git: Git,
    ) -> Result<Self, SnapshotError> {
        let mut scratch = tempfile::Builder::new();
        scratch.prefix("pitcrew-snapshot-");
        // A missing directory for temporary files keeps nobody from finishing a task.
        let scratch = scratch
            .tempdir()
            .or_else(|_| scratch.tempdir_in(&repository.git_dir))?;
        Ok(Self {
            files: git.clone(),
            is_exact: false,
            aside: None,
            git,
            scratch,
            repository,
        })
    }

    /// A file or directory of ours that is gone afterwards.
    pub(in crate::worktree) fn scratch(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// The same, but new objects are gone afterwards, too.
    pub(in crate::worktree) fn leaving_no_objects(self) -> Result<Self, SnapshotError> {
        let objects = self.scratch("objects");
        std::fs::create_dir(&objects)?;
        Ok(self.with_objects_in(&objects))
    }

    /// The same, but new objects are gone afterwards unless they are taken in.
    pub(super) fn with_objects_aside(mut self) -> Result<Self, SnapshotError> {
        let aside = Aside::of(self.repository.common.join("objects"))?;
        self = self.with_objects_in(aside.path());
        self.aside = Some(aside);
        Ok(self)
    }

    fn with_objects_in(mut self, objects: &Path) -> Self {
        let lender = quoted(&self.repository.common.join("objects"));
        let elsewhere = |git: Git| {
            git.with("GIT_OBJECT_DIRECTORY", objects)
                .with("GIT_ALTERNATE_OBJECT_DIRECTORIES", &lender)
        };
        self.git = elsewhere(self.git);
        self.files = elsewhere(self.files);
        self
    }

    /// Has `reference`, which is not there yet, name `commit`, with all objects that it needs.
    pub(super) fn name(&self, reference: &str, commit: &str) -> Result<(), SnapshotError> {
        if let Some(aside) = &self.aside {
            aside.take_in()?;
        }
        // Refused if somebody was quicker.
        self.git.look(&["update-ref", reference, commit, ""])?;
        Ok(())
    }

    /// The commit of a reference, if there is one.
    pub(in crate::worktree) fn commit(&self, reference: &str) -> Result<Option<String>, GitError> {
        let wanted = format!("{reference}^{{commit}}");
        match self
            .git
            .text(&["rev-parse", "--verify", "--quiet", &wanted])
        {
            Ok(id) => Ok(Some(id)),
            Err(GitError::Failed { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The snapshot of `session`.
    pub(in crate::worktree) fn snapshot(
        &self,
        session: &SessionId,
    ) -> Result<String, SnapshotError> {
        if let Some(commit) = self.commit(&reference(session))? {
            return Ok(commit);
        }
        let listed = self.git.text(&[
            "for-each-ref",
            "--sort=-committerdate",
            "--format=%(refname:lstrip=2)",
            "refs/pitcrew",
        ])?;
        Err(SnapshotError::None {
            session: session.clone(),
            others: listed
                .lines()
                .filter_map(|name| SessionId::parse(name).ok())
                .collect(),
        })
    }

    /// The workspace as it stands. `base` is an earlier snapshot: its files are looked at even where they are ignored by
    /// now, so is what its ignore rules did not hide, and what it left out is left out.
    pub(in crate::worktree) fn now(&self, base: Option<&str>) -> Result<Now, SnapshotError> {
        let index = self.scratch("index");
        copy_index(&self.repository.git_dir.join("index"), &index)?;
        let git = self.files.clone().with("GIT_INDEX_FILE", &index);
        if let Some(base) = base {
            add_missing(&git, base)?;
        }
        let inner = leave_repositories_alone(&git)?;
        let mut left_out = LeftOut::find(&git)?;
        if self.is_exact {
            let like_the_repositorys = self.git.clone().with("GIT_INDEX_FILE", index);
            left_out.join(forget_converted(
                &like_the_repositorys,
                &git,
                &self.repository,
            )?);
        }
        left_out.join(LeftOut::with_repositories(&git, inner));
        if let Some(base) = base {
            left_out.join(LeftOut::of(&git, base)?);
        }
        let mut unread = match git.fed_for(&ADD, &left_out.the_rest(), TIME) {
            Ok(_) => String::new(),
            Err(GitError::Failed { said, .. }) => said,
            Err(error) => return Err(error.into()),
        };
        if let Some(base) = base {
            unread += &add_what_new_rules_hide(self, &git, base)?;
        }
        let mut without = vec!["rm", "-r", "-q", "-f", "--cached", "--ignore-unmatch", "--"];
        without.extend(exclude::DIRECTORIES);
        git.look(&without)?;
        let tree = git.text(&["write-tree"])?;
        Ok(Now {
            git,
            tree,
            unread,
            left_out,
        })
    }

    /// A commit of `tree` on top of HEAD, which no branch names.
    pub(in crate::worktree) fn commit_tree(
        &self,
        tree: &str,
        message: &str,
    ) -> Result<String, GitError> {
        let head = self.commit("HEAD")?;
        let mut args = vec!["commit-tree", tree, "-m", message];
        if let Some(head) = &head {
            args.extend(["-p", head]);
        }
        self.git.text(&args)
    }
}

/// Where the snapshot of `session` is kept.
pub(in crate::worktree) fn reference(session: &SessionId) -> String {
    format!("refs/pitcrew/{session}")
}

/// With the time of its last change: git tells by it which files it must read again.
#[expect(clippy::disallowed_methods, reason = "git makes the index a file")]
fn copy_index(from: &Path, to: &Path) -> io::Result<()> {
    match std::fs::copy(from, to) {
        Ok(_) => File::options()
            .write(true)
            .open(to)?
            .set_modified(std::fs::metadata(from)?.modified()?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Adds what `base` has and the index lacks: what is known is looked at, whatever the ignore rules say.
fn add_missing(git: &Git, base: &str) -> Result<(), GitError> {
    let raw = git.look(&[
        "diff-index",
        "--cached",
        "--raw",
        "-z",
        "--no-renames",
        "--diff-filter=D",
        base,
        "--",
        ".",
    ])?;
    let mut lines = Vec::new();
    for change in super::diff::changes(&raw) {
        lines.extend(change.line_before());
    }
    if lines.is_empty() {
        return Ok(());
    }
    git.fed(&["update-index", "-z", "--index-info"], &lines)
        .map(drop)
}

/// Marks the repositories within the repository as not to be looked at: their configuration, which an agent can write,
/// would decide what runs. Which these are.
fn leave_repositories_alone(git: &Git) -> Result<Vec<PathBuf>, GitError> {
    let inner = nested(git)?;
    if !inner.is_empty() {
        let args = ["update-index", "--skip-worktree", "-z", "--stdin"];
        git.fed(&args, &joined(&inner))?;
    }
    Ok(inner)
}

/// A path as one element of a list of directories.
pub(super) fn quoted(path: &Path) -> PathBuf {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let mut out = vec![b'"'];
    for byte in path.as_os_str().as_bytes() {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(*byte);
    }
    out.push(b'"');
    PathBuf::from(std::ffi::OsString::from_vec(out))
}
