//! Mailboxes and waking against the bare file operations they are made of, both in turn in the same run.
//!
//! `cargo bench --bench mailbox`; the table and what it means: docs/performance.md.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench prints, and ends at what it did not expect"
)]

mod measure;

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use measure::{Place, cpu, disk, head, median, now, quantile, row, timed, tmpfs};
use pitcrew::clock::Timestamp;
use pitcrew::conversation::{Record, Transcript};
use pitcrew::ids::AgentName;
use pitcrew::mailbox::{Inbox, Kind, Message, Post};
use pitcrew::store::Durability;
use pitcrew::store::watch::Watcher;
use pitcrew::workspace::Workspace;

const WRITERS: usize = 4;
const TEXT: &str = "The parser is done; its tests pass. Take the lexer next and leave the names of \
                    the public functions as they are, since two others call them by now.";

fn main() {
    head();
    for place in tmpfs().into_iter().chain([disk()]) {
        send(&place);
        with_reader(&place);
    }
    durable(&disk());
    for place in tmpfs().into_iter().chain([disk()]) {
        take_in(&place);
    }
    let place = disk();
    wake_up(&place);
    many_waiting(&place);
    idle(&place);
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

fn send(place: &Place) {
    let workspace = Workspace::at(place.root());
    let post = Post::new(workspace.clone(), Durability::Process);
    let (alice, line, bare_path) = (name("alice"), line(), place.root().join("bare"));
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..5_000 {
        bare.push(timed(|| drop(bare_append(&bare_path, &line))).0);
        ours.push(timed(|| post.deliver(&message(&alice)).unwrap()).0);
    }
    row(
        "send, p50",
        place.name,
        median(&mut ours),
        median(&mut bare),
        "µs",
        "≤ 2.5",
    );
}

/// Messages a second of four writers at once, each running `write` `each` times.
fn rate(each: u32, write: impl Fn() + Sync) -> f64 {
    let (took, ()) = timed(|| {
        std::thread::scope(|scope| {
            for _ in 0..WRITERS {
                scope.spawn(|| (0..each).for_each(|_| write()));
            }
        });
    });
    f64::from(each) * f64::from(u32::try_from(WRITERS).unwrap()) / took * 1e6
}

fn inbox(root: &Path, owner: &AgentName) -> (Workspace, Inbox, Transcript) {
    let workspace = Workspace::at(root.to_path_buf());
    let start = Record::Start {
        agent: owner.to_string(),
        session: None,
        at: Timestamp::now(),
    };
    let path = workspace.transcript(owner);
    let (mut transcript, replay) = Transcript::open(&path, &start, Durability::Process).unwrap();
    let durability = Durability::Process;
    let inbox = Inbox::open(&workspace, owner, &mut transcript, &replay, durability).unwrap();
    (workspace, inbox, transcript)
}

fn with_reader(place: &Place) {
    const EACH: u32 = 10_000;
    let (line, path) = (line(), place.root().join("bare-without-reader"));
    let bare = rate(EACH, || drop(bare_append(&path, &line)));
    let bob = name("bob");
    let (workspace, mut inbox, mut transcript) = inbox(&place.root(), &bob);
    let done = AtomicBool::new(false);
    let (mut taken, mut ours) = (0, 0.0);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut taken = 0;
            loop {
                let last = done.load(Ordering::SeqCst);
                taken += inbox.take_in(&mut transcript).unwrap().messages.len();
                if last {
                    return taken;
                }
                std::thread::yield_now();
            }
        });
        let post = Post::new(workspace, Durability::Process);
        ours = rate(EACH, || post.deliver(&message(&bob)).unwrap());
        done.store(true, Ordering::SeqCst);
        taken = reader.join().unwrap();
    });
    assert_eq!(taken, 4 * EACH as usize, "messages were lost or doubled");
    row(
        "4 writers and a live reader",
        place.name,
        ours,
        bare,
        "/s",
        "≥ 0.4",
    );
}

#[expect(clippy::disallowed_methods, reason = "this is the bare operation")]
fn durable(place: &Place) {
    const EACH: u32 = 300;
    let (line, path) = (line(), place.root().join("bare-durable"));
    let post = Post::new(Workspace::at(place.root()), Durability::Power);
    let carl = name("carl");
    post.deliver(&message(&carl)).unwrap();
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        bare.push(rate(EACH, || {
            bare_append(&path, &line).sync_data().unwrap();
        }));
        ours.push(rate(EACH, || post.deliver(&message(&carl)).unwrap()));
    }
    row(
        "durable send, 4 writers",
        place.name,
        median(&mut ours),
        median(&mut bare),
        "/s",
        "≥ 0.8",
    );
}

#[expect(clippy::disallowed_methods, reason = "this is the bare operation")]
fn take_in(place: &Place) {
    let dora = name("dora");
    let (workspace, mut inbox, mut transcript) = inbox(&place.root(), &dora);
    let post = Post::new(workspace.clone(), Durability::Process);
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..11 {
        for _ in 0..1_000 {
            post.deliver(&message(&dora)).unwrap();
        }
        let copy = place.root().join("bare-record");
        bare.push(
            timed(|| {
                let text = std::fs::read(workspace.mailbox(&dora)).unwrap();
                let parsed: Vec<Message> = text
                    .split(|byte| *byte == b'\n')
                    .filter(|line| !line.is_empty())
                    .map(|line| serde_json::from_slice(line).unwrap())
                    .collect();
                assert_eq!(parsed.len(), 1_000);
                bare_append(&copy, &text).sync_data().unwrap();
            })
            .0,
        );
        let (took, intake) = timed(|| inbox.take_in(&mut transcript).unwrap());
        assert_eq!(intake.messages.len(), 1_000);
        ours.push(took);
    }
    let (ours, bare) = (median(&mut ours), median(&mut bare));
    row(
        "take-in of 1,000 messages",
        place.name,
        ours,
        bare,
        "µs",
        "≤ 2",
    );
}

