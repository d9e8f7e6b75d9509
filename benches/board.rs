//! The board against the bare file operations it is made of, both in turn in the same run.
//!
//! `cargo bench --bench board`; the table and what it means: docs/performance.md.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench prints, and ends at what it did not expect"
)]

#[expect(dead_code, reason = "each bench needs a part of it")]
mod measure;

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use measure::part::{self, Part};
use measure::{Asked, Bench, Row, median, timed};
use pitcrew::board::{Board, BoardOptions, Claimant, NewTask, Task};
use pitcrew::ids::{AgentName, TaskId};
use pitcrew::store::Durability;
use pitcrew::workspace::Workspace;

pub(crate) const BENCHES: [Bench; 7] = [
    ("warm claim at 10,000 tasks", "≤ 1.3", warm_claim),
    ("cold claim at 10,000 tasks", "≤ 2", cold_claim),
    ("complete at 10,000 tasks", "≤ 1.5", completion),
    ("claim at 100,000 / at 100 tasks", "≤ 1.3", growth),
    ("8 processes claiming 2,000 tasks", "≥ 0.75", claimers),
    (
        "one-shot `lead task` change at 10,000 tasks",
        "≤ 3",
        one_shot,
    ),
    (
        "memory of a process that knows 100,000 tasks",
        "≤ 100 MiB",
        memory,
    ),
];

/// What processes of the bench are started for, by the name of the part.
const PARTS: [Part; 3] = [
    ("claim", claim_all),
    ("change", change_share),
    ("know", know_all),
];

const CLAIMERS: usize = 8;

fn main() {
    if !play() {
        run(std::env::args().skip(1));
    }
}

pub(crate) fn run(words: impl IntoIterator<Item = String>) {
    measure::run(&Asked::new(words), &BENCHES);
}

/// Plays the part that this process was started for, if it was.
pub(crate) fn play() -> bool {
    part::play(&PARTS)
}

fn board(root: &Path) -> Board {
    let options = BoardOptions {
        durability: Durability::Process,
        max_attempts: 3,
        usable: Arc::new(|_| Ok(())),
        contains: Arc::new(|_, _| Ok(())),
    };
    Board::open(&Workspace::at(root.to_path_buf()), options).unwrap()
}

fn id(nr: usize) -> TaskId {
    TaskId::parse(&format!("task_{nr:08x}")).unwrap()
}

fn fill(root: &Path, tasks: usize) -> Board {
    std::fs::create_dir_all(root).unwrap();
    let new: Vec<NewTask> = (0..tasks)
        .map(|nr| NewTask {
            id: id(nr),
            subject: format!("Task {nr} is about something"),
            description: "Some words that say what is to be done here.".to_owned(),
            blocked_by: Vec::new(),
            assignee: None,
            worktree: None,
            verify: None,
        })
        .collect();
    let board = board(root);
    let lead = AgentName::lead();
    drop(board.lock(&lead).unwrap().create(&new).unwrap());
    board
}

/// Nobody has two tasks at once, so each claim is another agent's.
fn agent(nr: usize) -> AgentName {
    AgentName::parse(&format!("agent-{nr}")).unwrap()
}

fn claim(board: &Board, name: &AgentName) -> Option<Task> {
    let role = "coder";
    let claimant = Claimant { name, role };
    board.lock(name).unwrap().claim_next(claimant).unwrap()
}

/// What any change of one JSON file under a lock costs: flock, read, parse, write beside, rename.
struct Bare {
    dir: PathBuf,
    lock: File,
}

impl Bare {
    /// `files` files such as the board's tasks, as many as it has: names in a small directory are found and changed sooner.
    fn new(root: &Path, files: usize) -> Self {
        let dir = root.join("bare");
        let like = std::fs::read(root.join(".tasks/task_00000000.json")).unwrap();
        std::fs::create_dir_all(&dir).unwrap();
        for nr in 0..files {
            let mut file = File::create(dir.join(format!("{nr}.json"))).unwrap();
            file.write_all(&like).unwrap();
        }
        Self::open(&dir)
    }

