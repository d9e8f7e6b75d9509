//! Many processes over one board at the same moment.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::thread;

use pitcrew::board::{Board, BoardOptions, Claimant, Entry, NewTask, Status, TaskPatch};
use pitcrew::ids::{AgentName, TaskId};
use pitcrew::store::Durability;
use pitcrew::workspace::Workspace;

use crate::support::again::{again, ends, said, say, together, told, wait_for_all};
use crate::support::{Bed, Done};

const PROCESSES: usize = 8;
const ROOT: &str = "PITCREW_TEST_BOARD_ROOT";
const NAME: &str = "PITCREW_TEST_BOARD_NAME";
/// The task that is rewritten.
const SUBJECT: &str = "Rewritten";

#[test]
fn tasks_added_by_many_processes_at_once_are_all_there_once() {
    let bed = Bed::new();
    thread::scope(|scope| {
        for process in 0..PROCESSES {
            let bed = &bed;
            scope.spawn(move || {
                for nr in 0..5 {
                    let subject = format!("{process}:{nr}");
                    drop(bed.lead(&["task", "add", &subject]).expect_code(0));
                }
            });
        }
    });
    let tasks = bed.tasks();
    let subjects: BTreeSet<&str> = tasks
        .iter()
        .filter_map(|task| task["subject"].as_str())
        .collect();
    assert_eq!(
        (tasks.len(), subjects.len()),
        (PROCESSES * 5, PROCESSES * 5)
    );
    // The journal numbers them without a gap and without one number twice.
    let numbers: Vec<u64> = bed
        .read(".tasks/.journal.jsonl")
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["seq"]
                .as_u64()
                .unwrap()
        })
        .collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
}

#[test]
fn of_many_processes_that_complete_one_task_one_does() {
    let bed = Bed::new();
    let id = bed
        .lead(&["task", "add", "One"])
        .expect_code(0)
        .stdout
        .trim()
        .to_owned();
    let done: Vec<Option<i32>> = thread::scope(|scope| {
        let tries: Vec<_> = (0..PROCESSES)
            .map(|_| scope.spawn(|| bed.lead(&["task", "complete", &id]).code))
            .collect();
        tries
            .into_iter()
            .map(|handle| handle.join().unwrap())
            .collect()
    });
    assert_eq!(
        done.iter().filter(|code| **code == Some(0)).count(),
        1,
        "{done:?}"
    );
    assert_eq!(bed.tasks()[0]["status"], "completed");
}

/// `count` processes that run the ignored test `test` over `root`, each under a name of its own.
fn crowd(root: &Path, test: &str, count: usize) -> Vec<Command> {
    (0..count)
        .map(|nr| {
            let mut command = again(&format!("board::crowd::{test}"));
            command.env(ROOT, root).env(NAME, format!("a{nr}"));
            command
        })
        .collect()
}

/// In such a process: the board, and its name.
fn told_board() -> Option<(Board, AgentName)> {
    let root = told(ROOT)?;
    Some((board(root.into()), AgentName::parse(&told(NAME)?).unwrap()))
}

fn board(root: PathBuf) -> Board {
    let options = BoardOptions {
        durability: Durability::Process,
        max_attempts: 3,
        usable: Arc::new(|_| Ok(())),
        contains: Arc::new(|_, _| Ok(())),
    };
    Board::open(&Workspace::at(root), options).unwrap()
}

fn new(subject: &str) -> NewTask {
    NewTask {
        id: TaskId::random(),
        subject: subject.to_owned(),
        description: String::new(),
        blocked_by: Vec::new(),
        assignee: None,
        worktree: None,
        verify: None,
    }
}

/// A scratch directory that costs no disk, where the system has such: for what is done ten thousand times.
fn in_memory() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        tempfile::tempdir_in(memory).unwrap()
    } else {
        tempfile::tempdir().unwrap()
    }
}

fn all_said(done: &[Done], word: &str) -> Vec<String> {
    done.iter()
        .flat_map(|done| said(&done.stderr, word))
        .collect()
}

