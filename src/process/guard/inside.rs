//! The guard's own `main`. It has a single thread all along, so that it may fork and go on in its own code.
//!
//! With namespaces there are two of it: the one that the agent started, which only waits, and the first process of the PID
//! namespace, which does the work. With the latter the kernel ends everything else in the namespace.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
#[cfg(target_os = "linux")]
use std::io::{PipeReader, PipeWriter};

use super::call::GUARD_NAME;
use super::command::{self, Inside};
use super::report::Report;
use super::watch::Watch;
use crate::process::harden;
use crate::process::sandbox::Sandbox;

/// The guard's own `main`: called by the binaries when `argv[0]` is [`GUARD_NAME`], before they do anything else, with the
/// rest of `argv`. Returns the exit code.
pub fn guard_main(args: &[OsString]) -> i32 {
    let args = match args {
        [name, rest @ ..] if name == GUARD_NAME => rest,
        _ => args,
    };
    close_inherited();
    harden::set_process_name(GUARD_NAME);
    // Fails only where this is a session of its own already.
    let _ = nix::unistd::setsid();
    match Order::read(args).and_then(Order::carry_out) {
        Ok(code) => code,
        Err(error) => tell(&Report::Failed(error.to_string())),
    }
}

/// An agent that is gone reads nothing.
fn tell(report: &Report) -> i32 {
    io::stderr().write_all(report.to_string().as_bytes()).ok();
    report.exit_code()
}

struct Order<'a> {
    mask: &'a OsStr,
    shell: &'a OsStr,
    text: &'a OsStr,
    sandbox: Option<Sandbox>,
}

impl<'a> Order<'a> {
    fn read(args: &'a [OsString]) -> io::Result<Self> {
        let [mask, shell, text, sandbox @ ..] = args else {
            return Err(io::Error::other("a guard is started by an agent only"));
        };
        let sandbox = match sandbox {
            [] => None,
            words => Some(
                Sandbox::from_words(words)
                    .ok_or_else(|| io::Error::other("the sandbox is not one that I know"))?,
            ),
        };
        Ok(Self {
            mask,
            shell,
            text,
            sandbox,
        })
    }

    #[cfg(target_os = "linux")]
    fn carry_out(self) -> io::Result<i32> {
        use crate::process::sandbox::linux::Built;
        use nix::unistd::ForkResult;

        let Some(plan) = &self.sandbox else {
            return self.watch(None, Watch::outside()?);
        };
        let built = Built::build(plan)?;
        if !built.has_namespaces() {
            return self.watch(Some(built), Watch::outside()?);
        }
        let (waiting, alive): (PipeReader, PipeWriter) = io::pipe()?;
        match crate::process::raw::fork_single_threaded()? {
            ForkResult::Parent { child } => {
                drop((waiting, built));
                Ok(super::stand_by::stand_by(child, alive))
            }
            ForkResult::Child => {
                drop(alive);
                built.show_processes()?;
                self.watch(Some(built), Watch::as_first(waiting)?)
            }
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn carry_out(self) -> io::Result<i32> {
        self.watch(self.sandbox.clone(), Watch::outside()?)
    }

    fn watch(&self, inside: Inside, watch: Watch) -> io::Result<i32> {
        harden::set_umask(self.mask);
        let command = command::start(self.shell, self.text, &inside)?;
        drop(inside);
        Ok(tell(&watch.until_the_end_of(command)))
    }
}

/// Closes every descriptor but the three pipes: whoever started the agent may have left some open (a lock, a job server),
/// and what a command starts must not keep them. Nothing of this process has opened any yet.
fn close_inherited() {
    #[cfg(target_os = "linux")]
    if crate::process::raw::close_from(3).is_ok() {
        return;
    }
    // Systems without that call say which there are.
    let Ok(open) = std::fs::read_dir("/dev/fd") else {
        return;
    };
    let open: Vec<i32> = open
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|fd| *fd > 2)
        .collect();
    for fd in open {
        // The directory's own is closed by now; nobody has taken its number.
        nix::unistd::close(fd).ok();
    }
}
