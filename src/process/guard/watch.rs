//! Waiting for a command and ending what it leaves. The only waiter of its process.

use std::collections::BTreeSet;
use std::io::{self, PipeReader};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use rustix::process::WaitOptions;

use super::call::End;
use super::report::Report;
use super::run::GRACE;
use crate::clock;
use crate::process::pipe::{Source, wait_any};
use crate::process::strays::{ProcessTable, kill_all};
use crate::process::{child, harden, signals};

/// How long what the command left may take to end by itself: a process substitution that has just read its last line is
/// nothing left behind.
const SETTLE: Duration = Duration::from_millis(10);

/// After this the guard gives up killing and leaves the rest to its agent.
const KILLING: Duration = Duration::from_secs(3);

/// Who watches.
pub(super) struct Watch {
    life: Source<io::Stdin>,
    /// Readable after each SIGCHLD.
    child_ended: Source<PipeReader>,
    /// In the first process of a PID namespace, which everything in it is a descendant of: closed when the guard outside is
    /// gone.
    outside: Option<Source<PipeReader>>,
}

impl Watch {
    /// Without a PID namespace: adopts what the command's processes leave.
    pub(super) fn outside() -> io::Result<Self> {
        harden::adopt_orphans();
        Self::begin(None)
    }

    /// In the first process of a PID namespace.
    #[cfg(target_os = "linux")]
    pub(super) fn as_first(outside: PipeReader) -> io::Result<Self> {
        Self::begin(Some(Source::new(Some(outside))?))
    }

    fn begin(outside: Option<Source<PipeReader>>) -> io::Result<Self> {
        let (child_ended, ring) = io::pipe()?;
        signals::ring_at_child_exit(ring)?;
        Ok(Self {
            life: Source::new(Some(io::stdin()))?,
            child_ended: Source::new(Some(child_ended))?,
            outside,
        })
    }

    /// Until the command, a pid and the number of its process group, has ended and nothing of it is left.
    pub(super) fn until_the_end_of(mut self, command: u32) -> Report {
        let status = self.wait_for(command);
        let leftovers = self.end_the_rest(command);
        let end = match (status.code(), status.signal()) {
            (Some(code), _) => End::Exited(code),
            (None, number) => End::Signalled(number.unwrap_or(9)),
        };
        Report::Ended { end, leftovers }
    }

    fn wait_for(&mut self, command: u32) -> ExitStatus {
        let mut kill_at = None;
        loop {
            if let Some(status) = reap(command) {
                return status;
            }
            match self.read_life() {
                Life::Quiet => {}
                Life::Stop if kill_at.is_some() => {}
                Life::Stop => {
                    child::ask_group_to_end(command);
                    kill_at = Some(clock::instant() + GRACE);
                }
                // The end of file stays readable: no more waiting on it, and no more mercy.
                Life::Over => kill_at = Some(clock::instant()),
            }
            if kill_at.is_some_and(|at| at <= clock::instant()) {
                child::kill_group(command);
                self.kill_descendants();
                kill_at = Some(clock::instant() + Duration::from_millis(20));
            }
            self.wait_for_something(kill_at);
        }
    }

    fn wait_for_something(&mut self, until: Option<Instant>) {
        let outside = self.outside.as_ref().and_then(Source::fd);
        let waiting = [self.life.fd(), self.child_ended.fd(), outside];
        if wait_any(&waiting, None, until).is_err() {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.child_ended.read_some(&mut [0; 64], |_| {});
    }

    fn read_life(&mut self) -> Life {
        let mut stop = false;
        self.life.read_some(&mut [0; 8], |_| stop = true);
        let alone = self.outside.as_mut().is_some_and(|outside| {
            outside.read_some(&mut [0; 8], |_| {});
            outside.fd().is_none()
        });
        match (stop, self.life.fd()) {
            (_, None) => Life::Over,
            _ if alone => Life::Over,
            (true, Some(_)) => Life::Stop,
            (false, Some(_)) => Life::Quiet,
        }
    }

    /// Ends all descendants and counts them. Without children there are none: orphans become the guard's children.
    fn end_the_rest(&mut self, command: u32) -> usize {
        if cfg!(not(target_os = "linux")) {
            child::kill_group(command);
        }
        let begin = clock::instant();
        let mut ended = BTreeSet::new();
        let mut killing = false;
        loop {
            let (more, killed) = reap_all();
            // In a namespace nobody need look who is there: what has died of our signal was still running.
            if killing && self.outside.is_some() {
                ended.extend(killed);
            }
            if !more || begin.elapsed() >= KILLING {
                return ended.len();
            }
            killing = begin.elapsed() >= SETTLE;
            let pause = if killing {
                ended.extend(self.kill_descendants());
                clock::instant() + Duration::from_millis(5)
            } else {
                begin + SETTLE
            };
            wait_any(&[self.child_ended.fd()], None, Some(pause)).ok();
            self.child_ended.read_some(&mut [0; 64], |_| {});
        }
    }

    /// Those that were seen; none in a namespace, where they are not looked for.
    fn kill_descendants(&self) -> Vec<u32> {
        if self.outside.is_some() {
            child::kill_rest_of_namespace();
            return Vec::new();
        }
        let rest = ProcessTable::read().descendants(std::process::id());
        kill_all(&rest);
        rest
    }
}

enum Life {
    Quiet,
    /// The agent wants the command to end.
    Stop,
    /// The agent has let go.
    Over,
}

/// Takes all statuses there are; the command's, if it is among them.
fn reap(command: u32) -> Option<ExitStatus> {
    let mut found = None;
    while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
        if number(pid) == command {
            found = Some(ExitStatus::from_raw(status.as_raw()));
        }
    }
    found
}

/// Takes all statuses there are: whether there are children yet, and who died of SIGKILL.
fn reap_all() -> (bool, Vec<u32>) {
    let mut killed = Vec::new();
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => {
                if status.terminating_signal() == Some(Signal::SIGKILL as i32) {
                    killed.push(number(pid));
                }
            }
            Ok(None) => return (true, killed),
            Err(_) => return (false, killed),
        }
    }
}

fn number(pid: rustix::process::Pid) -> u32 {
    pid.as_raw_nonzero().get().unsigned_abs()
}
