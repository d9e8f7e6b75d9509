//! Deadlines of the machine's timers: pure but for the instants handed in.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::machine::Timer;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Timers(BTreeMap<Timer, Instant>);

impl Timers {
    /// Starts `timer`, anew if it runs.
    pub(super) fn set(&mut self, timer: Timer, now: Instant, after: Duration) {
        self.0.insert(timer, now + after);
    }

    /// Stops `timer`.
    pub(super) fn clear(&mut self, timer: Timer) {
        self.0.remove(&timer);
    }

    /// How long until the next one runs out; `None` if none runs.
    pub(super) fn wait(&self, now: Instant) -> Option<Duration> {
        let next = self.0.values().min()?;
        Some(next.saturating_duration_since(now))
    }

    /// Takes one that has run out, the earliest first.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<Timer> {
        let (&timer, &at) = self.0.iter().min_by_key(|(_, at)| **at)?;
        (at <= now).then(|| {
            self.0.remove(&timer);
            timer
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    #[test]
    fn the_earliest_runs_out_first_and_once() {
        let now = clock::instant();
        let second = Duration::from_secs(1);
        let mut timers = Timers::default();
        assert_eq!(timers.wait(now), None);
        timers.set(Timer::StopAll, now, second * 2);
        timers.set(Timer::StopTurn, now, second);
        timers.set(Timer::Cut, now, second);
        timers.clear(Timer::Cut);
        assert_eq!(timers.wait(now), Some(second));
        assert_eq!(timers.take_due(now), None);
        let later = now + second * 3;
        assert_eq!(timers.take_due(later), Some(Timer::StopTurn));
        assert_eq!(timers.take_due(later), Some(Timer::StopAll));
        assert_eq!(timers.take_due(later), None);
    }
}
