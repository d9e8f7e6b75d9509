//! No process of a command outlives its call, however it tries.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use nix::sys::signal::Signal;
use pitcrew::process::guard::{GUARD_NAME, run_shell};
use serde_json::json;

use super::cell::{Cell, has};
use crate::support::facts::{processes_in, send};
use crate::support::{Bed, DEADLINE, Running, wait_until};

/// What a process that stays has in its command line: a number of seconds, this test's own.
fn mark() -> String {
    format!("86399.{:09}", std::process::id())
}

/// Programs besides the usual ones, and what leaves processes behind. The call itself ends at once.
type Way = (&'static [&'static str], &'static str);

const WAYS: [Way; 19] = [
    (&[], "sleep MARK &"),
    (&[], "nohup sleep MARK >/dev/null 2>&1 &"),
    (&[], "setsid sleep MARK &"),
    (&["setsid"], "setsid -f sleep MARK"),
    (&[], "(sleep MARK &)"),
    (&[], "((setsid sleep MARK &) &) &"),
    (&[], "sleep MARK & disown -a"),
    (&[], "sleep MARK & disown -h %1; kill -HUP %1"),
    (&[], "coproc sleep MARK"),
    (&[], "sleep MARK > >(cat) &"),
    (
        &[],
        "trap '' TERM HUP INT QUIT; setsid sh -c 'trap \"\" TERM HUP INT QUIT; sleep MARK; sleep MARK' &",
    ),
    (&[], "sleep MARK & kill -STOP $!"),
    (&[], "setsid sh -c 'sleep MARK & kill -STOP $$' &"),
    (&[], "exec -a kworker sleep MARK &"),
    (
        &[],
        "sh -c 'sh -c \"sh -c \\\"setsid nohup sleep MARK &\\\" &\" &' >/dev/null 2>&1 </dev/null",
    ),
    (
        &["script"],
        "script -qfc 'sleep MARK' /dev/null >/dev/null 2>&1 &",
    ),
    (&["timeout"], "timeout -s KILL 9999 sleep MARK &"),
    (
        &["python3"],
        "python3 -c 'import os,time\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\n\
         os.chdir(\"/\"); os.closerange(0, 64)\nos.execvp(\"sleep\", [\"sleep\", \"MARK\"])'",
    ),
    (
        &[],
        "for i in 1 2 3 4 5 6 7 8; do (setsid sleep MARK &); done",
    ),
];

/// One that is never the same process for long: only a namespace ends it for sure.
const HOPPING: Way = (
    &["perl"],
    "perl -e 'fork and exit; setpgrp; while (1) { fork and exit; select undef, undef, undef, 0.001 }' MARK",
);

fn left_behind() -> Vec<(u32, String)> {
    processes_in(Path::new(&mark()))
}

#[test]
fn no_process_outlives_its_call() {
    for sandboxed in [true, false] {
        let cell = Cell::new();
        for (needs, way) in WAYS.iter().chain(sandboxed.then_some(&HOPPING)) {
            if !has(needs) {
                continue;
            }
            let mut shell = cell.call(&format!("{}\necho over", way.replace("MARK", &mark())));
            if !sandboxed {
                shell.sandbox = None;
            }
            let done = run_shell(&shell, &Arc::default()).unwrap();
            assert!(done.output.contains("over"), "{way}: {done:?}");
            assert_eq!(left_behind(), [], "{way}, sandboxed: {sandboxed}");
        }
    }
}

/// Lead and guard are killed at once, where no namespace ends what is beneath them.
#[test]
fn what_nobody_could_end_is_ended_by_the_next_start_and_nothing_else() {
    let bed = Bed::new();
    let detach =
        "setsid sh -c 'sleep 600; sleep 600' </dev/null >/dev/null 2>&1 & touch in; sleep 600";
    let call = json!({"name": "bash", "input": {"command": detach}});
    let model = bed.script(&json!({"agents": {"lead": [{"tools": [call]}]}}));
    let lead = bed.start_lead(&["-p", "go", "--sandbox", "off", "--model", &model]);
    bed.wait_for("in");
    let others = [
        "lead@/elsewhere".into(),
        format!("lead@{}.b", bed.root().display()),
    ];
    let others = others.map(|whose| {
        let mut sleep = Command::new("sleep");
        Running::start(
            sleep
                .arg("600")
                .env("PITCREW_AGENT", whose)
                .current_dir(bed.root()),
        )
    });
    let kept = others.each_ref().map(Running::pid);
    let of_the_run = || {
        let mut all = processes_in(&bed.root());
        all.retain(|(pid, _)| !kept.contains(pid));
        all
    };
    let guards: Vec<u32> = of_the_run()
        .into_iter()
        .filter(|(_, command)| command.starts_with(GUARD_NAME))
        .map(|(pid, _)| pid)
        .collect();
    assert!(!guards.is_empty());
    // One that stands still does nothing at its agent's end.
    for pid in &guards {
        send(*pid, Signal::SIGSTOP);
    }
    lead.signal(Signal::SIGKILL);
    drop(lead.wait(DEADLINE));
    for pid in &guards {
        send(*pid, Signal::SIGKILL);
    }
    wait_until("the guards are gone", DEADLINE, || {
        let all = of_the_run();
        let gone = !all.iter().any(|(pid, _)| guards.contains(pid));
        gone.then_some(())
    });
    assert!(of_the_run().len() >= 2, "{:?}", of_the_run());

    let found = |bed: &Bed| {
        let checks = bed.lead(&["doctor", "--json"]).expect_code(0).json();
        let checks = checks["checks"].as_array().unwrap().clone();
        let one = |check: &&serde_json::Value| check["name"] == "leftovers";
        checks.iter().find(one).unwrap()["ok"] == false
    };
    assert!(found(&bed));
    let model = bed.script(&json!({"agents": {"lead": [{"text": "I look."}]}}));
    let done = bed.lead(&["-p", "go", "--model", &model]);
    assert!(done.stderr.contains("had left, ended: "), "{}", done.stderr);
    wait_until("nothing is left", DEADLINE, || {
        of_the_run().is_empty().then_some(())
    });
    assert!(!found(&bed));
    for other in &kept {
        assert!(
            processes_in(&bed.root())
                .iter()
                .any(|(pid, _)| pid == other)
        );
        send(*other, Signal::SIGKILL);
    }
}
