//! The area `process` as real processes see it: shell commands beneath a real guard.
//!
//! Needs Linux for what is said about processes left behind.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use nix::sys::signal::Signal;
use nix::unistd::Pid;
use pitcrew::cancel::Cancel;
use pitcrew::clock::instant;
use pitcrew::process::guard::{End, ShellCall, ShellResult, run_shell, use_guard_binary};
use pitcrew::process::{child, harden, signals};
use tempfile::TempDir;

use crate::support::DEADLINE;

const LONG: Duration = Duration::from_mins(1);

struct Scratch {
    dir: TempDir,
}

impl Scratch {
    fn new() -> Self {
        use_guard_binary(env!("CARGO_BIN_EXE_lead").into());
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn call(&self, command: &str) -> ShellCall {
        ShellCall {
            command: command.into(),
            dir: self.dir.path().into(),
            env: vec![("PATH".into(), path_variable())],
            timeout: LONG,
            spill: self.path("spill.txt"),
            sandbox: None,
            keep: 1000,
        }
    }

    fn run(&self, command: &str) -> ShellResult {
        run_shell(&self.call(command), &Arc::new(Cancel::new())).unwrap()
    }

    /// A pid that a command wrote into the file `name`.
    fn pid_in(&self, name: &str) -> u32 {
        eventually(&format!("a pid in {name}"), || {
            std::fs::read_to_string(self.path(name))
                .ok()?
                .strip_suffix('\n')?
                .parse()
                .ok()
        })
    }
}

#[expect(clippy::disallowed_methods, reason = "commands need a PATH")]
fn path_variable() -> OsString {
    std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into())
}

fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = instant() + LONG;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(instant() < until, "never came: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Alive and no zombie.
fn lives(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap().starts_with(" Z"))
}

fn wait_until_gone(pid: u32) {
    eventually(&format!("the end of {pid}"), || (!lives(pid)).then_some(()));
}

#[test]
fn status_and_both_streams_in_order() {
    let scratch = Scratch::new();
    let done = scratch.run("echo out; echo err >&2; echo out; exit 3");
    assert_eq!(done.end, End::Exited(3));
    assert_eq!(done.output, "out\nerr\nout\n");
    assert_eq!((done.spilled, done.leftovers), (None, 0));
    assert_eq!(scratch.run("kill -9 $$").end, End::Signalled(9));
    assert_eq!(scratch.run("kill -40 $$").end, End::Signalled(40));
    assert_eq!(scratch.run("no_such_program").end, End::Exited(127));
}

#[test]
fn a_command_has_a_session_of_its_own_and_no_terminal_and_no_input() {
    let scratch = Scratch::new();
    let done =
        scratch.run("cat; ps -o sid= -p $$; (: </dev/tty) 2>/dev/null || echo none; echo $PPID");
    let session = nix::unistd::getsid(None).unwrap().to_string();
    let lines: Vec<&str> = done.output.lines().map(str::trim).collect();
    assert_ne!(lines[0], session);
    assert_eq!(lines[0], lines[2], "the guard leads the session");
    assert_eq!(lines[1], "none");
}

#[test]
fn a_command_holds_only_its_own_three_descriptors() {
    let scratch = Scratch::new();
    // One that whoever started the agent has left open for its children.
    let file = std::fs::File::open("/dev/null").unwrap();
    nix::fcntl::fcntl(&file, nix::fcntl::FcntlArg::F_DUPFD(40)).unwrap();
    let done = scratch.run("ls /proc/$$/fd >held; sort -n held; readlink /proc/$$/fd/0");
    // What bash keeps for itself is above 250.
    let held: Vec<&str> = done.output.lines().filter(|fd| *fd != "255").collect();
    assert_eq!(held, ["0", "1", "2", "/dev/null"]);
}

#[test]
fn only_the_given_environment_and_directory_hold() {
    let scratch = Scratch::new();
    let mut call = scratch.call("pwd; env | grep -v '^_=\\|^PWD=\\|^SHLVL=\\|^PATH=\\|^OLDPWD='");
    call.env.push(("MINE".into(), "1".into()));
    let done = run_shell(&call, &Arc::new(Cancel::new())).unwrap();
    let dir = scratch.dir.path().canonicalize().unwrap();
    assert_eq!(done.output, format!("{}\nMINE=1\n", dir.display()));
}

