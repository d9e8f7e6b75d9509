//! Mailboxes against the bare file operations they are made of, both in turn in the same run.
//!
//! `cargo bench --bench mailbox`; the table and what it means: docs/performance.md.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench prints, and ends at what it did not expect"
)]
#![cfg_attr(
    not(target_os = "linux"),
    expect(unused_imports, reason = "what is compared with inotify is left out")
)]

#[expect(dead_code, reason = "each bench needs a part of it")]
mod measure;

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use measure::{Asked, Bench, Row, median, now, quantile, timed};
use pitcrew::clock::Timestamp;
use pitcrew::conversation::{Record, Transcript};
use pitcrew::ids::AgentName;
use pitcrew::mailbox::{Inbox, Kind, Message, Post};
use pitcrew::store::Durability;
use pitcrew::store::watch::Watcher;
use pitcrew::workspace::Workspace;

pub(crate) const BENCHES: [Bench; 5] = [
    ("send, p50", "≤ 2.5", send),
    ("4 writers and a live reader", "≥ 0.4", with_reader),
    ("durable send, 4 writers", "≥ 0.8", durable),
    ("take-in of 1,000 messages", "≤ 2", take_in),
    ("wake-up", "≤ 8, p99 < 1 ms", wake_up),
];

const WRITERS: usize = 4;
const TEXT: &str = "The parser is done; its tests pass. Take the lexer next and leave the names of \
                    the public functions as they are, since two others call them by now.";

fn main() {
    run(std::env::args().skip(1));
}

pub(crate) fn run(words: impl IntoIterator<Item = String>) {
    measure::run(&Asked::new(words), &BENCHES);
}

fn name(text: &str) -> AgentName {
    AgentName::parse(text).unwrap()
}

fn message(to: &AgentName) -> Message {
    Message::new(&AgentName::lead(), to, Kind::Message, TEXT)
}

/// Open, lock, append, close.
fn bare_append(path: &Path, line: &[u8]) -> File {
    let mut options = OpenOptions::new();
    let mut file = options.append(true).create(true).open(path).unwrap();
    fs2::FileExt::lock_exclusive(&file).unwrap();
    file.write_all(line).unwrap();
    fs2::FileExt::unlock(&file).unwrap();
    file
}

fn line() -> Vec<u8> {
    let mut line = serde_json::to_vec(&message(&name("alice"))).unwrap();
    line.push(b'\n');
    line
}

fn send(asked: &Asked, spot: &Row) {
    let post = Post::new(Workspace::at(spot.root()), Durability::Process);
    let (alice, line, bare_path) = (name("alice"), line(), spot.root().join("bare"));
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..asked.times(20_000, 20) {
        bare.push(timed(|| drop(bare_append(&bare_path, &line))).0);
        ours.push(timed(|| post.deliver(&message(&alice)).unwrap()).0);
    }
    let (ours, bare) = (median(&mut ours), median(&mut bare));
    spot.ratio(ours, bare, "µs");
}

/// Writes a second of four writers at once, each doing `each` with what `writer` gives it.
fn rate<W: FnMut()>(each: usize, writer: impl Fn() -> W + Sync) -> f64 {
    let (took, ()) = timed(|| {
        std::thread::scope(|scope| {
            for _ in 0..WRITERS {
                scope.spawn(|| {
                    let mut write = writer();
                    (0..each).for_each(|_| write());
                });
            }
        });
    });
    f64::from(u32::try_from(each * WRITERS).unwrap()) / took * 1e6
}

/// Sends as a process does, with a post office of its own.
fn sender(workspace: &Workspace, to: &AgentName, durability: Durability) -> impl FnMut() + use<> {
    let post = Post::new(workspace.clone(), durability);
    let to = to.clone();
    move || post.deliver(&message(&to)).unwrap()
}

fn inbox(workspace: &Workspace, owner: &AgentName) -> (Inbox, Transcript) {
    let start = Record::Start {
        agent: owner.to_string(),
        session: None,
        at: Timestamp::now(),
    };
    let path = workspace.transcript(owner);
    let durability = Durability::Process;
    let (mut transcript, replay) = Transcript::open(&path, &start, durability).unwrap();
    let inbox = Inbox::open(workspace, owner, &mut transcript, &replay, durability).unwrap();
    (inbox, transcript)
}

/// Longest wait for a wake-up that should come at once.
const DEADLINE: Duration = Duration::from_secs(10);

/// A watch as an agent's loop has it: many changes make one look.
struct Watch {
    _watcher: Watcher,
    looks: Receiver<()>,
    pending: Arc<AtomicBool>,
}

impl Watch {
    fn start(path: &Path) -> Self {
        let (sender, looks) = channel();
        let pending = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&pending);
        let look = move |_: &Path| {
            if !flag.swap(true, Ordering::AcqRel) {
                sender.send(()).ok();
            }
        };
        let watcher = Watcher::start(false, look, |text| panic!("{text}"));
        watcher.watch(path);
        Self {
            _watcher: watcher,
            looks,
            pending,
        }
    }

    fn wait(&mut self) {
        self.looks.recv_timeout(DEADLINE).unwrap();
        self.pending.store(false, Ordering::Release);
    }
}

