//! Running git, hardened as SPEC §7.1 says: the only place where git is started.
//!
//! Nothing that a repository, an agent or a surrounding git command could have set decides what else is run: of the
//! environment git gets a few variables by name, hooks, fsmonitor, pagers, prompts and auto-gc are off, and calls that
//! concern a worktree name its directories from the registration.

use std::cell::Cell;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::repository::{Registration, Repository};
use crate::process::capture::{self, Captured, End};

/// For commands that answer with a line.
const BRIEF: Duration = Duration::from_secs(20);
/// For commands that only look.
const LOOK: Duration = Duration::from_mins(1);
/// For such commands once one was silent for all of its time: whoever waits has waited enough.
const SILENT: Duration = Duration::from_secs(2);
/// For a checkout of a large repository.
pub(super) const CHECKOUT: Duration = Duration::from_mins(15);
/// How much of each output is kept, in bytes.
const OUTPUT: usize = 64 * 1024 * 1024;

/// The first git with `merge-tree --write-tree`.
const SINCE_MERGE_TREE: &str = "2.38";

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

/// All that git gets of this process's environment: nothing that is git's own (SPEC §7.1), and no key of a model
/// (SPEC §13.1).
const VARIABLES: [&str; 9] = [
    "PATH",
    "HOME",
    "XDG_CONFIG_HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TMPDIR",
    "LANG",
    "TZ",
];

thread_local! {
    /// Whether the last command that only looks was silent for all of its time.
    static IS_SILENT: Cell<bool> = const { Cell::new(false) };
}

/// Why a git command did not do what it should.
#[derive(Debug, thiserror::Error)]
pub(super) enum GitError {
    /// There is no git, or it could not be started.
    #[error("git could not be started ({0}); is it installed?")]
    Start(#[source] io::Error),
    /// Where it was to run is not there (any more).
    #[error("{} is not there (any more)", .0.display())]
    Gone(PathBuf),
    /// What was made for it could not be.
    #[error("a git directory of our own could not be made ({0})")]
    Own(#[source] io::Error),
    /// It was ended at the time limit.
    #[error(
        "git {command} did not end within {} s and was stopped; run it by hand to see what it waits for", .time.as_secs()
    )]
    TimedOut {
        /// Its first word.
        command: String,
        /// The limit.
        time: Duration,
    },
    /// It was ended with the call that it worked for.
    #[error("git {0} was interrupted")]
    Cut(String),
    /// It does not know what is asked of it yet.
    #[error(
        "{what} needs git {} or newer, and this is {found}; install a newer git",
        SINCE_MERGE_TREE
    )]
    TooOld {
        /// What was asked.
        what: &'static str,
        /// What `git version` says.
        found: String,
    },
    /// It ended with an error; what it said.
    #[error("git {command} failed: {said}")]
    Failed {
        /// Its first word.
        command: String,
        /// Its standard error, trimmed.
        said: String,
    },
}

/// How a command ended that was run to its end.
#[derive(Debug)]
pub(super) struct Ended {
    /// `None` if a signal ended it.
    pub(super) code: Option<i32>,
    pub(super) stdout: Vec<u8>,
    /// Its standard error, trimmed; its status if that is empty.
    said: String,
}

impl Ended {
    /// The same as a failure.
    pub(super) fn failed(self, args: &[&str]) -> GitError {
        GitError::Failed {
            command: first(args).to_owned(),
            said: self.said,
        }
    }
}

