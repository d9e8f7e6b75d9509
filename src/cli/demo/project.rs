//! The scratch repository: a small program in sh with a failing test suite.
//!
//! Its git commands are those that a person would type; they run in this directory only.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::cli::exit::Failure;
use crate::config::{Environment, env};
use crate::ids::AgentName;
use crate::process::capture::{self, Captured};
use crate::store::{Durability, atomic};

/// Longest a command of the demo's own may take.
const LONGEST: Duration = Duration::from_secs(20);
/// Most bytes of output that are kept.
const MAX_OUTPUT: usize = 256 * 1024;

const SCRIPT: &str = include_str!("script.json");
const FILES: [(&str, &str); 6] = [
    ("README.md", include_str!("project/README.md")),
    ("tally", include_str!("project/tally")),
    ("test.sh", include_str!("project/test.sh")),
    ("lib/sum.sh", include_str!("project/lib/sum.sh")),
    ("lib/mean.sh", include_str!("project/lib/mean.sh")),
    ("build/tally.cache", "an old cache\n"),
];

/// The person may have neither an identity nor this default branch, and hooks or signing of their own.
const SETUP: &str = "set -e
chmod +x tally test.sh
git init -q
git symbolic-ref HEAD refs/heads/main
git config user.name 'Pitcrew demo'
git config user.email demo@example.invalid
git config commit.gpgSign false
git config core.hooksPath /dev/null
git add -A
git commit -q -m 'tally, with a suite that fails'
git tag before";

/// The scratch directory; it stays for the person to look at.
#[derive(Debug)]
pub(super) struct Project {
    root: PathBuf,
    script: PathBuf,
    environment: Vec<(std::ffi::OsString, std::ffi::OsString)>,
}

impl Project {
    /// Makes the repository with one commit, tagged `before`: in `dir`, else where temporary files are.
    pub(super) fn make(environment: &Environment, dir: Option<&Path>) -> Result<Self, Failure> {
        let mut builder = tempfile::Builder::new();
        let builder = builder.prefix("pitcrew-demo-");
        let made = match dir {
            Some(dir) => builder.tempdir_in(dir),
            None => builder.tempdir(),
        };
        let made = made.map_err(|error| {
            Failure::failed(format!(
                "cannot make a directory for the demo; {error}; name a directory that you may write with --root DIR"
            ))
        })?;
        let dir = made.keep();
        let dir = dir.canonicalize().unwrap_or(dir);
        let root = dir.join("tally");
        for (name, text) in FILES {
            let path = root.join(name);
            if let Some(parent) = path.parent() {
                atomic::ensure_dir(parent)?;
            }
            atomic::create_new(&path, text.as_bytes(), Durability::Process)?;
        }
        let script = dir.join("script.json");
        atomic::create_new(&script, SCRIPT.as_bytes(), Durability::Process)?;
        let environment = env::for_tools(environment, &[], &AgentName::user(), &root);
        let project = Self {
            root,
            script,
            environment,
        };
        let setup = project.sh(SETUP)?;
        if !succeeded(&setup) {
            return Err(Failure::failed(format!(
                "cannot make a git repository in {}; {}; the demo needs sh, git and the usual small tools in PATH: install \
                 what is missing",
                project.root.display(),
                output(&setup).trim()
            )));
        }
        Ok(project)
    }

    /// The repository.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The script of the model.
    pub(super) fn script(&self) -> PathBuf {
        self.script.clone()
    }

    /// Runs `text` with `sh -c` in the repository.
    pub(super) fn sh(&self, text: &str) -> Result<Captured, Failure> {
        let mut command = Command::new("sh");
        command
            .args(["-c", text])
            .current_dir(&self.root)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        let ran = capture::run(&mut command, &[], MAX_OUTPUT, LONGEST);
        ran.map_err(|error| {
            Failure::failed(format!(
                "cannot run sh; {error}; the demo needs it and git: see that PATH names where they are"
            ))
        })
    }
}

/// Whether a command ended with status 0.
pub(super) fn succeeded(done: &Captured) -> bool {
    done.status().is_some_and(|status| status.success())
}

/// What a command printed.
pub(super) fn output(done: &Captured) -> String {
    let text = [&done.stdout, &done.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    text.concat()
}
