//! What a snapshot cannot hold, what hides from it, and what stands in the way of going back.

use std::sync::Arc;

use super::super::left_out;
use super::*;
use crate::cancel::{self, Cancel};

/// What a snapshot does not hold is named, and never taken for something made since.
#[test]
fn large_files_and_inner_repositories_are_left_out_and_stay() {
    let scratch = Scratch::committed();
    let large = scratch.root().join("large.bin");
    let file = fs::File::create(&large).unwrap();
    file.set_len(left_out::LARGEST + 1).unwrap();
    git(&scratch.root(), &["init", "-q", "inner"]);
    scratch.put("inner/theirs.txt", "theirs\n");
    scratch.put("mine.txt", "mine\n");
    let kept = keep(&scratch.workspace(), &scratch.session).unwrap();
    assert!(
        matches!(&kept, Kept::Partly(said) if said.contains("large.bin") && said.contains("inner/")),
        "{kept:?}"
    );
    scratch.put("mine.txt", "changed\n");
    file.set_len(3).unwrap();
    fs::remove_dir_all(scratch.root().join("inner/.git")).unwrap();
    let differs = diff(&scratch.workspace(), &scratch.session, Form::Patch).unwrap();
    assert!(differs.text.contains("+changed"), "{}", differs.text);
    assert!(!differs.text.contains("theirs") && !differs.text.contains("large"));
    let besides = differs.besides.unwrap();
    assert!(
        besides.contains("large.bin") && besides.contains("inner/"),
        "{besides}"
    );
    assert_eq!(scratch.undo().files, 1);
    assert_eq!(scratch.text("mine.txt").as_deref(), Some("mine\n"));
    assert_eq!(fs::metadata(&large).unwrap().len(), 3);
    assert_eq!(
        scratch.text("inner/theirs.txt").as_deref(),
        Some("theirs\n")
    );
}

/// The rules of the snapshot's time say what is seen.
#[test]
fn rules_that_came_since_hide_nothing() {
    let scratch = Scratch::committed();
    scratch.put(".gitignore", "old/\n");
    scratch.put("old/x", "old\n");
    scratch.keep();
    scratch.put(".gitignore", "old/\n*.log\nmade/\n");
    scratch.put("sub/.gitignore", "*\n");
    scratch.put("made/deep/a b.txt", "made\n");
    scratch.put("run.log", "made\n");
    scratch.put("sub/hidden", "made\n");
    scratch.put("old/y", "ignored then and now\n");
    let stat = scratch.diff(Form::Stat);
    for path in [
        "made/deep/a b.txt",
        "run.log",
        "sub/hidden",
        "sub/.gitignore",
    ] {
        assert!(stat.contains(path), "{path}: {stat}");
    }
    assert!(!stat.contains("old/"), "{stat}");
    assert_eq!(scratch.undo().files, 5);
    for path in [
        "made/deep/a b.txt",
        "run.log",
        "sub/hidden",
        "sub/.gitignore",
    ] {
        assert_eq!(scratch.text(path), None, "{path}");
    }
    assert_eq!(
        scratch.text("old/y").as_deref(),
        Some("ignored then and now\n")
    );
    assert_eq!(scratch.text(".gitignore").as_deref(), Some("old/\n"));
}

/// What stands beyond a link is nobody's way.
#[test]
fn a_directory_that_became_a_link_is_put_back() {
    let scratch = Scratch::committed();
    scratch.put("dir/file.txt", "mine\n");
    scratch.put("other/file.txt", "other\n");
    scratch.keep();
    fs::remove_dir_all(scratch.root().join("dir")).unwrap();
    symlink("other", scratch.root().join("dir")).unwrap();
    scratch.undo();
    assert!(!scratch.root().join("dir").is_symlink());
    assert_eq!(scratch.text("dir/file.txt").as_deref(), Some("mine\n"));
    assert_eq!(scratch.text("other/file.txt").as_deref(), Some("other\n"));
}

/// Whatever of the repository's objects is named as git names what is not whole.
fn unfinished(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(unfinished(&path));
        }
        if path
            .file_name()
            .unwrap()
            .as_encoded_bytes()
            .starts_with(b"tmp_")
        {
            found.push(path);
        }
    }
    found
}

#[test]
fn a_snapshot_that_is_cut_leaves_nothing_unfinished() {
    let cut = (0..10).any(|_| {
        let scratch = Scratch::committed();
        // Streamed into a pack, as files are that do not fit into memory.
        scratch.git(&["config", "core.bigFileThreshold", "1m"]);
        let file = fs::File::create(scratch.root().join("big")).unwrap();
        file.set_len(90 << 20).unwrap();
        let objects = scratch.root().join(".git/objects");
        let cancel = Arc::new(Cancel::new());
        let kept = std::thread::scope(|scope| {
            let keeping = scope
                .spawn(|| cancel::during(&cancel, || keep(&scratch.workspace(), &scratch.session)));
            let is_pack = |path: &PathBuf| path.to_string_lossy().contains("tmp_pack");
            while !(keeping.is_finished() || unfinished(&objects).iter().any(is_pack)) {
                std::thread::yield_now();
            }
            cancel.cancel();
            keeping.join().unwrap()
        });
        assert!(unfinished(&objects).is_empty());
        matches!(kept, Err(SnapshotError::Cut))
    });
    assert!(cut, "it was always quicker");
}

#[test]
fn what_a_killed_one_left_is_taken_away_by_the_next() {
    let scratch = Scratch::committed();
    let left = scratch.root().join(".git/objects/tmp_objdir-pitcrew-x");
    fs::create_dir(&left).unwrap();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    File::open(&left).unwrap().set_modified(long_ago).unwrap();
    scratch.keep();
    assert!(unfinished(&scratch.root().join(".git/objects")).is_empty());
}
