//! Nothing that an agent puts into its view leads the runtime anywhere else.

use std::os::unix::fs::symlink;

use super::bed::{Bed, put, w};
use crate::worktree::{self, view};

#[test]
fn links_in_a_view_are_neither_followed_nor_written_through() {
    for place in ["objects", "refs", "worktrees", "hooks"] {
        let bed = Bed::new();
        bed.open();
        let elsewhere = bed.root.join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        std::fs::remove_dir_all(bed.view().join(place)).unwrap();
        symlink(&elsewhere, bed.view().join(place)).unwrap();
        bed.git(&["branch", "new"]);
        let why = view::open(&bed.workspace(), &w()).unwrap_err();
        assert!(why.contains(place), "{why}");
        let found = std::fs::read_dir(&elsewhere).unwrap().count();
        assert_eq!(found, 0, "{place}: something was written there");
    }
}

#[test]
fn files_in_a_view_are_replaced_and_not_written_through() {
    let bed = Bed::new();
    bed.open();
    let victim = bed.root.join("victim");
    put(&victim, "mine\n");
    for name in ["packed-refs", "config", "HEAD", "objects/info/alternates"] {
        std::fs::remove_file(bed.view().join(name)).unwrap();
        symlink(&victim, bed.view().join(name)).unwrap();
    }
    bed.git(&["branch", "new"]);
    bed.open();
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "mine\n");
    assert_eq!(bed.agent(&["rev-parse", "new"]), bed.tip());
}

#[test]
fn objects_of_elsewhere_do_not_count() {
    let bed = Bed::new();
    bed.open();
    let before = bed.tip();
    let elsewhere = bed.root.join("elsewhere");
    bed.git(&["init", "-q", "--bare", "elsewhere"]);
    bed.agent_commits("b");
    let blob = bed.agent(&["rev-parse", "HEAD:b"]);
    let there = elsewhere.join("objects").join(&blob[..2]);
    std::fs::create_dir(&there).unwrap();
    std::fs::hard_link(bed.object(&blob), there.join(&blob[2..])).unwrap();
    std::fs::remove_file(bed.object(&blob)).unwrap();
    put(
        &bed.view().join("objects/info/alternates"),
        &format!("{}\n", elsewhere.join("objects").display()),
    );
    bed.settle().unwrap_err();
    assert_eq!(bed.tip(), before);
}

#[test]
fn no_setting_planted_in_a_view_runs_anything() {
    let bed = Bed::new();
    bed.open();
    let planted = bed.root.join("planted");
    let touch = format!("touch '{}'", planted.display());
    bed.agent_commits("b");
    let evil = format!(
        "[core]\n\tfsmonitor = \"{touch}\"\n\thooksPath = .\n\tsshCommand = \"{touch}\"\n[uploadpack]\n\tpackObjectsHook = \"{touch}\"\n"
    );
    put(&bed.view().join("config"), &evil);
    std::fs::create_dir_all(bed.view().join("hooks")).unwrap();
    put(
        &bed.view().join("hooks/reference-transaction"),
        "#!/bin/sh\ntouch planted\n",
    );
    bed.settle().unwrap();
    drop(worktree::state(&bed.workspace(), &w()));
    drop(worktree::difference(&bed.workspace(), &w()));
    assert!(!planted.exists());
    bed.open();
    assert_eq!(
        bed.agent(&["config", "--default=no", "core.fsmonitor"]),
        "no"
    );
}

#[test]
fn an_index_that_names_files_elsewhere_is_not_read() {
    let bed = Bed::new();
    let secret = bed.root.join("secret");
    put(&secret, "canary\n");
    let blob = bed.git(&["rev-parse", "main:a"]);
    let entry = format!("100644,{blob},../../secreX");
    // git itself refuses such a name; an agent can write what it likes.
    bed.inside(&[
        "update-index",
        "--add",
        "--cacheinfo",
        &entry.replace("../../", "xx/yy/"),
    ]);
    let index = bed.root.join(".git/worktrees/w/index");
    let bytes = std::fs::read(&index).unwrap();
    let forged = forge(&bytes, b"xx/yy/secreX", b"../../secret");
    crate::store::atomic::replace(&index, &forged, crate::store::Durability::Process).unwrap();
    let why = worktree::leftovers(&bed.workspace(), &w()).err().unwrap();
    assert!(
        why.contains("its index was changed: it names ../../secret"),
        "{why}"
    );
    let why = worktree::difference(&bed.workspace(), &w()).unwrap_err();
    assert!(why.contains("its index was changed"), "{why}");
}

/// The index with another path of the same length; git does not look at a checksum of zeros.
fn forge(index: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let at = index
        .windows(from.len())
        .position(|window| window == from)
        .unwrap();
    let mut forged = index.to_vec();
    forged[at..at + from.len()].copy_from_slice(to);
    let end = forged.len() - 20;
    forged[end..].fill(0);
    forged
}

#[test]
fn a_link_in_the_worktrees_git_directory_makes_it_unusable() {
    let bed = Bed::new();
    bed.open();
    let victim = bed.root.join("victim");
    put(&victim, "mine\n");
    let log = bed.root.join(".git/worktrees/w/logs/HEAD");
    std::fs::remove_file(&log).unwrap();
    symlink(&victim, &log).unwrap();
    let why = String::from(worktree::usable(&bed.workspace(), &w()).unwrap_err());
    assert!(why.contains("symbolic link"), "{why}");
    put(&bed.path().join("left"), "left\n");
    worktree::leftovers(&bed.workspace(), &w()).err().unwrap();
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "mine\n");
}

#[test]
fn the_files_that_say_where_it_belongs_are_shown_read_only() {
    let bed = Bed::new();
    let binds = bed.open();
    let admin = bed.root.join(".git/worktrees/w");
    for name in ["commondir", "gitdir", "config.worktree"] {
        let bind = binds
            .iter()
            .find(|bind| bind.at == admin.join(name))
            .unwrap();
        assert!(!bind.writable && bind.from.is_file(), "{name}");
    }
    let marker = bed.path().join(".git");
    assert!(binds.iter().any(|bind| bind.at == marker && !bind.writable));
    let first = &binds[0];
    assert_eq!(
        (&first.from, &first.at),
        (&bed.view(), &bed.root.join(".git"))
    );
    let inside = binds.iter().filter(|bind| bind.writable);
    assert_eq!(inside.count(), 2, "the view and the worktree's own part");
}
