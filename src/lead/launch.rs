//! Starting a teammate's process: our own binary under the name `teammate`, keys through its standard input only.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use super::log_end;
use super::way_back::WayBack;
use crate::ids::{AgentName, TaskId};
use crate::process::child::{self, Child};
use crate::store::{Durability, jsonl, read};
use crate::workspace::Workspace;

/// What is the same for every teammate of this lead.
pub(super) struct Launcher {
    /// This program.
    pub(super) program: PathBuf,
    pub(super) workspace: Workspace,
    /// Holds no key.
    pub(super) environment: Vec<(OsString, OsString)>,
    /// Credentials as one JSON object.
    pub(super) keys: Vec<u8>,
    pub(super) way_back: Arc<WayBack>,
}

/// How one teammate is started, also again after a crash.
#[derive(Debug, Clone)]
pub(super) struct Orders {
    pub(super) name: AgentName,
    pub(super) role: String,
    pub(super) prompt: String,
    pub(super) require_plan: bool,
    /// `provider:name`
    pub(super) model: String,
}

/// A started process.
#[derive(Debug)]
pub(super) struct Launched {
    pub(super) child: Child,
    /// The length of the log before it.
    pub(super) log_from: u64,
}

impl Launcher {
    /// Starts the process. `task` is claimed for it already.
    pub(super) fn start(&self, orders: &Orders, task: Option<&TaskId>) -> io::Result<Launched> {
        if !self.way_back.keep() {
            return Err(io::Error::other(
                "the snapshot of the workspace that comes before it was interrupted",
            ));
        }
        let (log, log_from) = self.open_log(&orders.name)?;
        let mut command = Command::new(&self.program);
        command
            .arg0("teammate")
            .args(["--name", orders.name.as_str(), "--root"])
            .arg(self.workspace.root())
            .args(["--role", &orders.role, "--model", &orders.model])
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(self.workspace.root())
            .stdin(Stdio::piped())
            .stdout(log.try_clone()?)
            .stderr(log);
        if !orders.prompt.is_empty() {
            command.args(["--prompt", &orders.prompt]);
        }
        if let Some(task) = task {
            command.args(["--task", task.as_str()]);
        }
        if orders.require_plan {
            command.arg("--require-plan");
        }
        command.arg("--keys-on-stdin");
        let (child, mut pipes) = child::spawn(&mut command)?;
        if let Some(mut stdin) = pipes.stdin.take()
            && let Err(error) = stdin.write_all(&self.keys)
        {
            // It ended at once: its exit says why.
            tracing::info!(%error, name = %orders.name, "the keys were not taken");
        }
        Ok(Launched { child, log_from })
    }

    fn open_log(&self, name: &AgentName) -> io::Result<(File, u64)> {
        let log = jsonl::open_append(&self.workspace.log(name), Durability::Process)
            .map_err(|error| error.source)?;
        let length = log.metadata()?.len();
        Ok((log, length))
    }

    /// How long the log of `name` is.
    pub(super) fn log_length(&self, name: &AgentName) -> u64 {
        std::fs::symlink_metadata(self.workspace.log(name)).map_or(0, |log| log.len())
    }

    /// What the log of `name` tells since it had `from` bytes; empty if that is nothing (see [`log_end`]).
    pub(super) fn log_end(&self, name: &AgentName, from: u64) -> String {
        self.read_end(name, from)
            .map_or_else(|_| String::new(), |text| log_end::telling(&text))
    }

    fn read_end(&self, name: &AgentName, from: u64) -> io::Result<String> {
        let path = self.workspace.log(name);
        let Some(mut log) = read::open_plain(&path).map_err(io::Error::other)? else {
            return Ok(String::new());
        };
        let end = log.metadata()?.len();
        log.seek(SeekFrom::Start(
            end.saturating_sub(log_end::LOOKED_AT).max(from),
        ))?;
        let mut bytes = Vec::new();
        log.take(log_end::LOOKED_AT).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
