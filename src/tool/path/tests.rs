//! Hostile paths, on a real directory tree.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::*;
use crate::policy::confinement::hidden;
use crate::tool::place::Place;

struct Tree {
    scratch: tempfile::TempDir,
}

impl Tree {
    /// A workspace with a worktree, runtime directories, a home, and links that lead out.
    fn new() -> Self {
        let tree = Self {
            scratch: tempfile::tempdir().unwrap(),
        };
        for dir in [
            "ws/src/deep",
            "ws/.git/hooks",
            "ws/.tasks",
            "ws/.team/state/tmp/alice",
            "ws/.team/state/tmp/bob",
            "ws/.worktrees/mine/src",
            "ws/.worktrees/other",
            "ws/vendor/lib/.git",
            "home/.ssh",
            "outside",
        ] {
            std::fs::create_dir_all(tree.at(dir)).unwrap();
        }
        for file in [
            "ws/src/a.rs",
            "ws/.worktrees/mine/.git",
            "outside/secret",
            "home/.ssh/key",
        ] {
            std::fs::File::create(tree.at(file)).unwrap();
        }
        let top = tree.at("");
        symlink(top.join("outside"), tree.at("ws/out")).unwrap();
        symlink("../outside/secret", tree.at("ws/stolen")).unwrap();
        symlink("src/a.rs", tree.at("ws/inner")).unwrap();
        symlink("nowhere", tree.at("ws/broken")).unwrap();
        symlink("loop", tree.at("ws/loop")).unwrap();
        symlink(".git", tree.at("ws/gitlink")).unwrap();
        symlink("../../.tasks", tree.at("ws/.worktrees/mine/board")).unwrap();
        tree
    }

    fn at(&self, path: &str) -> PathBuf {
        self.scratch.path().canonicalize().unwrap().join(path)
    }

    fn place(&self, dir: &str) -> Place {
        Place {
            tmp_seen: self.at("ws/.team/state/tmp/alice"),
            dir: self.at(dir),
            tmp: self.at("ws/.team/state/tmp/alice"),
            root: self.at("ws"),
            home: Some(self.at("home")),
            hidden: hidden(Some(&self.at("home")), Some(&self.at("settings"))),
        }
    }
}

#[test]
fn what_a_path_means_is_known_before_it_is_judged() {
    let tree = Tree::new();
    let place = tree.place("ws");
    let table: [(&str, &str, bool); 9] = [
        ("src/a.rs", "ws/src/a.rs", true),
        ("./src/../src/./a.rs", "ws/src/a.rs", true),
        ("inner", "ws/src/a.rs", true),
        ("src/deep/../../inner", "ws/src/a.rs", true),
        ("new/dir/file", "ws/new/dir/file", true),
        ("out/secret", "outside/secret", false),
        ("out/new", "outside/new", false),
        ("stolen", "outside/secret", false),
        ("../outside/secret", "outside/secret", false),
    ];
    for (given, meant, inside) in table {
        let target = resolve(&place, given, Access::Write).unwrap();
        assert_eq!(
            (&target.real, target.inside),
            (&tree.at(meant), inside),
            "{given}"
        );
    }
    let absolute = tree.at("ws/src/a.rs");
    let target = resolve(&place, absolute.to_str().unwrap(), Access::Read).unwrap();
    assert_eq!((target.shown.as_str(), target.inside), ("src/a.rs", true));
    let through = "out/../ws/src/a.rs";
    let target = resolve(&place, through, Access::Read).unwrap();
    assert_eq!(
        target.real,
        tree.at("ws/src/a.rs"),
        ".. goes up from where the link leads"
    );
}

#[test]
fn what_is_no_path_is_refused_in_words() {
    let tree = Tree::new();
    let place = tree.place("ws");
    let long = "x/".repeat(4000);
    for (given, why) in [
        ("", "empty"),
        ("a\0b", "NUL"),
        (long.as_str(), "4096"),
        ("broken", "does not exist"),
        ("broken/x", "does not exist"),
        ("src/a.rs/x", "not a directory"),
        ("src/a.rs/", "not a directory"),
        ("missing/../../x", "does not exist"),
        ("loop", "symbolic links"),
    ] {
        let said = resolve(&place, given, Access::Write).unwrap_err();
        assert!(said.contains(why), "{given:?}: {said}");
    }
}

#[test]
fn the_runtimes_and_gits_files_are_not_written_by_any_way() {
    let tree = Tree::new();
    let place = tree.place("ws");
    for given in [
        ".tasks/task_00000000.json",
        ".TASKS/x",
        "src/../.tasks/x",
        ".mailboxes/lead.jsonl",
        ".team/team.json",
        ".team/state/tmp/bob/x",
        ".git/hooks/post-commit",
        ".git",
        ".GIT/config",
        "gitlink/config",
        "vendor/lib/.git/config",
        "new/.git/config",
        ".worktrees/other/a",
        ".worktrees/mine/a",
        ".worktrees",
    ] {
        let said = resolve(&place, given, Access::Write).unwrap_err();
        assert!(said.contains("is refused"), "{given}: {said}");
    }
    for given in [
        ".gitignore",
        ".github/x",
        "tasks/x",
        "src/.tasks/x",
        ".team/state/tmp/alice/x",
    ] {
        let target = resolve(&place, given, Access::Write);
        assert!(target.is_ok_and(|target| target.inside), "{given}");
    }
    assert!(resolve(&place, ".tasks/x", Access::Read).is_ok());
}

