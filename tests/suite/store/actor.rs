//! A process that carries out one act, and is watched or hindered from outside while it does. It is this test binary,
//! started again as [`process_that_acts`]: one thread of it acts, between two words with its parent.

use std::collections::BTreeMap;
use std::sync::mpsc::channel;
use std::thread;

use pitcrew::workspace::Workspace;

use super::act::{Act, Look, look};
use super::strace;
use crate::support::again::{again, said, say, told};
use crate::support::{DEADLINE, Running, wait_until};

const ROOT: &str = "PITCREW_TEST_STORE_ROOT";
const ACT: &str = "PITCREW_TEST_STORE_ACT";

/// How an act ended.
#[derive(Debug, PartialEq)]
pub(super) enum Outcome {
    Done,
    /// With what it said, in one line.
    Failed(String),
    Killed,
}

/// A process that is about to act.
pub(super) struct Actor {
    running: Running,
    /// The thread that will act.
    pub(super) thread: u32,
}

impl Actor {
    /// Starts it; it waits for its word.
    pub(super) fn start(workspace: &Workspace, act: Act) -> Self {
        let mut command = again("store::actor::process_that_acts");
        command
            .env(ROOT, workspace.root())
            .env(ACT, format!("{act:?}"));
        let running = Running::start(&mut command);
        let thread = wait_until("the actor is ready", DEADLINE, || {
            said(&running.stderr(), "READY").pop()?.parse().ok()
        });
        Self { running, thread }
    }

    /// Lets it act to its end.
    pub(super) fn act(mut self) -> Outcome {
        self.running.line("go");
        let done = self.running.wait(DEADLINE);
        if done.code.is_none() {
            return Outcome::Killed;
        }
        if let Some(why) = said(&done.stderr, "FAILED").pop() {
            return Outcome::Failed(why);
        }
        assert_eq!(said(&done.stderr, "DONE"), [""], "{}", done.stderr);
        Outcome::Done
    }
}

impl Act {
    /// The system calls that it makes, by name, and how often.
    pub(super) fn calls(self) -> BTreeMap<String, u32> {
        let (scratch, workspace) = scratch();
        self.prepare(&workspace);
        let actor = Actor::start(&workspace, self);
        strace::calls(actor, &scratch.path().join("strace"))
    }
}

/// That `act`, which came to `outcome`, left the workspace as it may.
#[track_caller]
pub(super) fn assert_whole(act: Act, workspace: &Workspace, before: &Look, outcome: &Outcome) {
    let after = look(workspace);
    match outcome {
        Outcome::Done => assert!(act.is_done(&after), "done, but {after:?}"),
        Outcome::Failed(why) => {
            assert!(after == *before, "{act:?} failed ({why}), but {after:?}");
            let root = workspace.root().display().to_string();
            assert!(why.contains(&root), "no path in: {why}");
        }
        Outcome::Killed => {
            assert!(
                act.is_done(&after) || after == *before,
                "half done: {after:?}"
            );
        }
    }
    act.assert_goes_on(workspace);
}

/// A scratch workspace.
pub(super) fn scratch() -> (tempfile::TempDir, Workspace) {
    let scratch = tempfile::tempdir().unwrap();
    let workspace = Workspace::at(scratch.path().canonicalize().unwrap());
    (scratch, workspace)
}

/// Where only ancestors may trace, strace is none.
fn may_be_traced() {
    #[cfg(target_os = "linux")]
    rustix::process::set_ptracer(rustix::process::PTracer::Any).ok();
}

/// The calling thread, as strace knows it.
fn this_thread() -> i32 {
    #[cfg(target_os = "linux")]
    return rustix::thread::gettid().as_raw_pid();
    #[cfg(not(target_os = "linux"))]
    return nix::unistd::getpid().as_raw();
}

#[test]
#[ignore = "a process that other tests start"]
fn process_that_acts() {
    let (Some(root), Some(act)) = (told(ROOT), told(ACT)) else {
        return;
    };
    let (workspace, act) = (Workspace::at(root.into()), Act::named(&act).unwrap());
    may_be_traced();
    // What is said goes over another thread than the one that acts.
    let (tell, told) = channel();
    let (go, wait) = channel();
    let acting = thread::spawn(move || {
        tell.send(this_thread()).unwrap();
        wait.recv().unwrap();
        outcome(act, &workspace)
    });
    let thread = told.recv().unwrap();
    say(&format!("READY {thread}"));
    let mut word = String::new();
    std::io::stdin().read_line(&mut word).unwrap();
    go.send(()).unwrap();
    match acting.join().unwrap() {
        Outcome::Failed(why) => say(&format!("FAILED {why}")),
        Outcome::Done | Outcome::Killed => say("DONE"),
    }
}

/// Lets `act` happen here.
pub(super) fn outcome(act: Act, workspace: &Workspace) -> Outcome {
    let Err(error) = act.perform(workspace) else {
        return Outcome::Done;
    };
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    Outcome::Failed(text)
}
