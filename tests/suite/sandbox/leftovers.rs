//! No process of a command outlives its call, however it tries.

use std::path::Path;
use std::sync::Arc;

use pitcrew::process::guard::run_shell;

use super::cell::{Cell, has};
use crate::support::facts::processes_in;

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
