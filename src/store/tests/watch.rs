//! Everything that happens to a watched file is seen, with and without the system's notification.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::eventually;
use crate::store::Durability;
use crate::store::atomic::replace;
use crate::store::watch::Watcher;

/// A watcher with a count of the looks at each step.
struct Eye {
    watcher: Watcher,
    looks: Arc<AtomicU32>,
}

impl Eye {
    fn open(poll_only: bool) -> Self {
        let looks = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&looks);
        let watcher = Watcher::start(
            poll_only,
            move |_| {
                counted.fetch_add(1, Ordering::SeqCst);
            },
            |_| {},
        );
        Self { watcher, looks }
    }

    fn sees(&self, what: &str, act: impl FnOnce()) {
        let before = self.quiet();
        act();
        eventually(what, || self.looks.load(Ordering::SeqCst) > before);
    }

    /// The count once nothing has been seen for a while: late events of the last step are no news of the next.
    fn quiet(&self) -> u32 {
        let mut last = self.looks.load(Ordering::SeqCst);
        loop {
            std::thread::sleep(Duration::from_millis(80));
            let now = self.looks.load(Ordering::SeqCst);
            if now == last {
                return now;
            }
            last = now;
        }
    }
}

fn append(path: &Path) {
    std::fs::OpenOptions::new()
        .append(true)
        .open(path)
        .unwrap()
        .write_all(b"x\n")
        .unwrap();
}

fn everything_is_seen(poll_only: bool) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a/b/file");
    let eye = Eye::open(poll_only);
    eye.watcher.watch(&path);
    eye.sees("made in directories that did not exist", || {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "one\n").unwrap();
    });
    eye.sees("an append", || append(&path));
    eye.sees("a replacement", || {
        replace(&path, b"two\n", Durability::Process).unwrap();
    });
    eye.sees("an append after the replacement", || append(&path));
    eye.sees("a truncation", || {
        std::fs::OpenOptions::new()
            .write(true)
            .open(&path)
            .unwrap()
            .set_len(0)
            .unwrap();
    });
    eye.sees("a deletion", || std::fs::remove_file(&path).unwrap());
    eye.sees("made again", || std::fs::write(&path, "three\n").unwrap());
    eye.sees("an append to the one made again", || append(&path));
    eye.sees("its directory deleted", || {
        std::fs::remove_dir_all(dir.path().join("a")).unwrap();
    });
    eye.sees("made again with its directory", || {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "four\n").unwrap();
    });
    eye.sees("an append at last", || append(&path));
    let before = eye.quiet();
    eye.watcher.unwatch(&path);
    append(&path);
    assert_eq!(eye.quiet(), before, "looked at after unwatch");
}

#[test]
fn notification_sees_everything() {
    everything_is_seen(false);
}

#[test]
fn comparing_sees_everything() {
    everything_is_seen(true);
}

#[test]
fn reading_a_watched_file_wakes_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    std::fs::write(&path, "x\n").unwrap();
    let eye = Eye::open(false);
    eye.watcher.watch(&path);
    let before = eye.quiet();
    for _ in 0..20 {
        std::fs::read(&path).unwrap();
    }
    assert_eq!(eye.quiet(), before);
}

#[test]
fn a_change_of_a_neighbour_is_no_change() {
    let dir = tempfile::tempdir().unwrap();
    let eye = Eye::open(false);
    eye.watcher.watch(&dir.path().join("missing"));
    eye.watcher.watch(&dir.path().join("missing too"));
    let before = eye.quiet();
    std::fs::write(dir.path().join("neighbour"), "x").unwrap();
    append(&dir.path().join("neighbour"));
    assert_eq!(eye.quiet(), before);
}

#[test]
fn a_file_replaced_a_thousand_times_is_still_watched() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    let eye = Eye::open(false);
    eye.watcher.watch(&path);
    for nr in 0..1000 {
        replace(&path, format!("{nr}").as_bytes(), Durability::Process).unwrap();
    }
    eye.sees("the last append", || append(&path));
}
