//! Real repositories to try worktrees on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use pitcrew::ids::WorktreeName;
use pitcrew::process::capture;
use pitcrew::workspace::Workspace;
use pitcrew::worktree;

/// A directory to make repositories in.
pub(crate) struct Scratch {
    dir: tempfile::TempDir,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    /// A repository with one commit on `main`.
    pub(crate) fn repository(&self, name: &str) -> PathBuf {
        let root = self.path().join(name);
        std::fs::create_dir_all(&root).unwrap();
        git(&root, &["init", "-q", "-b", "main"]);
        git(&root, &["config", "user.name", "Test"]);
        git(&root, &["config", "user.email", "test@example.org"]);
        put(&root.join("a.txt"), "one\n");
        git(&root, &["add", "."]);
        git(&root, &["commit", "-q", "-m", "first"]);
        root
    }
}

pub(crate) fn try_git(dir: &Path, args: &[&str]) -> Result<String, String> {
    let mut command = Command::new("git");
    command
        .current_dir(dir)
        .args(["-c", "protocol.file.allow=always"])
        .args(args);
    let done = capture::run(&mut command, b"", 1 << 20, Duration::from_mins(1)).unwrap();
    if done.status().is_some_and(|status| status.success()) {
        Ok(String::from_utf8(done.stdout)
            .unwrap()
            .trim_end()
            .to_owned())
    } else {
        Err(String::from_utf8_lossy(&done.stderr).into_owned())
    }
}

#[track_caller]
pub(crate) fn git(dir: &Path, args: &[&str]) -> String {
    try_git(dir, args).unwrap_or_else(|said| panic!("git {args:?}: {said}"))
}

#[expect(clippy::disallowed_methods, reason = "a test makes plain files")]
pub(crate) fn put(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

pub(crate) fn name(text: &str) -> WorktreeName {
    WorktreeName::parse(text).unwrap()
}

pub(crate) fn workspace(root: &Path) -> Workspace {
    Workspace::at(root.to_path_buf())
}

/// Every file below `dir` with its bytes: to see that nothing has changed.
pub(crate) fn snapshot(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let meta = std::fs::symlink_metadata(&path).unwrap();
            if meta.is_dir() {
                found.insert(path.clone(), b"directory".to_vec());
                open.push(path);
            } else if meta.is_symlink() {
                let target = std::fs::read_link(&path).unwrap();
                found.insert(path, target.into_os_string().into_encoded_bytes());
            } else {
                let bytes = std::fs::read(&path).unwrap();
                found.insert(path, bytes);
            }
        }
    }
    found
}

/// The repository `r` with the worktree `w` and one commit in it that adds `b.txt`; both paths.
pub(crate) fn with_work(scratch: &Scratch) -> (PathBuf, PathBuf) {
    let root = scratch.repository("r");
    worktree::create(&workspace(&root), &name("w")).unwrap();
    let path = workspace(&root).worktree(&name("w"));
    commit(&path, "b.txt", "b\n");
    (root, path)
}

/// Commits one file in a checkout.
#[track_caller]
pub(crate) fn commit(dir: &Path, file: &str, text: &str) {
    put(&dir.join(file), text);
    git(dir, &["add", "-f", file]);
    git(dir, &["commit", "-q", "-m", &format!("change {file}")]);
}
