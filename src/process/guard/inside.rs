//! The guard itself. Single-threaded, and the only waiter of its process.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::{self, PipeReader, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::WaitOptions;

use super::call::{End, GUARD_NAME};
use super::report::Report;
use super::run::GRACE;
use crate::clock;
use crate::process::harden;
use crate::process::pipe::{Source, wait_any};
use crate::process::strays::{ProcessTable, kill_all};
use crate::process::{child, signals};

/// How long what the command left may take to end by itself: a process substitution that has just read its last line is
/// nothing left behind.
const SETTLE: Duration = Duration::from_millis(10);

/// After this the guard gives up killing and leaves the rest to its agent.
const KILLING: Duration = Duration::from_secs(3);

/// The guard's own `main`: called by the binaries when `argv[0]` is [`GUARD_NAME`], before they do anything else, with the
/// rest of `argv`. Returns the exit code.
pub fn guard_main(args: &[OsString]) -> i32 {
    let args = match args {
        [name, rest @ ..] if name == GUARD_NAME => rest,
        _ => args,
    };
    let report = match Guard::start(args) {
        Ok(guard) => guard.watch(),
        Err(error) => Report::Failed(error.to_string()),
    };
    // An agent that is gone reads nothing.
    io::stderr().write_all(report.to_string().as_bytes()).ok();
    report.exit_code()
}

struct Guard {
    /// The command: a pid and the number of its process group.
    command: u32,
    life: Source<io::Stdin>,
    /// Readable after each SIGCHLD.
    child_ended: Source<PipeReader>,
}

impl Guard {
    fn start(args: &[OsString]) -> io::Result<Self> {
        let [mask, shell, command] = args else {
            return Err(io::Error::other("a guard is started by an agent only"));
        };
        close_inherited();
        harden::set_process_name(GUARD_NAME);
        // Fails only where this is a session of its own already.
        let _ = nix::unistd::setsid();
        harden::adopt_orphans();
        let (child_ended, ring) = io::pipe()?;
        signals::ring_at_child_exit(ring)?;
        let command = start_command(mask, shell, command)?;
        Ok(Self {
            command,
            life: Source::new(Some(io::stdin()))?,
            child_ended: Source::new(Some(child_ended))?,
        })
    }

    fn watch(mut self) -> Report {
        let status = self.wait_for_command();
        let leftovers = self.end_the_rest();
        let end = match (status.code(), status.signal()) {
            (Some(code), _) => End::Exited(code),
            (None, number) => End::Signalled(number.unwrap_or(9)),
        };
        Report::Ended { end, leftovers }
    }

    fn wait_for_command(&mut self) -> ExitStatus {
        let mut kill_at = None;
        loop {
            if let Some(status) = self.reap() {
                return status;
            }
            match self.read_life() {
                Life::Quiet => {}
                Life::Stop if kill_at.is_some() => {}
                Life::Stop => {
                    child::ask_group_to_end(self.command);
                    kill_at = Some(clock::instant() + GRACE);
                }
                // The end of file stays readable: no more waiting on it, and no more mercy.
                Life::Over => kill_at = Some(clock::instant()),
            }
            if kill_at.is_some_and(|at| at <= clock::instant()) {
                child::kill_group(self.command);
                kill_descendants();
                kill_at = Some(clock::instant() + Duration::from_millis(20));
            }
            self.wait_for_something(kill_at);
        }
    }

    fn wait_for_something(&mut self, until: Option<Instant>) {
        let waiting = [self.life.fd(), self.child_ended.fd()];
        if wait_any(&waiting, None, until).is_err() {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.child_ended.read_some(&mut [0; 64], |_| {});
    }

    fn read_life(&mut self) -> Life {
        let mut stop = false;
        self.life.read_some(&mut [0; 8], |_| stop = true);
        match (stop, self.life.fd()) {
            (_, None) => Life::Over,
            (true, Some(_)) => Life::Stop,
            (false, Some(_)) => Life::Quiet,
        }
    }

    /// Takes all statuses there are; the command's, if it is among them.
    fn reap(&self) -> Option<ExitStatus> {
        let mut found = None;
        while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            if pid.as_raw_nonzero().get().unsigned_abs() == self.command {
                found = Some(ExitStatus::from_raw(status.as_raw()));
            }
        }
        found
    }

    /// Ends all descendants and counts them. Without children there are none: orphans become the guard's children.
    fn end_the_rest(&mut self) -> usize {
        if cfg!(not(target_os = "linux")) {
            child::kill_group(self.command);
        }
        let begin = clock::instant();
        let mut ended = BTreeSet::new();
        while has_children() && begin.elapsed() < KILLING {
            let pause = if begin.elapsed() < SETTLE {
                begin + SETTLE
            } else {
                ended.extend(kill_descendants());
                clock::instant() + Duration::from_millis(5)
            };
            wait_any(&[self.child_ended.fd()], None, Some(pause)).ok();
            self.child_ended.read_some(&mut [0; 64], |_| {});
        }
        ended.len()
    }
}

/// Closes every descriptor but the three pipes: whoever started the agent may have left some open (a lock, a job server),
/// and what a command starts must not keep them. Nothing of this process has opened any yet.
fn close_inherited() {
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

enum Life {
    Quiet,
    /// The agent wants the command to end.
    Stop,
    /// The agent has let go.
    Over,
}

fn kill_descendants() -> Vec<u32> {
    let rest = ProcessTable::read().descendants(std::process::id());
    kill_all(&rest);
    rest
}

/// Reaps, too.
fn has_children() -> bool {
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a guard has no reaper; it waits itself"
)]
fn start_command(mask: &OsStr, shell: &OsStr, text: &OsStr) -> io::Result<u32> {
    harden::set_umask(mask);
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    let mut command = Command::new(shell);
    command
        .arg("-c")
        .arg(text)
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .process_group(0);
    let child = harden::as_if_by_the_person(&mut command)
        .spawn()
        .map_err(|error| io::Error::other(format!("cannot start {}: {error}", shell.display())))?;
    Ok(child.id())
}
