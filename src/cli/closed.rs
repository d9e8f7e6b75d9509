//! A terminal that is gone: its window was closed, or the connection to it broke.
//!
//! Every read of such a terminal succeeds at once with nothing. Whoever reads keys takes that for "not yet" and asks again
//! without a pause, for ever where SIGHUP is ignored (`nohup`). So the end is watched for, and standard input becomes a pipe
//! in which nothing ever comes: reads under way then wait like those of a quiet terminal.

use std::io;
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::dup2_stdin;

/// How often is looked; most kernels wake who waits for the end.
const LOOK_MS: u16 = 2000;

/// Calls `on_close` from a thread of its own once the terminal on standard input is gone.
pub fn watch(on_close: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new()
        .name("terminal".to_owned())
        .spawn(move || {
            if !wait_for_end(io::stdin().as_fd()) {
                return;
            }
            on_close();
            if let Err(error) = quiet_input() {
                tracing::error!(%error, "standard input stays a terminal that is gone");
            }
        })?;
    Ok(())
}

/// `false` if it cannot be watched.
fn wait_for_end(terminal: impl AsFd) -> bool {
    loop {
        // An end is told of without being asked for.
        let mut polled = [PollFd::new(terminal.as_fd(), PollFlags::empty())];
        match poll(&mut polled, PollTimeout::from(LOOK_MS)) {
            Ok(0) | Err(Errno::EINTR) => {}
            Ok(_) => {
                let told = polled[0].revents().unwrap_or(PollFlags::empty());
                return !told.contains(PollFlags::POLLNVAL);
            }
            Err(_) => return false,
        }
    }
}

fn quiet_input() -> io::Result<()> {
    let (nothing, writer) = io::pipe()?;
    fcntl(&nothing, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    dup2_stdin(&nothing)?;
    // Without a writer reads would find the end of the pipe, and that at once.
    std::mem::forget(writer);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::pipe;

    use super::*;

    #[test]
    fn the_end_is_seen_and_nothing_before_it() {
        let (reader, writer) = pipe().unwrap();
        let (done, ended) = std::sync::mpsc::channel();
        let watching = std::thread::spawn(move || {
            done.send(()).unwrap();
            wait_for_end(&reader)
        });
        ended.recv().unwrap();
        nix::unistd::write(&writer, b"keys").unwrap();
        drop(writer);
        assert!(watching.join().unwrap());
    }
}
