//! Running a short command with bounded output: for git, hooks and probes.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::child::{self, Child, Pipes};
use super::pipe::{Bell, Source, set_nonblocking, wait_any};
use crate::cancel;
use crate::clock;

/// Between TERM and KILL at the time limit.
const GRACE: Duration = Duration::from_secs(1);

/// How a command ended, or was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By itself.
    Exited(ExitStatus),
    /// At the time limit.
    TimedOut,
    /// With the call that it worked for ([`cancel::during`]).
    Cut,
}

/// What came of a command.
#[derive(Debug)]
pub struct Captured {
    /// How it ended.
    pub end: End,
    /// Standard output, cut at the limit.
    pub stdout: Vec<u8>,
    /// Standard error, cut at the limit.
    pub stderr: Vec<u8>,
}

impl Captured {
    /// Its status; `None` if it was ended.
    pub fn status(&self) -> Option<ExitStatus> {
        match self.end {
            End::Exited(status) => Some(status),
            End::TimedOut | End::Cut => None,
        }
    }
}

/// Runs `command` with `input` on standard input; each stream is kept up to `limit` bytes and drained beyond; its whole
/// group is ended after `time`, or when the call that this thread works for is cancelled.
///
/// Returns when the command itself has ended, whoever else still holds its output.
pub fn run(
    command: &mut Command,
    input: &[u8],
    limit: usize,
    time: Duration,
) -> io::Result<Captured> {
    command.stdin(if input.is_empty() {
        Stdio::null()
    } else {
        Stdio::piped()
    });
    exchange(command, input, limit, time)
}

/// The same with what `input` holds from its place on.
pub fn run_from(
    command: &mut Command,
    input: File,
    limit: usize,
    time: Duration,
) -> io::Result<Captured> {
    command.stdin(input);
    exchange(command, b"", limit, time)
}

fn exchange(
    command: &mut Command,
    input: &[u8],
    limit: usize,
    time: Duration,
) -> io::Result<Captured> {
    let until = clock::instant() + time;
    let (ended, cut) = (Bell::new()?, Bell::new()?);
    if let Some(cancel) = cancel::current() {
        cancel.on_cancel(cut.ringer());
    }
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let (child, pipes) = child::spawn(command)?;
    ended.ring_at_exit_of(&child);
    let exchanged = Exchange::new(pipes, input, limit).and_then(|mut exchange| {
        exchange.run(&ended, &cut, until)?;
        Ok(exchange)
    });
    let end = settle(&child, &ended, &cut);
    let mut exchange = exchanged?;
    exchange.read_rest();
    Ok(Captured {
        end,
        stdout: exchange.stdout.bytes,
        stderr: exchange.stderr.bytes,
    })
}

fn settle(child: &Child, ended: &Bell, cut: &Bell) -> End {
    if ended.has_rung() {
        return End::Exited(child.wait());
    }
    child::terminate(child, GRACE);
    if cut.has_rung() {
        End::Cut
    } else {
        End::TimedOut
    }
}

/// One output stream.
struct Kept<R> {
    source: Source<R>,
    bytes: Vec<u8>,
    limit: usize,
}

impl<R: io::Read + AsFd> Kept<R> {
    fn new(end: Option<R>, limit: usize) -> io::Result<Self> {
        Ok(Self {
            source: Source::new(end)?,
            bytes: Vec::new(),
            limit,
        })
    }

    fn read_some(&mut self, buffer: &mut [u8]) {
        let Self {
            source,
            bytes,
            limit,
        } = self;
        source.read_some(buffer, |more| keep(bytes, *limit, more));
    }

    fn read_rest(&mut self, buffer: &mut [u8]) {
        let Self {
            source,
            bytes,
            limit,
        } = self;
        source.read_rest(buffer, |more| keep(bytes, *limit, more));
    }
}

fn keep(kept: &mut Vec<u8>, limit: usize, more: &[u8]) {
    let room = limit.saturating_sub(kept.len());
    kept.extend_from_slice(&more[..room.min(more.len())]);
}

struct Exchange<'a> {
    stdin: Option<(ChildStdin, &'a [u8])>,
    stdout: Kept<std::process::ChildStdout>,
    stderr: Kept<std::process::ChildStderr>,
    buffer: Vec<u8>,
}

impl<'a> Exchange<'a> {
    fn new(pipes: Pipes, input: &'a [u8], limit: usize) -> io::Result<Self> {
        if let Some(stdin) = &pipes.stdin {
            set_nonblocking(stdin)?;
        }
        Ok(Self {
            stdin: pipes.stdin.map(|stdin| (stdin, input)),
            stdout: Kept::new(pipes.stdout, limit)?,
            stderr: Kept::new(pipes.stderr, limit)?,
            buffer: vec![0; 32 * 1024],
        })
    }

