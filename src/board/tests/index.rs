//! `.index` makes a cold start quick and changes nothing else, whatever stands in it.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{agent, as_coder, board, claim, complete, create, id, new};
use crate::board::{Board, NewTask, Released};
use crate::ids::TaskId;

/// Enough that the journal's lines make an index due.
const TASKS: u32 = 80;

fn index(root: &Path) -> PathBuf {
    root.join(".tasks/.index")
}

/// Tasks in chains of four, one in progress, one completed, and lines in the journal that no index contains yet.
fn filled() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let tasks: Vec<NewTask> = (0..TASKS)
        .map(|nr| {
            if nr % 4 == 0 {
                new(nr, &[])
            } else {
                new(nr, &[nr - 1])
            }
        })
        .collect();
    let board = board(root.path());
    create(&board, &tasks);
    assert!(index(root.path()).exists());
    claim(&board, 4, "alice").unwrap();
    complete(&board, 8, "bob");
    root
}

/// What the files say is ready, in the order of offering.
fn truth(root: &Path) -> Vec<TaskId> {
    let views = board(root).views().unwrap();
    let ready = views.into_iter().filter(|view| view.ready);
    ready.map(|view| view.task.id).collect()
}

/// What a process that starts now would be offered.
fn offered_cold(root: &Path) -> Vec<TaskId> {
    let name = agent("carl");
    let tasks = board(root).offered(as_coder(&name), 1000).unwrap();
    tasks.into_iter().map(|task| task.id).collect()
}

/// An edit that leaves name, inode, and so the directory as they are.
fn edit(root: &Path, nr: u32, from: &str, to: &str) {
    let path = root.join(format!(".tasks/{}.json", id(nr)));
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(from));
    std::fs::write(&path, text.replace(from, to)).unwrap();
}

#[test]
fn a_cold_process_starts_from_the_index_and_the_lines_after_it() {
    let root = filled();
    assert_eq!(offered_cold(root.path()), truth(root.path()));
    let cold = board(root.path());
    assert_eq!(cold.owned_by(&agent("alice")).unwrap().unwrap().id, id(4));
    // An edit in place shows who reads all files: whoever starts from the index sees it at its next look.
    edit(root.path(), 0, "\"pending\"", "\"completed\"");
    assert!(!offered_cold(root.path()).contains(&id(1)));
    std::fs::remove_file(index(root.path())).unwrap();
    assert!(offered_cold(root.path()).contains(&id(1)));
}

#[test]
fn a_claim_after_a_cold_start_reads_the_file() {
    let root = filled();
    let first = truth(root.path())[0].clone();
    assert_eq!(first, id(0));
    edit(root.path(), 0, "\"pending\"", "\"cancelled\"");
    let (cold, bob) = (board(root.path()), agent("bob"));
    assert!(claim(&cold, 0, "bob").is_err());
    let claimed = cold.lock(&bob).unwrap().claim_next(as_coder(&bob));
    assert_eq!(claimed.unwrap().unwrap().id, id(9));
}

#[test]
fn a_file_put_there_by_hand_is_seen_by_the_next_cold_process() {
    let root = filled();
    let text = std::fs::read_to_string(root.path().join(".tasks/task_00000000.json")).unwrap();
    let stranger = text.replace("task_00000000", "task_000000ff");
    std::fs::write(root.path().join(".tasks/task_000000ff.json"), stranger).unwrap();
    assert!(offered_cold(root.path()).contains(&id(0xff)));
    drop(board(root.path()).lock(&agent("lead")).unwrap());
    assert!(offered_cold(root.path()).contains(&id(0xff)));
    assert_eq!(offered_cold(root.path()), truth(root.path()));
}

/// Whoever follows by the journal alone must not think that those who wait for it may still begin.
#[test]
fn a_change_by_hand_is_told_before_the_change_that_found_it() {
    let root = filled();
    edit(root.path(), 8, "\"completed\"", "\"pending\"");
    edit(root.path(), 8, "\"owner\": \"bob\"", "\"owner\": null");
    claim(&board(root.path()), 8, "dave").unwrap();
    assert!(!truth(root.path()).contains(&id(9)));
    assert_eq!(offered_cold(root.path()), truth(root.path()));
}

type Harm = (String, Box<dyn Fn(&Path)>);

