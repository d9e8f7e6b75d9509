//! What each part of a sandbox shows, hides and ends, as root and as a user.

use std::io::Write;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;
use pitcrew::cancel::Cancel;
use pitcrew::policy::confinement::SECRETS;
use pitcrew::process::guard::{End, ShellCall, run_shell};
use pitcrew::process::sandbox::{Bind, Parts};

use super::cell::{Cell, has};
use super::user::again_as_user;
use crate::support::facts::{processes_in, send};
use crate::support::{DEADLINE, wait_until};

#[test]
fn only_what_is_named_can_be_changed() {
    for top in ["/tmp", "/var/tmp"] {
        let mut cell = Cell::beneath(top);
        for name in ["work/.tasks/t", "work/f", "home/.cache/c", "outside/victim"] {
            cell.put(name, "as it was");
        }
        cell.plan.read_only = vec![cell.at("work/.tasks"), cell.at("work/missing")];
        cell.plan.writable = vec![cell.at("home/.cache"), cell.at("home/missing")];
        cell.ok("echo x > f; echo x > new; rm f; echo x > ~/.cache/c; echo x > /tmp/t");
        for command in [
            "echo x > .tasks/t",
            "echo x > .tasks/new",
            "rm .tasks/t",
            "mv .tasks moved",
            "chmod 777 .tasks/t",
            "touch -d 2001-01-01 .tasks/t",
            "echo x > ../outside/victim",
            "ln ../outside/victim here && echo x > here",
            "ln -s ../outside/victim link && echo x > link",
            "mv new ../outside/victim",
            "echo x > ~/new",
            "touch /var/tmp/x",
            "mount -t tmpfs x .",
            "mount --bind .tasks /tmp",
            "umount .tasks",
            "mknod node b 1 3",
        ] {
            let done = cell.run(command);
            assert_ne!(done.end, End::Exited(0), "{command}: {}", done.output);
        }
        assert_eq!(cell.read("work/.tasks/t"), "as it was");
        assert_eq!(cell.read("outside/victim"), "as it was");
        assert_eq!(cell.read("home/.cache/c"), "x\n");
        assert_eq!(cell.read("tmp/t"), "x\n");
    }
    again_as_user("sandbox::walls::only_what_is_named_can_be_changed");
}

#[test]
fn a_directory_in_place_of_another_is_seen_with_those_in_it() {
    let mut cell = Cell::new();
    cell.put("work/.git/real", "real");
    cell.put("outside/view/own", "own");
    cell.put("outside/view/inner/x", "covered");
    cell.put("outside/view/inner/deep/x", "covered");
    cell.put("outside/objects/o", "object");
    cell.put("outside/objects/deep/x", "");
    cell.put("outside/logs/l", "log");
    let bind = |from: &str, at: &str, writable| Bind {
        from: cell.at(from),
        at: cell.at(at),
        writable,
    };
    cell.plan.binds = vec![
        bind("outside/view", "work/.git", true),
        bind("outside/objects", "work/.git/inner", false),
        bind("outside/logs", "work/.git/inner/deep", true),
    ];
    let seen = cell.ok("find .git -type f | sort; echo w > .git/own; echo w > .git/inner/deep/l");
    assert_eq!(seen, ".git/inner/deep/l\n.git/inner/o\n.git/own\n");
    for command in ["echo w > .git/inner/o", "echo w > ../outside/view/own"] {
        assert_ne!(cell.run(command).end, End::Exited(0), "{command}");
    }
    assert_eq!(cell.read("outside/view/own"), "w\n");
    assert_eq!(cell.read("outside/logs/l"), "w\n");
    assert_eq!(cell.read("outside/objects/o"), "object");
    assert_eq!(cell.read("work/.git/real"), "real");
    again_as_user("sandbox::walls::a_directory_in_place_of_another_is_seen_with_those_in_it");
}

