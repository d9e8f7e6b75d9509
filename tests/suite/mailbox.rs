//! Mailboxes under contention, kills and a full disk. The processes are this test binary, started again as one of its
//! `process_…` tests.

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::process::Command;
use std::thread;

use nix::sys::signal::Signal;
use pitcrew::clock::Timestamp;
use pitcrew::conversation::{Record, Replay, Transcript};
use pitcrew::ids::AgentName;
use pitcrew::mailbox::inbox::{archived, waiting};
use pitcrew::mailbox::{Inbox, Kind, Message, Post};
use pitcrew::store::Durability;
use pitcrew::workspace::Workspace;

use crate::support::{DEADLINE, Running, wait_until};

/// Tells a process of these tests which workspace it works in.
const ROOT: &str = "PITCREW_TEST_MAILBOX_ROOT";

fn alice() -> AgentName {
    AgentName::parse("alice").unwrap()
}

fn scratch() -> (tempfile::TempDir, Workspace) {
    let scratch = tempfile::tempdir().unwrap();
    let workspace = Workspace::at(scratch.path().canonicalize().unwrap());
    (scratch, workspace)
}

fn message(from: &str, text: &str) -> Message {
    Message::new(
        &AgentName::parse(from).unwrap(),
        &alice(),
        Kind::Message,
        text,
    )
}

fn owner(workspace: &Workspace) -> (Inbox, Transcript, Replay) {
    let start = Record::Start {
        agent: "alice".to_owned(),
        session: None,
        at: Timestamp::from_ms(0),
    };
    let path = workspace.transcript(&alice());
    let (mut transcript, replay) = Transcript::open(&path, &start, Durability::Process).unwrap();
    let inbox = Inbox::open(
        workspace,
        &alice(),
        &mut transcript,
        &replay,
        Durability::Process,
    )
    .unwrap();
    (inbox, transcript, replay)
}

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

#[test]
fn fifty_senders_and_a_reader_that_never_rests() {
    let (_scratch, workspace) = scratch();
    let (mut inbox, mut transcript, _) = owner(&workspace);
    let mut order: HashMap<String, Vec<usize>> = HashMap::new();
    thread::scope(|scope| {
        for sender in 0..50 {
            let post = Post::new(workspace.clone(), Durability::Process);
            scope.spawn(move || {
                for number in 0..20 {
                    let size = [1, 100, 5000, 70_000][(sender + number) % 4];
                    let text = format!("{number} {}", "x".repeat(size));
                    post.deliver(&message(&format!("s{sender}"), &text))
                        .unwrap();
                }
            });
        }
        let mut got = 0;
        while got < 1000 {
            for message in inbox.take_in(&mut transcript).unwrap().messages {
                let number = message.content.split(' ').next().unwrap().parse().unwrap();
                order.entry(message.from).or_default().push(number);
                got += 1;
            }
            thread::yield_now();
        }
    });
    assert_eq!(order.len(), 50);
    for (sender, numbers) in &order {
        assert_eq!(*numbers, (0..20).collect::<Vec<_>>(), "{sender}");
    }
    assert!(waiting(&workspace, &alice()).unwrap().is_empty());
    assert_eq!(archived(&workspace, &alice()).unwrap().len(), 1000);
    assert_eq!(
        std::fs::metadata(workspace.mailbox(&alice()))
            .unwrap()
            .len(),
        0
    );
}

/// Starts this binary as its ignored test `test`, perhaps behind a shell's `prelude`.
fn start(workspace: &Workspace, prelude: Option<&str>, test: &str) -> Running {
    let own = std::env::current_exe().unwrap();
    let mut command = match prelude {
        None => Command::new(&own),
        Some(prelude) => {
            let mut shell = Command::new("sh");
            let script = format!("{prelude}; exec \"$0\" \"$@\"");
            shell.arg("-c").arg(script).arg(&own);
            shell
        }
    };
    command
        .args([test, "--exact", "--ignored", "--nocapture"])
        .env(ROOT, workspace.root());
    Running::start(&mut command)
}

/// The ids that a process has said.
fn ids(stderr: &str) -> Vec<String> {
    let said = stderr.lines().filter_map(|line| line.strip_prefix("ID "));
    said.map(str::to_owned).collect()
}

/// Kills the process; the ids that it said.
fn kill(process: Running) -> Vec<String> {
    process.signal(Signal::SIGKILL);
    ids(&process.wait(DEADLINE).stderr)
}

/// The workspace of a process of these tests; `None` when a person runs ignored tests.
#[expect(
    clippy::disallowed_methods,
    reason = "a test's process has no other way to be told"
)]
fn told_workspace() -> Option<Workspace> {
    std::env::var_os(ROOT).map(|root| Workspace::at(root.into()))
}

/// Says what a parent must be able to count on. A line cut by a kill does not count.
fn say(id: &str) {
    let line = format!("ID {id}\n");
    std::io::stderr().lock().write_all(line.as_bytes()).unwrap();
}

#[test]
#[ignore = "a process that other tests start"]
fn process_that_sends() {
    let Some(workspace) = told_workspace() else {
        return;
    };
    let post = Post::new(workspace, Durability::Process);
    for number in 0.. {
        let message = message("bob", &"y".repeat(number * 37 % 9000 + 1));
        match post.deliver(&message) {
            Ok(()) => say(&message.id),
            Err(_) => break,
        }
    }
}

#[test]
#[ignore = "a process that other tests start"]
fn process_that_takes_in() {
    let Some(workspace) = told_workspace() else {
        return;
    };
    let (mut inbox, mut transcript, _) = owner(&workspace);
    loop {
        for message in inbox.take_in(&mut transcript).unwrap().messages {
            say(&message.id);
        }
        thread::yield_now();
    }
}

#[test]
fn what_a_killed_sender_was_told_is_sent_arrives_once() {
    let (_scratch, workspace) = scratch();
    let mut told = HashSet::new();
    for round in 0..12 {
        let sender = start(&workspace, None, "mailbox::process_that_sends");
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
        let taker = start(&workspace, None, "mailbox::process_that_takes_in");
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
    let prelude = "trap '' XFSZ; ulimit -f 40";
    let sender = start(&workspace, Some(prelude), "mailbox::process_that_sends");
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