    /// Until the child has ended, or is to be ended.
    fn run(&mut self, ended: &Bell, cut: &Bell, until: Instant) -> io::Result<()> {
        while !ended.has_rung() && !cut.has_rung() && clock::instant() < until {
            wait_any(
                &[
                    Some(ended.fd()),
                    Some(cut.fd()),
                    self.stdout.source.fd(),
                    self.stderr.source.fd(),
                ],
                self.stdin.as_ref().map(|(stdin, _)| stdin.as_fd()),
                Some(until),
            )?;
            self.stdout.read_some(&mut self.buffer);
            self.stderr.read_some(&mut self.buffer);
            self.write_some();
        }
        Ok(())
    }

    /// A child that closes its input early has read what it wanted.
    fn write_some(&mut self) {
        let Some((mut stdin, rest)) = self.stdin.take() else {
            return;
        };
        let rest = match stdin.write(rest) {
            Ok(count) => &rest[count..],
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                rest
            }
            Err(_) => &[],
        };
        if !rest.is_empty() {
            self.stdin = Some((stdin, rest));
        }
    }

    fn read_rest(&mut self) {
        self.stdout.read_rest(&mut self.buffer);
        self.stderr.read_rest(&mut self.buffer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, input: &[u8], limit: usize, ms: u64) -> Captured {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(&mut command, input, limit, Duration::from_millis(ms)).unwrap()
    }

    #[test]
    fn both_streams_and_the_status_come_back() {
        let done = sh("cat; echo err >&2; exit 3", b"in", 100, 10_000);
        assert_eq!(done.status().and_then(|status| status.code()), Some(3));
        assert_eq!(
            (done.stdout, done.stderr),
            (b"in".to_vec(), b"err\n".to_vec())
        );
    }

    #[test]
    fn a_file_can_be_the_input() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"in").unwrap();
        std::io::Seek::rewind(&mut file).unwrap();
        let mut command = Command::new("cat");
        let done = run_from(&mut command, file, 100, Duration::from_secs(10)).unwrap();
        assert_eq!(done.stdout, b"in");
    }

    #[test]
    fn input_larger_than_a_pipe_is_exchanged_without_a_deadlock() {
        let input = vec![b'x'; 3 << 20];
        let done = sh("cat", &input, usize::MAX, 20_000);
        assert!(done.stdout == input);
    }

    #[test]
    fn a_child_that_does_not_read_its_input_is_no_error() {
        let done = sh("exit 0", &vec![b'x'; 1 << 20], 10, 10_000);
        assert!(done.status().unwrap().success());
    }

    #[test]
    fn output_beyond_the_limit_is_drained() {
        let done = sh("head -c 5000000 /dev/zero; echo end >&2", b"", 10, 20_000);
        assert_eq!(done.stdout, [0; 10]);
        assert_eq!(done.stderr, b"end\n");
    }

    #[test]
    fn a_background_holder_of_the_pipe_is_not_waited_for() {
        let done = sh("sleep 300 & echo $!", b"", 100, 60_000);
        let sleeper: u32 = String::from_utf8(done.stdout)
            .unwrap()
            .trim()
            .parse()
            .unwrap();
        child::signal_process(sleeper, nix::sys::signal::Signal::SIGKILL);
        assert!(matches!(done.end, End::Exited(status) if status.success()));
    }

    #[test]
    fn the_time_limit_ends_the_group_and_keeps_what_there_was() {
        // A machine that is busy may not come to the first word in so short a time.
        let kept = [200, 2000, 20_000].into_iter().any(|limit| {
            let done = sh("echo start; trap '' TERM; sleep 300", b"", 100, limit);
            assert!(done.status().is_none());
            done.stdout == b"start\n"
        });
        assert!(kept);
    }

    #[test]
    fn a_command_ends_with_the_call_that_it_works_for() {
        let cancel = std::sync::Arc::new(cancel::Cancel::new());
        let done = cancel::during(&cancel, || {
            std::thread::spawn({
                let cancel = std::sync::Arc::clone(&cancel);
                move || cancel.cancel()
            });
            sh("sleep 300", b"", 100, 60_000)
        });
        assert_eq!(done.end, End::Cut);
        assert!(cancel::current().is_none());
        // One that is cancelled before it begins, too.
        let done = cancel::during(&cancel, || sh("sleep 300", b"", 100, 60_000));
        assert_eq!(done.end, End::Cut);
    }

    #[test]
    fn a_program_that_does_not_exist_is_an_error() {
        let mut command = Command::new("/nonexistent/program");
        let tried = run(&mut command, b"", 1, Duration::from_secs(1));
        assert_eq!(tried.unwrap_err().kind(), ErrorKind::NotFound);
    }
}