fn with_reader(asked: &Asked, spot: &Row) {
    let each = asked.times(5_000, 50);
    let (line, path) = (line(), spot.root().join("bare-without-reader"));
    let workspace = Workspace::at(spot.root());
    let bob = name("bob");
    let (mut inbox, mut transcript) = inbox(&workspace, &bob);
    let mut watch = Watch::start(&workspace.mailbox(&bob));
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..asked.times(7, 1) {
        bare.push(rate(each, || || drop(bare_append(&path, &line))));
        let mut taken = 0;
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                while taken < WRITERS * each {
                    watch.wait();
                    taken += inbox.take_in(&mut transcript).unwrap().messages.len();
                }
            });
            ours.push(rate(each, || sender(&workspace, &bob, Durability::Process)));
            reader.join().unwrap();
        });
        assert_eq!(taken, WRITERS * each, "messages were doubled");
    }
    let (ours, bare) = (median(&mut ours), median(&mut bare));
    spot.ratio(ours, bare, "/s");
}

fn durable(asked: &Asked, spot: &Row) {
    let each = asked.times(500, 5);
    let (line, path) = (line(), spot.root().join("bare-durable"));
    let workspace = Workspace::at(spot.root());
    let carl = name("carl");
    sender(&workspace, &carl, Durability::Power)();
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..asked.times(11, 1) {
        bare.push(rate(each, || {
            || bare_append(&path, &line).sync_data().unwrap()
        }));
        ours.push(rate(each, || sender(&workspace, &carl, Durability::Power)));
    }
    let (ours, bare) = (median(&mut ours), median(&mut bare));
    spot.ratio(ours, bare, "/s");
}

fn take_in(asked: &Asked, spot: &Row) {
    let dora = name("dora");
    let workspace = Workspace::at(spot.root());
    let (mut inbox, mut transcript) = inbox(&workspace, &dora);
    let mut send = sender(&workspace, &dora, Durability::Process);
    let copy = spot.root().join("bare-record");
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..asked.times(41, 2) {
        (0..1_000).for_each(|_| send());
        let read = || {
            let text = std::fs::read(workspace.mailbox(&dora)).unwrap();
            let parsed: Vec<Message> = text
                .split(|byte| *byte == b'\n')
                .filter(|line| !line.is_empty())
                .map(|line| serde_json::from_slice(line).unwrap())
                .collect();
            assert_eq!(parsed.len(), 1_000);
            bare_append(&copy, &text).sync_data().unwrap();
        };
        bare.push(timed(read).0);
        let (took, intake) = timed(|| inbox.take_in(&mut transcript).unwrap());
        assert_eq!(intake.messages.len(), 1_000);
        ours.push(took);
    }
    let (ours, bare) = (median(&mut ours), median(&mut bare));
    spot.ratio(ours, bare, "µs");
}

#[cfg(not(target_os = "linux"))]
fn wake_up(_: &Asked, _: &Row) {
    println!("wake-up is compared with inotify, which only Linux has");
}

/// From before the append to the line's being read: by raw inotify and a plain read, and by the watcher and a take-in.
#[cfg(target_os = "linux")]
fn wake_up(asked: &Asked, spot: &Row) {
    let turns = asked.times(2_000, 20);
    let (line, path) = (line(), spot.root().join("watched"));
    let eve = name("eve");
    let workspace = Workspace::at(spot.root());
    let (mut inbox, mut transcript) = inbox(&workspace, &eve);
    let mut watch = Watch::start(&workspace.mailbox(&eve));
    let mut send = sender(&workspace, &eve, Durability::Process);
    drop(bare_append(&path, &line));
    let mut inotify = inotify::Inotify::init().unwrap();
    let mask = inotify::WatchMask::MODIFY;
    inotify.watches().add(&path, mask).unwrap();
    let (woken, wakes) = channel::<Instant>();
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    std::thread::scope(|scope| {
        let raw = woken.clone();
        let (line, path) = (&line, &path);
        scope.spawn(move || {
            let (file, mut at) = (File::open(path).unwrap(), line.len() as u64);
            let (mut events, mut read) = ([0; 4096], vec![0; line.len()]);
            for _ in 0..turns {
                assert!(inotify.read_events_blocking(&mut events).unwrap().count() > 0);
                file.read_exact_at(&mut read, at).unwrap();
                raw.send(now()).unwrap();
                at += read.len() as u64;
            }
        });
        scope.spawn(move || {
            for _ in 0..turns {
                while inbox.take_in(&mut transcript).unwrap().messages.is_empty() {
                    watch.wait();
                }
                woken.send(now()).unwrap();
            }
        });
        let turn = |write: &mut dyn FnMut()| {
            // Readers are asleep by then.
            std::thread::sleep(Duration::from_micros(300));
            let begun = now();
            write();
            let at = wakes.recv_timeout(DEADLINE).unwrap();
            at.saturating_duration_since(begun).as_secs_f64() * 1e6
        };
        for _ in 0..turns {
            bare.push(turn(&mut || drop(bare_append(path, line))));
            ours.push(turn(&mut send));
        }
    });
    spot.ratio(median(&mut ours), median(&mut bare), "µs");
    let (ours, bare) = (quantile(&mut ours, 0.99), quantile(&mut bare, 0.99));
    spot.fact(&format!("p99 {ours:.0} µs, bare {bare:.0} µs"));
}