#[test]
fn background_children_neither_hold_the_call_nor_outlive_it() {
    for (script, left) in [
        ("sleep 300 & echo $! >pid; echo hi", 1),
        ("nohup sleep 300 >/dev/null 2>&1 & echo $! >pid; echo hi", 1),
        (
            "setsid sh -c 'sleep 300 & echo $! >pid; wait' & while [ ! -s pid ]; do :; done; echo hi",
            2,
        ),
        (
            "(setsid sh -c 'echo $$ >pid; exec sleep 300' </dev/null >/dev/null 2>&1 &); while [ ! -s pid ]; do :; done; echo hi",
            1,
        ),
        ("yes & echo $! >pid; exec >/dev/null; echo hi >&2", 1),
        (
            "trap '' TERM HUP; sh -c 'while :; do sleep 300; done' & echo $! >pid; echo hi",
            1,
        ),
    ] {
        let scratch = Scratch::new();
        let begin = instant();
        let done = scratch.run(script);
        assert_eq!(done.end, End::Exited(0), "{script}");
        assert!(
            done.output.contains("hi\n") || done.spilled.is_some(),
            "{script}: {}",
            done.output
        );
        assert!(begin.elapsed() < DEADLINE, "{script}");
        assert!(!lives(scratch.pid_in("pid")), "{script}");
        assert!(done.leftovers >= left, "{script}: {}", done.leftovers);
    }
}

#[test]
fn what_ends_by_itself_is_no_leftover() {
    let scratch = Scratch::new();
    assert_eq!(scratch.run("cat <(echo in); yes | head -1").leftovers, 0);
    assert_eq!(scratch.run("true & wait").leftovers, 0);
}

#[test]
fn a_timeout_ends_even_what_ignores_being_asked_and_keeps_the_output() {
    let scratch = Scratch::new();
    let mut call =
        scratch.call("echo $$ >pid; echo begun; trap '' TERM; sleep 999 & wait; sleep 999");
    call.timeout = Duration::from_millis(300);
    let begin = instant();
    let done = run_shell(&call, &Arc::new(Cancel::new())).unwrap();
    assert_eq!(done.end, End::TimedOut);
    assert_eq!(done.output, "begun\n");
    assert!(begin.elapsed() < DEADLINE);
    assert!(!lives(scratch.pid_in("pid")));
}

#[test]
fn a_command_that_is_asked_to_end_may_clean_up() {
    let scratch = Scratch::new();
    let mut call = scratch.call("trap 'echo cleaned; exit 5' TERM; echo begun; sleep 999 & wait");
    call.timeout = Duration::from_millis(300);
    let done = run_shell(&call, &Arc::new(Cancel::new())).unwrap();
    assert_eq!(
        (done.end, done.output.as_str()),
        (End::TimedOut, "begun\ncleaned\n")
    );
}

#[test]
fn cancelling_ends_the_call() {
    let scratch = Scratch::new();
    let cancel = Arc::new(Cancel::new());
    let call = scratch.call("echo $$ >pid; sleep 999");
    let running = std::thread::spawn({
        let cancel = Arc::clone(&cancel);
        move || run_shell(&call, &cancel).unwrap()
    });
    let pid = scratch.pid_in("pid");
    cancel.cancel();
    assert_eq!(running.join().unwrap().end, End::Cancelled);
    assert!(!lives(pid));
    let again = run_shell(&scratch.call("touch ran"), &cancel).unwrap();
    assert_eq!(again.end, End::Cancelled);
    assert!(!scratch.path("ran").exists());
}

#[test]
fn large_output_is_cut_in_the_middle_and_kept_in_a_file() {
    let scratch = Scratch::new();
    let done = scratch.run("seq 1 20000");
    let lines: Vec<String> = (1..=20000).map(|line| line.to_string()).collect();
    let all = lines.join("\n") + "\n";
    assert!(done.output.starts_with("1\n2\n3\n"));
    assert!(done.output.ends_with("19999\n20000\n"));
    let cut = format!("\n[{} characters left out]\n", all.len() - 1000);
    assert!(done.output.contains(&cut), "{}", done.output);
    let path = done.spilled.unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), all);
    let mode = std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn endless_output_and_one_huge_line_leave_memory_flat() {
    for (command, end) in [
        ("head -c 100000000 /dev/zero; exit 9", "Exited(9)"),
        ("yes", "TimedOut"),
    ] {
        let scratch = Scratch::new();
        if end == "TimedOut" {
            std::fs::write(scratch.path("impatient"), "").unwrap();
        }
        assert!(agent(scratch.dir.path(), command).wait().success());
        let done = std::fs::read_to_string(scratch.path("done")).unwrap();
        assert!(done.starts_with(end), "{command}: {done}");
        let peak = std::fs::read_to_string(scratch.path("peak")).unwrap();
        let kib: u64 = peak.split_whitespace().nth(1).unwrap().parse().unwrap();
        assert!(kib < 50_000, "{command}: {peak}");
    }
}

