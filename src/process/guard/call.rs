//! What the agent asks of a guard, and how that guard is started.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use crate::process::harden;
use crate::process::sandbox::Sandbox;

/// The name under which a binary of ours, executed again, becomes a guard: `argv[0]`.
pub const GUARD_NAME: &str = "pitcrew-guard";

/// Where bash may be, then what every system has.
const SHELLS: [&str; 4] = [
    "/bin/bash",
    "/usr/bin/bash",
    "/usr/local/bin/bash",
    "/bin/sh",
];

/// The largest command text in bytes; Linux takes no argument over 128 KiB.
const LONGEST: usize = 120 * 1024;

/// A shell command to run.
#[derive(Debug, Clone)]
pub struct ShellCall {
    /// The text for `sh -c` (bash where it exists).
    pub command: String,
    /// Its working directory.
    pub dir: PathBuf,
    /// The whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// When to end the group.
    pub timeout: Duration,
    /// Where the full output goes once it is larger than what is returned; capped at 64 MiB.
    pub spill: PathBuf,
    /// What it may see and change; `None`: what this process may.
    pub sandbox: Option<Sandbox>,
    /// How many characters of output are kept, half of them head and half tail.
    pub keep: usize,
}

/// How a shell command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// Exit code.
    Exited(i32),
    /// Signal number.
    Signalled(i32),
    /// Ended by us at the time limit.
    TimedOut,
    /// Ended by us on request.
    Cancelled,
}

/// What a shell command did.
#[derive(Debug, Clone)]
pub struct ShellResult {
    /// How it ended.
    pub end: End,
    /// Standard output and error in order, cut to `keep` characters with a line that says how many were left out.
    pub output: String,
    /// The file with the full output, if it was cut.
    pub spilled: Option<PathBuf>,
    /// Processes it had left behind, all ended.
    pub leftovers: usize,
}

static GUARD_BINARY: OnceLock<PathBuf> = OnceLock::new();

/// Names the binary that is executed as guard, once, instead of this process's own: for test programs, which are none.
pub fn use_guard_binary(path: PathBuf) {
    GUARD_BINARY.get_or_init(|| path);
}

impl ShellCall {
    /// Refuses what could only fail in a way that nobody understands.
    pub(super) fn check(&self) -> io::Result<()> {
        let refuse = |text: String| Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        if self.command.len() > LONGEST {
            return refuse(format!(
                "the command is {} bytes long; a shell takes at most {LONGEST}; write it to a file and run that",
                self.command.len()
            ));
        }
        if self.command.contains('\0') {
            return refuse(
                "the command holds a NUL character; no shell can take it; leave it out".into(),
            );
        }
        if !self.dir.is_dir() {
            return refuse(format!(
                "cannot run in {}; it is not a directory (any more)",
                self.dir.display()
            ));
        }
        Ok(())
    }

    /// The guard's command line, without its streams.
    pub(super) fn guard(&self) -> io::Result<Command> {
        let mask = harden::persons_umask().map_or_else(|| "-".into(), |mask| format!("{mask:o}"));
        let mut guard = Command::new(guard_binary()?);
        guard
            .arg0(GUARD_NAME)
            .args([mask.as_str(), shell(), self.command.as_str()])
            .args(self.sandbox.iter().flat_map(Sandbox::to_words))
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.dir);
        Ok(guard)
    }
}

/// On Linux the running program itself, even if its file has been replaced or removed since.
fn guard_binary() -> io::Result<PathBuf> {
    if let Some(path) = GUARD_BINARY.get() {
        return Ok(path.clone());
    }
    if cfg!(test) {
        // What runs is the tests, and would run them all.
        return Err(io::Error::other("a unit test has no guard"));
    }
    if cfg!(target_os = "linux") {
        return Ok("/proc/self/exe".into());
    }
    std::env::current_exe()
}

fn shell() -> &'static str {
    static FOUND: OnceLock<&str> = OnceLock::new();
    FOUND.get_or_init(|| {
        SHELLS
            .into_iter()
            .find(|path| Path::new(path).is_file())
            .unwrap_or("/bin/sh")
    })
}
