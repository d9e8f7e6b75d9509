//! The brake on endless exchanges (SPEC §4.2): pure. Two agents that only talk are stopped after [`ROUNDS`] rounds.

use crate::mailbox::exchange::{Speaker, Spoken};

/// After so many rounds without any change the next message is held.
pub(crate) const ROUNDS: usize = 5;

/// When the last [`ROUNDS`] rounds began, in Unix milliseconds, if so many were exchanged after `moved`: unless something
/// changed since then, what comes next is held. `spoken` oldest first.
pub(crate) fn only_talk_since(spoken: &[Spoken], moved: u64) -> Option<u64> {
    let turns = turns(spoken, moved);
    let first = turns.len().checked_sub(2 * ROUNDS)?;
    turns.get(first).copied()
}

/// When the person last spoke to either.
pub(crate) fn person_spoke(spoken: &[Spoken]) -> u64 {
    let by_person = spoken.iter().filter(|one| one.by == Speaker::Person);
    by_person.map(|one| one.at).max().unwrap_or(0)
}

/// When each turn after `since` began. A round is a turn of each; what one says in a row is one turn.
fn turns(spoken: &[Spoken], since: u64) -> Vec<u64> {
    let mut turns = Vec::new();
    let mut last = None;
    for one in spoken.iter().filter(|one| one.at > since) {
        if one.by != Speaker::Person && last != Some(one.by) {
            turns.push(one.at);
            last = Some(one.by);
        }
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::Speaker::{First, Person, Second};
    use super::*;

    fn said(by: &[Speaker]) -> Vec<Spoken> {
        by.iter()
            .zip(1..)
            .map(|(by, at)| Spoken { by: *by, at })
            .collect()
    }

    #[test]
    fn only_what_goes_to_and_fro_counts() {
        let pair = [First, Second];
        for (spoken, since) in [
            (said(&[]), None),
            (said(&[First; 20]), None),
            (said(&[First, First, Second, Second, First]), None),
            (said(&pair.repeat(4)), None),
            (said(&[&pair.repeat(4)[..], &[First, First]].concat()), None),
            (said(&pair.repeat(5)), Some(1)),
            (said(&pair.repeat(7)), Some(5)),
            (said(&[&[First][..], &pair.repeat(5)].concat()), Some(1)),
        ] {
            assert_eq!(only_talk_since(&spoken, 0), since, "{spoken:?}");
        }
    }

    #[test]
    fn whatever_moved_begins_the_count_anew() {
        let spoken = said(&[First, Second].repeat(6));
        assert_eq!(only_talk_since(&spoken, 2), Some(3));
        assert_eq!(only_talk_since(&spoken, 3), None);
        assert_eq!(only_talk_since(&spoken, 12), None);
        let mut with_person = spoken;
        with_person[9].by = Person;
        let moved = person_spoke(&with_person);
        assert_eq!(moved, 10);
        assert_eq!(only_talk_since(&with_person, moved), None);
    }
}
