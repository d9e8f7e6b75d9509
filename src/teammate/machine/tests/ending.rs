//! Ends: asked to stop, failed, out of budget, without a lead, by a signal.

use std::time::Duration;

use super::super::{Event, Found, Machine, RoundEnd, Start, Timer, WaitKind};
use super::{LED, MAIL, NOTHING, OFFER, Told, asked_to_stop, config, done, stop, taken};
use crate::process::signals::Signal;

#[test]
fn a_stop_during_a_round_ends_the_turn_wraps_up_and_says_farewell_first() {
    let mut told = Told::working();
    told.on(Event::WaitBegan(WaitKind::Permission));
    told.expect(
        asked_to_stop(false),
        &[
            "Acknowledge",
            "=Stopping",
            "timer StopAll 108",
            "end wait Stopping",
            "timer StopTurn 60",
        ],
    )
    .expect(asked_to_stop(false), &[])
    .expect(Event::Boundary, &["RestAtBoundary", "TakeMail"])
    .expect(taken(true), &["WrapUpMode", "begin [WrapUp]"])
    .expect(Event::Boundary, &["NextTurn"])
    .expect(
        done("bye"),
        &[
            "farewell bye",
            "release orderly -",
            "CloseAssignment",
            "Drain",
            "answer stop clean=true",
            "=Stopped",
            "end Stopped",
        ],
    )
    .expect(done("late"), &[]);
}

#[test]
fn a_call_that_is_put_off_is_not_waited_for() {
    let minute = || Event::PutOff(Duration::from_mins(1));
    let cut = ["Acknowledge", "=Stopping", "timer StopAll 108", "interrupt"];
    let mut told = Told::working();
    told.expect(minute(), &[])
        .expect(asked_to_stop(false), &cut)
        .expect(Event::RoundOver(RoundEnd::Interrupted), &["TakeMail"])
        .expect(taken(false), &["WrapUpMode", "begin [WrapUp]"])
        .expect(Event::PutOff(Duration::from_secs(1)), &[])
        .expect(Event::PutOff(Duration::ZERO), &[])
        .expect(minute(), &["interrupt", "timer Cut 3"])
        .expect(
            Event::RoundOver(RoundEnd::Interrupted),
            &[
                "farewell -",
                "release orderly -",
                "CloseAssignment",
                "Drain",
                "answer stop clean=true",
                "=Stopped",
                "end Stopped",
            ],
        );

    let mut told = Told::working();
    told.on(minute());
    told.on(Event::PutOff(Duration::ZERO));
    let told_to_end = told.on(asked_to_stop(false));
    assert_eq!(told_to_end.last().unwrap(), "timer StopTurn 60");
    told.expect(minute(), &["interrupt"])
        .expect(Event::TimedOut(Timer::StopTurn), &[]);

    let mut told = Told::working();
    told.on(minute());
    told.on(Event::Boundary);
    told.on(taken(false));
    let told_to_end = told.on(asked_to_stop(false));
    assert_eq!(told_to_end.last().unwrap(), "timer StopTurn 60");
}

#[test]
fn a_limit_that_is_reached_within_the_wrap_up_ends_it() {
    let mut told = Told::idle();
    told.on(asked_to_stop(false));
    told.on(taken(false));
    told.on(Event::Limit(true));
    let effects = told.on(Event::Boundary);
    assert_eq!(effects[..2], ["RestAtBoundary", "farewell -"]);
    assert_eq!(effects.last().unwrap(), "end Stopped");
}

#[test]
fn a_full_context_costs_the_wrap_up_and_nothing_else() {
    let mut told = Told::idle();
    told.on(asked_to_stop(false));
    told.on(taken(false));
    told.expect(
        Event::RoundOver(RoundEnd::Full("too long".into())),
        &[
            "farewell -",
            "Drain",
            "answer stop clean=true",
            "=Stopped",
            "end Stopped",
        ],
    );
}

#[test]
fn what_takes_too_long_is_cut_and_a_stop_always_ends() {
    let mut told = Told::working();
    told.on(asked_to_stop(false));
    told.expect(Event::TimedOut(Timer::StopTurn), &["interrupt"])
        .expect(Event::RoundOver(RoundEnd::Interrupted), &["TakeMail"])
        .expect(taken(false), &["WrapUpMode", "begin [WrapUp]"])
        .expect(
            Event::TimedOut(Timer::StopAll),
            &["interrupt", "timer Cut 3"],
        );
    let ending = [
        "farewell -",
        "release orderly -",
        "CloseAssignment",
        "Drain",
        "answer stop clean=false",
        "=Failed",
        "end WrapUpFailed",
    ];
    told.expect(Event::TimedOut(Timer::Cut), &ending);

    let mut told = Told::working();
    told.on(asked_to_stop(false));
    told.on(Event::TimedOut(Timer::StopTurn));
    told.expect(Event::TimedOut(Timer::StopAll), &ending);
}