#[test]
fn calls_that_cannot_work_are_refused_in_words() {
    let scratch = Scratch::new();
    let refused = |call: ShellCall| {
        run_shell(&call, &Arc::new(Cancel::new()))
            .unwrap_err()
            .to_string()
    };
    assert!(refused(scratch.call(&"x".repeat(200_000))).contains("write it to a file"));
    assert!(refused(scratch.call("a\0b")).contains("NUL"));
    let mut call = scratch.call("true");
    call.dir = scratch.path("gone");
    assert!(refused(call).contains("not a directory"));
}

/// Started again by [`agent`], as a process that is what an agent is: hardened, and running one command.
#[test]
#[ignore = "the agent of other tests"]
fn an_agent() {
    let scratch = PathBuf::from(variable("SUITE_DIR"));
    nix::sys::stat::umask(nix::sys::stat::Mode::from_bits_truncate(0o027));
    harden::harden();
    signals::listen(|_| ());
    use_guard_binary(env!("CARGO_BIN_EXE_lead").into());
    let call = ShellCall {
        command: variable("SUITE_COMMAND"),
        dir: scratch.clone(),
        env: vec![("PATH".into(), path_variable())],
        timeout: if scratch.join("impatient").exists() {
            Duration::from_millis(200)
        } else {
            LONG
        },
        spill: scratch.join("spill.txt"),
        sandbox: None,
        keep: 1000,
    };
    let done = run_shell(&call, &Arc::new(Cancel::new()));
    let done = done.map_or_else(
        |error| error.to_string(),
        |done| format!("{:?} {} {:?}", done.end, done.leftovers, done.output),
    );
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM"));
    std::fs::write(scratch.join("peak"), peak.unwrap_or("VmHWM: 0 kB")).unwrap();
    let mut file = std::fs::File::create(scratch.join("done")).unwrap();
    std::io::Write::write_all(&mut file, format!("{done}\n").as_bytes()).unwrap();
}

#[expect(
    clippy::disallowed_methods,
    reason = "how the test's agent is told what to do"
)]
fn variable(name: &str) -> String {
    std::env::var(name).unwrap()
}

