//! Questions of teammates reach the person whatever the lead is doing, outlive it, and end with who asked (SPEC §6.2, §8.4).

use std::time::Duration;

use nix::sys::signal::Signal;
use pitcrew::ids::AgentName;
use pitcrew::mailbox::{Kind, Message, Post};
use pitcrew::store::Durability;
use pitcrew::workspace::Workspace;
use serde_json::{Value, json};

use super::scripts::*;
use crate::support::facts::{now, pause, send};
use crate::support::{Bed, DEADLINE, Running, Terminal, soak, wait_until};

/// ann asks once the file `ask` is there, and counts how often her command has run.
fn ann() -> Vec<Value> {
    let asks = turn(vec![
        tool(
            "bash",
            json!({"command": "until [ -e ask ]; do sleep 0.01; done"}),
        ),
        tool("bash", json!({"command": "echo x >>count; rm -f x"})),
    ]);
    std::iter::once(asks).chain(workers(1)).collect()
}

fn model(bed: &Bed, more: Vec<Value>) -> String {
    let mut lead = ann_with_a_task();
    lead.extend(more);
    bed.write("x", "");
    bed.script(&json!({"agents": {"lead": lead, "ann": ann()}}))
}

fn lead_is(bed: &Bed, status: &str) -> bool {
    bed.json(".team/state/session.json")
        .is_some_and(|session| session["status"] == status)
}