    fn open(dir: &Path) -> Self {
        let mut options = OpenOptions::new();
        options.create(true).write(true).truncate(false);
        Self {
            lock: options.open(dir.join(".lock")).unwrap(),
            dir: dir.to_path_buf(),
        }
    }

    fn change(&self, nr: usize) {
        fs2::FileExt::lock_exclusive(&self.lock).unwrap();
        let path = self.dir.join(format!("{nr}.json"));
        let mut task: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        task["owner"] = "alice".into();
        task["status"] = "in_progress".into();
        let temporary = self.dir.join(format!(".{nr}.tmp"));
        let mut file = File::create_new(&temporary).unwrap();
        file.write_all(&serde_json::to_vec_pretty(&task).unwrap())
            .unwrap();
        drop(file);
        std::fs::rename(&temporary, &path).unwrap();
        fs2::FileExt::unlock(&self.lock).unwrap();
    }
}

/// Times `ours` and a bare change in turn, and prints the row.
fn in_turn(spot: &Row, bare: &Bare, turns: usize, mut ours: impl FnMut(usize)) {
    let (mut times, mut bares) = (Vec::new(), Vec::new());
    for nr in 0..turns {
        bares.push(timed(|| bare.change(nr)).0);
        times.push(timed(|| ours(nr)).0);
    }
    let (ours, bare) = (median(&mut times), median(&mut bares));
    spot.ratio(ours, bare, "µs");
}

fn warm_claim(asked: &Asked, spot: &Row) {
    let (root, turns) = (spot.root(), asked.times(600, 5));
    let tasks = asked.times(10_000, 100);
    let board = fill(&root, tasks);
    let bare = Bare::new(&root, tasks);
    let names: Vec<AgentName> = (0..turns).map(agent).collect();
    in_turn(spot, &bare, turns, |nr| {
        claim(&board, &names[nr]).unwrap();
    });
}

/// Opening the board is part of it.
fn cold_claim(asked: &Asked, spot: &Row) {
    let (root, turns) = (spot.root(), asked.times(600, 5));
    let tasks = asked.times(10_000, 100);
    drop(fill(&root, tasks));
    let bare = Bare::new(&root, tasks);
    let names: Vec<AgentName> = (0..turns).map(agent).collect();
    in_turn(spot, &bare, turns, |nr| {
        claim(&board(&root), &names[nr]).unwrap();
    });
}

/// Of tasks claimed a while ago: a file that is replaced twice in one breath waits for the disk, whoever does it.
fn completion(asked: &Asked, spot: &Row) {
    let (root, turns) = (spot.root(), asked.times(600, 5));
    let tasks = asked.times(10_000, 100);
    let board = fill(&root, tasks);
    let bare = Bare::new(&root, tasks);
    let claimed: Vec<(AgentName, Task)> = (0..turns)
        .map(|nr| {
            bare.change(nr);
            (agent(nr), claim(&board, &agent(nr)).unwrap())
        })
        .collect();
    in_turn(spot, &bare, turns, |nr| {
        let (name, task) = &claimed[nr];
        let mut locked = board.lock(name).unwrap();
        let done = locked.complete(&task.id, name, task.work_version, None);
        drop(done.unwrap());
    });
}

fn growth(asked: &Asked, spot: &Row) {
    const SMALL: usize = 100;
    let boards = asked.times(5, 1);
    let large = fill(&spot.root().join("large"), asked.times(100_000, 2 * SMALL));
    let (mut on_small, mut on_large) = (Vec::new(), Vec::new());
    for board in 0..boards {
        let small = fill(&spot.root().join(format!("small-{board}")), SMALL);
        for nr in 0..SMALL {
            let name = agent(board * SMALL + nr);
            on_large.push(timed(|| claim(&large, &name).unwrap()).0);
            on_small.push(timed(|| claim(&small, &name).unwrap()).0);
        }
    }
    let (large, small) = (median(&mut on_large), median(&mut on_small));
    spot.ratio(large, small, "µs");
}