/// It ignores what `nohup` and background jobs ignore.
fn agent(dir: &Path, command: &str) -> child::Child {
    let mut agent = Command::new("sh");
    agent
        .args(["-c", "trap '' INT QUIT HUP; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["process::an_agent", "--exact", "--ignored", "--nocapture"])
        .env("SUITE_DIR", dir)
        .env("SUITE_COMMAND", command)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    child::spawn(&mut agent).unwrap().0
}

/// Started again by [`heard`]: makes a file for every signal it is told of, until it is told to terminate.
#[test]
#[ignore = "the listener of other tests"]
fn a_listener() {
    let dir = PathBuf::from(variable("SUITE_DIR"));
    let (send, heard) = std::sync::mpsc::channel();
    signals::listen(move |signal| send.send(signal).unwrap());
    std::fs::File::create(dir.join("listening")).unwrap();
    loop {
        let signal = heard.recv_timeout(LONG).unwrap();
        std::fs::File::create(dir.join(format!("{signal:?}"))).unwrap();
        if signal == signals::Signal::Terminate {
            break;
        }
    }
}

/// What a listener hears of Ctrl-C and of the terminal's end before SIGTERM; `before` is what the shell does that starts it.
fn heard(before: &str, expected: &[&str]) {
    let scratch = Scratch::new();
    let run = format!("{before} exec \"$0\" process::a_listener --exact --ignored");
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &run])
        .arg(std::env::current_exe().unwrap())
        .env("SUITE_DIR", scratch.dir.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let (listener, _) = child::spawn(&mut shell).unwrap();
    let wait = |name: &str| eventually(name, || scratch.path(name).exists().then_some(()));
    wait("listening");
    for (signal, name) in [(Signal::SIGINT, "Interrupt"), (Signal::SIGHUP, "HangUp")] {
        send(listener.pid, signal);
        if expected.contains(&name) {
            wait(name);
        }
    }
    send(listener.pid, Signal::SIGTERM);
    assert!(listener.wait().success());
    for name in ["Interrupt", "HangUp", "Terminate"] {
        assert_eq!(
            scratch.path(name).exists(),
            expected.contains(&name),
            "{name}"
        );
    }
}

#[test]
fn signals_become_events_and_ignored_ones_stay_ignored() {
    heard("", &["Interrupt", "HangUp", "Terminate"]);
    heard("trap '' HUP INT;", &["Terminate"]);
}

#[test]
fn an_agents_own_mask_and_handlers_are_none_of_its_commands() {
    let scratch = Scratch::new();
    let command = "umask; grep SigBlk /proc/self/status | tr -d '\t'; \
                   grep -E 'SigIgn.*[0-9a-f]+' /proc/self/status | tail -c 6; kill -TERM $$";
    let agent = agent(scratch.dir.path(), command);
    assert!(agent.wait().success());
    let done = std::fs::read_to_string(scratch.path("done")).unwrap();
    // Nothing blocked, and of the first twenty signals none ignored.
    let output = "0027\\nSigBlk:0000000000000000\\n00000\\n";
    assert_eq!(done, format!("Signalled(15) 0 \"{output}\"\n"));
}

const TREE: &str = "echo $$ >shell; echo $PPID >guard; trap '' TERM HUP; \
    setsid sh -c 'echo $$ >daemon; trap \"\" TERM; sleep 999; sleep 999' & \
    while [ ! -s daemon ]; do sleep 0.01; done; echo yes >ready; sleep 999";

#[test]
fn a_killed_agent_takes_its_command_along() {
    let scratch = Scratch::new();
    let agent = agent(scratch.dir.path(), TREE);
    let pids = ["shell", "guard", "daemon"].map(|name| scratch.pid_in(name));
    child::kill_group(agent.pid);
    agent.wait();
    for pid in pids {
        wait_until_gone(pid);
    }
}

#[test]
fn what_a_killed_guard_leaves_is_ended_by_its_agent() {
    let scratch = Scratch::new();
    let agent = agent(scratch.dir.path(), TREE);
    let pids = ["shell", "daemon"].map(|name| scratch.pid_in(name));
    let guard = scratch.pid_in("guard");
    send(guard, Signal::SIGKILL);
    let done = eventually("the agent's answer", || {
        std::fs::read_to_string(scratch.path("done"))
            .ok()
            .filter(|text| text.ends_with('\n'))
    });
    assert!(done.starts_with("Signalled(9) "), "{done}");
    for pid in pids {
        assert!(!lives(pid));
    }
    assert!(agent.wait().success());
}

#[test]
fn a_stopped_guard_does_not_stop_the_clock() {
    let scratch = Scratch::new();
    std::fs::File::create(scratch.path("impatient")).unwrap();
    let command = "echo $PPID >guard; echo $$ >pid; kill -STOP $PPID; sleep 999";
    let agent = agent(scratch.dir.path(), command);
    assert!(agent.wait().success());
    let done = std::fs::read_to_string(scratch.path("done")).unwrap();
    assert!(done.starts_with("TimedOut "), "{done}");
    for name in ["guard", "pid"] {
        wait_until_gone(scratch.pid_in(name));
    }
}

#[expect(clippy::disallowed_methods, reason = "the test is the enemy here")]
fn send(pid: u32, signal: Signal) {
    nix::sys::signal::kill(Pid::from_raw(pid.cast_signed()), signal).unwrap();
}

#[test]
fn a_guard_started_by_hand_does_nothing() {
    let mut guard = Command::new(env!("CARGO_BIN_EXE_lead"));
    std::os::unix::process::CommandExt::arg0(&mut guard, "pitcrew-guard");
    guard
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let (child, pipes) = child::spawn(&mut guard).unwrap();
    let mut line = String::new();
    BufReader::new(pipes.stderr.unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "failed a guard is started by an agent only\n");
    assert_eq!(child.wait().code(), Some(125));
}