#[test]
fn a_leaving_lead_gets_no_wrap_up_from_who_has_nothing_new_to_say() {
    let skipped = [
        "Acknowledge",
        "=Stopping",
        "timer StopAll 27",
        "farewell -",
        "Drain",
        "answer stop clean=true",
        "=Stopped",
        "end Stopped",
    ];
    Told::idle().expect(asked_to_stop(true), &skipped);
    let with_mail = Event::Found(Found {
        stop: Some(stop(true)),
        ..MAIL
    });
    let before = ["Acknowledge", "=Stopping", "timer StopAll 27", "TakeMail"];
    Told::idle()
        .expect(with_mail, &before)
        .expect(taken(true), &["WrapUpMode", "begin [WrapUp]"]);
    let asked = ["Acknowledge", "=Stopping", "timer StopAll 108", "TakeMail"];
    Told::idle().expect(asked_to_stop(false), &asked);
    // Woken by an offer, it finds the request in its mail: that changes nothing.
    for (leaving, news, effects) in [
        (true, false, &skipped[..]),
        (true, true, &before),
        (false, false, &asked),
    ] {
        let mut told = Told::idle();
        told.on(Event::Found(OFFER));
        let with_stop = Event::Taken {
            news,
            stop: Some(stop(leaving)),
        };
        told.expect(with_stop, effects);
    }
}

#[test]
fn a_stop_found_with_mail_at_a_boundary_keeps_the_mail() {
    let mut told = Told::working();
    told.on(Event::Boundary);
    let with_stop = Event::Taken {
        news: true,
        stop: Some(stop(false)),
    };
    told.expect(
        with_stop,
        &[
            "Acknowledge",
            "=Stopping",
            "timer StopAll 108",
            "timer StopTurn 60",
            "RestAtBoundary",
            "TakeMail",
        ],
    )
    .expect(taken(false), &["WrapUpMode", "begin [WrapUp]"]);
}

#[test]
fn a_model_that_fails_gives_the_task_back() {
    let mut told = Told::working();
    told.expect(
        Event::RoundOver(RoundEnd::Unreachable("529".into())),
        &[
            "timer CoolDown 30",
            "error 529",
            "release orderly 529",
            "CloseAssignment",
            "Look",
        ],
    )
    .expect(Event::Found(OFFER), &["=Idle", "idle Error Released"])
    .expect(Event::Found(OFFER), &[])
    .expect(Event::TimedOut(Timer::CoolDown), &["Look"])
    .expect(Event::Found(OFFER), &["=Working", "TakeMail"])
    .expect(taken(false), &["Claim"])
    .expect(Event::Claimed(true), &["begin [Assignment]"]);
    let again = told.on(Event::RoundOver(RoundEnd::Unreachable("529".into())));
    assert_eq!(again[0], "timer CoolDown 60", "the longer it lasts");

    Told::working().expect(
        Event::RoundOver(RoundEnd::Hopeless("401".into())),
        &[
            "error 401",
            "release failed 401",
            "CloseAssignment",
            "=Failed",
            "end Failed(\"401\")",
        ],
    );
    Told::working().expect(
        Event::RoundOver(RoundEnd::Declined("no".into())),
        &["error no", "release failed no", "CloseAssignment", "Look"],
    );
}

#[test]
fn while_all_are_held_back_nothing_is_claimed_and_no_wrap_up_begins() {
    let minute = Duration::from_mins(1);
    let mut told = Told::idle();
    told.expect(Event::HeldBack(minute), &["timer HeldBack 60"])
        .expect(Event::Found(OFFER), &[])
        .expect(
            asked_to_stop(false),
            &["Acknowledge", "=Stopping", "timer StopAll 108", "TakeMail"],
        )
        .expect(
            taken(false),
            &[
                "farewell -",
                "Drain",
                "answer stop clean=true",
                "=Stopped",
                "end Stopped",
            ],
        );
    for opened in [
        Event::TimedOut(Timer::HeldBack),
        Event::HeldBack(Duration::ZERO),
    ] {
        let mut told = Told::idle();
        told.on(Event::HeldBack(minute));
        told.on(opened);
        told.expect(Event::Found(OFFER), &["=Working", "TakeMail"]);
    }
}

