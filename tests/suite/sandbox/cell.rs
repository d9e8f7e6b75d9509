//! A directory, a home and a sandbox around a command, without a team.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pitcrew::cancel::Cancel;
use pitcrew::process::guard::{End, ShellCall, ShellResult, run_shell, use_guard_binary};
use pitcrew::process::sandbox::{Parts, Sandbox};
use tempfile::TempDir;

use crate::support::bed::lead_binary;

const BOTH: Parts = Parts {
    namespaces: true,
    landlock: true,
};

pub(super) struct Cell {
    top: TempDir,
    pub(super) plan: Sandbox,
}

impl Cell {
    /// Beneath `/tmp`, which commands have their own of.
    pub(super) fn new() -> Self {
        Self::beneath("/tmp")
    }

    pub(super) fn beneath(dir: &str) -> Self {
        use_guard_binary(lead_binary());
        let top = tempfile::Builder::new()
            .prefix("pitcrew-cell-")
            .tempdir_in(dir)
            .unwrap();
        for name in ["work", "home", "tmp", "outside"] {
            std::fs::create_dir(top.path().join(name)).unwrap();
        }
        let at = |name: &str| top.path().canonicalize().unwrap().join(name);
        let plan = Sandbox {
            dir: at("work"),
            writable: Vec::new(),
            read_only: Vec::new(),
            binds: Vec::new(),
            hidden: Vec::new(),
            tmp: at("tmp"),
            shown: vec![at("work"), at("home"), at("outside")],
            sockets: Vec::new(),
            network: true,
            parts: BOTH,
        };
        Self { top, plan }
    }

    pub(super) fn at(&self, name: &str) -> PathBuf {
        self.top.path().canonicalize().unwrap().join(name)
    }

    pub(super) fn put(&self, name: &str, text: &str) -> PathBuf {
        let path = self.at(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(super) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.at(name)).unwrap()
    }

    pub(super) fn call(&self, command: &str) -> ShellCall {
        let env = vec![
            ("PATH".into(), path()),
            ("HOME".into(), self.at("home").into_os_string()),
            ("TMPDIR".into(), "/tmp".into()),
            ("LANG".into(), "C.UTF-8".into()),
        ];
        ShellCall {
            command: command.into(),
            dir: self.plan.dir.clone(),
            env,
            timeout: Duration::from_mins(1),
            spill: self.at("spill.txt"),
            sandbox: Some(self.plan.clone()),
            keep: 20_000,
        }
    }

    pub(super) fn run(&self, command: &str) -> ShellResult {
        run_shell(&self.call(command), &Arc::new(Cancel::new())).unwrap()
    }

    /// The output of a command that succeeds.
    #[track_caller]
    pub(super) fn ok(&self, command: &str) -> String {
        let done = self.run(command);
        assert_eq!(done.end, End::Exited(0), "{command}: {}", done.output);
        done.output
    }
}

/// Whether all these programs are there; says so if not.
pub(super) fn has(programs: &[&str]) -> bool {
    let path = path();
    let is_there = |name: &str| std::env::split_paths(&path).any(|dir| dir.join(name).exists());
    let missing: Vec<_> = programs.iter().filter(|name| !is_there(name)).collect();
    if !missing.is_empty() {
        eprintln!("left out: there is no {missing:?}");
    }
    missing.is_empty()
}

fn path() -> OsString {
    std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into())
}
