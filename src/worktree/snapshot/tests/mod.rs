//! Snapshots on real repositories: what is kept, told, and put back, and what is never touched.
#![expect(
    clippy::disallowed_methods,
    reason = "tests change files as a team would"
)]

mod exact;
mod limits;

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use super::{Form, Kept, SnapshotError, Undone, diff, keep, undo};
use crate::ids::SessionId;
use crate::process::capture;
use crate::workspace::Workspace;

struct Scratch {
    dir: tempfile::TempDir,
    session: SessionId,
}

impl Scratch {
    fn empty() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            session: SessionId::random(),
        }
    }

    /// A repository without commits.
    fn unborn() -> Self {
        let scratch = Self::empty();
        scratch.git(&["init", "-q", "-b", "main"]);
        scratch
    }

    /// A repository with `a.txt` and `dir/b.txt` committed and `*.log` ignored.
    fn committed() -> Self {
        let scratch = Self::unborn();
        scratch.put("a.txt", "one\n");
        scratch.put("dir/b.txt", "two\n");
        scratch.put(".gitignore", "*.log\n");
        scratch.commit("first");
        scratch
    }

    fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    fn workspace(&self) -> Workspace {
        Workspace::at(self.root())
    }

    fn git(&self, args: &[&str]) -> String {
        git(&self.root(), args)
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    fn put(&self, name: &str, text: &str) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.root().join(name)).ok()
    }

    fn remove(&self, name: &str) {
        let path = self.root().join(name);
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }

    fn keep(&self) {
        assert_eq!(keep(&self.workspace(), &self.session).unwrap(), Kept::Whole);
    }

    fn diff(&self, form: Form) -> String {
        diff(&self.workspace(), &self.session, form).unwrap().text
    }

    fn undo(&self) -> Undone {
        undo(&self.workspace(), &self.session).unwrap()
    }

    /// What a snapshot must leave as it is.
    fn untouched(&self) -> Vec<Option<Vec<u8>>> {
        [
            "index",
            "HEAD",
            "config",
            "logs/HEAD",
            "refs/stash",
            "info/exclude",
        ]
        .iter()
        .map(|name| fs::read(self.root().join(".git").join(name)).ok())
        .collect()
    }
}

fn git(dir: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.current_dir(dir).args([
        "-c",
        "user.name=Test",
        "-c",
        "user.email=test@example.invalid",
        "-c",
        "protocol.file.allow=always",
    ]);
    let done = capture::run(command.args(args), b"", 1 << 20, Duration::from_mins(1)).unwrap();
    assert!(
        done.status().is_some_and(|status| status.success()),
        "git {args:?}: {}",
        String::from_utf8_lossy(&done.stderr)
    );
    String::from_utf8(done.stdout)
        .unwrap()
        .trim_end()
        .to_owned()
}

/// Does to the files what a team does.
fn work(scratch: &Scratch) {
    scratch.put("a.txt", "changed\n");
    scratch.put("untracked.txt", "changed\n");
    scratch.put("made/new file \"ü\".txt", "new\n");
    scratch.put("made.log", "ignored\n");
    scratch.remove("dir/b.txt");
}

fn assert_as_before(scratch: &Scratch) {
    assert_eq!(scratch.text("a.txt").as_deref(), Some("one\n"));
    assert_eq!(scratch.text("dir/b.txt").as_deref(), Some("two\n"));
    assert_eq!(scratch.text("untracked.txt").as_deref(), Some("mine\n"));
    assert!(!scratch.root().join("made").exists());
    assert_eq!(scratch.text("made.log").as_deref(), Some("ignored\n"));
    assert_eq!(scratch.text("old.log").as_deref(), Some("mine too\n"));
}