#[test]
fn of_a_thousand_tasks_each_is_claimed_once_by_sixteen() {
    let bed = Bed::new();
    let tasks: Vec<NewTask> = (0..1000).map(|nr| new(&format!("Task {nr}"))).collect();
    let lead = AgentName::lead();
    let made = board(bed.root()).lock(&lead).unwrap().create(&tasks);
    let made: BTreeSet<String> = made
        .unwrap()
        .into_iter()
        .map(|task| task.id.to_string())
        .collect();
    let done = ends(together(crowd(&bed.root(), "process_that_claims", 16)));
    let claimed = all_said(&done, "CLAIMED");
    assert_eq!(claimed.len(), 1000, "claimed twice, or not at all");
    assert_eq!(claimed.into_iter().collect::<BTreeSet<_>>(), made);
    for entry in board(bed.root()).list().unwrap() {
        let Entry::Task(task) = entry else {
            panic!("{entry:?}");
        };
        assert_eq!((task.status, task.attempts), (Status::Completed, 1));
    }
}

#[test]
#[ignore = "a process that other tests start"]
fn process_that_claims() {
    let Some((board, name)) = told_board() else {
        return;
    };
    let claimant = Claimant {
        name: &name,
        role: "coder",
    };
    wait_for_all();
    while let Some(task) = board.lock(&name).unwrap().claim_next(claimant).unwrap() {
        say(&format!("CLAIMED {}", task.id));
        let version = task.work_version;
        let mut locked = board.lock(&name).unwrap();
        locked.complete(&task.id, &name, version, None).unwrap();
    }
}

#[test]
fn of_twenty_that_make_fifty_tasks_each_none_is_lost() {
    let bed = Bed::new();
    let done = ends(together(crowd(&bed.root(), "process_that_makes", 20)));
    let told: BTreeSet<String> = all_said(&done, "MADE").into_iter().collect();
    let board = board(bed.root());
    let there: BTreeSet<String> = board
        .views()
        .unwrap()
        .into_iter()
        .map(|view| format!("{} {}", view.task.id, view.task.subject))
        .collect();
    assert_eq!((told.len(), &told), (1000, &there));
}

#[test]
#[ignore = "a process that other tests start"]
fn process_that_makes() {
    let Some((board, name)) = told_board() else {
        return;
    };
    wait_for_all();
    for nr in 0..50 {
        let task = new(&format!("{name}: {nr}"));
        let made = board.lock(&name).unwrap().create(&[task]).unwrap();
        say(&format!("MADE {} {}", made[0].id, made[0].subject));
    }
}

#[test]
fn a_task_that_is_rewritten_all_the_time_is_always_there_whole() {
    let scratch = in_memory();
    let lead = AgentName::lead();
    let writer = board(scratch.path().to_path_buf());
    let made = writer.lock(&lead).unwrap().create(&[new(SUBJECT)]).unwrap();
    let readers = together(crowd(scratch.path(), "process_that_reads", PROCESSES));
    for nr in 0..10_000 {
        let patch = TaskPatch {
            description: Some("x".repeat(nr % 3000)),
            ..TaskPatch::default()
        };
        let mut locked = writer.lock(&lead).unwrap();
        locked.update(&made[0].id, &patch).unwrap();
    }
    let mut locked = writer.lock(&lead).unwrap();
    locked.cancel(&made[0].id, false).unwrap();
    drop(locked);
    let looks = all_said(&ends(readers), "LOOKS");
    let looks: Vec<u32> = looks.iter().map(|text| text.parse().unwrap()).collect();
    assert_eq!(looks.len(), PROCESSES);
    assert!(looks.iter().all(|looks| *looks > 100), "{looks:?}");
}

/// Until it is cancelled.
#[test]
#[ignore = "a process that other tests start"]
fn process_that_reads() {
    let Some((board, name)) = told_board() else {
        return;
    };
    // Eight that look all the time must not keep the one who writes waiting for a core.
    rustix::process::nice(19).unwrap();
    wait_for_all();
    for looks in 1.. {
        let entries = board.list().unwrap();
        let [Entry::Task(task)] = &entries[..] else {
            panic!("{name} saw {entries:?}");
        };
        assert_eq!(task.subject, SUBJECT);
        if task.status == Status::Cancelled {
            say(&format!("LOOKS {looks}"));
            return;
        }
        thread::yield_now();
    }
}
