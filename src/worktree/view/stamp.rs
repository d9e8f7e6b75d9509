//! How files and directories look, in one line: whether anything has to be read again is told by comparing two of them.

use std::fmt::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::clock;

/// Within this time, in milliseconds, two changes may leave a file with the same times.
const TICK: i64 = 50;
/// How deep trees of references may be nested.
const MAX_DEPTH: usize = 32;

/// `None` if something has changed so lately that a further change might not show.
pub(super) type Stamp = Option<String>;

/// Looks at `files`, and at every directory of the trees `trees`: what is added, removed or replaced in one changes it.
///
/// Times of change are compared too, which nobody can set back.
pub(super) fn stamp(files: &[PathBuf], trees: &[PathBuf]) -> Stamp {
    let mut look = Look {
        hash: Sha256::new(),
        newest: i64::MIN,
    };
    for file in files {
        look.at(file);
    }
    for tree in trees {
        look.beneath(tree, MAX_DEPTH);
    }
    let now = i64::try_from(clock::now_ms()).unwrap_or(i64::MAX);
    if look.newest.saturating_add(TICK) >= now {
        return None;
    }
    let mut text = String::with_capacity(64);
    for byte in look.hash.finalize() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Some(text)
}

struct Look {
    hash: Sha256,
    /// The latest time of change, in milliseconds.
    newest: i64,
}

impl Look {
    fn at(&mut self, path: &Path) {
        let Ok(found) = path.symlink_metadata() else {
            self.hash.update([0]);
            return;
        };
        self.newest = self
            .newest
            .max(found.ctime() * 1000 + found.ctime_nsec() / 1_000_000);
        for number in [found.dev(), found.ino(), found.size()] {
            self.hash.update(number.to_le_bytes());
        }
        for number in [
            found.mtime(),
            found.mtime_nsec(),
            found.ctime(),
            found.ctime_nsec(),
        ] {
            self.hash.update(number.to_le_bytes());
        }
    }

    fn beneath(&mut self, dir: &Path, depth: usize) {
        self.at(dir);
        let Ok(entries) = std::fs::read_dir(dir) else {
            return;
        };
        let mut inner: Vec<PathBuf> = entries
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .map(|entry| entry.path())
            .collect();
        inner.sort();
        for dir in inner {
            if depth > 0 {
                self.beneath(&dir, depth - 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Durability;
    use crate::store::atomic;

    /// Waits until what was done last is old enough.
    fn settled(files: &[PathBuf], trees: &[PathBuf]) -> String {
        let until = clock::instant() + std::time::Duration::from_secs(10);
        loop {
            if let Some(stamp) = stamp(files, trees) {
                return stamp;
            }
            assert!(clock::instant() < until, "it never settles");
            std::thread::yield_now();
        }
    }

    #[test]
    fn every_change_shows() {
        let scratch = tempfile::tempdir().unwrap();
        let (file, tree) = (scratch.path().join("f"), scratch.path().join("t"));
        std::fs::create_dir_all(tree.join("a/b")).unwrap();
        let look = || settled(std::slice::from_ref(&file), std::slice::from_ref(&tree));
        let mut seen = vec![look()];
        assert_eq!(look(), seen[0]);
        for path in [&file, &tree.join("a/b/x"), &tree.join("a/b/x")] {
            atomic::replace(path, b"same", Durability::Process).unwrap();
            assert_eq!(
                stamp(std::slice::from_ref(&file), std::slice::from_ref(&tree)),
                None
            );
            seen.push(look());
        }
        std::fs::remove_file(tree.join("a/b/x")).unwrap();
        seen.push(look());
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 5);
    }
}
