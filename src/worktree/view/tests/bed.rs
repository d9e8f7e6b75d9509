//! A repository with a worktree `w` and the view of its agent.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::ids::WorktreeName;
use crate::process::capture;
use crate::process::sandbox::Bind;
use crate::workspace::Workspace;
use crate::worktree::{self, view};

pub(super) struct Bed {
    _scratch: tempfile::TempDir,
    pub(super) root: PathBuf,
}

impl Bed {
    /// One commit on `main`, and a branch `other`.
    pub(super) fn new() -> Self {
        Self::of_format(&[])
    }

    pub(super) fn of_format(format: &[&str]) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().canonicalize().unwrap().join("r");
        std::fs::create_dir(&root).unwrap();
        let bed = Self {
            _scratch: scratch,
            root,
        };
        bed.git(&[&["init", "-q", "-b", "main"], format].concat());
        bed.git(&["config", "user.name", "Test"]);
        bed.git(&["config", "user.email", "test@example.org"]);
        put(&bed.root.join("a"), "a\n");
        bed.git(&["add", "a"]);
        bed.git(&["commit", "-q", "-m", "first"]);
        bed.git(&["branch", "other"]);
        worktree::create(&bed.workspace(), &w()).unwrap();
        bed
    }

    pub(super) fn workspace(&self) -> Workspace {
        Workspace::at(self.root.clone())
    }

    pub(super) fn path(&self) -> PathBuf {
        self.workspace().worktree(&w())
    }

    pub(super) fn view(&self) -> PathBuf {
        self.workspace().git_view(&w()).join("view")
    }

    pub(super) fn open(&self) -> Vec<Bind> {
        view::open(&self.workspace(), &w()).unwrap()
    }

    pub(super) fn settle(&self) -> Result<(), String> {
        view::settle(&self.workspace(), &w())
    }

    /// git in the workspace, as the person runs it.
    #[track_caller]
    pub(super) fn git(&self, args: &[&str]) -> String {
        ran(Command::new("git").current_dir(&self.root).args(args)).unwrap()
    }

    /// git in the worktree, as the person runs it.
    #[track_caller]
    pub(super) fn inside(&self, args: &[&str]) -> String {
        ran(Command::new("git").current_dir(self.path()).args(args)).unwrap()
    }

    /// git in the worktree, as its agent runs it.
    #[track_caller]
    pub(super) fn agent(&self, args: &[&str]) -> String {
        self.try_agent(args).unwrap()
    }

    pub(super) fn try_agent(&self, args: &[&str]) -> Result<String, String> {
        let common = self.root.join(".git");
        let admin = common.join("worktrees/w");
        // What the mounts do: the common directory is the view.
        let view = format!("{}\n", self.view().display());
        put(&admin.join("commondir"), &view);
        let mut command = Command::new("git");
        command
            .current_dir(self.path())
            .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", common.join("objects"))
            .args(args);
        let done = ran(&mut command);
        put(&admin.join("commondir"), "../..\n");
        done
    }

    /// The agent writes a file and commits it; the commit.
    #[track_caller]
    pub(super) fn agent_commits(&self, file: &str) -> String {
        put(&self.path().join(file), &format!("{file}\n"));
        self.agent(&["add", file]);
        self.agent(&["commit", "-q", "-m", file]);
        self.agent(&["rev-parse", "HEAD"])
    }

    /// Where the repository's own `wt/w` is.
    #[track_caller]
    pub(super) fn tip(&self) -> String {
        self.git(&["rev-parse", "refs/heads/wt/w"])
    }

    /// Every reference of the repository but `wt/w`, its configuration and hooks.
    pub(super) fn rest(&self) -> String {
        let refs = self.git(&["for-each-ref"]);
        let refs: Vec<&str> = refs
            .lines()
            .filter(|line| !line.ends_with("\trefs/heads/wt/w"))
            .collect();
        let hooks = std::fs::read_dir(self.root.join(".git/hooks")).map(Iterator::count);
        format!(
            "{refs:?} {} {hooks:?} {}",
            std::fs::read_to_string(self.root.join(".git/config")).unwrap(),
            std::fs::read_to_string(self.root.join(".git/HEAD")).unwrap(),
        )
    }

    /// Everything in the repository leads to something sound.
    #[track_caller]
    pub(super) fn assert_sound(&self) {
        self.git(&["fsck", "--strict", "--no-dangling"]);
        assert_eq!(self.inside(&["rev-parse", "HEAD"]), self.tip());
    }

    /// The file of an object in the view.
    pub(super) fn object(&self, id: &str) -> PathBuf {
        self.view().join("objects").join(&id[..2]).join(&id[2..])
    }
}

pub(super) fn w() -> WorktreeName {
    WorktreeName::parse("w").unwrap()
}

#[expect(clippy::disallowed_methods, reason = "a test makes plain files")]
pub(super) fn put(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

fn ran(command: &mut Command) -> Result<String, String> {
    command.env("GIT_EDITOR", "true");
    let done = capture::run(command, b"", 1 << 20, Duration::from_mins(1)).unwrap();
    if done.status().is_some_and(|status| status.success()) {
        Ok(String::from_utf8(done.stdout)
            .unwrap()
            .trim_end()
            .to_owned())
    } else {
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        Err(format!("{command:?}: {said}"))
    }
}