#[test]
fn everything_a_team_did_is_told_and_taken_back_and_git_stays_as_it_was() {
    for born in [true, false] {
        let scratch = if born {
            Scratch::committed()
        } else {
            let scratch = Scratch::unborn();
            scratch.put("a.txt", "one\n");
            scratch.put("dir/b.txt", "two\n");
            scratch.put(".gitignore", "*.log\n");
            scratch
        };
        scratch.put("untracked.txt", "mine\n");
        scratch.put("old.log", "mine too\n");
        let before = scratch.untouched();
        scratch.keep();
        assert_eq!(
            keep(&scratch.workspace(), &scratch.session).unwrap(),
            Kept::Before
        );
        assert_eq!(scratch.diff(Form::Patch), "");
        work(&scratch);

        let objects = || {
            fs::read_dir(scratch.root().join(".git/objects"))
                .unwrap()
                .count()
        };
        let count = objects();
        let patch = scratch.diff(Form::Patch);
        for part in [
            "-one\n+changed",
            "-mine\n+changed",
            "+new",
            "-two",
            "made/new file",
        ] {
            assert!(patch.contains(part), "{part}: {patch}");
        }
        assert!(!patch.contains(".log"), "{patch}");
        let stat = scratch.diff(Form::Stat);
        assert!(stat.contains("4 files changed"), "{stat}");
        assert_eq!(objects(), count, "looking leaves no objects");

        let undone = scratch.undo();
        assert_eq!((undone.files, undone.head_was), (4, None));
        assert_as_before(&scratch);
        assert_eq!(scratch.untouched(), before);
        let replaced = undone.replaced.unwrap();
        assert_eq!(
            scratch.git(&["show", &format!("{replaced}:untracked.txt")]),
            "changed"
        );
        assert_eq!(scratch.undo(), Undone::default());
        scratch.git(&["fsck", "--strict"]);
    }
}

#[test]
fn commits_made_since_stay_and_are_named() {
    let scratch = Scratch::committed();
    let head = scratch.git(&["rev-parse", "HEAD"]);
    scratch.keep();
    scratch.put("a.txt", "merged\n");
    scratch.put("more.txt", "merged\n");
    scratch.commit("of the team");
    let now = scratch.git(&["rev-parse", "HEAD"]);
    let undone = scratch.undo();
    assert_eq!(undone.head_was, Some(head));
    assert_eq!(scratch.git(&["rev-parse", "HEAD"]), now);
    assert_eq!(
        scratch.git(&["status", "--porcelain"]),
        " M a.txt\n D more.txt"
    );
}

#[test]
fn links_modes_and_files_in_place_of_directories_come_back() {
    let scratch = Scratch::committed();
    let run = scratch.root().join("run.sh");
    scratch.put("run.sh", "#!/bin/sh\n");
    fs::set_permissions(&run, fs::Permissions::from_mode(0o755)).unwrap();
    symlink("a.txt", scratch.root().join("link")).unwrap();
    scratch.keep();
    fs::set_permissions(&run, fs::Permissions::from_mode(0o644)).unwrap();
    scratch.remove("link");
    scratch.put("link/inside", "x\n");
    scratch.remove("dir");
    scratch.put("dir", "a file now\n");
    scratch.undo();
    assert_eq!(
        fs::read_link(scratch.root().join("link")).unwrap(),
        Path::new("a.txt")
    );
    assert_eq!(
        fs::metadata(&run).unwrap().permissions().mode() & 0o111,
        0o111
    );
    assert_eq!(scratch.text("dir/b.txt").as_deref(), Some("two\n"));
}

#[test]
fn what_was_ignored_then_or_is_ignored_now_is_not_lost() {
    let scratch = Scratch::committed();
    scratch.put("secret.log", "a key\n");
    scratch.put("notes.md", "mine\n");
    scratch.keep();
    // What was ignored shows up now, and what was seen is hidden.
    scratch.put(".gitignore", "*.md\n");
    scratch.put("notes.md", "changed\n");
    assert!(scratch.diff(Form::Patch).contains("-mine\n+changed"));
    let undone = scratch.undo();
    assert_eq!(undone.ignored, [PathBuf::from("secret.log")]);
    assert_eq!(scratch.text("secret.log").as_deref(), Some("a key\n"));
    assert_eq!(scratch.text("notes.md").as_deref(), Some("mine\n"));
    let replaced = undone.replaced.unwrap();
    assert_eq!(
        scratch.git(&["show", &format!("{replaced}:notes.md")]),
        "changed"
    );
}

