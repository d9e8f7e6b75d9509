//! When to rest between changes that come thick and fast: what happens to a file meanwhile becomes one change in the
//! kernel's queue, so that neither its writers nor its reader pay for a wake-up each time. Pure.

use std::time::{Duration, Instant};

/// How long to rest; a change that comes this soon after the last one is part of a flood.
const REST: Duration = Duration::from_micros(300);

/// No second rest within this: changes of several files do not become one, and many of them must not add up.
const AWAKE: Duration = Duration::from_micros(50);

/// What was heard of lately.
#[derive(Debug, Default)]
pub(super) struct Flood {
    heard: Option<Instant>,
    rested: Option<Instant>,
}

impl Flood {
    /// How long to rest before looking at a change that was heard of `now`. The first one in a while is looked at at once.
    pub(super) fn rest(&mut self, now: Instant) -> Option<Duration> {
        let within = |past: Option<Instant>, span| {
            past.is_some_and(|past| now.saturating_duration_since(past) < span)
        };
        let rests = within(self.heard, REST) && !within(self.rested, AWAKE);
        if rests {
            self.rested = Some(now + REST);
        }
        self.heard = Some(if rests { now + REST } else { now });
        rests.then_some(REST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    #[test]
    fn only_what_comes_soon_after_another_rests() {
        let (mut flood, begin) = (Flood::default(), clock::instant());
        let mut rests = |at| flood.rest(begin + Duration::from_micros(at)).is_some();
        assert!(!rests(0));
        assert!(!rests(400), "nothing came for a while");
        assert!(rests(410), "an echo of it");
        assert!(!rests(1_200), "the next one in a while");
    }

    #[test]
    fn many_changes_that_queue_do_not_add_up() {
        let (mut flood, mut now) = (Flood::default(), clock::instant());
        let begin = now;
        for _ in 0..10_000 {
            now += Duration::from_micros(1);
            now += flood.rest(now).unwrap_or_default();
        }
        let work = Duration::from_millis(10);
        assert!(now - begin > 2 * work, "a flood was not rested in");
        assert!(now - begin < 8 * work, "{:?}", now - begin);
    }
}
