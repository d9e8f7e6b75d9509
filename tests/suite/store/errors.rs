//! The system refuses the nth call of every name, once or from then on, for every n.

use std::thread;

use super::act::{Act, look};
use super::actor::{Actor, Outcome, assert_whole, scratch};
use super::strace::{self, Injection};

/// How a call is refused, and whether that goes on.
fn refusals(call: &str) -> &'static [(&'static str, bool)] {
    match call {
        "open" | "openat" => &[("EMFILE", true), ("EACCES", false)],
        "mkdir" | "mkdirat" => &[("ENOSPC", true)],
        "write" | "pwrite64" | "writev" => &[("ENOSPC", true), ("EIO", false)],
        "fsync" | "fdatasync" => &[("EIO", true), ("ENOSPC", false)],
        "rename" | "renameat" | "renameat2" | "link" | "linkat" => {
            &[("ENOSPC", true), ("EIO", false)]
        }
        "flock" => &[("ENOLCK", true), ("EOPNOTSUPP", true)],
        "ftruncate" => &[("EIO", true)],
        _ => &[],
    }
}

#[test]
fn an_error_at_any_system_call_changes_nothing_and_names_the_path() {
    if !strace::is_there("an error at any system call changes nothing") {
        return;
    }
    thread::scope(|scope| {
        for act in Act::ALL {
            scope.spawn(move || refuse_everywhere(act));
        }
    });
}

fn refuse_everywhere(act: Act) {
    let mut failed = 0;
    for (call, times) in act.calls() {
        for (error, on) in refusals(&call) {
            for from in 1..=times {
                let (scratch, workspace) = scratch();
                act.prepare(&workspace);
                let before = look(&workspace);
                let injection = Injection {
                    call: &call,
                    what: &format!("error={error}"),
                    from,
                    on: *on,
                };
                let actor = Actor::start(&workspace, act);
                let log = scratch.path().join("strace");
                let Some(outcome) = strace::hinder(actor, &log, &injection) else {
                    continue;
                };
                assert_ne!(outcome, Outcome::Killed);
                assert_whole(act, &workspace, &before, &outcome);
                failed += usize::from(outcome != Outcome::Done);
            }
        }
    }
    assert!(failed >= 10, "{act:?} failed only {failed} times");
}
