//! The table of the units' machine, late and repeated events included.

use std::time::{Duration, Instant};

use super::unit::{KILL_AFTER, START_WAIT};
use super::*;
use crate::board::Released;
use crate::clock;
use crate::ids::AgentName;
use crate::team::MemberStatus;

const IDLE: Happened = Happened::Reported(MemberStatus::Idle);

fn crashed(epoch: u64) -> Happened {
    Happened::Ended {
        epoch,
        how: Ending::Crashed,
    }
}

fn after(ms: u64, from: Instant) -> Instant {
    from + Duration::from_millis(ms)
}

/// Runs `events` from a fresh start; each is `(ms from the start, event, the effects it must have)`.
fn play(mut unit: Unit, start: Instant, events: &[(u64, Happened, Vec<Effect>)]) -> Unit {
    for (index, (ms, what, wanted)) in events.iter().enumerate() {
        let (next, effects) = unit.step(*what, after(*ms, start));
        assert_eq!(&effects, wanted, "event {index}: {what:?}");
        unit = next;
    }
    unit
}

#[test]
fn a_start_is_ready_once_its_status_is_written_and_not_before() {
    let now = clock::instant();
    let unit = play(
        Unit::starting(now),
        now,
        &[
            (1, Happened::Reported(MemberStatus::Starting), vec![]),
            (2, Happened::Tick, vec![]),
            (3, IDLE, vec![Effect::Ready]),
            (4, IDLE, vec![]),
        ],
    );
    assert_eq!(unit.phase, Phase::Running(MemberStatus::Idle));
    assert!(!unit.is_moving() && unit.is_there());
}

#[test]
fn a_start_that_ends_or_takes_too_long_is_undone() {
    let now = clock::instant();
    let unit = play(
        Unit::starting(now),
        now,
        &[
            (5, crashed(1), vec![Effect::StartFailed { late: false }]),
            (6, crashed(1), vec![]),
        ],
    );
    assert!(!unit.is_there());
    let wait = u64::try_from(START_WAIT.as_millis()).unwrap();
    play(
        Unit::starting(now),
        now,
        &[
            (wait - 1, Happened::Tick, vec![]),
            (wait, Happened::Tick, vec![Effect::Kill]),
            (wait + 1, IDLE, vec![]),
            (
                wait + 2,
                crashed(1),
                vec![Effect::StartFailed { late: true }],
            ),
        ],
    );
}

#[test]
fn crashes_are_restarted_three_times_a_minute_with_growing_pauses() {
    let now = clock::instant();
    let told = |secs: Option<u64>| {
        vec![
            Effect::Release(Released::Failed),
            Effect::Crashed {
                again_in: secs.map(Duration::from_secs),
            },
        ]
    };
    let launch = |epoch| vec![Effect::Launch { epoch }];
    let mut first = told(Some(0));
    first.extend(launch(1));
    let unit = play(
        Unit::living(Tie::Adopted, MemberStatus::Working),
        now,
        &[
            (0, crashed(0), first),
            (10, IDLE, vec![Effect::Back]),
            (20, crashed(0), vec![]),
            (30, crashed(1), told(Some(1))),
            (1029, Happened::Tick, vec![]),
            (1030, Happened::Tick, launch(2)),
            (1040, crashed(2), told(Some(3))),
            (4040, Happened::Tick, launch(3)),
            (4050, IDLE, vec![Effect::Back]),
            (4060, crashed(3), told(None)),
        ],
    );
    assert_eq!((unit.phase, unit.tie), (Phase::Failed, Tie::Child));
}

#[test]
fn crashes_long_ago_do_not_count() {
    let now = clock::instant();
    let mut unit = Unit::living(Tie::Child, MemberStatus::Working);
    for round in 0..10_u64 {
        let epoch = unit.epoch;
        let (next, effects) = unit.step(crashed(epoch), after(round * 61_000, now));
        assert!(effects.contains(&Effect::Launch { epoch: epoch + 1 }));
        unit = next.step(IDLE, after(round * 61_000 + 5, now)).0;
    }
}

#[test]
fn one_that_failed_for_good_or_that_a_person_started_is_not_started_again() {
    let now = clock::instant();
    let failed = Happened::Ended {
        epoch: 0,
        how: Ending::Failed,
    };
    play(
        Unit::living(Tie::Child, MemberStatus::Working),
        now,
        &[(
            0,
            failed,
            vec![
                Effect::Release(Released::Failed),
                Effect::Over { failed: true },
            ],
        )],
    );
    play(
        Unit::living(Tie::Person, MemberStatus::Working),
        now,
        &[(
            0,
            crashed(0),
            vec![
                Effect::Release(Released::Failed),
                Effect::Crashed { again_in: None },
            ],
        )],
    );
}

