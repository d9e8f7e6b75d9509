//! Where the runtime's own log lines go: into `logs/<name>.log` of their agent. A teammate that a lead has started writes to
//! standard error, which its lead has sent there. They are for finding faults; nothing is decided by them.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Mutex;

use tracing::Level;
use tracing_subscriber::fmt::MakeWriter;

use crate::ids::AgentName;
use crate::store::{Durability, atomic, jsonl};
use crate::workspace::Workspace;

/// Logs to standard error from now on.
pub fn to_stderr() {
    start(io::stderr);
}

/// Logs to the agent's file from now on. It is made with the first line, and only where the runtime's directory exists.
pub fn to_file(workspace: &Workspace, agent: &AgentName) {
    start(Lazy(Mutex::new(LazyFile {
        path: workspace.log(agent),
        file: None,
    })));
}

/// A second start in one process changes nothing.
fn start<W: for<'a> MakeWriter<'a> + Send + Sync + 'static>(writer: W) {
    let started = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_target(false)
        .with_max_level(Level::INFO)
        .with_writer(writer)
        .log_internal_errors(false)
        .try_init();
    drop(started);
}

struct Lazy(Mutex<LazyFile>);

struct LazyFile {
    path: PathBuf,
    file: Option<File>,
}

impl<'a> MakeWriter<'a> for Lazy {
    type Writer = Entry<'a>;

    fn make_writer(&'a self) -> Self::Writer {
        Entry(&self.0)
    }
}

/// One line on its way.
struct Entry<'a>(&'a Mutex<LazyFile>);

impl Write for Entry<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut lazy = self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if lazy.file.is_none() {
            lazy.file = open(&lazy.path);
        }
        if let Some(file) = &mut lazy.file {
            file.write_all(bytes)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn open(path: &std::path::Path) -> Option<File> {
    let dir = path.parent()?;
    dir.parent().filter(|state| state.is_dir())?;
    atomic::ensure_dir(dir).ok()?;
    jsonl::open_append(path, Durability::Process).ok()
}
