//! A bound for a system call that blocks without one, such as flock.
//!
//! One thread of the process, started at the first such wait and kept, sends a signal to every thread whose time has
//! passed, again and again until that thread says that it waits no more. The signal's handler does nothing, but a call that
//! it interrupts returns with EINTR. So a wait that ends in time costs no thread and no switch to one.

use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::pthread::{Pthread, pthread_kill, pthread_self};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

use crate::clock;

/// Ignored by whoever has no handler for it, so that no child of ours can die of it.
const SIGNAL: Signal = Signal::SIGURG;

/// A thread that was about to block when its signal came blocks all the same; it is sent another one after this.
const AGAIN: Duration = Duration::from_millis(10);

/// This thread's wait, over when dropped.
#[derive(Debug)]
pub(super) struct Bounded {
    id: u64,
    until: Instant,
}

#[derive(Debug)]
struct Waits {
    list: Vec<Wait>,
    next_id: u64,
    is_watched: bool,
    /// When the watching thread looks next without being told; `None`: only when told.
    looks_at: Option<Instant>,
}

#[derive(Debug)]
struct Wait {
    id: u64,
    thread: Pthread,
    until: Instant,
}

static WAITS: Mutex<Waits> = Mutex::new(Waits {
    list: Vec::new(),
    next_id: 0,
    is_watched: false,
    looks_at: None,
});
static LOOK: Condvar = Condvar::new();

impl Bounded {
    /// From `until` on, whatever this thread blocks in is interrupted. Fails if the watching thread cannot be started.
    pub(super) fn until(until: Instant) -> io::Result<Self> {
        let mut waits = waits();
        if !waits.is_watched {
            handle_signal()?;
            thread::Builder::new()
                .name("bounded-waits".to_owned())
                .stack_size(128 * 1024)
                .spawn(watch)?;
            waits.is_watched = true;
        }
        let id = waits.next_id;
        waits.next_id += 1;
        waits.list.push(Wait {
            id,
            thread: pthread_self(),
            until,
        });
        if waits.looks_at.is_none_or(|at| until < at) {
            LOOK.notify_one();
        }
        Ok(Self { id, until })
    }

    /// Whether its time has passed.
    pub(super) fn is_over(&self) -> bool {
        clock::instant() >= self.until
    }
}

impl Drop for Bounded {
    fn drop(&mut self) {
        // Signals are sent under the same mutex, so that none comes after this.
        waits().list.retain(|wait| wait.id != self.id);
    }
}

fn waits() -> MutexGuard<'static, Waits> {
    WAITS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn watch() {
    let mut waits = waits();
    loop {
        let now = clock::instant();
        for wait in waits.list.iter().filter(|wait| wait.until <= now) {
            // The thread lives: it has not left the list yet.
            pthread_kill(wait.thread, SIGNAL).ok();
        }
        let next = waits.list.iter().map(|wait| wait.until.max(now + AGAIN));
        waits.looks_at = next.min();
        waits = match waits.looks_at {
            None => LOOK.wait(waits).unwrap_or_else(PoisonError::into_inner),
            Some(at) => {
                LOOK.wait_timeout(waits, at - now)
                    .unwrap_or_else(PoisonError::into_inner)
                    .0
            }
        };
    }
}

/// Has the signal interrupt and do nothing else.
fn handle_signal() -> io::Result<()> {
    extern "C" fn nothing(_: nix::libc::c_int) {}
    let action = SigAction::new(
        SigHandler::Handler(nothing),
        SaFlags::empty(),
        SigSet::empty(),
    );
    #[expect(unsafe_code, reason = "std has no way to have a call interrupted")]
    // SAFETY: the handler runs no code, and nobody else handles this signal.
    unsafe { sigaction(SIGNAL, &action) }?;
    Ok(())
}
