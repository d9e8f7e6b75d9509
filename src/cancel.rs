//! One call's permission to go on: cancelled once, seen by everybody who works for that call.

use std::cell::RefCell;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::clock;

type Hook = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct State {
    cancelled: bool,
    hooks: Vec<Hook>,
}

/// A cancellation flag that can be waited on. A new call takes a new one; it never goes back.
#[derive(Default)]
pub struct Cancel {
    state: Mutex<State>,
    changed: Condvar,
}

impl Cancel {
    /// A flag that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the flag, wakes the waiting and runs the hooks on this thread. The second time does nothing.
    pub fn cancel(&self) {
        let hooks = {
            let mut state = self.state();
            state.cancelled = true;
            std::mem::take(&mut state.hooks)
        };
        self.changed.notify_all();
        for hook in hooks {
            hook();
        }
    }

    /// Whether the flag is set.
    pub fn is_cancelled(&self) -> bool {
        self.state().cancelled
    }

    /// Sleeps for `time` unless cancelled before; whether it was cancelled.
    pub fn sleep(&self, time: Duration) -> bool {
        let until = clock::instant() + time;
        let mut state = self.state();
        while !state.cancelled {
            let left = until.saturating_duration_since(clock::instant());
            if left.is_zero() {
                return false;
            }
            state = self
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        true
    }

    /// Runs `hook` when the flag is set, at once if it is set already. It must not block.
    pub fn on_cancel(&self, hook: impl FnOnce() + Send + 'static) {
        {
            let mut state = self.state();
            if !state.cancelled {
                state.hooks.push(Box::new(hook));
                return;
            }
        }
        hook();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancel")
            .field("cancelled", &self.is_cancelled())
            .finish_non_exhaustive()
    }
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<Cancel>>> = const { RefCell::new(None) };
}

/// Does `what` for the call of `cancel`: commands that this thread waits for meanwhile end when that is cancelled.
pub fn during<T>(cancel: &Arc<Cancel>, what: impl FnOnce() -> T) -> T {
    /// Goes back to the call before, also when `what` panics.
    struct Before(Option<Arc<Cancel>>);
    impl Drop for Before {
        fn drop(&mut self) {
            CURRENT.set(self.0.take());
        }
    }
    let _before = Before(CURRENT.replace(Some(Arc::clone(cancel))));
    what()
}

/// The call that this thread works for.
pub fn current() -> Option<Arc<Cancel>> {
    CURRENT.with_borrow(Clone::clone)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn cancelling_wakes_sleepers_and_runs_each_hook_once() {
        let cancel = Arc::new(Cancel::new());
        let runs = Arc::new(AtomicUsize::new(0));
        let count = |runs: &Arc<AtomicUsize>| {
            let runs = Arc::clone(runs);
            move || {
                runs.fetch_add(1, Ordering::SeqCst);
            }
        };
        cancel.on_cancel(count(&runs));
        let sleeper = std::thread::spawn({
            let cancel = Arc::clone(&cancel);
            move || cancel.sleep(Duration::from_mins(1))
        });
        cancel.cancel();
        cancel.cancel();
        cancel.on_cancel(count(&runs));
        assert!(sleeper.join().unwrap());
        assert_eq!(runs.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn a_sleep_that_nobody_cancels_ends_by_itself() {
        assert!(!Cancel::new().sleep(Duration::from_millis(1)));
    }
}