fn permissions(bed: &Bed) -> Vec<Value> {
    let list = bed
        .lead(&["permission", "list", "--json"])
        .expect_code(0)
        .json();
    list.as_array().unwrap().clone()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lead {
    Idle,
    Calling,
    InTool,
}

#[test]
fn a_question_is_shown_and_answered_whatever_the_lead_is_doing() {
    for doing in [Lead::Idle, Lead::Calling, Lead::InTool] {
        let bed = Bed::git();
        let more = vec![
            json!({"when": "think", "text": "thought", "delay_ms": 600_000}),
            json!({"when": "work", "tools": [tool("bash", json!({"command": "touch in; sleep 600"}))]}),
        ];
        let model = model(&bed, more);
        let mut terminal = Terminal::start(bed.lead_command(&["--model", &model, "--yes"]));
        terminal.wait_for("lead> ", DEADLINE);
        terminal.line("go");
        terminal.wait_for("ann is at work.", DEADLINE);
        wait_until("the round is over", DEADLINE, || {
            terminal.seen();
            lead_is(&bed, "idle").then_some(())
        });
        match doing {
            Lead::Idle => terminal.send("half a li"),
            Lead::Calling => terminal.line("think"),
            Lead::InTool => terminal.line("work"),
        }
        let busy = doing != Lead::Idle;
        wait_until("the lead does so", DEADLINE, || {
            terminal.seen();
            let in_tool = doing != Lead::InTool || bed.root().join("in").exists();
            (in_tool && (!busy || lead_is(&bed, "working"))).then_some(())
        });
        bed.write("ask", "");
        terminal.wait_for("rm -f x", DEADLINE);
        terminal.wait_for("llow once", DEADLINE);
        assert_eq!(busy, lead_is(&bed, "working"), "{doing:?}");
        terminal.line("a");
        wait_until("ann goes on", DEADLINE, || {
            terminal.seen();
            (count(&bed, "completed") == 1).then_some(())
        });
        assert!(!bed.root().join("x").exists());
        if doing == Lead::Idle {
            wait_until("the text again", DEADLINE, || {
                terminal
                    .plain()
                    .trim_end()
                    .ends_with("half a li")
                    .then_some(())
            });
            terminal.line("ne");
            terminal.wait_for("half a line", DEADLINE);
        }
        terminal.line("/exit");
        assert!(terminal.wait(DEADLINE).is_some(), "{}", terminal.plain());
        bed.assert_no_process_left();
    }
}

#[test]
fn two_questions_at_once_are_answered_one_after_another() {
    let bed = Bed::git();
    let lead = vec![
        turn(vec![proposal(&["ann", "bob"])]),
        tasks(2),
        turn(vec![spawn("ann", Some("t1")), spawn("bob", Some("t2"))]),
        json!({"text": "They are at work."}),
    ];
    let asks = |name: &str| -> Vec<Value> {
        let command = json!({"command": format!("rm -f {name}")});
        std::iter::once(turn(vec![tool("bash", command)]))
            .chain(workers(1))
            .collect()
    };
    for name in ["ann", "bob"] {
        bed.write(name, "");
    }
    let model =
        bed.script(&json!({"agents": {"lead": lead, "ann": asks("ann"), "bob": asks("bob")}}));
    let mut lead = bed.start_lead(&["--model", &model, "--yes"]);
    lead.line("go");
    wait_until("both ask", DEADLINE, || {
        (permissions(&bed).len() == 2).then_some(())
    });
    lead.line("d not this one");
    wait_until("one is answered", DEADLINE, || {
        (permissions(&bed)
            .iter()
            .filter(|record| record["status"] == "denied")
            .count()
            == 1)
            .then_some(())
    });
    lead.line("a");
    drop(lead.wait(RUN).expect_code(0));
    let left = ["ann", "bob"]
        .iter()
        .filter(|name| bed.root().join(name).exists())
        .count();
    assert_eq!(left, 1);
    assert_eq!(count(&bed, "completed"), 2);
    bed.assert_no_process_left();
}

#[test]
fn a_question_outlives_the_lead_and_its_answer_runs_the_call_once() {
    let bed = Bed::git();
    let first = model(&bed, vec![]);
    let mut lead = bed.start_lead(&["--model", &first, "--yes"]);
    lead.line("go");
    bed.write("ask", "");
    lead.wait_for("rm -f x", DEADLINE);
    let id = permissions(&bed)[0]["request_id"]
        .as_str()
        .unwrap()
        .to_owned();
    lead.signal(Signal::SIGKILL);
    wait_until("the lead is gone", DEADLINE, || lead.has_ended());
    let next = bed.outside("next.json");
    bed.put(&next, &script_of(vec![], vec![]).to_string());
    let model = format!("script:{}", next.display());
    let mut lead = bed.start_lead(&["--model", &model]);
    lead.wait_for("rm -f x", DEADLINE);
    lead.line("a");
    wait_until("ann goes on", DEADLINE, || {
        (count(&bed, "completed") == 1).then_some(())
    });
    let all = permissions(&bed);
    assert_eq!(
        (all.len(), &all[0]["request_id"], &all[0]["status"]),
        (1, &json!(id), &json!("allowed"))
    );
    assert_eq!(bed.read("count"), "x\n");
    drop(lead.wait(RUN).expect_code(0));
    bed.assert_no_process_left();
}

#[test]
fn a_question_is_gone_with_the_process_that_asked() {
    let bed = Bed::git();
    let model = model(&bed, vec![]);
    let mut lead = bed.start_lead(&["--model", &model, "--yes"]);
    lead.line("go");
    bed.write("ask", "");
    lead.wait_for("rm -f x", DEADLINE);
    let pid = u32::try_from(member(&bed, "ann")["pid"].as_u64().unwrap()).unwrap();
    send(pid, Signal::SIGKILL);
    wait_until("it is withdrawn", DEADLINE, || {
        let all = permissions(&bed);
        (all[0]["status"] == "withdrawn").then_some(())
    });
    lead.wait_for("withdrawn", DEADLINE);
    let late = bed
        .lead(&[
            "permission",
            "allow",
            permissions(&bed)[0]["request_id"].as_str().unwrap(),
        ])
        .expect_code(1);
    assert!(late.stderr.contains("nobody waits"), "{}", late.stderr);
    // She is there again, with her conversation, and goes on without it.
    drop(lead.wait(RUN).expect_code(0));
    assert_eq!(count(&bed, "completed"), 1);
    bed.assert_no_process_left();
}

/// Appends all these lines to the lead's mailbox under its lock: whoever takes one in takes all.
fn post_at_once(bed: &Bed, lines: &str) {
    let mut append = bed.command("flock");
    append.args([
        ".mailboxes/lead.jsonl",
        "sh",
        "-c",
        "cat >>\"$1\"",
        "sh",
        ".mailboxes/lead.jsonl",
    ]);
    let mut append = Running::start(&mut append);
    append.line(lines.trim_end());
    drop(append.wait(DEADLINE).expect_code(0));
}

#[test]
fn what_finishes_together_wakes_the_lead_once() {
    let bed = Bed::git();
    let model = bed.script(&script_of(vec![json!({"text": "hello"})], vec![]));
    let mut lead = bed.start_lead(&["--model", &model]);
    lead.line("hi");
    lead.wait_for("hello", DEADLINE);
    wait_until("the lead is idle", DEADLINE, || {
        lead_is(&bed, "idle").then_some(())
    });
    let line = |from: usize, kind: &str, more: Value| {
        let mut message = json!({"id": format!("msg_{from}{kind}"), "from": format!("w{from}"), "to": "lead",
            "type": kind, "content": format!("{kind} of {from}"), "timestamp": 1_764_522_000_000_u64});
        message["metadata"] = more;
        format!("{message}\n")
    };
    let all: String = (1..=6)
        .map(|from| {
            line(
                from,
                "task_notification",
                json!({"change": "completed", "task_id": "task_00000001"}),
            ) + &line(from, "result", json!({}))
                + &line(from, "idle_notification", json!({"reason": "done"}))
        })
        .collect();
    post_at_once(&bed, &all);
    wait_until("a round", DEADLINE, || {
        let usage = bed.lead(&["usage", "--json"]).expect_code(0).json();
        (usage["agents"]["lead"]["calls"] == 2).then_some(())
    });
    // What starts no round by itself: it joins the next one.
    post_at_once(
        &bed,
        &line(7, "idle_notification", json!({"reason": "done"})),
    );
    wait_until("the notice is taken in", DEADLINE, || {
        let archive = bed.read(".team/state/archive/lead.jsonl");
        archive.contains("idle_notification of 7").then_some(())
    });
    lead.line("and now?");
    drop(lead.wait(RUN).expect_code(0));
    let usage = bed.lead(&["usage", "--json"]).expect_code(0).json();
    assert_eq!(usage["agents"]["lead"]["calls"], 3);
    let dir = std::fs::read_dir(bed.root().join(".team/state/transcripts")).unwrap();
    let transcript: String = dir
        .flatten()
        .map(|entry| std::fs::read_to_string(entry.path()).unwrap())
        .collect();
    assert_eq!(
        transcript.matches("result of").count(),
        12,
        "taken in and shown once each"
    );
}

/// Mail that comes in the moment in which the lead falls idle starts its round at once, too.
#[test]
fn mail_around_the_end_of_a_round_wakes_the_lead() {
    let bed = Bed::git();
    let model = bed.script(&script_of(vec![], vec![]));
    let mut lead = bed.start_lead(&["--model", &model]);
    lead.line("hi");
    let post = Post::new(Workspace::at(bed.root()), Durability::Process);
    let (ann, to) = (AgentName::parse("ann").unwrap(), AgentName::lead());
    let calls = |bed: &Bed| {
        let usage = std::fs::read_to_string(bed.root().join(".team/state/usage.jsonl"));
        usage.map_or(0, |text| text.lines().count())
    };
    let mut took: Vec<Duration> = (1..=soak(1000, 20))
        .map(|number| {
            wait_until("the round before", DEADLINE, || {
                (calls(&bed) >= number).then_some(())
            });
            // Any place around its end; a prime, so that no two are the same for long.
            pause(Duration::from_micros((number as u64 * 7919) % 8000));
            let begun = now();
            post.deliver(&Message::new(&ann, &to, Kind::Message, "news"))
                .unwrap();
            wait_until("a round for it", DEADLINE, || {
                (calls(&bed) > number).then_some(())
            });
            begun.elapsed()
        })
        .collect();
    took.sort();
    eprintln!(
        "mail to the lead: median {:?}, worst {:?}",
        took[took.len() / 2],
        took[took.len() - 1]
    );
    assert!(took[took.len() - 1] < Duration::from_secs(20), "{took:?}");
    lead.line("/exit");
    drop(lead.wait(RUN).expect_code(0));
}
