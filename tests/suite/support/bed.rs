//! A scratch place to run the built binaries in.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Once};
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::Value;

use super::facts::{DEADLINE, processes_in, send, wait_until};
use super::program::write_program;
use super::running::{Done, Running};

/// How long a command that should end at once may take.
const AT_ONCE: Duration = Duration::from_mins(1);

/// Names the directory of the binaries where it is not the one in which they were built.
pub const BINARIES: &str = "SUITE_BINARIES";

/// A workspace with a home and a temporary directory of its own.
#[derive(Debug)]
pub struct Bed {
    scratch: tempfile::TempDir,
    top: PathBuf,
    env: Vec<(String, String)>,
}

impl Bed {
    /// An empty workspace, no git.
    pub fn new() -> Self {
        Self::beneath(&std::env::temp_dir())
    }

    /// The same in a directory of that directory.
    pub fn beneath(dir: &Path) -> Self {
        ignore_no_signal();
        let scratch = tempfile::Builder::new()
            .prefix("pitcrew-bed-")
            .tempdir_in(dir)
            .unwrap();
        let top = scratch.path().canonicalize().unwrap();
        for dir in ["work", "home", "tmp"] {
            std::fs::create_dir(top.join(dir)).unwrap();
        }
        let bed = Self {
            scratch,
            top,
            env: Vec::new(),
        };
        bed.put(
            &bed.home().join(".gitconfig"),
            "[user]\n\tname = Test\n\temail = test@example.invalid\n[init]\n\tdefaultBranch = main\n\
             [commit]\n\tgpgSign = false\n[gc]\n\tauto = 0\n",
        );
        bed
    }

    /// A git checkout with one commit that holds `README.md`.
    pub fn git() -> Self {
        Self::new().with_git()
    }

    /// The same in this bed.
    #[must_use]
    pub fn with_git(self) -> Self {
        let bed = self;
        bed.run_git(&["init", "-q"]);
        bed.write("README.md", "scratch\n");
        bed.run_git(&["add", "-A"]);
        bed.run_git(&["commit", "-q", "-m", "first"]);
        bed
    }

    /// The same with a variable in the environment of every process.
    #[must_use]
    pub fn with_env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    /// The workspace's root.
    pub fn root(&self) -> PathBuf {
        self.top.join("work")
    }

    /// `HOME` of every process.
    pub fn home(&self) -> PathBuf {
        self.top.join("home")
    }

    /// Beside the workspace: for scripts and the like.
    pub fn outside(&self, name: &str) -> PathBuf {
        self.top.join(name)
    }

    /// A file below the workspace's root, with its directories.
    pub fn write(&self, name: &str, text: &str) {
        self.put(&self.root().join(name), text);
    }

