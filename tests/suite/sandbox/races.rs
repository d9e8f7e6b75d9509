//! What happens around a sandbox while it is being set up or holds, four hundred times each.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pitcrew::cancel::Cancel;
use pitcrew::process::guard::run_shell;

use super::cell::{Cell, has};
use super::user::again_as_user;
use crate::support::{DEADLINE, wait_until};

const TIMES: usize = 400;

/// Exchanges the two directories that it is told, as fast as it can, until it is ended.
const EXCHANGE: &str = "import ctypes, sys\nl = ctypes.CDLL(None)\na, b = (x.encode() for x in sys.argv[1:])\n\
    open('/tmp/exchanging', 'w').close()\nwhile True: l.syscall(316, -100, a, -100, b, 2)\n";

/// A command of the same agent exchanges, in their common `/tmp`, the directories above the mount points of the next.
#[test]
fn parents_exchanged_during_the_setup_open_nothing() {
    if !has(&["python3"]) {
        return;
    }
    let cell = Cell::new();
    cell.put("work/.tasks/task", "true\n");
    let mut held = cell.plan.clone();
    held.read_only.push(cell.at("work/.tasks"));
    cell.put("tmp/exchange.py", EXCHANGE);
    let top = cell.at("work").parent().unwrap().to_path_buf();
    // What stands in place of the workspace: the same names, nothing protected, and a way back to the true ones.
    let evil = format!(
        "mkdir -p /tmp/evil; (cd /tmp/evil && mkdir -p work/.tasks home outside); \
         exec python3 /tmp/exchange.py {} /tmp/evil",
        top.display()
    );
    let cancel = Arc::new(Cancel::new());
    std::thread::scope(|scope| {
        let mut exchanging = cell.call(&evil);
        exchanging.sandbox = Some(held.clone());
        let stop = Arc::clone(&cancel);
        scope.spawn(move || run_shell(&exchanging, &stop).unwrap());
        wait_until("exchanges", DEADLINE, || {
            cell.at("tmp/exchanging").exists().then_some(())
        });
        let write = format!(
            "for f in .tasks/task {0}/.tasks/task $OLDPWD/.tasks/task; do echo false > $f; echo x > $f.new; done 2>/dev/null; \
             echo x > made || echo read-only",
            cell.at("work").display()
        );
        for _ in 0..TIMES {
            let mut shell = cell.call(&write);
            shell.sandbox = Some(held.clone());
            // Refusing to run is as good.
            drop(run_shell(&shell, &Arc::new(Cancel::new())));
        }
        cancel.cancel();
    });
    assert_eq!(
        std::fs::read_to_string(cell.at("work/.tasks/task")).unwrap(),
        "true\n"
    );
    assert_eq!(names(&cell.at("work/.tasks")), ["task"]);
}

#[test]
fn parents_exchanged_during_the_setup_open_nothing_to_a_user() {
    again_as_user("sandbox::races::parents_exchanged_during_the_setup_open_nothing");
}

/// Others replace protected files by new ones while a command writes at them all the time.
#[test]
fn files_that_others_replace_stay_closed() {
    let mut cell = Cell::new();
    for dir in ["work/.tasks", "work/.git/refs", "outside"] {
        cell.put(&format!("{dir}/f"), "0\n");
    }
    cell.plan
        .read_only
        .extend([cell.at("work/.tasks"), cell.at("work/.git")]);
    let attack = "touch /tmp/begun; while [ ! -e /tmp/over ]; do \
        for f in .tasks/f .git/refs/f ../outside/f; do echo broken > $f; : > $f.new; done 2>/dev/null; done";
    std::thread::scope(|scope| {
        let running = scope.spawn(|| cell.run(attack));
        wait_until("the attack", DEADLINE, || {
            cell.at("tmp/begun").exists().then_some(())
        });
        for round in 1..=TIMES {
            for dir in ["work/.tasks", "work/.git/refs", "outside"] {
                let new = cell.put(&format!("{dir}/.new"), &format!("{round}\n"));
                std::fs::rename(new, cell.at(&format!("{dir}/f"))).unwrap();
            }
        }
        cell.put("tmp/over", "");
        running.join().unwrap();
    });
    for dir in ["work/.tasks", "work/.git/refs", "outside"] {
        assert_eq!(
            std::fs::read_to_string(cell.at(&format!("{dir}/f"))).unwrap(),
            "400\n"
        );
        assert_eq!(names(&cell.at(dir)), ["f"]);
    }
}

#[test]
fn files_that_others_replace_stay_closed_to_a_user() {
    again_as_user("sandbox::races::files_that_others_replace_stay_closed");
}

/// What holds of hidden files is that each command begins without them: one that somebody replaces while a command runs is
/// seen by that command only.
#[test]
fn a_secret_that_is_replaced_or_made_is_hidden_from_the_next_command() {
    let mut cell = Cell::new();
    let secrets = ["home/.netrc", "home/.git-credentials"];
    cell.plan.hidden = secrets.iter().map(|name| cell.at(name)).collect();
    for round in 0..5 {
        for name in secrets {
            let new = cell.put(&format!("{name}.new"), &format!("secret {round}\n"));
            std::fs::rename(new, cell.at(name)).unwrap();
        }
        let seen = cell.ok("cat ~/.netrc ~/.git-credentials && wc -c < ~/.netrc");
        assert_eq!(seen, "0\n", "{round}");
    }
}

/// The working directory is exchanged for a link to somewhere else between the plan and the command.
#[test]
fn a_directory_that_becomes_a_link_opens_nothing() {
    let cell = Cell::beneath("/var/tmp");
    cell.put("outside/f", "mine\n");
    cell.put("work/f", "own\n");
    let (work, away) = (cell.at("work"), cell.at("away"));
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Acquire) {
                std::fs::rename(&work, &away).unwrap();
                std::os::unix::fs::symlink("outside", &work).unwrap();
                std::fs::remove_file(&work).unwrap();
                std::fs::rename(&away, &work).unwrap();
            }
        });
        for _ in 0..TIMES {
            let shell = cell.call("echo broken > f; echo x > new");
            drop(run_shell(&shell, &Arc::new(Cancel::new())));
        }
        over.store(true, Ordering::Release);
    });
    assert_eq!(
        std::fs::read_to_string(cell.at("outside/f")).unwrap(),
        "mine\n"
    );
    assert_eq!(names(&cell.at("outside")), ["f"]);
}

fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
