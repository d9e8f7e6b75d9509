//! Senders and owners that are killed at any moment, and a disk that is full.

use std::collections::HashSet;
use std::process::Command;
use std::thread;

use nix::sys::signal::Signal;
use pitcrew::conversation::Record;
use pitcrew::mailbox::Post;
use pitcrew::mailbox::inbox::{archived, waiting};
use pitcrew::store::Durability;
use pitcrew::workspace::Workspace;

use super::{alice, message, owner, process, scratch, told_workspace};
use crate::support::again::{said, say};
use crate::support::{DEADLINE, Running, wait_until};

/// How long Alice's mailbox is, in bytes.
fn length(workspace: &Workspace) -> u64 {
    std::fs::metadata(workspace.mailbox(&alice())).map_or(0, |found| found.len())
}

/// Ids that the transcript's records deliver, as often as they do.
fn deliveries(workspace: &Workspace) -> Vec<String> {
    let text = std::fs::read(workspace.transcript(&alice())).unwrap();
    let mut ids = Vec::new();
    for line in text.split(|byte| *byte == b'\n') {
        if let Ok(Record::Mail(batch)) = serde_json::from_slice(line) {
            ids.extend(
                batch
                    .messages
                    .iter()
                    .map(|message| message["id"].as_str().unwrap().to_owned()),
            );
        }
    }
    ids
}

fn start(workspace: &Workspace, test: &str) -> Running {
    Running::start(&mut process(workspace, test, "bob"))
}

/// The ids that a process has said.
fn ids(stderr: &str) -> Vec<String> {
    said(stderr, "ID ")
}

/// Kills the process; the ids that it said.
fn kill(process: Running) -> Vec<String> {
    process.signal(Signal::SIGKILL);
    ids(&process.wait(DEADLINE).stderr)
}

#[test]
#[ignore = "a process that other tests start"]
fn process_that_sends() {
    let Some((workspace, name)) = told_workspace() else {
        return;
    };
    let post = Post::new(workspace, Durability::Process);
    for number in 0.. {
        let message = message(&name, &"y".repeat(number * 37 % 9000 + 1));
        match post.deliver(&message) {
            Ok(()) => say(&format!("ID {}", message.id)),
            Err(_) => break,
        }
    }
}

#[test]
#[ignore = "a process that other tests start"]
fn process_that_takes_in() {
    let Some((workspace, _)) = told_workspace() else {
        return;
    };
    let (mut inbox, mut transcript, _) = owner(&workspace);
    loop {
        for message in inbox.take_in(&mut transcript).unwrap().messages {
            say(&format!("ID {}", message.id));
        }
        thread::yield_now();
    }
}

#[test]
fn what_a_killed_sender_was_told_is_sent_arrives_once() {
    let (_scratch, workspace) = scratch();
    let mut told = HashSet::new();
    for round in 0..12 {
        let sender = start(&workspace, "kills::process_that_sends");
        wait_until("messages are sent", DEADLINE, || {
            (ids(&sender.stderr()).len() > round * 5).then_some(())
        });
        told.extend(kill(sender));
        let (mut inbox, mut transcript, _) = owner(&workspace);
        inbox.take_in(&mut transcript).unwrap();
    }
    // A line that the last kill tore is whole after the next message.
    let last = message("carol", "last");
    Post::new(workspace.clone(), Durability::Process)
        .deliver(&last)
        .unwrap();
    let (mut inbox, mut transcript, _) = owner(&workspace);
    inbox.take_in(&mut transcript).unwrap();
    let delivered = deliveries(&workspace);
    let distinct: HashSet<String> = delivered.iter().cloned().collect();
    assert_eq!(distinct.len(), delivered.len(), "doubled");
    assert!(
        told.is_subset(&distinct),
        "lost: {:?}",
        told.difference(&distinct)
    );
    assert!(distinct.contains(&last.id));
}

#[test]
fn a_killed_owner_neither_loses_nor_doubles() {
    let (_scratch, workspace) = scratch();
    let post = Post::new(workspace.clone(), Durability::Process);
    let mut sent = Vec::new();
    for round in 0..12 {
        let taker = start(&workspace, "kills::process_that_takes_in");
        wait_until("messages are taken in", DEADLINE, || {
            while length(&workspace) < 64 * 1024 {
                let message = message("bob", &"z".repeat(sent.len() * 53 % 6000 + 1));
                post.deliver(&message).unwrap();
                sent.push(message.id);
            }
            (ids(&taker.stderr()).len() > round * 3).then_some(())
        });
        kill(taker);
    }
    let (mut inbox, mut transcript, _) = owner(&workspace);
    inbox.take_in(&mut transcript).unwrap();
    assert_eq!(deliveries(&workspace), sent);
    let kept: Vec<String> = archived(&workspace, &alice())
        .unwrap()
        .into_iter()
        .map(|message| message.id)
        .collect();
    assert_eq!(kept, sent);
}

#[test]
fn a_full_disk_is_an_error_and_leaves_whole_lines() {
    let (_scratch, workspace) = scratch();
    let sender = process(&workspace, "kills::process_that_sends", "bob");
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "trap '' XFSZ; ulimit -f 40; exec \"$0\" \"$@\""])
        .arg(sender.get_program())
        .args(sender.get_args())
        .envs(
            sender
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
    let sender = Running::start(&mut limited);
    let told = ids(&sender.wait(DEADLINE).stderr);
    assert!(!told.is_empty());
    let bytes = std::fs::read(workspace.mailbox(&alice())).unwrap();
    assert!(bytes.ends_with(b"\n"), "a torn line was left");
    let there: Vec<String> = waiting(&workspace, &alice())
        .unwrap()
        .into_iter()
        .map(|message| message.id)
        .collect();
    assert_eq!(there, told);
}
