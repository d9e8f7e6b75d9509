//! Spawning, waiting and ending children.
//!
//! Every child is registered with the one reaper ([`super::reaper`]); nobody else waits. A group number is a child's pid:
//! signals go to whole groups, so that what a child started is reached too.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::Signal;
use nix::unistd::Pid;

use super::harden;
use super::reaper::{self, Slot};
pub use super::strays::kill_strays;

/// How long [`terminate`] waits for a killed child before it gives it up (a process that hangs in the kernel).
const GIVE_UP: Duration = Duration::from_secs(5);

/// A child registered with the reaper. Dropping it neither kills nor waits.
#[derive(Debug)]
pub struct Child {
    /// Its process id; its process group has the same number if it was spawned as a leader.
    pub pid: u32,
    slot: Arc<Slot>,
}

impl Child {
    /// Blocks until the child has ended.
    pub fn wait(&self) -> ExitStatus {
        self.slot.wait()
    }

    /// Waits for at most `bound`; `None` if it still runs.
    pub fn wait_for(&self, bound: Duration) -> Option<ExitStatus> {
        self.slot.wait_for(bound)
    }

    /// Calls `then` from the reaper's thread once the child has ended (at once if it has already). Must not block.
    pub fn on_exit(&self, then: impl FnOnce(ExitStatus) + Send + 'static) {
        self.slot.on_exit(Box::new(then));
    }
}

/// The parent's ends of a child's piped streams.
#[derive(Debug, Default)]
pub struct Pipes {
    /// Write end of the child's standard input.
    pub stdin: Option<std::process::ChildStdin>,
    /// Read end of its standard output.
    pub stdout: Option<std::process::ChildStdout>,
    /// Read end of its standard error.
    pub stderr: Option<std::process::ChildStderr>,
}

/// Starts `command` as the leader of a process group of its own, with the person's umask and no signal ignored. Standard streams are as the
/// command says; pipes are returned in [`Pipes`].
pub fn spawn(command: &mut Command) -> io::Result<(Child, Pipes)> {
    spawn_in_group_of_ours(harden::as_if_by_the_person(command.process_group(0)))
}

/// Like [`spawn`], but in the caller's process group and with its umask: for a program of ours that makes a session for itself.
pub(super) fn spawn_in_group_of_ours(command: &mut Command) -> io::Result<(Child, Pipes)> {
    let (mut child, slot) = reaper::spawn_registered(command)?;
    let pipes = Pipes {
        stdin: child.stdin.take(),
        stdout: child.stdout.take(),
        stderr: child.stderr.take(),
    };
    let pid = child.id();
    Ok((Child { pid, slot }, pipes))
}

/// Sends SIGTERM to the process group `group`; no such group is no error.
pub fn ask_group_to_end(group: u32) {
    signal_group(group, Signal::SIGTERM);
}

/// Sends SIGINT to the process `pid` alone: it is asked to break off what it does.
pub fn interrupt(pid: u32) {
    signal_process(pid, Signal::SIGINT);
}

/// Has the process group `group` go on if it was stopped.
pub(super) fn go_on(group: u32) {
    signal_group(group, Signal::SIGCONT);
}

/// Sends SIGKILL to the process group `group`.
pub fn kill_group(group: u32) {
    signal_group(group, Signal::SIGKILL);
}

/// Sends SIGTERM to the process `pid`, and to all of its group if it leads one.
pub fn ask_to_end(pid: u32) {
    signal_led_by(pid, Signal::SIGTERM);
}

/// Sends SIGKILL to the process `pid`, and to all of its group if it leads one.
pub fn kill(pid: u32) {
    signal_led_by(pid, Signal::SIGKILL);
}

/// A person's shell may have started it within a group of its own.
fn signal_led_by(pid: u32, signal: Signal) {
    let raw = i32::try_from(pid).unwrap_or_default();
    let leads = nix::unistd::getpgid(Some(Pid::from_raw(raw))) == Ok(Pid::from_raw(raw));
    if leads {
        signal_group(pid, signal);
    } else {
        signal_process(pid, signal);
    }
}

/// TERM to the child's group, KILL after `grace`, then waits; always ends. A child that outlives even SIGKILL by 5 s counts
/// as killed.
pub fn terminate(child: &Child, grace: Duration) -> ExitStatus {
    if let Some(status) = child.wait_for(Duration::ZERO) {
        return status;
    }
    ask_group_to_end(child.pid);
    let ended = child.wait_for(grace);
    // Also when the leader has obeyed: others of its group may not have.
    kill_group(child.pid);
    ended
        .or_else(|| child.wait_for(GIVE_UP))
        .unwrap_or_else(|| ExitStatus::from_raw(Signal::SIGKILL as i32))
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place that signals a group"
)]
fn signal_group(group: u32, signal: Signal) {
    // 0 would be our own group, 1 every process there is.
    let Some(group) = i32::try_from(group).ok().filter(|group| *group > 1) else {
        return;
    };
    if let Err(error) = nix::sys::signal::killpg(Pid::from_raw(group), signal)
        && error != Errno::ESRCH
    {
        tracing::warn!(group, %signal, %error, "cannot signal a process group");
    }
}

