//! What an agent has done comes into the repository, checked, and nothing else does.

use super::bed::{Bed, put};

#[test]
fn a_commit_and_what_is_staged_come_in_and_nothing_else_moves() {
    let bed = Bed::new();
    bed.open();
    let (before, rest) = (bed.tip(), bed.rest());
    let commit = bed.agent_commits("b");
    put(&bed.path().join("staged"), "staged\n");
    bed.agent(&["add", "staged"]);
    assert_eq!(bed.tip(), before, "only the view has it");
    bed.settle().unwrap();
    assert_eq!(bed.tip(), commit);
    assert_eq!(bed.inside(&["show", ":staged"]), "staged");
    assert_eq!(bed.inside(&["status", "--porcelain"]), "A  staged");
    assert_eq!(bed.rest(), rest);
    bed.assert_sound();
}

#[test]
fn branches_tags_stashes_and_settings_stay_in_the_view() {
    let bed = Bed::new();
    bed.open();
    let rest = bed.rest();
    let commit = bed.agent_commits("b");
    bed.agent(&["branch", "mine"]);
    bed.agent(&["branch", "-D", "other"]);
    bed.agent(&["update-ref", "refs/heads/main", &commit]);
    bed.agent(&["tag", "-a", "-m", "x", "v1"]);
    bed.agent(&["config", "core.fsmonitor", "touch /planted"]);
    put(&bed.path().join("a"), "changed\n");
    bed.agent(&["stash"]);
    bed.settle().unwrap();
    assert_eq!(bed.tip(), commit);
    assert_eq!(bed.rest(), rest);
    bed.open();
    assert!(bed.agent(&["branch", "--list", "mine"]).contains("mine"));
    assert_eq!(bed.agent(&["branch", "--list", "other"]), "");
    assert_eq!(bed.agent(&["rev-parse", "main"]), commit);
    bed.agent(&["stash", "pop", "-q"]);
    let own = bed.try_agent(&["config", "--local", "core.fsmonitor"]);
    own.expect_err("settings last for a call only");
    bed.assert_sound();
}

#[test]
fn history_may_be_written_anew() {
    let bed = Bed::new();
    bed.open();
    bed.agent_commits("b");
    bed.settle().unwrap();
    bed.agent(&["commit", "-q", "--amend", "-m", "better"]);
    bed.settle().unwrap();
    assert_eq!(bed.git(&["log", "-1", "--format=%s", "wt/w"]), "better");
    bed.agent(&["reset", "-q", "--hard", "main"]);
    bed.settle().unwrap();
    assert_eq!(bed.tip(), bed.git(&["rev-parse", "main"]));
    bed.assert_sound();
}

#[test]
fn what_an_agent_has_packed_comes_in_too() {
    let bed = Bed::new();
    bed.open();
    let rest = bed.rest();
    for number in 0..40 {
        put(
            &bed.path().join(format!("f{number}")),
            &format!("{number}\n"),
        );
    }
    bed.agent(&["add", "."]);
    bed.agent(&["commit", "-q", "-m", "many"]);
    for number in 0..40 {
        bed.agent_commits(&format!("g{number}"));
    }
    bed.agent(&["branch", "mine"]);
    bed.agent(&["repack", "-a", "-d", "-l", "-q"]);
    bed.agent(&["pack-refs", "--all"]);
    assert!(bed.agent(&["count-objects"]).starts_with("0 objects"));
    bed.settle().unwrap();
    assert_eq!(bed.tip(), bed.agent(&["rev-parse", "HEAD"]));
    assert_eq!(bed.rest(), rest);
    bed.assert_sound();
    // Packed references are still the agent's own.
    bed.git(&["branch", "new"]);
    bed.open();
    assert_eq!(bed.agent(&["rev-parse", "mine"]), bed.tip());
    assert_eq!(
        bed.agent(&["rev-parse", "new"]),
        bed.git(&["rev-parse", "main"])
    );
}