#[test]
fn beyond_a_limit_nothing_is_begun_and_a_stop_needs_no_call() {
    let mut told = Told::working();
    told.expect(Event::Boundary, &["TakeMail"])
        .expect(Event::Limit(true), &[])
        .expect(taken(true), &["RestAtBoundary", "=Idle"])
        .expect(Event::Found(MAIL), &[])
        .expect(Event::Limit(false), &[])
        .expect(Event::Found(NOTHING), &["=Working", "TakeMail"])
        .expect(taken(false), &["begin []"]);
    let mut told = Told::idle();
    told.on(Event::Limit(true));
    told.expect(Event::Found(OFFER), &[]);
    told.on(asked_to_stop(false));
    told.expect(
        taken(false),
        &[
            "farewell -",
            "Drain",
            "answer stop clean=true",
            "=Stopped",
            "end Stopped",
        ],
    );
}

#[test]
fn a_lost_lead_is_waited_for_and_then_missed() {
    let mut told = Told::working();
    told.expect(Event::LeadGone, &["timer LeadGrace 60"])
        .expect(Event::Boundary, &["RestAtBoundary"])
        .expect(Event::Found(MAIL), &[])
        .expect(Event::LeadCame, &["no timer LeadGrace", "Look"])
        .expect(Event::TimedOut(Timer::LeadGrace), &[])
        .expect(Event::Found(NOTHING), &["=Working", "TakeMail"])
        .expect(taken(false), &["begin []"])
        .expect(Event::LeadGone, &["timer LeadGrace 60"])
        .expect(
            Event::TimedOut(Timer::LeadGrace),
            &["interrupt", "timer Cut 3"],
        )
        .expect(
            Event::RoundOver(RoundEnd::Interrupted),
            &[
                "release orderly -",
                "CloseAssignment",
                "=Failed",
                "end LeadLost",
            ],
        );
}

#[test]
fn who_was_started_by_a_person_waits_for_a_lead_without_end() {
    let mut told = Told(Machine::new(config(true)));
    let start = Start {
        lead: false,
        prompt: true,
        ..LED
    };
    told.expect(Event::Started(start), &["SayNoLead", "=Idle"])
        .expect(Event::Found(OFFER), &[])
        .expect(Event::LeadCame, &["no timer LeadGrace", "Look"])
        .expect(Event::Found(NOTHING), &["=Working", "TakeMail"])
        .expect(taken(false), &["begin [Prompt]"])
        .expect(Event::LeadGone, &[]);
}

#[test]
fn signals_end_it_in_order_and_ctrl_c_only_cuts_what_a_lead_started() {
    let ended = [
        "release orderly -",
        "CloseAssignment",
        "=Stopped",
        "end Signalled(Terminate)",
    ];
    let mut told = Told::working();
    told.expect(
        Event::Signal(Signal::Terminate),
        &["interrupt", "timer Cut 3"],
    )
    .expect(Event::RoundOver(RoundEnd::Interrupted), &ended);
    let mut told = Told::working();
    told.on(Event::Signal(Signal::Terminate));
    told.expect(Event::Signal(Signal::Terminate), &ended);
    let idle = ["=Stopped", "end Signalled(HangUp)"];
    Told::idle().expect(Event::Signal(Signal::HangUp), &idle);

    let mut told = Told::working();
    told.expect(Event::Signal(Signal::Interrupt), &["interrupt"])
        .expect(Event::RoundOver(RoundEnd::Interrupted), &["Look"])
        .expect(
            Event::Found(NOTHING),
            &["=Idle", "idle Waiting Interrupted"],
        );
    Told::idle().expect(Event::Signal(Signal::Interrupt), &[]);
    let mut told = Told::of(true, LED);
    told.expect(
        Event::Signal(Signal::Interrupt),
        &["=Stopped", "end Signalled(Interrupt)"],
    );
}

#[test]
fn ctrl_c_on_one_that_stops_cuts_its_call_and_it_stops_all_the_same() {
    let mut told = Told::working();
    told.on(asked_to_stop(false));
    told.expect(Event::Signal(Signal::Interrupt), &["interrupt"])
        .expect(Event::RoundOver(RoundEnd::Interrupted), &["TakeMail"])
        .expect(taken(false), &["WrapUpMode", "begin [WrapUp]"]);
}

/// Whatever comes afterwards, the end is the end.
#[test]
fn nothing_happens_after_the_end() {
    let events = [
        Event::Found(MAIL),
        asked_to_stop(false),
        taken(true),
        Event::Claimed(true),
        Event::Boundary,
        done("x"),
        Event::LeadCame,
        Event::Signal(Signal::Terminate),
        Event::TimedOut(Timer::StopAll),
        Event::TimedOut(Timer::Cut),
        Event::TimedOut(Timer::CoolDown),
    ];
    let mut told = Told::idle();
    told.on(Event::Signal(Signal::Terminate));
    for event in events {
        let said = format!("{event:?}");
        assert_eq!(told.0.on(event), [], "{said}");
    }
}