/// Claims by several processes at once.
fn claimers(asked: &Asked, spot: &Row) {
    let tasks = asked.times(2_000, 24);
    let (mut ours, mut bares) = (Vec::new(), Vec::new());
    for round in 0..asked.times(3, 1) {
        let root = spot.root().join(format!("{round}"));
        let board = fill(&root, tasks);
        drop(Bare::new(&root, tasks));
        bares.push(rate(tasks, &root, "change"));
        ours.push(rate(tasks, &root, "claim"));
        let claimed: usize = (0..CLAIMERS)
            .map(|nr| std::fs::read_to_string(root.join(format!("claimed-{nr}"))).unwrap())
            .map(|count| count.parse::<usize>().unwrap())
            .sum();
        assert_eq!(claimed, tasks, "a task was claimed twice, or never");
        assert_eq!(claim(&board, &agent(0)), None);
    }
    let (ours, bare) = (median(&mut ours), median(&mut bares));
    spot.ratio(ours, bare, "/s");
}

#[expect(clippy::cast_precision_loss, reason = "a few thousand")]
fn rate(count: usize, root: &Path, what: &str) -> f64 {
    let mut parts: Vec<part::Started> = (0..CLAIMERS)
        .map(|nr| {
            part::start(
                what,
                &[&root.to_string_lossy(), &nr.to_string(), &count.to_string()],
            )
        })
        .collect();
    part::ready(&mut parts);
    let (took, ()) = timed(|| part::go_on(parts));
    count as f64 / took * 1e6
}

fn claim_all(told: &[String]) {
    let [root, nr, _] = told else { return };
    let (root, mut claimed) = (Path::new(root), 0);
    let board = board(root);
    part::wait();
    while claim(
        &board,
        &AgentName::parse(&format!("w{nr}-{claimed}")).unwrap(),
    )
    .is_some()
    {
        claimed += 1;
    }
    let mut count = File::create(root.join(format!("claimed-{nr}"))).unwrap();
    write!(count, "{claimed}").unwrap();
}

fn change_share(told: &[String]) {
    let [root, nr, count] = told else { return };
    let bare = Bare::open(&Path::new(root).join("bare"));
    let (first, count) = (nr.parse().unwrap(), count.parse().unwrap());
    part::wait();
    (first..count)
        .step_by(CLAIMERS)
        .for_each(|nr| bare.change(nr));
}

/// `lead task` as a process of its own.
fn one_shot(asked: &Asked, spot: &Row) {
    let (root, turns) = (spot.root(), asked.times(100, 2));
    drop(fill(&root, asked.times(10_000, 100)));
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for nr in 0..turns {
        bare.push(timed(|| to_its_end(&mut Command::new("/bin/true"))).0);
        let mut lead = Command::new(env!("CARGO_BIN_EXE_lead"));
        lead.args(["task", "cancel", id(nr).as_str(), "--root"]);
        lead.arg(&root).env_clear().env("HOME", &root);
        ours.push(timed(|| to_its_end(&mut lead)).0);
    }
    let (ours, bare) = (median(&mut ours), median(&mut bare));
    spot.ratio(ours, bare, "µs");
}

fn to_its_end(command: &mut Command) {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null());
    assert!(command.status().unwrap().success());
}

fn memory(asked: &Asked, spot: &Row) {
    let root = spot.root();
    drop(fill(&root, asked.times(100_000, 100)));
    let part = part::start("know", &[&root.to_string_lossy()]);
    let resident = part.said("VmRSS:");
    spot.fact(&resident);
}

fn know_all(told: &[String]) {
    let board = board(Path::new(&told[0]));
    assert!(board.cycles().unwrap().is_empty());
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    println!(
        "{}",
        status
            .lines()
            .find(|line| line.starts_with("VmRSS:"))
            .unwrap()
    );
}