#[test]
fn what_is_hidden_is_empty_and_sockets_come_back_by_name() {
    if !has(&["python3"]) {
        return;
    }
    let mut cell = Cell::new();
    cell.put("home/.ssh/id", "secret");
    cell.put("home/.netrc", "secret");
    let _listening = UnixListener::bind(cell.at("home/.ssh/agent")).unwrap();
    let _covered = UnixListener::bind(cell.at("agent")).unwrap();
    cell.plan.hidden = vec![
        cell.at("home/.ssh"),
        cell.at("home/.netrc"),
        cell.at("none"),
    ];
    let look = "cat ~/.netrc; ls ~/.ssh; ls /run | grep -vx -e systemd -e resolvconf; true";
    assert_eq!(cell.ok(look), "");
    let top = cell.at("");
    let connect = |name: &str| {
        format!(
            "python3 -c 'import socket as s; s.socket(s.AF_UNIX).connect(\"{}\")'",
            top.join(name).display()
        )
    };
    for name in ["home/.ssh/agent", "agent"] {
        assert_eq!(cell.run(&connect(name)).end, End::Exited(1), "{name}");
    }
    cell.plan.sockets = vec![
        cell.at("home/.ssh/agent"),
        cell.at("agent"),
        cell.at("none"),
    ];
    for name in ["home/.ssh/agent", "agent"] {
        cell.ok(&connect(name));
    }
    assert_eq!(cell.ok(look), "agent\n");
    again_as_user("sandbox::walls::what_is_hidden_is_empty_and_sockets_come_back_by_name");
}

#[test]
fn a_workspace_beneath_a_hidden_place_is_seen_there_and_nothing_beside_it() {
    let places = ["/run", "/dev/shm", "/tmp"].map(|top| (top, tempfile::tempdir_in(top)));
    for (top, made) in places {
        // Only root makes something in /run, and not everybody has a /dev/shm.
        let Ok(made) = made else { continue };
        let mut cell = Cell::beneath(made.path().to_str().unwrap());
        cell.put("secret", "secret");
        cell.put("work/here", "here");
        cell.put("work/.worktrees/a/mine", "mine");
        if top == "/tmp" {
            cell.plan.hidden = vec![made.path().to_owned()];
        }
        cell.plan.shown = vec![cell.at("work")];
        assert_eq!(cell.ok("cat here; echo; ls .."), "here\nwork\n", "{top}");
        cell.plan.dir = cell.at("work/.worktrees/a");
        let look = "echo more >> mine; cat mine ../../here; ! echo x 2>/dev/null > ../../here";
        assert_eq!(cell.ok(look), "minemore\nhere", "{top}");
        assert_eq!(cell.read("work/here"), "here", "{top}");
    }
    again_as_user(
        "sandbox::walls::a_workspace_beneath_a_hidden_place_is_seen_there_and_nothing_beside_it",
    );
}

#[test]
fn without_a_network_only_the_command_itself_is_reached() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            stream.write_all(b"hello\n").ok();
        }
    });
    let mut cell = Cell::new();
    let connect = format!("cat < /dev/tcp/127.0.0.1/{port}");
    assert_eq!(cell.ok(&connect), "hello\n");
    cell.plan.network = false;
    assert_eq!(cell.run(&connect).end, End::Exited(1));
    if has(&["python3"]) {
        cell.ok("python3 -c 'import socket as s; l = s.create_server((\"127.0.0.1\", 0)); s.create_connection(l.getsockname())'");
    }
    again_as_user("sandbox::walls::without_a_network_only_the_command_itself_is_reached");
}

#[test]
fn one_wall_alone_holds_what_it_can() {
    let mut cell = Cell::new();
    cell.put("work/f", "");
    for (namespaces, landlock) in [(true, false), (false, true)] {
        cell.plan.parts = Parts {
            namespaces,
            landlock,
        };
        cell.ok("echo x > f; cat f /dev/null; echo y > /dev/null; sleep 300 & sh -c 'echo $PPID'");
        for command in [
            "echo x > ../outside/new",
            "echo x > /proc/sys/kernel/core_pattern",
            "kill -0 $(cat ../outside/pid)",
        ] {
            cell.put("outside/pid", &std::process::id().to_string());
            assert_ne!(cell.run(command).end, End::Exited(0), "{command}");
        }
    }
    again_as_user("sandbox::walls::one_wall_alone_holds_what_it_can");
}

