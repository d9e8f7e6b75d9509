//! What has changed since a snapshot.

use std::path::PathBuf;

use super::SnapshotError;
use super::tree::{Ground, TIME};
use crate::ids::SessionId;
use crate::workspace::Workspace;
use crate::worktree::git::{Git, GitError, nul_separated};

/// How changes are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Line by line.
    Patch,
    /// Files with counts of lines.
    Stat,
}

/// What has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Differences {
    /// In the form that was asked for; empty if nothing has.
    pub text: String,
    /// What is not looked at, in words.
    pub besides: Option<String>,
}

/// Everything in the workspace that differs from the snapshot of `session`, untracked files included. Leaves nothing behind.
pub fn diff(
    workspace: &Workspace,
    session: &SessionId,
    form: Form,
) -> Result<Differences, SnapshotError> {
    let ground = Ground::of(workspace)?.leaving_no_objects()?;
    let base = ground.snapshot(session)?;
    let now = ground.now(Some(&base))?;
    let how = match form {
        Form::Patch => "-p",
        Form::Stat => "--stat=100",
    };
    let args = [
        "diff-tree",
        "-r",
        "-M",
        "--no-ext-diff",
        "--no-textconv",
        "--relative",
        how,
        &base,
        &now.tree,
        "--",
        ".",
    ];
    let bytes = ground.git.run(&args, TIME)?;
    Ok(Differences {
        text: String::from_utf8_lossy(&bytes).into_owned(),
        besides: now.left_out.told(),
    })
}

/// One path that differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::worktree) struct Change {
    /// From the top of the checkout.
    pub(in crate::worktree) path: PathBuf,
    before: Entry,
    after: Entry,
}

/// A path's entry in a tree; the mode is all zeros where there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    mode: String,
    object: String,
}

impl Change {
    /// Whether the path was not there before.
    pub(in crate::worktree) fn is_new(&self) -> bool {
        self.before.is_absent()
    }

    /// Whether the path is not there any more.
    pub(in crate::worktree) fn is_gone(&self) -> bool {
        self.after.is_absent()
    }

    /// Whether a repository within the repository is concerned, whose files are in no snapshot.
    pub(in crate::worktree) fn is_repository(&self) -> bool {
        [&self.before, &self.after]
            .iter()
            .any(|entry| entry.mode == "160000")
    }

    /// The entry before as `update-index -z --index-info` reads it; one of zeros takes the path out.
    pub(in crate::worktree) fn line_before(&self) -> Vec<u8> {
        use std::os::unix::ffi::OsStrExt;
        let mut line = format!("{} {}\t", self.before.mode, self.before.object).into_bytes();
        line.extend_from_slice(self.path.as_os_str().as_bytes());
        line.push(0);
        line
    }
}

impl Entry {
    fn is_absent(&self) -> bool {
        self.mode.bytes().all(|byte| byte == b'0')
    }
}

/// The changes between two trees, below the workspace's root.
pub(in crate::worktree) fn between(
    git: &Git,
    before: &str,
    after: &str,
) -> Result<Vec<Change>, GitError> {
    let raw = git.look(&[
        "diff-tree",
        "-r",
        "--raw",
        "-z",
        "--no-renames",
        before,
        after,
        "--",
        ".",
    ])?;
    Ok(changes(&raw))
}

/// Reads git's raw format with NUL after each part: `:<mode> <mode> <object> <object> <status>`, then the path.
pub(in crate::worktree) fn changes(raw: &[u8]) -> Vec<Change> {
    let mut found = Vec::new();
    let mut parts = nul_separated(raw);
    while let (Some(what), Some(path)) = (parts.next(), parts.next()) {
        let words = what.to_string_lossy().into_owned();
        let words: Vec<&str> = words.trim_start_matches(':').split(' ').collect();
        if let [before_mode, after_mode, before, after, _] = words[..] {
            found.push(Change {
                path,
                before: entry(before_mode, before),
                after: entry(after_mode, after),
            });
        }
    }
    found
}

fn entry(mode: &str, object: &str) -> Entry {
    Entry {
        mode: mode.to_owned(),
        object: object.to_owned(),
    }
}
