//! Beginnings: afresh, and after a predecessor that was killed anywhere.

use super::super::{Event, Machine, Start};
use super::{LED, NOTHING, OFFER, Told, config, done, taken};

#[test]
fn what_it_was_started_with_begins_the_first_round() {
    for (start, begin) in [
        (
            Start {
                prompt: true,
                ..LED
            },
            "begin [Prompt]",
        ),
        (
            Start {
                prompt: true,
                task: true,
                ..LED
            },
            "begin [Prompt, Assignment]",
        ),
        (
            Start {
                unfinished: true,
                task: true,
                told: true,
                ..LED
            },
            "begin [Restarted]",
        ),
        (
            Start {
                unfinished: true,
                task: true,
                ..LED
            },
            "begin [Restarted, Assignment]",
        ),
        (
            Start {
                task: true,
                told: true,
                ..LED
            },
            "begin [Reminder]",
        ),
        (Start { news: true, ..LED }, "begin []"),
    ] {
        let mut told = Told::new(start);
        told.expect(taken(false), &[begin]);
    }
    let waiting = Start {
        task: true,
        told: true,
        plan_pending: true,
        ..LED
    };
    Told::new(waiting).expect(taken(false), &["=WaitingApproval"]);
}

/// What each predecessor left, and the whole of what the successor does before and in its first round.
#[test]
fn words_that_nobody_may_have_heard_are_told_or_kept_for_the_reminder() {
    let told = |text: &str| format!("late result {text}");
    let ended = |last_words: &str| Start {
        last_words: Some(last_words.into()),
        ..LED
    };
    let open = |last_words: &str| Start {
        task: true,
        told: true,
        ..ended(last_words)
    };
    for (start, at_once) in [
        (ended("bye"), told("bye")),
        (
            Start {
                told: false,
                ..open("of an earlier version")
            },
            told("of an earlier version"),
        ),
        (
            Start {
                asked: true,
                ..open("which?")
            },
            told("which?"),
        ),
        (
            Start {
                plan_pending: true,
                ..open("I wait")
            },
            told("I wait"),
        ),
        (open("half"), "keep half".to_owned()),
    ] {
        let mut machine = Told(Machine::new(config(false)));
        let said = format!("{start:?}");
        let begun = machine.on(Event::Started(start));
        assert_eq!(begun, [&at_once, "=Working", "TakeMail"], "{said}");
    }
    let mut machine = Told::new(open("half"));
    machine.expect(taken(false), &["begin [Reminder]"]).expect(
        done("cannot"),
        &[
            "result half\n\ncannot",
            "release failed half\n\ncannot",
            "CloseAssignment",
            "Look",
        ],
    );
}

#[test]
fn a_reminders_round_counts_across_a_kill_in_it_or_after_it() {
    let in_it = Start {
        task: true,
        told: true,
        unfinished: true,
        reminded: Some("half".into()),
        ..LED
    };
    let mut machine = Told::new(in_it.clone());
    machine.expect(taken(false), &["begin [Restarted]"]).expect(
        done("cannot"),
        &[
            "result half\n\ncannot",
            "release failed half\n\ncannot",
            "CloseAssignment",
            "Look",
        ],
    );
    let after_it = Start {
        unfinished: false,
        last_words: Some("cannot".into()),
        ..in_it
    };
    let mut machine = Told(Machine::new(config(false)));
    machine
        .expect(
            Event::Started(after_it),
            &[
                "late result half\n\ncannot",
                "release failed half\n\ncannot",
                "CloseAssignment",
                "=Working",
                "TakeMail",
            ],
        )
        .expect(taken(false), &["Claim"])
        .expect(Event::Claimed(false), &["=Idle", "idle Blocked Released"]);
}

#[test]
fn who_awaits_an_answer_does_so_after_a_restart_too() {
    let start = Start {
        task: true,
        told: true,
        asked: true,
        ..LED
    };
    Told::new(start)
        .expect(taken(false), &["=Idle"])
        .expect(Event::Found(OFFER), &[])
        .expect(Event::Found(NOTHING), &[]);
}