fn harms() -> Vec<Harm> {
    let put = |bytes: Vec<u8>| -> Box<dyn Fn(&Path)> {
        Box::new(move |root| std::fs::write(index(root), &bytes).unwrap())
    };
    let other = filled();
    let foreign = std::fs::read(index(other.path())).unwrap();
    let mut harms: Vec<Harm> = vec![
        ("none".to_owned(), Box::new(|_| {})),
        (
            "deleted".to_owned(),
            Box::new(|root| std::fs::remove_file(index(root)).unwrap()),
        ),
        ("empty".to_owned(), put(Vec::new())),
        ("zeros".to_owned(), put(vec![0; 20_000])),
        ("text".to_owned(), put(b"pitcrew index 1\nhello".to_vec())),
        ("of another board".to_owned(), put(foreign)),
        (
            "a directory".to_owned(),
            Box::new(|root| {
                std::fs::remove_file(index(root)).unwrap();
                std::fs::create_dir(index(root)).unwrap();
            }),
        ),
        (
            "a journal begun anew".to_owned(),
            Box::new(|root| {
                let path = root.join(".tasks/.journal.jsonl");
                let text = std::fs::read(&path).unwrap();
                std::fs::write(&path, &text[..text.len() / 3]).unwrap();
            }),
        ),
    ];
    for part in 1..12_usize {
        harms.push((
            format!("cut at {part}/12"),
            Box::new(move |root| {
                let bytes = std::fs::read(index(root)).unwrap();
                std::fs::write(index(root), &bytes[..bytes.len() * part / 12]).unwrap();
            }),
        ));
    }
    for nr in 0..40_usize {
        harms.push((
            format!("a byte changed at {nr}/40"),
            Box::new(move |root| {
                let mut bytes = std::fs::read(index(root)).unwrap();
                let at = bytes.len() * nr / 40;
                bytes[at] ^= 1 << (nr % 8);
                std::fs::write(index(root), bytes).unwrap();
            }),
        ));
    }
    harms
}

#[test]
fn an_index_that_is_not_whole_or_not_the_last_one_changes_only_the_speed() {
    let root = filled();
    let root = root.path();
    let bob = agent("bob");
    for (what, harm) in harms() {
        harm(root);
        let ready = truth(root);
        assert_eq!(offered_cold(root), ready, "{what}");
        let cold = board(root);
        assert_eq!(
            cold.owned_by(&agent("alice")).unwrap().unwrap().id,
            id(4),
            "{what}"
        );
        assert_eq!(cold.cycles().unwrap(), Vec::<Vec<TaskId>>::new(), "{what}");
        let task = board(root)
            .lock(&bob)
            .unwrap()
            .claim_next(as_coder(&bob))
            .unwrap()
            .unwrap();
        assert_eq!(task.id, ready[0], "{what}");
        // Another cold one, and the index is a new one by now.
        board(root)
            .lock(&bob)
            .unwrap()
            .release(&task.id, None, Released::Orderly, None)
            .unwrap();
        if index(root).is_dir() {
            std::fs::remove_dir(index(root)).unwrap();
            drop(board(root).lock(&bob).unwrap());
        }
        assert!(index(root).is_file(), "{what}");
        assert_eq!(offered_cold(root), ready, "{what}");
    }
}

#[test]
fn an_older_index_put_back_is_not_taken_for_the_last_one() {
    let root = filled();
    let old = std::fs::read(index(root.path())).unwrap();
    let inode = index(root.path()).metadata().unwrap().ino();
    for _ in 0..20 {
        complete_first(&board(root.path()));
    }
    assert_ne!(index(root.path()).metadata().unwrap().ino(), inode);
    std::fs::write(index(root.path()), old).unwrap();
    assert_eq!(offered_cold(root.path()), truth(root.path()));
}

fn complete_first(board: &Board) {
    let bob = agent("bob");
    let task = board
        .lock(&bob)
        .unwrap()
        .claim_next(as_coder(&bob))
        .unwrap()
        .unwrap();
    board
        .lock(&bob)
        .unwrap()
        .complete(&task.id, &bob, task.work_version, None)
        .unwrap();
}

/// A change by a process that has just started.
fn step(root: &Path, nr: u32) {
    let bob = agent("bob");
    let cold = board(root);
    match nr % 5 {
        0 => drop(create(
            &cold,
            &[new(1000 + nr, &[nr % TASKS]), new(2000 + nr, &[])],
        )),
        1 => drop(cold.lock(&bob).unwrap().cancel(&id(2000 + nr - 1), false)),
        2 => drop(
            cold.lock(&bob)
                .unwrap()
                .complete_by_person(&id(nr % TASKS), true),
        ),
        3 => complete_first(&cold),
        _ => drop(
            cold.lock(&bob)
                .unwrap()
                .release(&id(4), None, Released::ByPerson, None),
        ),
    }
}

#[test]
fn a_long_walk_of_processes_that_each_start_cold_stays_with_the_files() {
    let root = filled();
    let begun = std::fs::read(index(root.path())).unwrap();
    for nr in 0..100 {
        step(root.path(), nr * 7);
        assert_eq!(offered_cold(root.path()), truth(root.path()), "step {nr}");
    }
    assert_ne!(std::fs::read(index(root.path())).unwrap(), begun);
}