    /// A file anywhere in the bed, with its directories.
    #[expect(
        clippy::disallowed_methods,
        reason = "tests write what people would write"
    )]
    pub fn put(&self, path: &Path, text: &str) {
        assert!(
            path.starts_with(&self.top),
            "{} is outside of the bed",
            path.display()
        );
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// The text of a file below the workspace's root.
    #[track_caller]
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.root().join(name))
            .unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Waits until something is there below the workspace's root.
    #[track_caller]
    pub fn wait_for(&self, name: &str) {
        let path = self.root().join(name);
        wait_until(&format!("{name} is there"), DEADLINE, || {
            path.exists().then_some(())
        });
    }

    /// A JSON file below the workspace's root; `None` if it is missing or not JSON (yet).
    pub fn json(&self, name: &str) -> Option<Value> {
        serde_json::from_str(&std::fs::read_to_string(self.root().join(name)).ok()?).ok()
    }

    /// All task files, in the order of their names.
    pub fn tasks(&self) -> Vec<Value> {
        let dir = self.root().join(".tasks");
        let Ok(entries) = std::fs::read_dir(dir) else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| {
                name.strip_prefix("task_")
                    .and_then(|rest| rest.strip_suffix(".json"))
                    .is_some()
            })
            .collect();
        names.sort();
        names
            .iter()
            .filter_map(|name| self.json(&format!(".tasks/{name}")))
            .collect()
    }

    /// Names of everything below the workspace's root but `.git`, sorted; to see that nothing was made.
    pub fn listing(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut dirs = vec![self.root()];
        while let Some(dir) = dirs.pop() {
            for entry in std::fs::read_dir(dir).unwrap().flatten() {
                let path = entry.path();
                let name = path
                    .strip_prefix(self.root())
                    .unwrap()
                    .to_string_lossy()
                    .into_owned();
                if name == ".git" {
                    continue;
                }
                if path.is_dir() && !path.is_symlink() {
                    dirs.push(path);
                }
                found.push(name);
            }
        }
        found.sort();
        found
    }

    /// Writes a script of replies (SPEC §12.1) beside the workspace and gives its model's name, `script:<path>`.
    pub fn script(&self, script: &Value) -> String {
        let path = self.outside("script.json");
        self.put(&path, &script.to_string());
        format!("script:{}", path.display())
    }

    /// A program of its own that is found before any other of that name.
    pub fn program(&self, name: &str, script: &str) {
        write_program(&self.bin().join(name), script);
    }

    fn bin(&self) -> PathBuf {
        self.home().join(".local/bin")
    }

    /// A command in the workspace with the cleared environment.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.root())
            .env_clear()
            .env("PATH", search_path(&self.bin()))
            .env("HOME", self.home())
            .env("TMPDIR", self.top.join("tmp"))
            .env("LANG", "C.UTF-8")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// `lead` with these arguments, not started yet.
    pub fn lead_command(&self, args: &[&str]) -> Command {
        let mut command = self.command(lead_binary());
        command.args(args);
        command
    }

    /// `teammate` with these arguments, not started yet.
    pub fn teammate_command(&self, args: &[&str]) -> Command {
        let mut command = self.command(lead_binary().with_file_name("teammate"));
        command.args(args);
        command
    }

    /// Runs `lead` with empty standard input to its end.
    #[track_caller]
    pub fn lead(&self, args: &[&str]) -> Done {
        Running::start(&mut self.lead_command(args)).wait(AT_ONCE)
    }

    /// Runs `lead` with `input` on standard input to its end.
    #[track_caller]
    pub fn lead_fed(&self, args: &[&str], input: &str) -> Done {
        let mut running = self.start_lead(args);
        for line in input.lines() {
            running.line(line);
        }
        running.wait(AT_ONCE)
    }

    /// Starts `lead`.
    pub fn start_lead(&self, args: &[&str]) -> Running {
        Running::start(&mut self.lead_command(args))
    }

    /// Starts `teammate`.
    pub fn start_teammate(&self, args: &[&str]) -> Running {
        Running::start(&mut self.teammate_command(args))
    }

    /// Runs git in the workspace and gives its output; it must succeed.
    #[track_caller]
    pub fn run_git(&self, args: &[&str]) -> String {
        let mut command = self.command("git");
        command.args(args);
        Running::start(&mut command)
            .wait(AT_ONCE)
            .expect_code(0)
            .stdout
    }

    /// Waits until no process names this bed or works in it; fails with the list otherwise.
    #[track_caller]
    pub fn assert_no_process_left(&self) {
        let left = || processes_in(&self.top);
        wait_until("no process left", DEADLINE, || {
            let left = left();
            if left.is_empty() {
                return Some(());
            }
            eprintln!("left: {left:?}");
            None
        });
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        for (pid, _) in processes_in(&self.top) {
            send(pid, Signal::SIGKILL);
        }
        if std::thread::panicking() {
            // Kept for whoever looks into the failure.
            self.scratch.disable_cleanup(true);
            eprintln!("the bed is kept: {}", self.top.display());
        }
    }
}

/// `lead`; `teammate` lies beside it.
#[expect(
    clippy::disallowed_methods,
    reason = "whoever copied the binaries says where they are"
)]
pub fn lead_binary() -> PathBuf {
    std::env::var_os(BINARIES).map_or_else(
        || env!("CARGO_BIN_EXE_lead").into(),
        |dir| Path::new(&dir).join("lead"),
    )
}

#[expect(
    clippy::disallowed_methods,
    reason = "where the programs are, nothing else is taken over"
)]
fn search_path(first: &Path) -> OsString {
    let mut path = first.as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()));
    path
}

/// Processes of a test begin with no signal ignored, also where the suite itself runs in a script's background or beneath
/// `nohup`: what is handled here is at its default in a child.
fn ignore_no_signal() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for signal in [Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT] {
            let always = Arc::new(AtomicBool::new(true));
            signal_hook::flag::register_conditional_default(signal as i32, always).unwrap();
        }
    });
}
