//! Waiting on several pipes at once without a thread for each.

use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::child::Child;
use crate::clock;

/// How much is still read from a pipe after its child has ended: what the largest pipe can hold. Somebody else who writes
/// into it without end is left alone then.
const REST: usize = 1 << 20;

/// Makes reads and writes on this end return instead of wait; the other end is not affected.
pub(super) fn set_nonblocking(end: impl AsFd) -> io::Result<()> {
    let flags = OFlag::from_bits_retain(fcntl(&end, FcntlArg::F_GETFL)?);
    fcntl(&end, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
    Ok(())
}

/// Sleeps until one of `readable` has something or has ended, `writable` takes something, or `until` has come. May return
/// early.
pub(super) fn wait_any(
    readable: &[Option<BorrowedFd<'_>>],
    writable: Option<BorrowedFd<'_>>,
    until: Option<Instant>,
) -> io::Result<()> {
    let mut polled: Vec<PollFd<'_>> = readable
        .iter()
        .flatten()
        .map(|fd| PollFd::new(*fd, PollFlags::POLLIN))
        .chain(writable.map(|fd| PollFd::new(fd, PollFlags::POLLOUT)))
        .collect();
    match poll(&mut polled, timeout(until)) {
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Rounded up, so that a wait never spins through its last millisecond.
fn timeout(until: Option<Instant>) -> PollTimeout {
    until.map_or(PollTimeout::NONE, |until| {
        let left = until.saturating_duration_since(clock::instant());
        let left = if left.is_zero() {
            left
        } else {
            left + Duration::from_millis(1)
        };
        PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX)
    })
}

/// A non-blocking read end.
#[derive(Debug)]
pub(super) struct Source<R> {
    end: Option<R>,
}

impl<R: Read + AsFd> Source<R> {
    pub(super) fn new(end: Option<R>) -> io::Result<Self> {
        if let Some(end) = &end {
            set_nonblocking(end)?;
        }
        Ok(Self { end })
    }

    /// `None` once the other side is closed.
    pub(super) fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.end.as_ref().map(AsFd::as_fd)
    }

    /// Passes on what can be read now, at most one buffer; whether there may be more at once.
    pub(super) fn read_some(&mut self, buffer: &mut [u8], mut take: impl FnMut(&[u8])) -> bool {
        let Some(end) = &mut self.end else {
            return false;
        };
        match end.read(buffer) {
            Ok(0) => self.end = None,
            Ok(count) => {
                take(&buffer[..count]);
                return true;
            }
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock => {}
                ErrorKind::Interrupted => return true,
                _ => self.end = None,
            },
        }
        false
    }

    /// Passes on what an ended child has left in the pipe.
    pub(super) fn read_rest(&mut self, buffer: &mut [u8], mut take: impl FnMut(&[u8])) {
        for _ in 0..REST / buffer.len().max(1) {
            if !self.read_some(buffer, &mut take) {
                break;
            }
        }
    }
}

/// A read end that comes to its end when the bell is rung; nothing is ever written.
#[derive(Debug)]
pub(super) struct Bell {
    heard: PipeReader,
    rope: Arc<Mutex<Option<PipeWriter>>>,
}

impl Bell {
    pub(super) fn new() -> io::Result<Self> {
        let (heard, rope) = io::pipe()?;
        Ok(Self {
            heard,
            rope: Arc::new(Mutex::new(Some(rope))),
        })
    }

    /// What rings it, once; it keeps nothing alive and does nothing when the bell is gone.
    pub(super) fn ringer(&self) -> impl FnOnce() + Send + 'static {
        let rope: Weak<Mutex<Option<PipeWriter>>> = Arc::downgrade(&self.rope);
        move || {
            if let Some(rope) = rope.upgrade() {
                drop(rope.lock().unwrap_or_else(PoisonError::into_inner).take());
            }
        }
    }

    /// Rings when `child` has ended.
    pub(super) fn ring_at_exit_of(&self, child: &Child) {
        let ring = self.ringer();
        child.on_exit(move |_| ring());
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.heard.as_fd()
    }

    pub(super) fn has_rung(&self) -> bool {
        self.rope
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_none()
    }
}
