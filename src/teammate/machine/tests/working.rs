//! Rounds: what begins one, what its end leads to, what is waited for.

use super::super::{Config, Event, Found, Machine, Outcome, Timer, WaitKind};
use super::{LED, MAIL, NOTHING, OFFER, Told, config, done, taken};

#[test]
fn without_prompt_and_task_no_round_begins() {
    let mut told = Told(Machine::new(config(false)));
    told.expect(Event::Started(LED), &["=Working", "TakeMail"])
        .expect(taken(false), &["Claim"])
        .expect(Event::Claimed(false), &["=Idle"])
        .expect(Event::Found(NOTHING), &[]);
}

#[test]
fn a_completed_task_is_reported_then_idle_then_announced_once() {
    let mut told = Told::working();
    told.expect(Event::Boundary, &["TakeMail"])
        .expect(taken(true), &["NextTurn"])
        .expect(Event::TaskOver(Outcome::Completed), &[])
        .expect(
            done("made it"),
            &["result made it", "CloseAssignment", "Look"],
        )
        .expect(Event::Found(NOTHING), &["=Idle", "idle Done Completed"])
        .expect(Event::Found(NOTHING), &[])
        .expect(Event::Found(OFFER), &["=Working", "TakeMail"])
        .expect(taken(false), &["Claim"])
        .expect(Event::Claimed(false), &["=Idle"]);
}

#[test]
fn with_more_to_do_it_is_never_called_idle() {
    let mut told = Told::working();
    told.on(Event::TaskOver(Outcome::Completed));
    told.on(done("one"));
    told.expect(Event::Found(OFFER), &["=Working", "TakeMail"])
        .expect(taken(false), &["Claim"])
        .expect(Event::Claimed(true), &["begin [Assignment]"]);
}

#[test]
fn mail_comes_before_tasks_and_several_make_one_round() {
    let mut told = Told::idle();
    let both = Found {
        offered: true,
        ..MAIL
    };
    told.expect(Event::Found(both), &["=Working", "TakeMail"])
        .expect(taken(true), &["begin []"])
        .expect(done("hi"), &["result hi", "Look"])
        .expect(Event::Found(NOTHING), &["=Idle", "idle Done None"]);
}

#[test]
fn an_open_task_is_reminded_of_once_and_then_given_back() {
    let mut told = Told::working();
    told.expect(done("half"), &["keep half", "Look"])
        .expect(Event::Found(NOTHING), &["=Working", "TakeMail"])
        .expect(taken(false), &["begin [Reminder]"])
        .expect(
            done("cannot"),
            &[
                "result half\n\ncannot",
                "release failed half\n\ncannot",
                "CloseAssignment",
                "Look",
            ],
        )
        .expect(Event::Found(NOTHING), &["=Idle", "idle Blocked Released"]);
    let mut told = Told::working();
    told.on(done("half"));
    told.on(Event::Found(NOTHING));
    told.on(taken(false));
    told.on(Event::TaskOver(Outcome::Completed));
    told.expect(
        done("done now"),
        &["result half\n\ndone now", "CloseAssignment", "Look"],
    );
}

#[test]
fn who_awaits_an_answer_keeps_its_task() {
    let mut told = Told::working();
    told.expect(Event::Asked, &[])
        .expect(done("which?"), &["result which?", "Look"])
        .expect(Event::Found(NOTHING), &["=Idle", "idle Waiting None"])
        .expect(Event::Found(OFFER), &[])
        .expect(Event::Found(MAIL), &["=Working", "TakeMail"])
        .expect(taken(true), &["begin []"])
        .expect(done("hm"), &["keep hm", "Look"])
        .expect(Event::Found(NOTHING), &["=Working", "TakeMail"])
        .expect(taken(false), &["begin [Reminder]"]);
}

#[test]
fn a_wait_for_a_plan_ends_with_its_decision_or_with_other_mail() {
    let mut told = Told::working();
    told.expect(
        Event::WaitBegan(WaitKind::Plan),
        &["=WaitingApproval", "Look"],
    )
    .expect(Event::Found(NOTHING), &[])
    .expect(Event::PlanSettled, &[])
    .expect(Event::WaitOver, &["=Working"]);

    let control = Found {
        talk: false,
        ..MAIL
    };
    let mut told = Told::working();
    told.on(Event::WaitBegan(WaitKind::Plan));
    told.expect(Event::Found(control), &[])
        .expect(Event::Found(MAIL), &["end wait StillPending", "=Working"])
        .expect(done("later"), &["result later", "Look"])
        .expect(
            Event::Found(NOTHING),
            &["=WaitingApproval", "idle Waiting None"],
        )
        .expect(Event::PlanSettled, &[])
        .expect(Event::Found(MAIL), &["=Working", "TakeMail"])
        .expect(taken(true), &["begin []"]);
}

#[test]
fn a_permission_is_waited_for_alone_and_not_for_ever() {
    let mut told = Told::working();
    told.expect(Event::WaitBegan(WaitKind::Permission), &["timer Answer 5"])
        .expect(Event::Found(MAIL), &[])
        .expect(Event::TimedOut(Timer::Answer), &["end wait Unanswered"])
        .expect(Event::TimedOut(Timer::Answer), &[]);
    let mut told = Told::working();
    told.on(Event::WaitBegan(WaitKind::Permission));
    told.expect(Event::WaitOver, &["no timer Answer"])
        .expect(Event::TimedOut(Timer::Answer), &[]);
}

#[test]
fn hooks_are_asked_before_it_becomes_idle_and_their_word_makes_the_round_go_on() {
    let mut told = Told(Machine::new(Config {
        idle_hooks: true,
        ..config(false)
    }));
    told.on(Event::Started(LED));
    told.on(taken(true));
    told.expect(done("hi"), &["result hi", "Look"])
        .expect(Event::Found(NOTHING), &["ConsultIdle"])
        .expect(Event::Boundary, &["TakeMail"])
        .expect(taken(false), &["NextTurn"])
        .expect(done("ho"), &["result ho", "Look"])
        .expect(Event::Found(NOTHING), &["ConsultIdle"])
        .expect(Event::Unopposed, &["Look"])
        .expect(Event::Found(NOTHING), &["=Idle", "idle Done None"]);
}
