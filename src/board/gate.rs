//! The in-process half of the board's lock: one thread at a time, as often as that thread likes.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use crate::clock;

/// A mutex that its holder may enter again, with something that lives from the first entering to the last leaving.
#[derive(Debug)]
pub(super) struct Gate<T> {
    state: Mutex<State<T>>,
    left: Condvar,
}

#[derive(Debug)]
struct State<T> {
    holder: Option<ThreadId>,
    depth: usize,
    /// How many wait; without any, leaving asks nothing of the system.
    waiting: usize,
    inner: Option<T>,
}

impl<T> Gate<T> {
    pub(super) fn new() -> Self {
        Self {
            state: Mutex::new(State {
                holder: None,
                depth: 0,
                waiting: 0,
                inner: None,
            }),
            left: Condvar::new(),
        }
    }

    /// Enters, waiting for other threads at most `wait`. Answers whether this was the first entering, or `None` if the
    /// time passed.
    pub(super) fn enter(&self, wait: Duration) -> Option<bool> {
        let me = Some(thread::current().id());
        let deadline = clock::instant() + wait;
        let mut state = self.state();
        while state.holder.is_some() && state.holder != me {
            let left = deadline.saturating_duration_since(clock::instant());
            if left.is_zero() {
                return None;
            }
            state.waiting += 1;
            state = self
                .left
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
            state.waiting -= 1;
        }
        state.holder = me;
        state.depth += 1;
        Some(state.depth == 1)
    }

    /// Leaves once; the last leaving drops what was kept. Only for whoever entered.
    pub(super) fn leave(&self) {
        let mut state = self.state();
        state.depth -= 1;
        if state.depth == 0 {
            // Before anybody else may enter.
            state.inner = None;
            state.holder = None;
            if state.waiting > 0 {
                self.left.notify_one();
            }
        }
    }

    /// Keeps `inner` until the last leaving. Only for whoever entered.
    pub(super) fn keep(&self, inner: T) {
        self.state().inner = Some(inner);
    }

    /// What is kept, seen by whoever entered.
    pub(super) fn with<R>(&self, look: impl FnOnce(Option<&T>) -> R) -> R {
        look(self.state().inner.as_ref())
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn one_thread_enters_again_and_others_wait_until_it_left_as_often() {
        let gate = Gate::<()>::new();
        assert_eq!(gate.enter(Duration::ZERO), Some(true));
        assert_eq!(gate.enter(Duration::ZERO), Some(false));
        thread::scope(|scope| {
            let other = scope.spawn(|| gate.enter(Duration::from_millis(5)));
            assert_eq!(other.join().unwrap(), None);
            gate.leave();
            let other = scope.spawn(|| {
                gate.enter(Duration::from_secs(20))
                    .inspect(|_| gate.leave())
            });
            gate.leave();
            assert_eq!(other.join().unwrap(), Some(true));
        });
    }

    #[test]
    fn what_is_kept_is_dropped_before_the_next_one_enters() {
        struct Count(Arc<AtomicU32>);
        impl Drop for Count {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::SeqCst);
            }
        }
        let gate = Gate::<Count>::new();
        let kept = Arc::new(AtomicU32::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        gate.enter(Duration::from_secs(20)).unwrap();
                        assert_eq!(kept.fetch_add(1, Ordering::SeqCst), 0);
                        gate.keep(Count(Arc::clone(&kept)));
                        gate.leave();
                    }
                });
            }
        });
    }
}
