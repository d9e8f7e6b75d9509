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
use std::sync::atomic::{AtomicUsize, Ordering};

use measure::{Place, disk, head, median, row, timed, tmpfs};
use pitcrew::board::{Board, BoardOptions, Claimant, NewTask, Task};
use pitcrew::ids::{AgentName, TaskId};
use pitcrew::store::Durability;
use pitcrew::workspace::Workspace;

const CLAIMERS: usize = 8;
const CONTENDED: usize = 2_000;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, order, root] = arguments.as_slice()
        && order == "--memory-of"
    {
        return tell_memory(Path::new(root));
    }
    head();
    for place in tmpfs().into_iter().chain([disk()]) {
        at_ten_thousand(&place);
    }
    for place in tmpfs().into_iter().chain([disk()]) {
        many_claimers(&place);
    }
    if let Some(place) = tmpfs() {
        growth(&place);
    }
}

fn board(root: &Path) -> Board {
    let options = BoardOptions {
        durability: Durability::Process,
        max_attempts: 3,
        usable: Arc::new(|_| Ok(())),
    };
    Board::open(&Workspace::at(root.to_path_buf()), options).unwrap()
}

fn fill(root: &Path, tasks: usize) -> Board {
    std::fs::create_dir_all(root).unwrap();
    let new: Vec<NewTask> = (0..tasks)
        .map(|nr| NewTask {
            id: TaskId::parse(&format!("task_{nr:08x}")).unwrap(),
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

fn claim(board: &Board, name: &AgentName) -> Option<Task> {
    let role = "coder";
    let claimant = Claimant { name, role };
    board.lock(name).unwrap().claim_next(claimant).unwrap()
}

fn complete(board: &Board, name: &AgentName, task: &Task) {
    let mut locked = board.lock(name).unwrap();
    drop(
        locked
            .complete(&task.id, name, task.work_version, None)
            .unwrap(),
    );
}

/// What any change of one JSON file under a lock costs: flock, read, parse, write beside, rename.
struct Bare {
    dir: PathBuf,
    lock: File,
}

impl Bare {
    /// `files` files such as the board's tasks.
    fn new(dir: &Path, like: &[u8], files: usize) -> Self {
        std::fs::create_dir_all(dir).unwrap();
        for nr in 0..files {
            let mut file = File::create(dir.join(format!("{nr}.json"))).unwrap();
            file.write_all(like).unwrap();
        }
        Self::open(dir)
    }

    fn open(dir: &Path) -> Self {
        let mut options = OpenOptions::new();
        options.create(true).write(true).truncate(false);
        Self {
            lock: options.open(dir.join(".lock")).unwrap(),
            dir: dir.to_path_buf(),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "this is the bare operation")]
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

fn bare_like(root: &Path, files: usize) -> Bare {
    let like = std::fs::read(root.join(".tasks/task_00000000.json")).unwrap();
    Bare::new(&root.join("bare"), &like, files)
}

fn at_ten_thousand(place: &Place) {
    const TURNS: usize = 300;
    let root = place.root();
    let warm = fill(&root, 10_000);
    let bare = bare_like(&root, TURNS);
    let alice = AgentName::parse("alice").unwrap();
    let (mut claims, mut completions) = (Vec::new(), Vec::new());
    let (mut colds, mut bares) = (Vec::new(), Vec::new());
    for nr in 0..TURNS {
        bares.push(timed(|| bare.change(nr)).0);
        let (took, task) = timed(|| claim(&warm, &alice).unwrap());
        claims.push(took);
        completions.push(timed(|| complete(&warm, &alice, &task)).0);
        // Opening is part of a cold claim.
        let (took, (cold, task)) = timed(|| {
            let cold = board(&root);
            let task = claim(&cold, &alice).unwrap();
            (cold, task)
        });
        colds.push(took);
        complete(&cold, &alice, &task);
    }
    let bare = median(&mut bares);
    let at = place.name;
    row(
        "warm claim at 10,000 tasks",
        at,
        median(&mut claims),
        bare,
        "µs",
        "≤ 1.3",
    );
    row(
        "cold claim at 10,000",
        at,
        median(&mut colds),
        bare,
        "µs",
        "≤ 2",
    );
    row(
        "complete at 10,000",
        at,
        median(&mut completions),
        bare,
        "µs",
        "≤ 1.5",
    );
    one_shot(&root, at);
}

/// `lead task` as a process of its own.
fn one_shot(root: &Path, at: &str) {
    const TURNS: usize = 30;
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for nr in 0..TURNS {
        bare.push(timed(|| run(&mut Command::new("/bin/true"))).0);
        let id = format!("task_{:08x}", 9_000 + nr);
        let mut lead = Command::new(env!("CARGO_BIN_EXE_lead"));
        lead.args(["task", "cancel", &id, "--root"]).arg(root);
        lead.env_clear().env("HOME", root);
        ours.push(timed(|| run(&mut lead)).0);
    }
    let (ours, bare) = (median(&mut ours), median(&mut bare));
    row(
        "one-shot `lead task cancel` at 10,000 / `/bin/true`",
        at,
        ours,
        bare,
        "µs",
        "≤ 3",
    );
}

#[expect(clippy::disallowed_methods, reason = "a bench has no reaper")]
fn run(command: &mut Command) {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null());
    assert!(command.status().unwrap().success());
}

/// Claims by several at once, each with its own files open as processes have them.
fn many_claimers(place: &Place) {
    let root = place.root();
    drop(fill(&root, CONTENDED));
    let bare = bare_like(&root, CONTENDED);
    let (mut ours, mut bares) = (Vec::new(), Vec::new());
    let left = AtomicUsize::new(CONTENDED);
    let claimed = AtomicUsize::new(0);
    let (took, ()) = timed(|| {
        std::thread::scope(|scope| {
            for _ in 0..CLAIMERS {
                scope.spawn(|| {
                    let bare = Bare::open(&bare.dir);
                    while let Ok(nr) =
                        left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                            left.checked_sub(1)
                        })
                    {
                        bare.change(nr);
                    }
                });
            }
        });
    });
    bares.push(rate(CONTENDED, took));
    let (took, ()) = timed(|| {
        std::thread::scope(|scope| {
            for worker in 0..CLAIMERS {
                let (root, claimed) = (&root, &claimed);
                scope.spawn(move || {
                    let board = board(root);
                    // A name for each claim: nobody may have two tasks.
                    for nr in 0.. {
                        let name = AgentName::parse(&format!("w{worker}-{nr}")).unwrap();
                        if claim(&board, &name).is_none() {
                            break;
                        }
                        claimed.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
    });
    ours.push(rate(CONTENDED, took));
    assert_eq!(claimed.into_inner(), CONTENDED, "a task was claimed twice");
    let (ours, bare) = (median(&mut ours), median(&mut bares));
    row(
        "8 claimers, 2,000 tasks",
        place.name,
        ours,
        bare,
        "/s",
        "≥ 0.75",
    );
}

#[expect(clippy::cast_precision_loss, reason = "a few thousand")]
fn rate(count: usize, micros: f64) -> f64 {
    count as f64 / micros * 1e6
}

/// A claim on a large board against one on a small board; and what a process that knows the large one weighs.
fn growth(place: &Place) {
    const TURNS: usize = 200;
    let alice = AgentName::parse("alice").unwrap();
    let (small_root, large_root) = (place.root().join("small"), place.root().join("large"));
    let (small, large) = (fill(&small_root, 100), fill(&large_root, 100_000));
    let (mut on_small, mut on_large) = (Vec::new(), Vec::new());
    for turn in 0..TURNS {
        let (took, task) = timed(|| claim(&large, &alice).unwrap());
        on_large.push(took);
        complete(&large, &alice, &task);
        // The small one would run out.
        if turn < 90 {
            let (took, task) = timed(|| claim(&small, &alice).unwrap());
            on_small.push(took);
            complete(&small, &alice, &task);
        }
    }
    let (large, small) = (median(&mut on_large), median(&mut on_small));
    row(
        "claim at 100,000 / at 100",
        place.name,
        large,
        small,
        "µs",
        "≤ 1.3",
    );
    let mut told = Command::new(std::env::current_exe().unwrap());
    told.arg("--memory-of").arg(&large_root);
    #[expect(clippy::disallowed_methods, reason = "a bench has no reaper")]
    let told = told.output().unwrap();
    print!("{}", String::from_utf8_lossy(&told.stdout));
}

/// In a process of its own, which then knows every task.
fn tell_memory(root: &Path) {
    let board = board(root);
    assert!(board.cycles().unwrap().is_empty());
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    println!(
        "| memory that knows 100,000 tasks | tmpfs | {} | – | – | ≤ 100 MiB |",
        resident.unwrap_or("unknown").trim()
    );
}
