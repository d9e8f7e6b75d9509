//! A program of the person's in the foreground: it gets the terminal, which is taken back at its end.

use std::io;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::sys::signal::{SigSet, Signal};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use rustix::termios::{tcgetpgrp, tcsetpgrp};

use super::child::{self, Child};

/// How often is looked whether the program was stopped, or is to be given up.
const LOOK: Duration = Duration::from_millis(100);
/// How long a program that is given up may take.
const GRACE: Duration = Duration::from_millis(300);

/// Runs `command` with this process's terminal until it ends, or `give_up` becomes true, which ends it. Its keys that send
/// signals reach it alone.
pub fn run(command: &mut Command, give_up: &AtomicBool) -> io::Result<ExitStatus> {
    let ours = tcgetpgrp(io::stdin())?;
    let (child, _) = child::spawn(command)?;
    let ended = to_its_end(&child, give_up);
    let taken_back = take_back(ours);
    let status = ended?;
    taken_back?;
    Ok(status)
}

fn to_its_end(child: &Child, give_up: &AtomicBool) -> io::Result<ExitStatus> {
    let group = i32::try_from(child.pid).ok().and_then(Pid::from_raw);
    let group = group.ok_or_else(|| io::Error::other("the program has no process number"))?;
    if let Err(error) = tcsetpgrp(io::stdin(), group) {
        child::terminate(child, GRACE);
        return Err(error.into());
    }
    // It may have asked for the terminal before it had it, and was stopped for that.
    child::go_on(child.pid);
    loop {
        if let Some(status) = child.wait_for(LOOK) {
            return Ok(status);
        }
        if give_up.load(Ordering::Acquire) {
            return Ok(child::terminate(child, GRACE));
        }
        if is_stopped(group) {
            // There is nobody to bring it back later.
            child::go_on(child.pid);
        }
    }
}

fn is_stopped(child: Pid) -> bool {
    let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG;
    matches!(waitid(WaitId::Pid(child), options), Ok(Some(_)))
}

/// Who is not in the foreground would be stopped for this, unless the signal is blocked.
fn take_back(ours: Pid) -> io::Result<()> {
    let mut blocked = SigSet::empty();
    blocked.add(Signal::SIGTTOU);
    blocked.thread_block()?;
    let taken = tcsetpgrp(io::stdin(), ours);
    blocked.thread_unblock()?;
    Ok(taken?)
}
