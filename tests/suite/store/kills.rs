//! The process dies at the nth call of every name, for every n.

use std::thread;

use super::act::{Act, look};
use super::actor::{Actor, Outcome, assert_whole, scratch};
use super::strace::{self, Injection};

#[test]
fn a_kill_at_any_system_call_leaves_all_or_nothing() {
    if !strace::is_there("a kill at any system call leaves all or nothing") {
        return;
    }
    thread::scope(|scope| {
        for act in Act::ALL {
            scope.spawn(move || kill_everywhere(act));
        }
    });
}

fn kill_everywhere(act: Act) {
    for (call, times) in act.calls() {
        for from in 1..=times {
            let (scratch, workspace) = scratch();
            act.prepare(&workspace);
            let before = look(&workspace);
            let injection = Injection {
                call: &call,
                what: "signal=SIGKILL",
                from,
                on: false,
            };
            let actor = Actor::start(&workspace, act);
            let log = scratch.path().join("strace");
            let Some(outcome) = strace::hinder(actor, &log, &injection) else {
                continue;
            };
            assert_eq!(outcome, Outcome::Killed, "{act:?} at {call} {from}");
            assert_whole(act, &workspace, &before, &outcome);
        }
    }
}
