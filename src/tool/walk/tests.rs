//! What of a tree is met.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::*;
use crate::tool::path::EntryKind;

struct Tree(tempfile::TempDir);

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        for (path, text) in files {
            let path = tree.at(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        tree
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(path)
    }

    /// The files met from `start` on, where `root` is the workspace.
    fn met(&self, start: &str, root: &str) -> Vec<String> {
        let (start, root) = (self.at(start), self.at(root));
        let mut met = Vec::new();
        let is_git = |path: &Path| path.ends_with(".git");
        let ended = visit(&start, Rules::of(&start, &root), is_git, |one| {
            if one.kind == EntryKind::File {
                let below = one.path.strip_prefix(&start).unwrap();
                met.push(below.to_str().unwrap().to_owned());
            }
            ControlFlow::Continue(())
        });
        assert!(!ended.unwrap());
        met.retain(|name| !name.ends_with("ignore"));
        met.sort();
        met
    }
}

#[test]
fn what_git_ignores_is_left_out_and_the_nearest_rule_counts() {
    let tree = Tree::new(&[
        (".git/info/exclude", "*.secret\n"),
        (".gitignore", "\u{feff}*.log\n/target/\n# note\n\n[bad\n"),
        ("a.rs", ""),
        ("a.log", ""),
        ("b.secret", ""),
        ("target/x.rs", ""),
        ("sub/target/y.rs", ""),
        ("sub/.gitignore", "!keep.log\n/only.rs\n"),
        ("sub/keep.log", ""),
        ("sub/other.log", ""),
        ("sub/only.rs", ""),
        ("sub/deep/only.rs", ""),
        ("sub/deep/c.secret", ""),
        ("sub/deep/.ignore", "*.md\n"),
        ("sub/deep/x.md", ""),
    ]);
    let all = [
        "a.rs",
        "sub/deep/only.rs",
        "sub/keep.log",
        "sub/target/y.rs",
    ];
    assert_eq!(tree.met("", ""), all);
    assert_eq!(
        tree.met("sub", ""),
        ["deep/only.rs", "keep.log", "target/y.rs"]
    );
    assert_eq!(tree.met("target", ""), ["x.rs"], "asked for by name");
}

#[test]
fn rules_hold_without_a_repository_too_and_a_worktree_has_its_own() {
    let tree = Tree::new(&[
        ("plain/.gitignore", "*.log\n"),
        ("plain/sub/a.log", ""),
        ("plain/sub/b.rs", ""),
        ("ws/.git/info/exclude", "*.tmp\n.worktrees/\n"),
        ("ws/.gitignore", "*.rs\n"),
        ("ws/.worktrees/w/.git", "gitdir: elsewhere\n"),
        ("ws/.worktrees/w/a.rs", ""),
        ("ws/.worktrees/w/a.tmp", ""),
    ]);
    assert_eq!(tree.met("plain/sub", "plain"), ["b.rs"]);
    assert_eq!(
        tree.met("ws/.worktrees/w", "ws"),
        ["a.rs"],
        "the workspace's rules are not its own"
    );
}

#[test]
fn links_are_not_followed_wherever_they_stand() {
    let tree = Tree::new(&[("out/secret", ""), ("out/rules", "*\n"), ("ws/a", "")]);
    let link = |to: &str, at: &str| std::os::unix::fs::symlink(tree.at(to), tree.at(at)).unwrap();
    link("out", "ws/dir");
    link("out/secret", "ws/file");
    link("out/rules", "ws/.gitignore");
    link("ws", "way");
    assert_eq!(tree.met("ws", "ws"), ["a"]);
    let way = tree.at("way");
    assert!(
        visit(
            &way,
            Rules::of(&way, &way),
            |_| false,
            |_| ControlFlow::Continue(())
        )
        .is_err()
    );
}
