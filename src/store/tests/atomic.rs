//! Whole files: old or new.

use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, Ordering};

use super::names;
use crate::store::atomic::{create_new, ensure_dir, is_leftover, rename, replace};
use crate::store::quarantine;
use crate::store::{Durability, StoreError};

fn mode(path: &std::path::Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn a_replaced_file_is_private_and_nothing_is_left_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("deep/er/file.json");
    for (text, durability) in [("one", Durability::Power), ("two", Durability::Process)] {
        replace(&path, text.as_bytes(), durability).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(&dir.path().join("deep")), 0o700);
    assert_eq!(names(path.parent().unwrap()), ["file.json"]);
}

#[test]
fn create_new_never_overwrites_and_never_shows_half_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    let winners: usize = std::thread::scope(|scope| {
        let tries: Vec<_> = (0..8)
            .map(|nr: u8| {
                let path = &path;
                scope.spawn(move || create_new(path, &vec![nr; 100_000], Durability::Process))
            })
            .collect();
        tries
            .into_iter()
            .map(|handle| match handle.join().unwrap() {
                Ok(()) => 1,
                Err(error) => {
                    assert_eq!(error.source.kind(), std::io::ErrorKind::AlreadyExists);
                    0
                }
            })
            .sum()
    });
    assert_eq!(winners, 1);
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes, vec![bytes[0]; 100_000]);
    assert_eq!(names(dir.path()), ["f"]);
}

#[test]
fn readers_of_a_file_that_is_replaced_all_the_time_see_it_whole() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    let done = AtomicBool::new(false);
    replace(&path, &[0; 5_000], Durability::Process).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let bytes = std::fs::read(&path).unwrap();
                    assert_eq!(bytes, vec![bytes[0]; 5_000]);
                }
            });
        }
        for nr in 0..400_u32 {
            let fill = u8::try_from(nr % 251).unwrap();
            replace(&path, &[fill; 5_000], Durability::Process).unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_failed_replacement_names_the_file_and_keeps_the_old_one() {
    let dir = tempfile::tempdir().unwrap();
    let blocked = dir.path().join("d");
    ensure_dir(&blocked.join("inside")).unwrap();
    // A directory cannot be replaced by a file.
    let error = replace(&blocked, b"x", Durability::Process).unwrap_err();
    assert!(error.to_string().contains("/d"), "{error}");
    assert!(blocked.join("inside").is_dir());
    assert_eq!(names(dir.path()), ["d"]);
    let file = dir.path().join("f");
    replace(&file, b"old", Durability::Process).unwrap();
    let error: StoreError = ensure_dir(&file.join("x")).unwrap_err();
    assert_eq!(error.path, file);
}

#[test]
fn a_workspace_that_is_gone_is_not_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("moved");
    for name in [
        ".tasks/a.json",
        ".team/state/members/a.json",
        ".mailboxes/a.jsonl",
    ] {
        let error = replace(&root.join(name), b"x", Durability::Process).unwrap_err();
        assert_eq!(error.source.kind(), std::io::ErrorKind::NotFound, "{name}");
        assert!(!root.exists(), "{name}");
    }
    std::fs::create_dir(&root).unwrap();
    replace(&root.join(".tasks/a.json"), b"x", Durability::Process).unwrap();
}

#[test]
fn leftovers_are_known_by_their_names() {
    assert!(is_leftover(".task_1a2b3c4d.json.Ab3xYz.tmp"));
    for other in ["task_1a2b3c4d.json", ".lock", ".journal.jsonl", "notes.tmp"] {
        assert!(!is_leftover(other), "{other}");
    }
}

#[test]
fn quarantine_keeps_everything_under_fresh_names_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let kept_in = dir.path().join("q");
    let first = quarantine::keep(&kept_in, "a/../b", b"bytes", "torn").unwrap();
    let second = quarantine::keep(&kept_in, "a/../b", b"other", "torn").unwrap();
    assert_ne!(first, second);
    assert_eq!(first.parent().unwrap(), kept_in);
    assert_eq!(std::fs::read(&first).unwrap(), b"bytes");
    let bad = dir.path().join("task_x.json");
    std::os::unix::fs::symlink("/etc/passwd", &bad).unwrap();
    let moved = quarantine::move_file(&kept_in, &bad, "a link").unwrap();
    assert!(bad.symlink_metadata().is_err());
    assert!(moved.symlink_metadata().unwrap().is_symlink());
    let why = format!("{}.why", moved.display());
    assert_eq!(std::fs::read_to_string(why).unwrap(), "a link\n");
}

#[test]
fn rename_moves_between_directories() {
    let dir = tempfile::tempdir().unwrap();
    let (from, to) = (dir.path().join("f"), dir.path().join("t/f"));
    replace(&from, b"x", Durability::Process).unwrap();
    ensure_dir(&dir.path().join("t")).unwrap();
    rename(&from, &to, Durability::Power).unwrap();
    assert!(!from.exists() && to.exists());
}
