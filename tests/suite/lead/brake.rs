//! Two agents that only talk to each other are stopped, and go on when something moves (SPEC §4.2).

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::scripts::*;
use crate::support::{Bed, DEADLINE, Running, wait_until};

/// A team of two in which each word is answered with another, without end.
fn talkers(bed: &Bed) -> String {
    let lead = vec![
        turn(vec![proposal(&["ann", "bob"])]),
        turn(vec![spawn("bob", None), spawn("ann", None)]),
        json!({"text": "They talk."}),
    ];
    // A word that comes while the round before still ends is answered in that round.
    let says = |heard: String, to: &str, n: usize| {
        let mut reply = turn(vec![tool(
            "send_message",
            json!({"to": to, "content": format!("word {n} for {to}")}),
        )]);
        reply["when"] = heard.into();
        reply
    };
    let mut ann = vec![says("Do your tasks".into(), "bob", 0)];
    ann.extend((0..40).map(|n| says(format!("word {n} for ann"), "bob", n + 1)));
    let mut bob: Vec<Value> = (0..40)
        .map(|n| says(format!("word {n} for bob"), "ann", n))
        .collect();
    for speaker in [&mut ann, &mut bob] {
        speaker.extend(vec![json!({"text": "said"}); 80]);
    }
    bed.script(&json!({"agents": {"lead": lead, "ann": ann, "bob": bob}}))
}

/// What `to` was sent by `from`, taken in or waiting.
fn heard(bed: &Bed, from: &str, to: &str) -> Vec<String> {
    let mail = bed
        .lead(&["mail", "list", to, "--all", "--json"])
        .expect_code(0)
        .json();
    mail.as_array()
        .unwrap()
        .iter()
        .filter(|message| message["from"] == from && message["to"] == to)
        .map(|message| message["id"].as_str().unwrap().to_owned())
        .collect()
}

fn all_heard(bed: &Bed) -> usize {
    heard(bed, "ann", "bob").len() + heard(bed, "bob", "ann").len()
}

#[test]
fn after_five_rounds_the_next_message_is_held_and_a_headless_run_ends() {
    let bed = Bed::git();
    let model = talkers(&bed);
    let mut args = goal(&model, &["--yes"]);
    args[3] = "stream-json";
    let done = bed.start_lead(&args).wait(RUN).expect_code(0);
    assert_eq!(all_heard(&bed), 10, "five rounds");
    assert!(done.stdout.contains("\"held\":true"), "{}", done.stdout);
    // Nobody moved: it waits with the lead.
    let waiting = heard_by_lead(&bed);
    assert!(!waiting.is_empty());
    bed.assert_no_process_left();
}

/// Held messages that the lead has.
fn heard_by_lead(bed: &Bed) -> Vec<Value> {
    let mail = bed
        .lead(&["mail", "list", "lead", "--all", "--json"])
        .expect_code(0)
        .json();
    let mut held = mail.as_array().unwrap().clone();
    held.retain(|message| message["metadata"]["held"] == json!(true));
    held
}

fn until_held(bed: &Bed) -> Running {
    let model = talkers(bed);
    let mut lead = bed.start_lead(&["--model", &model]);
    lead.line("go");
    lead.wait_for("proposes a team", DEADLINE);
    lead.line("y");
    lead.wait_for("this message is held", DEADLINE);
    assert_eq!(all_heard(bed), 10);
    lead
}

#[test]
fn the_board_and_the_person_let_them_go_on_for_five_rounds_more() {
    let bed = Bed::git();
    let mut lead = until_held(&bed);
    let first = heard_by_lead(&bed)[0]["id"].as_str().unwrap().to_owned();
    drop(
        bed.lead(&["task", "add", "Something else", "--assignee", "zoe"])
            .expect_code(0),
    );
    wait_until("the held message is delivered", DEADLINE, || {
        let all = [heard(&bed, "ann", "bob"), heard(&bed, "bob", "ann")].concat();
        (all.iter().filter(|id| **id == first).count() == 1).then_some(())
    });
    wait_until("they are stopped again", DEADLINE, || {
        (lead.stdout().matches("this message is held").count() >= 2).then_some(())
    });
    let so_far = all_heard(&bed);
    assert!((20..=22).contains(&so_far), "{so_far}");
    lead.line("go on, you two");
    wait_until("and once more", DEADLINE, || {
        (lead.stdout().matches("this message is held").count() >= 3).then_some(())
    });
    lead.line("/exit");
    drop(lead.wait(RUN));
    bed.assert_no_process_left();
}

#[test]
fn a_held_message_survives_the_lead_and_is_delivered_once() {
    let bed = Bed::git();
    let mut lead = until_held(&bed);
    let held = heard_by_lead(&bed)[0].clone();
    let (id, from, to) = (&held["id"], &held["from"], &held["to"]);
    lead.signal(Signal::SIGKILL);
    wait_until("the lead is gone", DEADLINE, || lead.has_ended());
    let next = bed.outside("next.json");
    bed.put(
        &next,
        &script_of(vec![json!({"text": "On we go."})], vec![]).to_string(),
    );
    let model = format!("script:{}", next.display());
    drop(bed.start_lead(&goal(&model, &["--yes"])).wait(RUN));
    let got = heard(&bed, from.as_str().unwrap(), to.as_str().unwrap());
    assert_eq!(
        got.iter()
            .filter(|one| *one == id.as_str().unwrap())
            .count(),
        1
    );
    bed.assert_no_process_left();
}
