//! The agent's side: starts a guard, reads what comes, ends it in time.

use std::io::{self, PipeReader, PipeWriter, Write};
use std::os::unix::process::ExitStatusExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::call::{End, ShellCall, ShellResult};
use super::output::Output;
use super::report::Report;
use crate::cancel::Cancel;
use crate::clock;
use crate::process::child::{self, Child, kill_strays};
use crate::process::pipe::{Bell, Source, wait_any};
use crate::process::strays::{ProcessTable, kill_all};

/// Between TERM and KILL when a command is ended.
pub(super) const GRACE: Duration = Duration::from_secs(1);

/// What a guard gets for ending everything after the grace, before it is ended itself.
const MARGIN: Duration = Duration::from_secs(4);

/// The longest report that is read; more is no report of a guard.
const LONGEST_REPORT: usize = 4096;

/// Runs `call` beneath a guard: own session and group, no terminal, empty standard input. Returns when the command ends,
/// even if a background child still holds the pipe.
pub fn run_shell(call: &ShellCall, cancel: &Arc<Cancel>) -> io::Result<ShellResult> {
    call.check()?;
    let until = clock::instant() + call.timeout;
    let cancelled = Bell::new()?;
    if cancel.is_cancelled() {
        return Ok(ShellResult {
            end: End::Cancelled,
            output: String::new(),
            spilled: None,
            leftovers: 0,
        });
    }
    let mut running = Running::start(call)?;
    cancel.on_cancel(cancelled.ringer());
    let stopped = running.exchange(&cancelled, until);
    running.finish(stopped?)
}

struct Running {
    guard: Child,
    life: PipeWriter,
    output: Source<PipeReader>,
    report: Source<PipeReader>,
    report_text: Vec<u8>,
    collected: Output,
    buffer: Vec<u8>,
}

impl Running {
    fn start(call: &ShellCall) -> io::Result<Self> {
        let (guards_life, life) = io::pipe()?;
        let (output, guards_output) = io::pipe()?;
        let (report, guards_report) = io::pipe()?;
        let (output, report) = (Source::new(Some(output))?, Source::new(Some(report))?);
        let mut command = call.guard()?;
        command
            .stdin(guards_life)
            .stdout(guards_output)
            .stderr(guards_report);
        let (guard, _) = child::spawn_in_group_of_ours(&mut command)?;
        // With it go our copies of the guard's ends.
        drop(command);
        Ok(Self {
            guard,
            life,
            output,
            report,
            report_text: Vec::new(),
            collected: Output::new(call.keep, &call.spill),
            buffer: vec![0; 64 * 1024],
        })
    }

    /// Until the guard has closed its report; why it was told to end the command, if it was.
    fn exchange(&mut self, cancelled: &Bell, timeout: Instant) -> io::Result<Option<End>> {
        let mut stopped = None;
        let mut until = timeout;
        while self.report.fd().is_some() {
            let bell = stopped.is_none().then(|| cancelled.fd());
            wait_any(
                &[self.output.fd(), self.report.fd(), bell],
                None,
                Some(until),
            )?;
            self.read_some();
            let time_is_up = clock::instant() >= until;
            match &stopped {
                None if cancelled.has_rung() => stopped = Some(End::Cancelled),
                None if time_is_up => stopped = Some(End::TimedOut),
                Some(_) if time_is_up => {
                    // It hangs or was stopped.
                    kill_all(&ProcessTable::read().descendants(self.guard.pid));
                    child::signal_process(self.guard.pid, Signal::SIGKILL);
                    break;
                }
                None | Some(_) => continue,
            }
            // A guard that is gone closes its report.
            self.life.write_all(b"s").ok();
            until = clock::instant() + GRACE + MARGIN;
        }
        Ok(stopped)
    }

    fn read_some(&mut self) {
        let Self {
            output,
            report,
            report_text,
            collected,
            buffer,
            ..
        } = self;
        output.read_some(buffer, |bytes| collected.push(bytes));
        report.read_some(buffer, |bytes| {
            if report_text.len() < LONGEST_REPORT {
                report_text.extend_from_slice(bytes);
            }
        });
    }

    fn finish(mut self, stopped: Option<End>) -> io::Result<ShellResult> {
        drop(self.life);
        let status = self.guard.wait_for(MARGIN);
        let text = String::from_utf8_lossy(&self.report_text);
        let (end, leftovers) = match Report::parse(&text) {
            Some(Report::Ended { end, leftovers }) => (end, leftovers),
            Some(Report::Failed(why)) => return Err(io::Error::other(why)),
            None => {
                let strays = kill_strays();
                let Some(number) = status.and_then(|status| status.signal()) else {
                    return Err(io::Error::other(format!(
                        "the guard of the command failed: {}",
                        text.trim()
                    )));
                };
                (End::Signalled(number), strays)
            }
        };
        self.output
            .read_rest(&mut self.buffer, |bytes| self.collected.push(bytes));
        let (output, spilled) = self.collected.finish();
        Ok(ShellResult {
            end: stopped.unwrap_or(end),
            output,
            spilled,
            leftovers,
        })
    }
}
