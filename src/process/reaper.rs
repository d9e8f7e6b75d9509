//! The one owner of every wait of this process.
//!
//! A thread, started with the first child, sleeps in the kernel until some child has ended, without reaping it, and then
//! reaps under the registry's lock. A spawn holds the same lock from before the fork until its pid is registered, so no
//! status is lost to a child that ends at once, and none is taken from `std`, which waits itself for a child whose exec
//! failed.
//!
//! Orphans adopted as a subreaper are reaped and dropped, but only after [`adopt_strays`]: a program that merely links this
//! library may wait for children of its own.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, WaitOptions};

/// What stands for the status of a child that somebody else has waited for: exit code 255.
const LOST_STATUS: i32 = 0xff00;

/// How long the reaper lets be when only a child that is not ours to reap has ended.
const FOREIGN_PAUSE: Duration = Duration::from_millis(2);

type Hook = Box<dyn FnOnce(ExitStatus) + Send>;

/// Where one child's status arrives.
#[derive(Default)]
pub(super) struct Slot {
    state: Mutex<SlotState>,
    ended: Condvar,
}

#[derive(Default)]
struct SlotState {
    status: Option<ExitStatus>,
    hooks: Vec<Hook>,
}

impl Slot {
    pub(super) fn wait(&self) -> ExitStatus {
        let mut state = self.state();
        loop {
            if let Some(status) = state.status {
                return status;
            }
            state = self
                .ended
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(super) fn wait_for(&self, bound: Duration) -> Option<ExitStatus> {
        self.ended
            .wait_timeout_while(self.state(), bound, |state| state.status.is_none())
            .unwrap_or_else(PoisonError::into_inner)
            .0
            .status
    }

    pub(super) fn on_exit(&self, hook: Hook) {
        let mut state = self.state();
        match state.status {
            None => state.hooks.push(hook),
            Some(status) => {
                drop(state);
                hook(status);
            }
        }
    }

    fn finish(&self, status: ExitStatus) {
        let hooks = {
            let mut state = self.state();
            state.status = Some(status);
            std::mem::take(&mut state.hooks)
        };
        self.ended.notify_all();
        for hook in hooks {
            hook(status);
        }
    }

    fn state(&self) -> MutexGuard<'_, SlotState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot")
            .field("status", &self.state().status)
            .finish_non_exhaustive()
    }
}

/// The children that run. While this is locked nothing is reaped and nothing is spawned.
#[derive(Default)]
pub(super) struct Registry {
    running: BTreeMap<u32, Arc<Slot>>,
    thread_runs: bool,
}

impl Registry {
    /// Whether `pid` is a child that somebody waits for.
    pub(super) fn has(&self, pid: u32) -> bool {
        self.running.contains_key(&pid)
    }
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry {
    running: BTreeMap::new(),
    thread_runs: false,
});
static SPAWNED: Condvar = Condvar::new();
static ADOPTS: AtomicBool = AtomicBool::new(false);

/// From now on every child of this process that nobody registered is an adopted orphan and is reaped. Only for programs in
/// which nothing else waits for children.
pub(super) fn adopt_strays() {
    ADOPTS.store(true, Ordering::SeqCst);
}

/// Whether [`adopt_strays`] was called.
pub(super) fn adopts() -> bool {
    ADOPTS.load(Ordering::SeqCst)
}

/// Stops reaping and spawning until the guard is dropped.
pub(super) fn hold() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Spawns and registers in one step.
#[expect(clippy::disallowed_methods, reason = "the one spawn")]
pub(super) fn spawn_registered(
    command: &mut Command,
) -> io::Result<(std::process::Child, Arc<Slot>)> {
    let mut registry = hold();
    if !registry.thread_runs {
        super::signals::make_children_waitable();
        std::thread::Builder::new()
            .name("reaper".into())
            .spawn(reap_forever)?;
        registry.thread_runs = true;
    }
    let child = command.spawn()?;
    let slot = Arc::new(Slot::default());
    registry.running.insert(child.id(), Arc::clone(&slot));
    drop(registry);
    SPAWNED.notify_one();
    Ok((child, slot))
}

fn reap_forever() {
    loop {
        let peeked =
            rustix::process::waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        let mut registry = hold();
        let ended = registry.reap();
        if !ended.is_empty() {
            drop(registry);
            for (slot, status) in ended {
                slot.finish(status);
            }
            continue;
        }
        match peeked {
            Ok(_) if ADOPTS.load(Ordering::SeqCst) => {}
            Err(Errno::INTR) => {}
            // Without children there are no descendants either: nothing can be adopted before the next spawn.
            Err(Errno::CHILD) => {
                drop(SPAWNED.wait_while(registry, |registry| registry.running.is_empty()));
            }
            Ok(_) | Err(_) => {
                drop(registry);
                std::thread::sleep(FOREIGN_PAUSE);
            }
        }
    }
}

/// [`Registry::reap`]'s result: who ended, and how.
type Ended = Vec<(Arc<Slot>, ExitStatus)>;

impl Registry {
    fn reap(&mut self) -> Ended {
        if ADOPTS.load(Ordering::SeqCst) {
            let mut ended = Vec::new();
            while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
                let pid = pid.as_raw_nonzero().get().unsigned_abs();
                if let Some(slot) = self.running.remove(&pid) {
                    ended.push((slot, ExitStatus::from_raw(status.as_raw())));
                }
            }
            if !ended.is_empty() {
                return ended;
            }
        }
        self.reap_registered()
    }

    /// Also finds children whose status was taken by somebody else, so that nobody waits for them for ever.
    fn reap_registered(&mut self) -> Ended {
        let mut ended = Vec::new();
        self.running.retain(|pid, slot| {
            let raw = match wait_for_one(*pid) {
                Ok(Some(raw)) => raw,
                Err(Errno::CHILD) => LOST_STATUS,
                Ok(None) | Err(_) => return true,
            };
            ended.push((Arc::clone(slot), ExitStatus::from_raw(raw)));
            false
        });
        ended
    }
}

fn wait_for_one(pid: u32) -> rustix::io::Result<Option<i32>> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let reaped = rustix::process::waitpid(pid, WaitOptions::NOHANG)?;
    Ok(reaped.map(|(_, status)| status.as_raw()))
}