/// git in one directory.
#[derive(Debug, Clone)]
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

    /// In the repository of this common directory, for what concerns no checkout.
    pub(super) fn in_repository(common: &Path) -> Self {
        Self {
            dir: common.to_path_buf(),
            named: vec![("GIT_DIR", common.to_path_buf())],
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

    /// Where it runs.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The same with one more variable of git's own.
    pub(super) fn with(mut self, name: &'static str, value: impl Into<PathBuf>) -> Self {
        self.named.push((name, value.into()));
        self
    }

    /// The same in another directory.
    pub(super) fn standing_in(mut self, dir: &Path) -> Self {
        dir.clone_into(&mut self.dir);
        self
    }

    /// The same with commits made in the runtime's name, whoever the person is, if git knows that at all.
    pub(super) fn signed_by_the_runtime(self) -> Self {
        self.with("GIT_AUTHOR_NAME", "pitcrew")
            .with("GIT_AUTHOR_EMAIL", "pitcrew@localhost")
            .with("GIT_COMMITTER_NAME", "pitcrew")
            .with("GIT_COMMITTER_EMAIL", "pitcrew@localhost")
    }

    /// The same with commits made in the name of the person that git's configuration names, else in the runtime's.
    pub(super) fn signed_by_somebody(self) -> Self {
        let known = |who| self.look(&["var", who]).is_ok();
        if known("GIT_AUTHOR_IDENT") && known("GIT_COMMITTER_IDENT") {
            return self;
        }
        self.signed_by_the_runtime()
    }

    /// Runs a command that only looks; its standard output.
    pub(super) fn look(&self, args: &[&str]) -> Result<Vec<u8>, GitError> {
        self.run(args, LOOK)
    }

    /// Runs a command that answers with a line; that as text without its newline.
    pub(super) fn text(&self, args: &[&str]) -> Result<String, GitError> {
        let bytes = self.run(args, BRIEF)?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
    }

    /// Runs a command for at most `time`; its standard output.
    pub(super) fn run(&self, args: &[&str], time: Duration) -> Result<Vec<u8>, GitError> {
        let ended = self.end(args, time)?;
        if ended.code == Some(0) {
            return Ok(ended.stdout);
        }
        Err(ended.failed(args))
    }

    /// Runs a command that reads `input` and only looks, or changes nothing but an index; its standard output.
    pub(super) fn fed(&self, args: &[&str], input: &[u8]) -> Result<Vec<u8>, GitError> {
        self.fed_for(args, input, LOOK)
    }

    /// The same for at most `time`.
    pub(super) fn fed_for(
        &self,
        args: &[&str],
        input: &[u8],
        time: Duration,
    ) -> Result<Vec<u8>, GitError> {
        let ended = self.end_fed(args, input, time)?;
        if ended.code == Some(0) {
            return Ok(ended.stdout);
        }
        Err(ended.failed(args))
    }

    /// Runs a command whose status is an answer, for at most `time`.
    pub(super) fn end(&self, args: &[&str], time: Duration) -> Result<Ended, GitError> {
        self.end_fed(args, b"", time)
    }

    /// The same for one that reads `input`.
    pub(super) fn end_fed(
        &self,
        args: &[&str],
        input: &[u8],
        time: Duration,
    ) -> Result<Ended, GitError> {
        let time = if time <= LOOK && IS_SILENT.get() {
            SILENT
        } else {
            time
        };
        let done = capture::run(&mut self.command(args), input, OUTPUT, time);
        let done = done.map_err(|error| self.not_started(error))?;
        if time <= LOOK {
            IS_SILENT.set(done.end == End::TimedOut);
        }
        ended(done, args, time)
    }

    fn not_started(&self, error: io::Error) -> GitError {
        if self.dir.is_dir() {
            GitError::Start(error)
        } else {
            GitError::Gone(self.dir.clone())
        }
    }

    /// Runs a command that reads the file `input` for at most `time`; its standard output.
    pub(super) fn fed_from(
        &self,
        args: &[&str],
        input: File,
        time: Duration,
    ) -> Result<Vec<u8>, GitError> {
        let done = capture::run_from(&mut self.command(args), input, OUTPUT, time);
        let done = done.map_err(|error| self.not_started(error))?;
        let ended = ended(done, args, time)?;
        if ended.code == Some(0) {
            return Ok(ended.stdout);
        }
        Err(ended.failed(args))
    }

    /// Whether this git is older than [`SINCE_MERGE_TREE`]; what it says of itself if so.
    pub(super) fn too_old_to_try_merges(&self) -> Option<String> {
        let said = self.text(&["version"]).ok()?;
        is_older(&said, SINCE_MERGE_TREE).then_some(said)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("git");
        command
            .env_clear()
            .envs(VARIABLES.iter().filter_map(|name| inherited(name)))
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

fn ended(done: Captured, args: &[&str], time: Duration) -> Result<Ended, GitError> {
    let command = || first(args).to_owned();
    let status = match done.end {
        End::Exited(status) => status,
        End::TimedOut => {
            let command = command();
            return Err(GitError::TimedOut { command, time });
        }
        End::Cut => return Err(GitError::Cut(command())),
    };
    let said = String::from_utf8_lossy(&done.stderr).trim().to_owned();
    Ok(Ended {
        code: status.code(),
        stdout: done.stdout,
        said: if said.is_empty() {
            status.to_string()
        } else {
            said
        },
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "git is given these variables by name, and nothing else of the environment"
)]
fn inherited(name: &'static str) -> Option<(&'static str, OsString)> {
    std::env::var_os(name).map(|value| (name, value))
}

/// The command, after settings of its own.
fn first<'a>(args: &[&'a str]) -> &'a str {
    match args {
        ["-c", _, command, ..] | ["--no-literal-pathspecs", command, ..] | [command, ..] => command,
        [] => "",
    }
}

/// Whether `said`, the answer of `git version`, names a version before `since`; one that cannot be read does not.
fn is_older(said: &str, since: &str) -> bool {
    let numbers = |text: &str| {
        let mut parts = text.split('.').map(|part| part.parse::<u32>().ok());
        parts.next().flatten().zip(parts.next().flatten())
    };
    let found = said.split_whitespace().nth(2).and_then(numbers);
    matches!((found, numbers(since)), (Some(found), Some(since)) if found < since)
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
        let mut given: Vec<&str> = set.iter().filter_map(|(key, _)| key.to_str()).collect();
        given.retain(|name| !VARIABLES.contains(name) && *name != "LC_ALL");
        assert_eq!(
            given,
            [
                "GIT_COMMON_DIR",
                "GIT_DIR",
                "GIT_OPTIONAL_LOCKS",
                "GIT_TERMINAL_PROMPT",
                "GIT_WORK_TREE"
            ]
        );
    }

    #[test]
    fn after_one_that_is_silent_nobody_waits_long_until_one_answers() {
        let dir = tempfile::tempdir().unwrap();
        let git = Git::in_workspace(dir.path());
        let hangs = ["-c", "alias.hang=!sleep 300", "hang"];
        let silent = git.run(&hangs, Duration::from_millis(1)).unwrap_err();
        assert!(
            silent.to_string().contains("git hang did not end within"),
            "{silent}"
        );
        let Err(GitError::TimedOut { time, .. }) = git.look(&hangs) else {
            panic!("it ended");
        };
        assert_eq!(time, SILENT);
        // A machine that is busy may be silent for so short a time, too.
        assert!((0..30).any(|_| git.text(&["version"]).is_ok()));
        assert!(!IS_SILENT.get());
    }

    #[test]
    fn a_directory_that_is_gone_is_not_taken_for_a_missing_git() {
        let git = Git::in_workspace(Path::new("/nonexistent/w"));
        let why = git.text(&["version"]).unwrap_err();
        assert!(
            why.to_string().starts_with("/nonexistent/w is not there"),
            "{why}"
        );
    }

    #[test]
    fn versions_are_compared_by_their_numbers() {
        for (said, older) in [
            ("git version 2.37.9", true),
            ("git version 1.8.3.1", true),
            ("git version 2.38.0", false),
            ("git version 2.47.3 (Apple Git-154)", false),
            ("git version 10.0", false),
            ("git version 2.39.windows.1", false),
            ("git version next", false),
            ("", false),
        ] {
            assert_eq!(is_older(said, SINCE_MERGE_TREE), older, "{said}");
        }
    }
}
