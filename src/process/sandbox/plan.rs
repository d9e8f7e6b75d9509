//! What a sandbox is made from, in plain data.

use std::path::PathBuf;

/// What a command may see and change: everything else is read-only. All paths are absolute and hold no link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    /// Where the command works: writable.
    pub dir: PathBuf,
    /// Other directories that are writable; those that do not exist are left out.
    pub writable: Vec<PathBuf>,
    /// Read-only as a whole though something writable is above; those that do not exist are left out.
    pub read_only: Vec<PathBuf>,
    /// Other directories in place of those that stand there, in this order: a later one may lie inside an earlier one.
    pub binds: Vec<Bind>,
    /// Empty to the command: directories without entries, files without bytes.
    pub hidden: Vec<PathBuf>,
    /// The directory that is `/tmp` to the command.
    pub tmp: PathBuf,
    /// Directories that stay where they are, read-only, though they may lie beneath what `tmp` covers.
    pub shown: Vec<PathBuf>,
    /// Sockets given back where their directory is hidden.
    pub sockets: Vec<PathBuf>,
    /// Whether anything but the loopback device can be reached.
    pub network: bool,
    /// What holds the command in; the guard refuses to run it where one of them does not hold.
    pub parts: Parts,
}

/// A directory or file in place of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bind {
    /// What is seen, as it stands outside of the sandbox.
    pub from: PathBuf,
    /// Where it is seen; must exist there, or in the earlier bind that this one lies in.
    pub at: PathBuf,
    /// Whether the command may change it.
    pub writable: bool,
}

/// The two walls of a sandbox. With neither there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// Mount, PID and IPC namespaces of its own.
    pub namespaces: bool,
    /// Landlock.
    pub landlock: bool,
}