/// Sends SIGKILL to every process of this PID namespace but its first, which this one must be.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that signals a namespace"
)]
pub(super) fn kill_rest_of_namespace() {
    // Anybody else would end the whole machine with it.
    if std::process::id() == 1 {
        nix::sys::signal::kill(Pid::from_raw(-1), Signal::SIGKILL).ok();
    }
}

/// Sends `signal` to one process; no such process is no error.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that signals a single process"
)]
pub(super) fn signal_process(pid: u32, signal: Signal) {
    let Some(pid) = i32::try_from(pid).ok().filter(|pid| *pid > 1) else {
        return;
    };
    if let Err(error) = nix::sys::signal::kill(Pid::from_raw(pid), signal)
        && error != Errno::ESRCH
    {
        tracing::warn!(pid, %signal, %error, "cannot signal a process");
    }
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;
    use std::sync::mpsc;

    use super::*;

    fn sh(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null());
        command
    }

    const LONG: Duration = Duration::from_secs(30);

    #[test]
    fn every_child_gets_its_own_status_under_contention() {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                std::thread::spawn(move || {
                    for round in 0..20 {
                        let code = (thread * 20 + round) % 250;
                        let (child, _) = spawn(&mut sh(&format!("exit {code}"))).unwrap();
                        assert_eq!(child.wait().code(), Some(code));
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    }

    #[test]
    fn a_failed_exec_is_an_error_and_costs_nobody_a_status() {
        let other = std::thread::spawn(|| {
            for _ in 0..30 {
                let (child, _) = spawn(&mut sh("exit 7")).unwrap();
                assert_eq!(child.wait().code(), Some(7));
            }
        });
        for _ in 0..30 {
            let mut command = Command::new("/nonexistent/program");
            // Setting the user id makes std fork and wait by itself.
            std::os::unix::process::CommandExt::uid(&mut command, nix::unistd::getuid().as_raw());
            assert_eq!(
                spawn(&mut command).unwrap_err().kind(),
                io::ErrorKind::NotFound
            );
        }
        other.join().unwrap();
    }

    #[test]
    fn hooks_run_once_whether_set_before_or_after_the_end() {
        let (child, pipes) = spawn(sh("read line; exit 4").stdin(Stdio::piped())).unwrap();
        let (send, ended) = mpsc::channel();
        let late = send.clone();
        child.on_exit(move |status| send.send(status.code()).unwrap());
        assert!(child.wait_for(Duration::ZERO).is_none());
        drop(pipes.stdin);
        assert_eq!(ended.recv_timeout(LONG).unwrap(), Some(4));
        child.on_exit(move |status| late.send(status.code()).unwrap());
        assert_eq!(ended.recv_timeout(LONG).unwrap(), Some(4));
        assert!(
            ended.recv_timeout(LONG).is_err(),
            "both senders are used up"
        );
    }

    #[test]
    fn a_child_can_be_asked_to_end() {
        let (child, _) = spawn(Command::new("sleep").arg("300")).unwrap();
        ask_group_to_end(child.pid);
        assert_eq!(child.wait().signal(), Some(Signal::SIGTERM as i32));
    }

    #[test]
    fn terminate_ends_a_group_that_ignores_being_asked() {
        let script = "trap '' TERM; (trap '' TERM; sleep 300) & echo ready; wait; sleep 300";
        let (child, pipes) = spawn(sh(script).stdout(Stdio::piped())).unwrap();
        let mut line = String::new();
        let mut output = io::BufReader::new(pipes.stdout.unwrap());
        io::BufRead::read_line(&mut output, &mut line).unwrap();
        let status = terminate(&child, Duration::from_millis(50));
        assert_eq!(status.signal(), Some(Signal::SIGKILL as i32));
        // Nobody holds the pipe any more: the whole group is gone.
        assert_eq!(io::Read::read(&mut output, &mut [0; 8]).unwrap(), 0);
    }

    #[test]
    fn a_signal_beyond_the_named_ones_is_a_status_too() {
        let (child, _) = spawn(&mut sh("kill -40 $$")).unwrap();
        assert_eq!(child.wait().signal(), Some(40));
    }

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "somebody else's child, which is not ours to wait for"
    )]
    fn a_child_that_was_not_registered_is_left_to_its_owner() {
        let mut foreign = sh("exit 9").spawn().unwrap();
        for _ in 0..20 {
            let (ours, _) = spawn(&mut sh("exit 5")).unwrap();
            assert_eq!(ours.wait().code(), Some(5));
        }
        assert_eq!(foreign.wait().unwrap().code(), Some(9));
    }

    #[test]
    fn the_groups_0_and_1_are_never_signalled() {
        kill_group(0);
        kill_group(1);
        kill_group(u32::MAX);
    }
}