/// Longest wait for a wake-up that should come at once.
const DEADLINE: Duration = Duration::from_secs(10);

/// From before the append to the reader's being told, by raw inotify and by the watcher.
fn wake_up(place: &Place) {
    const TURNS: usize = 1_000;
    let (line, path) = (line(), place.root().join("watched"));
    drop(bare_append(&path, &line));
    let (woken, wakes) = channel::<Instant>();
    let raw = {
        let (path, woken) = (path.clone(), woken.clone());
        let mut inotify = inotify::Inotify::init().unwrap();
        inotify
            .watches()
            .add(&path, inotify::WatchMask::MODIFY)
            .unwrap();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            for _ in 0..TURNS {
                assert!(inotify.read_events_blocking(&mut buffer).unwrap().count() > 0);
                woken.send(now()).unwrap();
            }
        })
    };
    let turn = || {
        // Readers are asleep by then.
        std::thread::sleep(Duration::from_micros(300));
        let begun = now();
        drop(bare_append(&path, &line));
        let at = wakes.recv_timeout(DEADLINE).unwrap();
        at.saturating_duration_since(begun).as_secs_f64() * 1e6
    };
    let mut bare: Vec<f64> = (0..TURNS).map(|_| turn()).collect();
    raw.join().unwrap();
    let watcher = Watcher::start(
        false,
        move |_| {
            woken.send(now()).ok();
        },
        |text| panic!("{text}"),
    );
    watcher.watch(&path);
    let mut ours: Vec<f64> = (0..TURNS)
        .map(|_| {
            while wakes.try_recv().is_ok() {}
            turn()
        })
        .collect();
    row(
        "wake-up, p50",
        place.name,
        median(&mut ours),
        median(&mut bare),
        "µs",
        "≤ 8",
    );
    let (ours, bare) = (quantile(&mut ours, 0.99), quantile(&mut bare, 0.99));
    row("wake-up, p99", place.name, ours, bare, "µs", "< 1000 µs");
}

/// Agents that each wait for their own mailbox, as their processes do: a watcher of its own each.
struct Waiting {
    looks: Arc<AtomicUsize>,
    mailboxes: Vec<PathBuf>,
    _watchers: Vec<Watcher>,
}

impl Waiting {
    fn new(dir: &Path, agents: usize) -> Self {
        std::fs::create_dir_all(dir).unwrap();
        let looks = Arc::new(AtomicUsize::new(0));
        let mailboxes: Vec<PathBuf> = (0..agents).map(|nr| dir.join(format!("{nr}"))).collect();
        let watchers = mailboxes
            .iter()
            .map(|mailbox| {
                File::create(mailbox).unwrap();
                let looks = Arc::clone(&looks);
                // The reader reads its file again at every wake-up.
                let look = move |path: &Path| {
                    std::fs::read(path).unwrap();
                    looks.fetch_add(1, Ordering::SeqCst);
                };
                let watcher = Watcher::start(false, look, |text| panic!("{text}"));
                watcher.watch(mailbox);
                watcher
            })
            .collect();
        Self {
            looks,
            mailboxes,
            _watchers: watchers,
        }
    }

    /// Processor time for each of many messages to the first.
    fn cost(&self) -> f64 {
        const MESSAGES: u32 = 1_000;
        let before = cpu();
        for _ in 0..MESSAGES {
            let seen = self.looks.load(Ordering::SeqCst);
            drop(bare_append(&self.mailboxes[0], b"x\n"));
            let until = now() + DEADLINE;
            while self.looks.load(Ordering::SeqCst) == seen {
                assert!(now() < until, "nobody woke up");
                std::thread::sleep(Duration::from_micros(100));
            }
        }
        (cpu() - before) / f64::from(MESSAGES)
    }
}

fn many_waiting(place: &Place) {
    let one = Waiting::new(&place.root().join("one"), 1).cost();
    let many = Waiting::new(&place.root().join("many"), 64);
    row(
        "processor time a message, 64 waiting / 1",
        place.name,
        many.cost(),
        one,
        "µs",
        "≤ 3",
    );
    let single = Waiting::new(&place.root().join("single"), 1);
    drop(bare_append(&single.mailboxes[0], b"x\n"));
    std::thread::sleep(Duration::from_secs(1));
    println!(
        "| looks within 1 s of one append | {} | {} | – | – | no self-wake |",
        place.name,
        single.looks.load(Ordering::SeqCst)
    );
}

fn idle(place: &Place) {
    const SECONDS: u32 = 5;
    let waiting = Waiting::new(&place.root().join("idle"), 64);
    std::thread::sleep(Duration::from_millis(200));
    let before = cpu();
    std::thread::sleep(Duration::from_secs(u64::from(SECONDS)));
    let share = (cpu() - before) / f64::from(SECONDS) / 1e4;
    drop(waiting);
    println!(
        "| 64 idle agents | {} | {share:.2} % of a core | – | – | < 0.5 % |",
        place.name
    );
}
