//! Worktrees on real repositories: what is refused before anything is made, what a failure leaves, what counts as usable.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use pitcrew::ids::WorktreeName;
use pitcrew::process::capture;
use pitcrew::workspace::Workspace;
use pitcrew::worktree::{self, CreateError};

/// A directory to make repositories in.
struct Scratch {
    dir: tempfile::TempDir,
}

impl Scratch {
    fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    /// A repository with one commit on `main`.
    fn repository(&self, name: &str) -> PathBuf {
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

fn try_git(dir: &Path, args: &[&str]) -> Result<String, String> {
    let mut command = Command::new("git");
    command
        .current_dir(dir)
        .args(["-c", "protocol.file.allow=always"])
        .args(args);
    let done = capture::run(&mut command, b"", 1 << 20, Duration::from_mins(1)).unwrap();
    if done.status.is_some_and(|status| status.success()) {
        Ok(String::from_utf8(done.stdout)
            .unwrap()
            .trim_end()
            .to_owned())
    } else {
        Err(String::from_utf8_lossy(&done.stderr).into_owned())
    }
}

#[track_caller]
fn git(dir: &Path, args: &[&str]) -> String {
    try_git(dir, args).unwrap_or_else(|said| panic!("git {args:?}: {said}"))
}

#[expect(clippy::disallowed_methods, reason = "a test makes plain files")]
fn put(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn name(text: &str) -> WorktreeName {
    WorktreeName::parse(text).unwrap()
}

fn workspace(root: &Path) -> Workspace {
    Workspace::at(root.to_path_buf())
}

/// Every file below `dir` with its bytes: to see that nothing has changed.
fn snapshot(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
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

/// The refusal of `create`, which has changed nothing.
#[track_caller]
fn refused(root: &Path, worktree: &str) -> String {
    let before = snapshot(root);
    let said = match worktree::create(&workspace(root), &name(worktree)) {
        Err(CreateError::Refused(said)) => said,
        other => panic!("{other:?}"),
    };
    assert!(snapshot(root) == before, "something was changed: {said}");
    said
}

#[test]
fn a_worktree_is_made_on_its_branch_and_the_configuration_stays() {
    let scratch = Scratch::new();
    for odd in [
        "plain",
        "with space",
        "it's \"quoted\"",
        "ünï-çødé",
        "$(x) `y`",
    ] {
        let root = scratch.repository(odd);
        git(&root, &["config", "branch.autoSetupMerge", "always"]);
        git(&root, &["config", "worktree.useRelativePaths", "true"]);
        git(&root, &["config", "core.hooksPath", ".hooks"]);
        put(
            &root.join(".hooks/post-checkout"),
            "#!/bin/sh\ntouch \"$HOOKED\" hooked\n",
        );
        let hook = root.join(".hooks/post-checkout");
        std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
        put(&root.join("a.txt"), "changed\n");
        put(&root.join("new.txt"), "untracked\n");
        let config = std::fs::read(root.join(".git/config")).unwrap();
        let space = workspace(&root);

        let made = worktree::create(&space, &name("fix-1")).unwrap();

        assert_eq!(made.uncommitted, 3, "{odd}: a.txt, new.txt and .hooks");
        let path = space.worktree(&made.name);
        assert_eq!(git(&path, &["branch", "--show-current"]), "wt/fix-1");
        assert_eq!(
            std::fs::read_to_string(path.join("a.txt")).unwrap(),
            "one\n"
        );
        assert!(!path.join("hooked").exists(), "a hook ran");
        assert_eq!(std::fs::read(root.join(".git/config")).unwrap(), config);
        assert_eq!(worktree::usable(&space, &made.name), Ok(()));
        let status = git(&root, &["status", "--porcelain"]);
        assert!(!status.contains(".worktrees"), "{status}");
    }
}

#[test]
fn a_detached_head_is_a_start_like_any_other() {
    let scratch = Scratch::new();
    let root = scratch.repository("mine");
    git(&root, &["checkout", "-q", "--detach"]);
    let made = worktree::create(&workspace(&root), &name("from-detached")).unwrap();
    let path = workspace(&root).worktree(&made.name);
    assert_eq!(
        git(&path, &["rev-parse", "HEAD"]),
        git(&root, &["rev-parse", "HEAD"])
    );
}

#[test]
fn places_without_a_usable_checkout_are_refused_by_name() {
    let scratch = Scratch::new();
    let plain = scratch.path().join("plain");
    put(&plain.join("x"), "");
    assert!(refused(&plain, "a").contains("not a git checkout"));

    let empty = scratch.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    git(&empty, &["init", "-q"]);
    assert!(refused(&empty, "a").contains("no commit yet"));

    let root = scratch.repository("whole");
    put(&root.join("sub/x"), "");
    let said = refused(&root.join("sub"), "a");
    assert!(said.contains("not the top"), "{said}");
    assert!(!root.join("sub/.worktrees").exists());

    let bare = scratch.path().join("bare.git");
    git(
        &scratch.path(),
        &["clone", "-q", "--bare", "whole", "bare.git"],
    );
    assert!(refused(&bare, "a").contains("bare repository"));
}

#[test]
fn names_and_branches_in_the_way_are_refused_by_name() {
    let scratch = Scratch::new();
    let root = scratch.repository("r");
    for bad in ["a.lock", "a."] {
        let said = refused(&root, bad);
        assert!(said.contains("no branch of the name"), "{said}");
    }
    git(&root, &["branch", "wt/taken"]);
    let said = refused(&root, "taken");
    assert!(said.contains("branch wt/taken exists already"), "{said}");
    git(&root, &["branch", "wt/deep/er"]);
    let said = refused(&root, "deep");
    assert!(said.contains("wt/deep/er exists"), "{said}");

    let root = scratch.repository("s");
    git(&root, &["branch", "wt"]);
    let said = refused(&root, "a");
    assert!(said.contains("branch wt exists"), "{said}");
}

#[test]
fn paths_in_the_way_are_refused_by_name() {
    let scratch = Scratch::new();
    let root = scratch.repository("r");
    let elsewhere = scratch.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, root.join(".worktrees")).unwrap();
    assert!(refused(&root, "a").contains(".worktrees is a symbolic link"));
    assert_eq!(snapshot(&elsewhere).len(), 0);

    let root = scratch.repository("file");
    put(&root.join(".worktrees"), "");
    assert!(refused(&root, "a").contains(".worktrees is not a directory"));

    let root = scratch.repository("s");
    put(&root.join(".worktrees/a/x"), "");
    assert!(refused(&root, "a").contains("exists already"));
    symlink("nowhere", root.join(".worktrees/b")).unwrap();
    assert!(refused(&root, "b").contains("exists already"));

    let made = worktree::create(&workspace(&root), &name("gone")).unwrap();
    std::fs::remove_dir_all(workspace(&root).worktree(&made.name)).unwrap();
    git(&root, &["update-ref", "-d", "refs/heads/wt/gone"]);
    let said = refused(&root, "gone");
    assert!(said.contains("git worktree prune"), "{said}");
}

#[test]
fn submodules_are_refused_with_the_reason() {
    let scratch = Scratch::new();
    let root = scratch.repository("outer");
    scratch.repository("inner");
    let inner = scratch.path().join("inner");
    git(
        &root,
        &[
            "submodule",
            "--quiet",
            "add",
            inner.to_str().unwrap(),
            "lib/in ner",
        ],
    );
    git(&root, &["commit", "-q", "-m", "submodule"]);
    let said = refused(&root, "a");
    assert!(said.contains("submodule at lib/in ner"), "{said}");
}

#[test]
fn a_linked_worktree_is_a_workspace_of_its_own() {
    let scratch = Scratch::new();
    let main = scratch.repository("main");
    git(&main, &["worktree", "add", "-q", "-b", "side", "../side"]);
    let side = workspace(&scratch.path().join("side"));
    let made = worktree::create(&side, &name("deep")).unwrap();
    assert_eq!(worktree::usable(&side, &made.name), Ok(()));
    assert!(side.root().join(".worktrees/deep/a.txt").exists());
    let exclude = std::fs::read_to_string(main.join(".git/info/exclude")).unwrap();
    assert!(exclude.contains("\n.worktrees/\n"), "{exclude}");
    assert!(git(side.root(), &["status", "--porcelain"]).is_empty());
}

#[test]
fn what_a_failed_git_left_is_listed_and_not_deleted() {
    let scratch = Scratch::new();
    let root = scratch.repository("r");
    put(&root.join(".gitattributes"), "*.txt filter=broken\n");
    git(&root, &["add", "."]);
    git(&root, &["commit", "-q", "-m", "attributes"]);
    git(&root, &["config", "filter.broken.clean", "cat"]);
    git(&root, &["config", "filter.broken.smudge", "false"]);
    git(&root, &["config", "filter.broken.required", "true"]);
    let said = match worktree::create(&workspace(&root), &name("half")) {
        Err(CreateError::Partial(said)) => said,
        other => panic!("{other:?}"),
    };
    assert!(said.starts_with("Partial operation"), "{said}");
    assert!(said.contains("the branch wt/half"), "{said}");
    assert!(said.contains("still unbound"), "{said}");
    assert!(said.contains("git branch -D wt/half"), "{said}");
    let branch = try_git(
        &root,
        &["rev-parse", "--verify", "-q", "refs/heads/wt/half"],
    );
    assert!(branch.is_ok(), "the branch was deleted");
    assert_eq!(
        said.contains("the directory"),
        workspace(&root).worktree(&name("half")).exists()
    );
}

#[test]
fn a_failure_that_left_nothing_is_a_plain_refusal() {
    let scratch = Scratch::new();
    let root = scratch.repository("r");
    // git cannot make the branch: its log's place is taken by a file.
    put(&root.join(".git/logs/refs/heads/wt"), "");
    match worktree::create(&workspace(&root), &name("a")) {
        Err(CreateError::Refused(said)) => assert!(said.contains("nothing was left"), "{said}"),
        other => panic!("{other:?}"),
    }
    assert!(!root.join(".worktrees").exists());
}

/// A repository with the worktree `w`, used and changed by `change`; what `usable` says then.
#[track_caller]
fn usable_after(change: impl FnOnce(&Path, &Path)) -> Result<(), String> {
    let scratch = Scratch::new();
    let root = scratch.repository("r");
    let space = workspace(&root);
    worktree::create(&space, &name("w")).unwrap();
    change(&root, &space.worktree(&name("w")));
    worktree::usable(&space, &name("w"))
}

#[test]
fn broken_worktrees_are_not_usable_and_say_why() {
    type Change = fn(&Path, &Path);
    let table: [(&str, Change); 9] = [
        ("is missing", |_, path| {
            std::fs::remove_dir_all(path).unwrap();
        }),
        ("not registered", |root, _| {
            std::fs::remove_dir_all(root.join(".git/worktrees")).unwrap();
        }),
        ("it is on branch other, not wt/w", |_, path| {
            git(path, &["checkout", "-q", "-b", "other"]);
        }),
        ("it is on no branch", |_, path| {
            git(path, &["checkout", "-q", "--detach"]);
        }),
        (".git file is missing or was changed", |_, path| {
            std::fs::remove_file(path.join(".git")).unwrap();
        }),
        (".git file was changed", |root, path| {
            put(
                &path.join(".git"),
                &format!("gitdir: {}\n", root.join(".git").display()),
            );
        }),
        ("symbolic link", |root, path| {
            std::fs::remove_dir_all(path).unwrap();
            symlink(root, path).unwrap();
        }),
        ("commondir file was changed", |root, _| {
            put(&root.join(".git/worktrees/w/commondir"), "/tmp\n");
        }),
        ("not in a git checkout", |root, _| {
            std::fs::remove_dir_all(root.join(".git")).unwrap();
        }),
    ];
    for (wanted, change) in table {
        let said = usable_after(change).unwrap_err();
        assert!(said.contains(wanted), "wanted {wanted:?}: {said}");
    }
}

#[test]
fn ordinary_work_keeps_a_worktree_usable() {
    let rebased = usable_after(|root, path| {
        put(&path.join("a.txt"), "theirs\n");
        git(path, &["commit", "-q", "-a", "-m", "theirs"]);
        put(&root.join("a.txt"), "ours\n");
        git(root, &["commit", "-q", "-a", "-m", "ours"]);
        try_git(path, &["rebase", "-q", "main"]).unwrap_err();
    });
    assert_eq!(rebased, Ok(()));
    let bisected = usable_after(|_, path| {
        put(&path.join("a.txt"), "two\n");
        git(path, &["commit", "-q", "-a", "-m", "two"]);
        git(path, &["bisect", "start", "HEAD", "HEAD~1"]);
        git(path, &["checkout", "-q", "--detach"]);
    });
    assert_eq!(bisected, Ok(()));
    let packed = usable_after(|root, _| {
        git(root, &["pack-refs", "--all"]);
    });
    assert_eq!(packed, Ok(()));
}

#[test]
fn a_moved_workspace_says_how_to_repair_its_worktrees() {
    let scratch = Scratch::new();
    let root = scratch.repository("old");
    worktree::create(&workspace(&root), &name("w")).unwrap();
    let moved = scratch.path().join("new");
    #[expect(clippy::disallowed_methods, reason = "a test moves a directory")]
    std::fs::rename(&root, &moved).unwrap();
    let said = worktree::usable(&workspace(&moved), &name("w")).unwrap_err();
    assert!(said.contains("git worktree repair"), "{said}");
    let path = moved.join(".worktrees/w");
    git(&moved, &["worktree", "repair", path.to_str().unwrap()]);
    assert_eq!(worktree::usable(&workspace(&moved), &name("w")), Ok(()));
}

#[test]
fn the_summary_counts_commits_and_changes_whatever_the_git_file_says() {
    let scratch = Scratch::new();
    let root = scratch.repository("r");
    let space = workspace(&root);
    assert_eq!(worktree::summary(&space, &name("w")), None);
    worktree::create(&space, &name("w")).unwrap();
    let path = space.worktree(&name("w"));
    put(&path.join("b.txt"), "b\n");
    git(&path, &["add", "."]);
    git(&path, &["commit", "-q", "-m", "add b"]);
    put(&path.join("c.txt"), "c\n");
    let told = worktree::summary(&space, &name("w")).unwrap();
    for part in [
        "branch wt/w",
        "1 commit ahead",
        "1 uncommitted change",
        "add b",
        "b.txt | 1 +",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    put(&path.join(".git"), "gitdir: /elsewhere\n");
    let told = worktree::summary(&space, &name("w")).unwrap();
    assert!(told.contains(".git file was changed"), "{told}");
}

#[test]
fn runtime_files_are_kept_out_of_git_once_and_nothing_tracked_is_touched() {
    let scratch = Scratch::new();
    let root = scratch.repository("r");
    let file = root.join(".git/info/exclude");
    put(&file, "mine");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    let space = workspace(&root);
    worktree::exclude_runtime_files(&space).unwrap();
    let once = std::fs::read_to_string(&file).unwrap();
    worktree::exclude_runtime_files(&space).unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), once);
    assert_eq!(
        once,
        "mine\n.tasks/\n.mailboxes/\n.worktrees/\n.team/state/\n"
    );
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);

    put(&root.join("tracked-exclude"), "");
    std::fs::remove_file(&file).unwrap();
    symlink("../../tracked-exclude", &file).unwrap();
    worktree::exclude_runtime_files(&space).unwrap();
    assert_eq!(
        std::fs::read_to_string(root.join("tracked-exclude")).unwrap(),
        ""
    );

    let plain = scratch.path().join("plain");
    std::fs::create_dir(&plain).unwrap();
    worktree::exclude_runtime_files(&workspace(&plain)).unwrap();
    assert_eq!(snapshot(&plain).len(), 0);
}

#[test]
fn a_workspace_below_the_top_keeps_its_own_files_out() {
    let scratch = Scratch::new();
    let root = scratch.repository("r");
    let sub = root.join("pro ject [x]");
    put(&sub.join(".tasks/task_00000000.json"), "{}");
    put(&sub.join(".team/state/session.json"), "{}");
    put(&sub.join(".team/team.json"), "{}");
    worktree::exclude_runtime_files(&workspace(&sub)).unwrap();
    let status = git(
        &root,
        &[
            "-c",
            "core.quotePath=false",
            "status",
            "--porcelain",
            "-uall",
            "-z",
        ],
    );
    assert_eq!(status, "?? pro ject [x]/.team/team.json\0");
}