#[test]
fn an_ignored_file_in_the_way_is_named_and_nothing_is_restored() {
    let scratch = Scratch::committed();
    scratch.put("out", "a file\n");
    scratch.keep();
    scratch.remove("out");
    scratch.put("out/trace.log", "ignored\n");
    scratch.put("a.txt", "changed\n");
    let Err(SnapshotError::InTheWay(paths)) = undo(&scratch.workspace(), &scratch.session) else {
        panic!("it was restored");
    };
    assert_eq!(paths, [scratch.root().join("out/trace.log")]);
    assert_eq!(scratch.text("a.txt").as_deref(), Some("changed\n"));
    assert_eq!(scratch.text("out/trace.log").as_deref(), Some("ignored\n"));
}

#[test]
fn the_runtimes_own_files_are_in_no_snapshot_even_if_git_tracks_them() {
    let scratch = Scratch::committed();
    scratch.put(".tasks/task_00000001.json", "{}");
    scratch.put(".team/state/session.json", "{}");
    scratch.put(".team/team.json", "{}");
    scratch.commit("with the runtime's files");
    scratch.keep();
    scratch.put(".tasks/task_00000001.json", "moved on");
    scratch.put(".tasks/task_00000002.json", "moved on");
    scratch.put(".team/state/session.json", "moved on");
    scratch.put(".team/team.json", "changed");
    assert!(scratch.diff(Form::Stat).contains("1 file changed"));
    scratch.undo();
    assert_eq!(scratch.text(".team/team.json").as_deref(), Some("{}"));
    for own in [
        ".tasks/task_00000001.json",
        ".tasks/task_00000002.json",
        ".team/state/session.json",
    ] {
        assert_eq!(scratch.text(own).as_deref(), Some("moved on"), "{own}");
    }
}

#[test]
fn a_workspace_below_the_top_is_told_and_restored_alone() {
    let scratch = Scratch::committed();
    let below = Workspace::at(scratch.root().join("dir"));
    keep(&below, &scratch.session).unwrap();
    scratch.put("a.txt", "changed\n");
    scratch.put("dir/b.txt", "changed\n");
    scratch.put("dir/c.txt", "new\n");
    let patch = diff(&below, &scratch.session, Form::Patch).unwrap().text;
    assert!(
        patch.contains("b/c.txt") && !patch.contains("a.txt"),
        "{patch}"
    );
    undo(&below, &scratch.session).unwrap();
    assert_eq!(scratch.text("a.txt").as_deref(), Some("changed\n"));
    assert_eq!(scratch.text("dir/b.txt").as_deref(), Some("two\n"));
    assert_eq!(scratch.text("dir/c.txt"), None);
}

#[test]
fn repositories_within_are_neither_looked_into_nor_touched() {
    let scratch = Scratch::committed();
    let inner = Scratch::committed();
    scratch.git(&[
        "submodule",
        "--quiet",
        "add",
        inner.root().to_str().unwrap(),
        "sub",
    ]);
    scratch.commit("with a submodule");
    let outside = tempfile::tempdir().unwrap();
    let ran = outside.path().join("ran");
    let monitor = format!("touch '{}'", ran.display());
    git(
        &scratch.root().join("sub"),
        &["config", "core.fsmonitor", &monitor],
    );
    git(
        &scratch.root().join("sub"),
        &["config", "filter.x.clean", &monitor],
    );
    scratch.put("sub/.gitattributes", "* filter=x\n");
    let kept = keep(&scratch.workspace(), &scratch.session).unwrap();
    assert!(
        matches!(&kept, Kept::Partly(said) if said.ends_with(": sub/")),
        "{kept:?}"
    );
    scratch.put("sub/a.txt", "changed within\n");
    fs::create_dir(scratch.root().join("nested")).unwrap();
    git(&scratch.root().join("nested"), &["init", "-q"]);
    scratch.put("nested/file", "x\n");
    scratch.put("a.txt", "changed\n");
    let undone = scratch.undo();
    assert_eq!(scratch.text("a.txt").as_deref(), Some("one\n"));
    assert_eq!(
        scratch.text("sub/a.txt").as_deref(),
        Some("changed within\n")
    );
    assert_eq!(scratch.text("nested/file").as_deref(), Some("x\n"));
    assert!(
        !ran.exists(),
        "the inner repository's configuration ran something"
    );
    assert_eq!(undone.files, 1);
    assert_eq!(
        undone.left_out.repositories,
        ["nested/", "sub/"].map(PathBuf::from)
    );
}