#[test]
fn a_worktree_is_its_own_and_nobody_elses() {
    let tree = Tree::new();
    let place = tree.place("ws/.worktrees/mine");
    let target = resolve(&place, "src/new.rs", Access::Write).unwrap();
    assert_eq!((target.shown.as_str(), target.inside), ("src/new.rs", true));
    for given in [
        ".git",
        "../other/a",
        "../../.tasks/x",
        "board/x",
        "../../.git/config",
        "..",
    ] {
        let said = resolve(&place, given, Access::Write).unwrap_err();
        assert!(said.contains("is refused"), "{given}: {said}");
    }
    let target = resolve(&place, "../../src/a.rs", Access::Write).unwrap();
    assert!(!target.inside, "the workspace is outside of a worktree");
}

#[test]
fn places_of_secrets_and_devices_are_closed_for_reading_too() {
    let tree = Tree::new();
    let place = tree.place("ws");
    let key = tree.at("home/.ssh/key");
    for given in [
        key.to_str().unwrap(),
        "/proc/self/environ",
        "/dev/null",
        "/run/x",
    ] {
        for access in [Access::Read, Access::Write] {
            let said = resolve(&place, given, access).unwrap_err();
            assert!(said.contains("closed to agents"), "{given}: {said}");
        }
    }
    // Wherever a link keeps it, and wherever the settings are.
    std::fs::create_dir_all(tree.at("dots/settings")).unwrap();
    std::fs::File::create(tree.at("dots/netrc")).unwrap();
    symlink(tree.at("dots/netrc"), tree.at("home/.netrc")).unwrap();
    symlink(tree.at("dots/settings"), tree.at("settings")).unwrap();
    for given in [
        "../home/.netrc",
        "../dots/netrc",
        "../settings/trust.json",
        "../dots/settings/x",
        "../home/.pgpass",
    ] {
        for access in [Access::Read, Access::Write] {
            let said = resolve(&place, given, access).unwrap_err();
            assert!(said.contains("closed to agents"), "{given}: {said}");
        }
    }
    assert!(resolve(&place, "../home/.npmrc", Access::Read).is_ok());
    let at_home = tree.place("home");
    assert!(resolve(&at_home, ".ssh/key", Access::Read).is_err());
    // Nor is what stands beside a workspace there.
    std::fs::create_dir(tree.at("home/.ssh/ws")).unwrap();
    let there = Place {
        root: tree.at("home/.ssh/ws"),
        ..tree.place("home/.ssh/ws")
    };
    assert!(resolve(&there, "file", Access::Write).is_ok());
    assert!(resolve(&there, "../key", Access::Read).is_err());
}

#[test]
fn a_temporary_directory_that_became_a_link_is_not_the_agents() {
    let tree = Tree::new();
    let tmp = tree.at("ws/.team/state/tmp/alice");
    std::fs::remove_dir(&tmp).unwrap();
    symlink(tree.at("outside"), &tmp).unwrap();
    let target = resolve(&tree.place("ws"), ".team/state/tmp/alice/x", Access::Write).unwrap();
    assert_eq!((target.real, target.inside), (tree.at("outside/x"), false));
}

/// Resolves `given`, lets somebody act, then opens what was judged.
fn opened_after(tree: &Tree, given: &str, act: impl FnOnce()) -> std::io::Result<Option<Vec<u8>>> {
    let target = resolve(&tree.place("ws"), given, Access::Write).unwrap();
    act();
    let opened = Opened::parent_of(&target.real, true)?;
    Ok(opened.content(100)?.map(|(bytes, _)| bytes))
}

#[test]
fn a_link_put_in_between_is_not_followed() {
    let tree = Tree::new();
    let swap = |from: &str, to: &str| {
        let path = tree.at(from);
        let gone = std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(&path));
        gone.unwrap();
        symlink(tree.at(to), path).unwrap();
    };
    let said = opened_after(&tree, "src/a.rs", || swap("ws/src/a.rs", "outside/secret"));
    assert!(
        said.unwrap_err().to_string().contains("link"),
        "the file itself"
    );
    let said = opened_after(&tree, "src/deep/new", || swap("ws/src/deep", "outside"));
    assert!(said.is_err(), "a directory on the way");
    let said = opened_after(&tree, "fresh/dir/new", || {
        symlink(tree.at("outside"), tree.at("ws/fresh")).unwrap();
    });
    assert!(said.is_err(), "a directory that was to be made");
    assert_eq!(std::fs::read_dir(tree.at("outside")).unwrap().count(), 1);
}

#[test]
fn what_is_not_a_plain_file_is_neither_read_nor_waited_for() {
    let tree = Tree::new();
    nix::unistd::mkfifo(&tree.at("ws/fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let said = opened_after(&tree, "fifo", || {}).unwrap_err();
    assert!(said.to_string().contains("not a plain file"), "{said}");
    let said = opened_after(&tree, "src", || {}).unwrap_err();
    assert!(said.to_string().contains("directory"), "{said}");
    assert!(Opened::parent_of(Path::new("/"), false).is_err());
}

#[test]
fn new_directories_and_files_are_as_open_as_their_parent() {
    use std::os::unix::fs::PermissionsExt;
    let tree = Tree::new();
    let set = |path: &str, mode: u32| {
        std::fs::set_permissions(tree.at(path), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for (open, file) in [(0o755, 0o644), (0o700, 0o600), (0o775, 0o664)] {
        set("ws/src", open);
        let dir = format!("ws/src/new{open:o}/sub");
        let opened = Opened::parent_of(&tree.at(&dir).join("x"), true).unwrap();
        assert_eq!(opened.mode_of_new().unwrap(), file);
        let made = std::fs::metadata(tree.at(&dir))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(made & 0o777, open);
    }
}