#[test]
fn a_soft_stop_tells_the_person_once_and_a_hard_one_climbs_the_ladder() {
    let now = clock::instant();
    let asked = |ms, hard| Happened::Asked {
        until: after(ms, now),
        hard,
    };
    let kill = u64::try_from(KILL_AFTER.as_millis()).unwrap();
    let living = || Unit::living(Tie::Child, MemberStatus::Working);
    play(
        living(),
        now,
        &[
            (0, asked(100, false), vec![]),
            (99, Happened::Tick, vec![]),
            (100, Happened::Tick, vec![Effect::Late]),
            (200, Happened::Tick, vec![]),
            (300, Happened::Kill, vec![Effect::Terminate]),
            (301, Happened::Kill, vec![Effect::Kill]),
            (302, Happened::Kill, vec![]),
        ],
    );
    let unit = play(
        living(),
        now,
        &[
            (0, asked(1000, false), vec![]),
            (1, asked(100, true), vec![]),
            (2, asked(5000, true), vec![]),
            (100, Happened::Tick, vec![Effect::Terminate]),
            (100 + kill - 1, Happened::Tick, vec![]),
            (100 + kill, Happened::Tick, vec![Effect::Kill]),
            (
                200 + kill,
                crashed(0),
                vec![
                    Effect::Release(Released::Orderly),
                    Effect::Over { failed: true },
                ],
            ),
        ],
    );
    assert_eq!(unit.phase, Phase::Failed);
}

#[test]
fn stopping_while_starting_or_waiting_to_restart_ends_at_once() {
    let now = clock::instant();
    let asked = Happened::Asked {
        until: after(9000, now),
        hard: true,
    };
    play(
        Unit::starting(now),
        now,
        &[
            (1, asked, vec![Effect::Kill]),
            (2, crashed(1), vec![Effect::StartFailed { late: false }]),
        ],
    );
    let (waiting, _) = Unit::living(Tie::Child, MemberStatus::Idle).step(crashed(0), now);
    let (waiting, _) = waiting.step(crashed(1), now);
    assert!(matches!(waiting.phase, Phase::Restarting { .. }));
    play(
        waiting,
        now,
        &[
            (1, asked, vec![Effect::Over { failed: false }]),
            (60_000, Happened::Tick, vec![]),
        ],
    );
}

#[test]
fn a_clean_farewell_is_no_crash_whatever_the_exit_code() {
    use MemberStatus as S;
    for (code, status, wanted) in [
        (Some(0), Some(S::Stopped), Ending::Stopped),
        (None, Some(S::Stopped), Ending::Stopped),
        (Some(0), Some(S::Failed), Ending::Failed),
        (Some(1), Some(S::Starting), Ending::Failed),
        (Some(1), None, Ending::Failed),
        (Some(101), Some(S::Working), Ending::Crashed),
        (None, Some(S::Idle), Ending::Crashed),
        (Some(0), Some(S::Working), Ending::Crashed),
    ] {
        assert_eq!(ending(code, status), wanted, "{code:?} {status:?}");
    }
}

#[test]
fn the_fleet_ticks_only_those_whose_time_has_come() {
    let now = clock::instant();
    let (alice, bob) = (
        AgentName::parse("alice").unwrap(),
        AgentName::parse("bob").unwrap(),
    );
    let mut fleet = Fleet::default();
    fleet.insert(alice.clone(), Unit::starting(now));
    fleet.insert(bob.clone(), Unit::living(Tie::Child, MemberStatus::Idle));
    assert!(fleet.is_moving());
    assert_eq!(fleet.deadline(), Some(now + START_WAIT));
    assert_eq!(
        fleet.tick(now + START_WAIT),
        vec![(alice.clone(), Effect::Kill)]
    );
    assert_eq!(fleet.deadline(), None);
    assert_eq!(
        fleet.on(&alice, crashed(1), now),
        vec![Effect::StartFailed { late: true }]
    );
    fleet.remove(&alice);
    assert_eq!(fleet.there(), vec![bob.clone()]);
    assert!(!fleet.is_moving());
    assert!(matches!(
        fleet.get(&bob).unwrap().phase,
        Phase::Running(MemberStatus::Idle)
    ));
}