#[test]
fn a_commit_without_all_of_its_objects_is_refused_until_it_has_them() {
    let bed = Bed::new();
    bed.open();
    let before = bed.tip();
    let commit = bed.agent_commits("b");
    let blob = bed.agent(&["rev-parse", "HEAD:b"]);
    std::fs::remove_file(bed.object(&blob)).unwrap();
    let why = bed.settle().unwrap_err();
    assert!(why.contains("wt/w stays where it was"), "{why}");
    assert_eq!(bed.tip(), before);
    bed.settle().unwrap_err();
    bed.agent(&["hash-object", "-w", "b"]);
    bed.settle().unwrap();
    assert_eq!(bed.tip(), commit);
    bed.assert_sound();
}

#[test]
fn an_object_that_is_not_what_its_name_says_is_refused() {
    let bed = Bed::new();
    bed.open();
    let before = bed.tip();
    bed.agent_commits("b");
    bed.agent_commits("c");
    let [b, c] = ["HEAD:b", "HEAD:c"].map(|name| bed.object(&bed.agent(&["rev-parse", name])));
    let other = b.with_extension("x");
    std::fs::hard_link(&c, &other).unwrap();
    std::fs::remove_file(&c).unwrap();
    crate::store::atomic::rename(&other, &b, crate::store::Durability::Process).unwrap();
    bed.settle().unwrap_err();
    assert_eq!(bed.tip(), before);
}

#[test]
fn a_branch_that_names_no_commit_is_refused() {
    let bed = Bed::new();
    bed.open();
    let before = bed.tip();
    put(&bed.path().join("blob"), "blob\n");
    let blob = bed.agent(&["hash-object", "-w", "blob"]);
    for id in [blob, "1234567890".repeat(4)] {
        let reference = bed.view().join("refs/heads/wt");
        std::fs::create_dir_all(&reference).unwrap();
        put(&reference.join("w"), &format!("{id}\n"));
        let why = bed.settle().unwrap_err();
        assert!(why.contains("stays where it was"), "{why}");
        assert_eq!(bed.tip(), before);
    }
}

#[test]
fn what_the_repository_has_forgotten_since_is_received_again() {
    let bed = Bed::new();
    bed.open();
    let first = bed.agent_commits("b");
    bed.settle().unwrap();
    bed.agent(&["reset", "-q", "--hard", "main"]);
    bed.settle().unwrap();
    bed.git(&["reflog", "expire", "--expire=now", "--all"]);
    std::fs::remove_file(bed.root.join(".git/worktrees/w/ORIG_HEAD")).unwrap();
    bed.git(&["prune", "--expire=now"]);
    let gone = format!("{first}^{{commit}}");
    assert_eq!(
        bed.git(&["cat-file", "--batch-all-objects", "--batch-check"])
            .find(&first),
        None,
        "{gone}"
    );
    bed.agent(&["reset", "-q", "--hard", &first]);
    bed.settle().unwrap();
    assert_eq!(bed.tip(), first);
    bed.assert_sound();
}

#[test]
fn ids_of_the_longer_format_come_in_as_well() {
    let bed = Bed::of_format(&["--object-format=sha256"]);
    bed.open();
    let commit = bed.agent_commits("b");
    bed.settle().unwrap();
    assert_eq!((bed.tip(), commit.len()), (commit, 64));
    bed.assert_sound();
}

#[test]
fn references_in_tables_are_refused_in_words() {
    let bed = Bed::of_format(&["--ref-format=reftable"]);
    let why = super::super::open(&bed.workspace(), &super::bed::w()).unwrap_err();
    assert!(why.contains("reftables"), "{why}");
    bed.settle().unwrap();
}

#[test]
fn a_repository_that_names_its_work_tree_gets_no_file_of_ours_there() {
    let bed = Bed::new();
    let top = bed.workspace().root().to_path_buf();
    bed.git(&["config", "core.worktree", top.to_str().unwrap()]);
    let before = bed.git(&["status", "--porcelain"]);
    bed.open();
    let loose = bed.agent_commits("b");
    bed.settle().unwrap();
    assert_eq!(bed.tip(), loose);
    let packed = bed.agent_commits("c");
    bed.agent(&["repack", "-d", "-q"]);
    bed.settle().unwrap();
    assert_eq!(bed.tip(), packed);
    assert_eq!(bed.git(&["status", "--porcelain"]), before);
}
