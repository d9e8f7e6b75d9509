//! The guard outside of its PID namespace.

use std::fs::File;
use std::io::PipeWriter;

use nix::errno::Errno;
use nix::sys::signal::{Signal, raise};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{Pid, dup2_stderr, dup2_stdin, dup2_stdout};

/// Waits for the first process of the namespace and ends as it did; `alive` tells it that somebody waits. Gives up the
/// pipes: only where the command's end closes them does the agent see it.
pub(super) fn stand_by(first: Pid, alive: PipeWriter) -> i32 {
    #[expect(clippy::disallowed_methods, reason = "the kernel makes this file")]
    if let Ok(nothing) = File::open("/dev/null") {
        dup2_stdin(&nothing).ok();
        dup2_stdout(&nothing).ok();
        dup2_stderr(&nothing).ok();
    }
    let code = loop {
        match waitpid(first, None) {
            Ok(WaitStatus::Exited(_, code)) => break code,
            Ok(WaitStatus::Signaled(..)) => {
                raise(Signal::SIGKILL).ok();
            }
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => break 125,
        }
    };
    drop(alive);
    code
}
