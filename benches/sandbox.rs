//! What guard and sandbox cost a command, over starting the same shell plainly, all in one run; and what it costs to have a
//! worktree's git ready for a command and to take over what the command has committed.
//!
//! `cargo bench --bench sandbox`, for one of both with `-- commands` or `-- commits`; the bars are 2.2 ms at the median for
//! guard and sandbox, and 16 ms for a commit of ten objects, on two idle cores.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench that cannot go on ends, and plays the person"
)]

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use pitcrew::cancel::Cancel;
use pitcrew::clock;
use pitcrew::ids::WorktreeName;
use pitcrew::process::child;
use pitcrew::process::guard::{End, ShellCall, run_shell, use_guard_binary};
use pitcrew::process::sandbox::{Bind, Parts, Sandbox};
use pitcrew::workspace::Workspace;
use pitcrew::worktree::{self, view};

const RUNS: usize = 400;
const COMMITS: usize = 50;

const SHELL: &str = "/bin/bash";

fn main() {
    use_guard_binary(env!("CARGO_BIN_EXE_lead").into());
    let word = std::env::args().find(|word| word.starts_with("comm"));
    if word.as_deref() != Some("commits") {
        commands();
    }
    if word.as_deref() != Some("commands") {
        commits();
    }
}

fn commands() {
    let top = tempfile::tempdir_in("/var/tmp").unwrap();
    let top = top.path().canonicalize().unwrap();
    for dir in [
        "work/.tasks",
        "work/.git",
        "tmp",
        "home/.ssh",
        "home/.cache",
    ] {
        std::fs::create_dir_all(top.join(dir)).unwrap();
    }
    let full = plan(&top);
    let without = |namespaces, landlock| Sandbox {
        parts: Parts {
            namespaces,
            landlock,
        },
        ..full.clone()
    };
    let calls: Vec<(&str, Option<ShellCall>)> = vec![
        ("plain", None),
        ("guard", Some(call(&top, None))),
        (
            "guard, Landlock",
            Some(call(&top, Some(without(false, true)))),
        ),
        (
            "guard, namespaces",
            Some(call(&top, Some(without(true, false)))),
        ),
        ("guard, sandbox", Some(call(&top, Some(full.clone())))),
        (
            "guard, sandbox, no network",
            Some(call(
                &top,
                Some(Sandbox {
                    network: false,
                    ..full.clone()
                }),
            )),
        ),
    ];
    let mut times = vec![Vec::new(); calls.len()];
    // One after another in turn, so that all see the same machine.
    for _ in 0..RUNS {
        for ((_, call), times) in calls.iter().zip(&mut times) {
            let begun = clock::instant();
            match call {
                None => plain(&top),
                Some(call) => guarded(call),
            }
            times.push(begun.elapsed());
        }
    }
    let plain = median(&mut times[0]);
    for ((name, _), times) in calls.iter().zip(&mut times) {
        let median = median(times);
        println!(
            "{name:<28} least {:>6.2} ms, p50 {:>6.2} ms, over plain {:>5.2} ms, p99 {:>6.2} ms",
            ms(times[0]),
            ms(median),
            ms(median) - ms(plain),
            ms(times[RUNS * 99 / 100])
        );
    }
}

/// Commits of eight new files by an agent in its own view of the repository.
fn commits() {
    let top = tempfile::tempdir_in("/var/tmp").unwrap();
    let top = top.path().canonicalize().unwrap();
    let root = top.join("work");
    for dir in ["work/.tasks", "tmp", "home/.ssh", "home/.cache"] {
        std::fs::create_dir_all(top.join(dir)).unwrap();
    }
    for line in [
        "init -q -b main",
        "config user.name bench",
        "config user.email bench@example.org",
        "commit -q --allow-empty -m first",
    ] {
        git(&root, line);
    }
    let (workspace, name) = (Workspace::at(root), WorktreeName::parse("w").unwrap());
    worktree::create(&workspace, &name).unwrap();
    let (mut ready, mut taken_over) = (Vec::new(), Vec::new());
    for number in 0..COMMITS {
        let begun = clock::instant();
        let binds = view::open(&workspace, &name).unwrap();
        ready.push(begun.elapsed());
        guarded(&commit(&top, workspace.worktree(&name), binds, number));
        let begun = clock::instant();
        view::settle(&workspace, &name).unwrap();
        taken_over.push(begun.elapsed());
    }
    let log = git(workspace.root(), "rev-list --count wt/w");
    assert_eq!(log.trim(), (COMMITS + 1).to_string());
    for (what, times) in [
        ("view made ready", &mut ready),
        ("commit taken over", &mut taken_over),
    ] {
        let median = median(times);
        println!(
            "{what:<28} least {:>6.2} ms, p50 {:>6.2} ms",
            ms(times[0]),
            ms(median)
        );
    }
}

fn commit(top: &Path, dir: PathBuf, binds: Vec<Bind>, number: usize) -> ShellCall {
    let sandbox = Sandbox {
        read_only: Vec::new(),
        shown: vec![top.join("work"), top.join("home")],
        dir: dir.clone(),
        binds,
        ..plan(top)
    };
    ShellCall {
        command: format!(
            "for file in 1 2 3 4 5 6 7 8; do echo {number} $file >$file; done; git add . && git commit -q -m {number}"
        ),
        dir,
        ..call(top, Some(sandbox))
    }
}

fn git(dir: &Path, line: &str) -> String {
    let mut command = Command::new("git");
    let done = command.args(line.split(' ')).current_dir(dir).output();
    let done = done.unwrap();
    assert!(done.status.success(), "git {line}: {done:?}");
    String::from_utf8(done.stdout).unwrap()
}

fn plan(top: &Path) -> Sandbox {
    let work = top.join("work");
    Sandbox {
        writable: vec![top.join("home/.cache")],
        read_only: vec![work.join(".tasks"), work.join(".git")],
        binds: Vec::new(),
        hidden: vec![top.join("home/.ssh")],
        tmp: top.join("tmp"),
        shown: vec![work.clone(), top.join("home")],
        sockets: Vec::new(),
        network: true,
        parts: Parts {
            namespaces: true,
            landlock: true,
        },
        dir: work,
    }
}

fn call(top: &Path, sandbox: Option<Sandbox>) -> ShellCall {
    ShellCall {
        command: ":".into(),
        dir: top.join("work"),
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        timeout: Duration::from_mins(1),
        spill: PathBuf::from("/nonexistent/spill"),
        sandbox,
        keep: 1000,
    }
}

fn guarded(call: &ShellCall) {
    let done = run_shell(call, &Arc::new(Cancel::new())).unwrap();
    assert_eq!(done.end, End::Exited(0), "{}", done.output);
}

fn plain(top: &Path) {
    let mut command = Command::new(SHELL);
    command
        .args(["-c", ":"])
        .current_dir(top.join("work"))
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let (child, pipes) = child::spawn(&mut command).unwrap();
    let mut output = Vec::new();
    pipes.stdout.unwrap().read_to_end(&mut output).unwrap();
    assert!(child.wait().success());
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