#[test]
fn a_merge_in_progress_a_split_index_and_odd_settings_are_no_obstacle() {
    let scratch = Scratch::committed();
    scratch.git(&["checkout", "-q", "-b", "other"]);
    scratch.put("a.txt", "theirs\n");
    scratch.commit("theirs");
    scratch.git(&["checkout", "-q", "main"]);
    scratch.put("a.txt", "ours\n");
    scratch.commit("ours");
    scratch.git(&["update-index", "--split-index"]);
    for (key, value) in [
        ("core.hooksPath", "hooks"),
        ("commit.gpgSign", "true"),
        ("diff.noprefix", "true"),
        ("core.logAllRefUpdates", "always"),
        ("user.useConfigOnly", "true"),
    ] {
        scratch.git(&["config", key, value]);
    }
    let merge = std::panic::catch_unwind(|| scratch.git(&["merge", "-q", "other"]));
    assert!(merge.is_err(), "it conflicts");
    let before = scratch.untouched();
    let marked = scratch.text("a.txt");
    scratch.keep();
    scratch.put("a.txt", "resolved\n");
    assert!(scratch.diff(Form::Patch).contains("+++ b/a.txt"));
    scratch.undo();
    assert_eq!(scratch.text("a.txt"), marked);
    assert_eq!(scratch.untouched(), before);
}

/// git takes a file for unchanged that looks as it did when it was added, unless the index is no younger than the file.
#[test]
fn a_file_changed_in_the_moment_in_which_it_was_added_is_seen() {
    let scratch = Scratch::committed();
    let moment = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let dated = |name: &str| {
        let file = File::options().write(true).open(scratch.root().join(name));
        file.unwrap().set_modified(moment).unwrap();
    };
    for round in 0..5 {
        scratch.put("a.txt", "1111\n");
        dated("a.txt");
        scratch.git(&["add", "a.txt"]);
        scratch.put("a.txt", "2222\n");
        dated("a.txt");
        dated(".git/index");
        let session = SessionId::random();
        keep(&scratch.workspace(), &session).unwrap();
        let kept = scratch.git(&["show", &format!("refs/pitcrew/{session}:a.txt")]);
        assert_eq!(kept, "2222", "round {round}");
    }
}

#[test]
fn where_there_is_no_way_back_it_says_so() {
    let plain = Scratch::empty();
    plain.put("x", "");
    let said = keep(&plain.workspace(), &plain.session)
        .unwrap_err()
        .to_string();
    assert!(said.contains("not in a git checkout"), "{said}");
    let bare = Scratch::empty();
    bare.git(&["init", "-q", "--bare"]);
    assert!(matches!(
        keep(&bare.workspace(), &bare.session),
        Err(SnapshotError::NoCheckout)
    ));

    let scratch = Scratch::committed();
    let other = SessionId::random();
    let said = undo(&scratch.workspace(), &other).unwrap_err().to_string();
    assert!(said.contains("nothing was changed in it yet"), "{said}");
    scratch.keep();
    let said = diff(&scratch.workspace(), &other, Form::Stat)
        .unwrap_err()
        .to_string();
    assert!(
        said.contains(&format!("--session: {}", scratch.session)),
        "{said}"
    );
}

#[test]
fn an_unreadable_repository_within_leaves_the_rest_kept() {
    let scratch = Scratch::committed();
    fs::create_dir(scratch.root().join("half")).unwrap();
    git(&scratch.root().join("half"), &["init", "-q"]);
    scratch.put("mine.txt", "mine\n");
    let kept = keep(&scratch.workspace(), &scratch.session).unwrap();
    assert!(
        matches!(&kept, Kept::Partly(said) if said.contains("half")),
        "{kept:?}"
    );
    scratch.put("mine.txt", "changed\n");
    assert!(scratch.diff(Form::Patch).contains("-mine\n+changed"));
}
