//! Locks under contention, replaced lock files, and what the error tells.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::store::lock::{
    FileLock, LockError, holder_in_table, holder_pid, is_held, pid_in_text, wait_until_free,
};

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(30);

#[test]
fn the_error_of_a_bounded_wait_names_file_and_holder() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sub/.lock");
    let held = FileLock::exclusive(&path, LONG).unwrap();
    assert!(is_held(&path).unwrap());
    assert!(FileLock::try_exclusive(&path).unwrap().is_none());
    let error = FileLock::exclusive(&path, SHORT).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, LockError::Busy { .. }));
    assert!(text.contains("sub/.lock"), "{text}");
    if cfg!(target_os = "linux") {
        assert_eq!(holder_pid(&path), Some(std::process::id()));
        assert!(
            text.contains(&format!("pid {}", std::process::id())),
            "{text}"
        );
    }
    drop(held);
    assert!(!is_held(&path).unwrap());
    drop(FileLock::exclusive(&path, LONG).unwrap());
}

#[test]
fn many_waiters_all_get_their_turn() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(".lock");
    let (inside, turns) = (AtomicU32::new(0), AtomicU32::new(0));
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let lock = FileLock::exclusive(&path, LONG).unwrap();
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    std::thread::yield_now();
                    inside.fetch_sub(1, Ordering::SeqCst);
                    turns.fetch_add(1, Ordering::SeqCst);
                    drop(lock);
                }
            });
        }
    });
    assert_eq!(turns.into_inner(), 320);
}

#[test]
fn each_waiter_waits_for_as_long_as_it_said() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(".lock");
    let held = FileLock::exclusive(&path, LONG).unwrap();
    std::thread::scope(|scope| {
        let patient = scope.spawn(|| FileLock::exclusive(&path, LONG).is_ok());
        let waiters: Vec<_> = (0..8)
            .map(|nr| {
                let path = &path;
                scope.spawn(move || {
                    let wait = SHORT * (8 - nr);
                    let begin = std::time::Instant::now();
                    let error = FileLock::exclusive(path, wait).unwrap_err();
                    assert!(matches!(error, LockError::Busy { .. }), "{error}");
                    assert!(begin.elapsed() >= wait);
                })
            })
            .collect();
        for waiter in waiters {
            waiter.join().unwrap();
        }
        drop(held);
        assert!(patient.join().unwrap());
    });
}

#[test]
fn a_waiter_on_a_replaced_file_locks_the_new_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(".lock");
    let held = FileLock::exclusive(&path, LONG).unwrap();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| FileLock::exclusive(&path, LONG).unwrap());
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "new").unwrap();
        drop(held);
        let lock = waiter.join().unwrap();
        assert_eq!(lock.file().metadata().unwrap().len(), 3);
        assert!(is_held(&path).unwrap());
    });
}

#[test]
fn waiting_for_a_lock_to_come_free_ends_with_its_holder() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("alive");
    assert!(!is_held(&path).unwrap());
    wait_until_free(&path).unwrap();
    assert!(!path.exists(), "a probe made the file");
    let held = FileLock::exclusive(&path, LONG).unwrap();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| wait_until_free(&path).unwrap());
        assert!(!waiter.is_finished());
        drop(held);
        waiter.join().unwrap();
    });
    assert!(FileLock::try_exclusive(&path).unwrap().is_some());
}

#[test]
fn links_and_directories_are_no_lock_files() {
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(dir.path().join("target"), &link).unwrap();
    let error = FileLock::exclusive(&link, SHORT).unwrap_err().into_store();
    assert!(
        error.source.to_string().contains("a symbolic link"),
        "{error:?}"
    );
    assert!(!dir.path().join("target").exists());
    assert!(FileLock::exclusive(dir.path(), SHORT).is_err());
    assert!(is_held(&link).is_err());
}

#[test]
fn holders_are_read_from_the_systems_table() {
    let table = "1: POSIX  ADVISORY  WRITE 11 fe:00:99 0 EOF\n\
                 2: FLOCK  ADVISORY  READ 12 fe:00:99 0 EOF\n\
                 3: -> FLOCK  ADVISORY  WRITE 13 fe:00:99 0 EOF\n\
                 4: FLOCK  ADVISORY  WRITE 14 fe:00:98 0 EOF\n\
                 broken\n\
                 5: FLOCK  ADVISORY  WRITE 15 fe:00:99 0 EOF\n";
    assert_eq!(holder_in_table(table, 0xfe, 0, 99), Some(15));
    assert_eq!(holder_in_table(table, 0xfe, 0, 98), Some(14));
    assert_eq!(holder_in_table(table, 0xfe, 1, 99), None);
    for (text, pid) in [
        ("pid 4711\n", Some(4711)),
        ("{\"pid\":12}", Some(12)),
        ("rapid", None),
        ("", None),
    ] {
        assert_eq!(pid_in_text(text), pid, "{text}");
    }
}
