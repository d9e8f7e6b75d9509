//! Running git, hardened as SPEC §7.1 says: the only place where git is started.
//!
//! Nothing that a repository, an agent or a surrounding git command could have set decides what else is run: variables of
//! git's own are removed, hooks, fsmonitor, pagers, prompts and auto-gc are off, and calls that concern a worktree name
//! its directories from the registration.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::repository::{Registration, Repository};
use crate::process::capture;

/// For commands that only look.
const LOOK: Duration = Duration::from_mins(1);
/// For a checkout of a large repository.
pub(super) const CHECKOUT: Duration = Duration::from_mins(15);
/// How much of each output is kept, in bytes.
const OUTPUT: usize = 64 * 1024 * 1024;

/// Settings of every call; they are not written to any configuration.
const SETTINGS: [&str; 12] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.askPass=",
    "core.quotePath=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "branch.autoSetupMerge=false",
    "worktree.useRelativePaths=false",
    "log.showSignature=false",
    "color.ui=false",
    "advice.detachedHead=false",
];

/// Every variable by which git can be told other directories, configuration, programs or outputs.
const VARIABLES: [&str; 51] = [
    "GIT_ALLOW_PROTOCOL",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_ASKPASS",
    "GIT_ATTR_GLOBAL",
    "GIT_ATTR_NOSYSTEM",
    "GIT_ATTR_SOURCE",
    "GIT_ATTR_SYSTEM",
    "GIT_CEILING_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DEFAULT_HASH",
    "GIT_DEFAULT_REF_FORMAT",
    "GIT_DIFF_OPTS",
    "GIT_DIR",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_EDITOR",
    "GIT_EXEC_PATH",
    "GIT_EXTERNAL_DIFF",
    "GIT_FLUSH",
    "GIT_GLOB_PATHSPECS",
    "GIT_GRAFT_FILE",
    "GIT_ICASE_PATHSPECS",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INDEX_VERSION",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_LITERAL_PATHSPECS",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PAGER",
    "GIT_PAGER_IN_USE",
    "GIT_PREFIX",
    "GIT_PROTOCOL",
    "GIT_QUARANTINE_PATH",
    "GIT_REDIRECT_STDERR",
    "GIT_REDIRECT_STDOUT",
    "GIT_REFLOG_ACTION",
    "GIT_REPLACE_REF_BASE",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SHALLOW_FILE",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_TEMPLATE_DIR",
    "GIT_TRACE",
    "GIT_TRACE2",
    "GIT_TRACE2_EVENT",
    "GIT_WORK_TREE",
];

/// Why a git command did not do what it should.
#[derive(Debug, thiserror::Error)]
pub(super) enum GitError {
    /// There is no git, or it could not be started.
    #[error("git could not be started ({0}); is it installed?")]
    Start(#[from] io::Error),
    /// It was ended at the time limit.
    #[error("git {0} took too long and was ended")]
    TimedOut(String),
    /// It ended with an error; what it said.
    #[error("git {command} failed: {said}")]
    Failed {
        /// Its first word.
        command: String,
        /// Its standard error, trimmed.
        said: String,
    },
}

/// git in one directory.
#[derive(Debug)]
pub(super) struct Git {
    dir: PathBuf,
    named: Vec<(&'static str, PathBuf)>,
}

impl Git {
    /// In the workspace: git finds the repository itself, with its own checks of who owns it.
    pub(super) fn in_workspace(root: &Path) -> Self {
        Self {
            dir: root.to_path_buf(),
            named: Vec::new(),
        }
    }

    /// In a worktree at `path`, whatever its `.git` file says by now.
    pub(super) fn in_worktree(
        repository: &Repository,
        registration: &Registration,
        path: &Path,
    ) -> Self {
        Self {
            dir: path.to_path_buf(),
            named: vec![
                ("GIT_DIR", registration.git_dir.clone()),
                ("GIT_COMMON_DIR", repository.common.clone()),
                ("GIT_WORK_TREE", path.to_path_buf()),
            ],
        }
    }

    /// Runs a command that only looks; its standard output.
    pub(super) fn look(&self, args: &[&str]) -> Result<Vec<u8>, GitError> {
        self.run(args, LOOK)
    }

    /// The same as text without its last newline.
    pub(super) fn text(&self, args: &[&str]) -> Result<String, GitError> {
        let bytes = self.look(args)?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
    }

    /// Runs a command for at most `time`; its standard output.
    pub(super) fn run(&self, args: &[&str], time: Duration) -> Result<Vec<u8>, GitError> {
        let name = args.first().copied().unwrap_or_default();
        let done = capture::run(&mut self.command(args), b"", OUTPUT, time)?;
        match done.status {
            None => Err(GitError::TimedOut(name.to_owned())),
            Some(status) if status.success() => Ok(done.stdout),
            Some(status) => {
                let said = String::from_utf8_lossy(&done.stderr).trim().to_owned();
                Err(GitError::Failed {
                    command: name.to_owned(),
                    said: if said.is_empty() {
                        status.to_string()
                    } else {
                        said
                    },
                })
            }
        }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("git");
        for name in VARIABLES {
            command.env_remove(name);
        }
        command
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("LC_ALL", "C")
            .envs(self.named.iter().map(|(name, path)| (name, path)))
            .args(["--no-pager", "--literal-pathspecs"]);
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command.args(args).current_dir(&self.dir);
        command
    }
}

/// The parts of an output in which each ends with NUL.
pub(super) fn nul_separated(bytes: &[u8]) -> impl Iterator<Item = PathBuf> {
    bytes
        .split(|byte| *byte == 0)
        .filter(|part| !part.is_empty())
        .map(|part| PathBuf::from(std::ffi::OsStr::from_bytes(part)))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn only_the_registration_says_which_directories_are_meant() {
        let repository = Repository {
            top: "/w".into(),
            git_dir: "/w/.git".into(),
            common: "/w/.git".into(),
        };
        let registration = Registration {
            git_dir: "/w/.git/worktrees/a".into(),
        };
        let git = Git::in_worktree(&repository, &registration, Path::new("/w/.worktrees/a"));
        let command = git.command(&["status"]);
        let set: Vec<(&OsStr, Option<&OsStr>)> = command.get_envs().collect();
        let value = |name: &str| {
            set.iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| *value)
        };
        assert_eq!(
            value("GIT_DIR"),
            Some(Some(OsStr::new("/w/.git/worktrees/a")))
        );
        assert_eq!(value("GIT_COMMON_DIR"), Some(Some(OsStr::new("/w/.git"))));
        assert_eq!(
            value("GIT_WORK_TREE"),
            Some(Some(OsStr::new("/w/.worktrees/a")))
        );
        for removed in [
            "GIT_INDEX_FILE",
            "GIT_CONFIG_COUNT",
            "GIT_EXTERNAL_DIFF",
            "GIT_SSH_COMMAND",
        ] {
            assert_eq!(value(removed), Some(None), "{removed}");
        }
    }

    #[test]
    fn in_the_workspace_git_looks_for_itself() {
        let command = Git::in_workspace(Path::new("/w")).command(&["status"]);
        for name in VARIABLES {
            assert!(
                command
                    .get_envs()
                    .any(|(key, value)| key == name && value.is_none()),
                "{name}"
            );
        }
    }
}