#[test]
fn a_call_ends_with_all_that_it_left_and_with_nobody_elses() {
    let cell = Cell::new();
    let done = cell.run(
        "sleep 300 & setsid sleep 300 & (nohup sleep 300 >/dev/null 2>&1 &) ; setsid sh -c 'sleep 300 & sleep 300 &'; echo done",
    );
    assert_eq!((done.end, done.output.as_str()), (End::Exited(0), "done\n"));
    assert_eq!(done.leftovers, 5);
    let done = cell.run("sleep 300 & kill -9 -1; kill -9 1; echo alive");
    assert_eq!(done.end, End::Exited(0));
    assert!(done.output.ends_with("alive\n"), "{}", done.output);
    assert_eq!(processes_in(&cell.at("")), []);
    again_as_user("sandbox::walls::a_call_ends_with_all_that_it_left_and_with_nobody_elses");
}

#[test]
fn a_command_that_will_not_end_is_ended_with_all_it_started() {
    let cell = Cell::new();
    let shell = ShellCall {
        timeout: Duration::from_millis(300),
        ..cell.call("trap '' TERM; (trap '' TERM; sleep 300) & setsid sleep 300 & echo on; sleep 300; sleep 300")
    };
    let done = run_shell(&shell, &Arc::new(Cancel::new())).unwrap();
    assert_eq!((done.end, done.output.as_str()), (End::TimedOut, "on\n"));
    assert_eq!(processes_in(&cell.at("")), []);
}

#[test]
fn with_either_of_its_guards_a_command_ends() {
    for depth in [0, 1] {
        let cell = Cell::new();
        let shell = cell.call("setsid sleep 300 & sleep 300");
        let running = thread::spawn(move || run_shell(&shell, &Arc::new(Cancel::new())));
        // The guard that the agent started was there before the first of the namespace.
        let guard = wait_until("both guards and the command are there", DEADLINE, || {
            let all = processes_in(&cell.at(""));
            let is = |word: &str| {
                all.iter()
                    .filter(|(_, line)| line.starts_with(word))
                    .count()
            };
            let mut guards: Vec<u32> = all
                .iter()
                .filter(|(_, line)| line.starts_with("pitcrew-guard"))
                .map(|(pid, _)| *pid)
                .collect();
            guards.sort_unstable();
            (is("sleep") == 2).then(|| guards.get(depth).copied())?
        });
        send(guard, Signal::SIGKILL);
        let done = running.join().unwrap().unwrap();
        assert_eq!(done.end, End::Signalled(9), "{depth}");
        wait_until("all is gone", DEADLINE, || {
            processes_in(&cell.at("")).is_empty().then_some(())
        });
    }
}

#[test]
fn a_sandbox_that_cannot_be_made_runs_nothing() {
    let cell = Cell::new();
    for (dir, tmp, word) in [
        ("/", cell.at("tmp"), "work in a directory beneath"),
        ("/usr", cell.at("none"), "No such file"),
    ] {
        let mut plan = cell.plan.clone();
        plan.dir = dir.into();
        plan.tmp = tmp;
        let shell = ShellCall {
            sandbox: Some(plan),
            ..cell.call(&format!("touch {}", cell.at("outside/ran").display()))
        };
        let error = run_shell(&shell, &Arc::new(Cancel::new())).unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
    }
    let mut plan = cell.plan.clone();
    std::os::unix::fs::symlink("work", cell.at("link")).unwrap();
    plan.dir = cell.at("link");
    let shell = ShellCall {
        sandbox: Some(plan),
        ..cell.call("true")
    };
    assert!(run_shell(&shell, &Arc::new(Cancel::new())).is_err());
    assert!(!cell.at("outside/ran").exists());
}

#[test]
fn the_page_on_security_names_every_hidden_place() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/security.md");
    let page = std::fs::read_to_string(page).unwrap();
    for name in SECRETS {
        assert!(page.contains(&format!("`~/{name}`")), "{name}");
    }
}
