//! Which walls hold on this machine, found by a real run.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::{Parts, Sandbox};
use crate::cancel::Cancel;
use crate::process::guard::{End, ShellCall, run_shell};

/// A run that takes longer does not hold.
const LONGEST: Duration = Duration::from_secs(20);

/// For each wall whether it holds, or why not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Mounts, processes and System V objects of a command's own.
    pub namespaces: Result<(), String>,
    /// Landlock.
    pub landlock: Result<(), String>,
}

impl Held {
    /// Those that do.
    pub fn parts(&self) -> Parts {
        Parts {
            namespaces: self.namespaces.is_ok(),
            landlock: self.landlock.is_ok(),
        }
    }
}

/// What an old kernel's Landlock does not hold of what a newer one does; none where there is no Landlock.
pub fn unheld_by_landlock() -> Vec<&'static str> {
    #[cfg(target_os = "linux")]
    return super::linux::unheld_by_landlock();
    #[cfg(not(target_os = "linux"))]
    return Vec::new();
}

/// Tries it once a process: nothing is made or changed.
pub fn probe() -> &'static Held {
    static HELD: OnceLock<Held> = OnceLock::new();
    HELD.get_or_init(|| {
        let both = Parts {
            namespaces: true,
            landlock: true,
        };
        if run(both).is_ok() {
            return Held {
                namespaces: Ok(()),
                landlock: Ok(()),
            };
        }
        Held {
            namespaces: run(Parts {
                landlock: false,
                ..both
            }),
            landlock: run(Parts {
                namespaces: false,
                ..both
            }),
        }
    })
}

fn run(parts: Parts) -> Result<(), String> {
    // Somewhere that is there and holds nothing else of a plan.
    let dir = PathBuf::from("/usr");
    let call = ShellCall {
        command: ":".into(),
        dir: dir.clone(),
        env: Vec::new(),
        timeout: LONGEST,
        spill: PathBuf::new(),
        keep: 1000,
        sandbox: Some(Sandbox {
            dir,
            writable: Vec::new(),
            read_only: Vec::new(),
            binds: Vec::new(),
            hidden: Vec::new(),
            tmp: "/tmp".into(),
            shown: Vec::new(),
            sockets: Vec::new(),
            network: true,
            parts,
        }),
    };
    let done = run_shell(&call, &Arc::new(Cancel::new())).map_err(|error| error.to_string())?;
    if done.end == End::Exited(0) {
        Ok(())
    } else {
        Err(format!(
            "a trial ended badly: {:?} {}",
            done.end, done.output
        ))
    }
}
