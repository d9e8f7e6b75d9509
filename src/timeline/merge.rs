//! Many sources, one order. Pure.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Event;
use crate::clock::Timestamp;

/// The events of `sources` by time, then by source; each source keeps its own order, whatever its clock does: an event
/// that claims to be older than the one before it counts as of that one's time.
///
/// Holds one event of each source.
pub fn merge<S: Iterator<Item = Event>>(sources: Vec<S>) -> impl Iterator<Item = Event> {
    let mut sources = sources;
    let mut heads: Vec<Option<Event>> = sources.iter_mut().map(Iterator::next).collect();
    let mut next: BinaryHeap<Reverse<(Timestamp, usize)>> = heads
        .iter()
        .enumerate()
        .filter_map(|(nr, head)| head.as_ref().map(|event| Reverse((event.at, nr))))
        .collect();
    std::iter::from_fn(move || {
        let Reverse((time, nr)) = next.pop()?;
        let event = heads[nr].take()?;
        heads[nr] = sources[nr].next();
        if let Some(head) = &heads[nr] {
            next.push(Reverse((head.at.max(time), nr)));
        }
        Some(event)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Happened;
    use super::*;

    fn event(source: usize, place: usize, at: u64) -> Event {
        Event {
            at: Timestamp::from_ms(at),
            agent: format!("{source}"),
            what: Happened::Log(format!("{place}")),
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost_each_source_keeps_its_order_and_orderly_clocks_are_kept(
            times in prop::collection::vec(prop::collection::vec(0u64..20, 0..8), 0..5),
            sort in any::<bool>(),
        ) {
            let times: Vec<Vec<u64>> = times.into_iter().map(|mut one| {
                if sort {
                    one.sort_unstable();
                }
                one
            }).collect();
            let sources: Vec<_> = times.iter().enumerate().map(|(nr, one)| {
                let events: Vec<Event> = one.iter().enumerate().map(|(place, at)| event(nr, place, *at)).collect();
                events.into_iter()
            }).collect();
            let merged: Vec<Event> = merge(sources).collect();
            prop_assert_eq!(merged.len(), times.iter().map(Vec::len).sum::<usize>());
            for (nr, one) in times.iter().enumerate() {
                let places: Vec<Event> = merged.iter().filter(|event| event.agent == nr.to_string()).cloned().collect();
                let wanted: Vec<Event> = one.iter().enumerate().map(|(place, at)| event(nr, place, *at)).collect();
                prop_assert_eq!(places, wanted);
            }
            if sort {
                let keys: Vec<_> = merged.iter().map(|event| (event.at, event.agent.clone())).collect();
                let mut sorted = keys.clone();
                sorted.sort();
                prop_assert_eq!(keys, sorted);
            }
        }
    }
}
