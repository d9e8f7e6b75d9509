//! Usual work goes on as usual, as root and as a user.

use std::path::Path;

use super::cell::{Cell, has};
use super::user::again_as_user;

/// Programs besides bash and what every system has, and a command that must succeed and say the last.
const COMMANDS: [(&[&str], &str, &str); 27] = [
    (&[], "echo a > f; sed -i s/a/b/ f; cat f", "b\n"),
    (
        &[],
        "cat < f* > /dev/null; echo x >/dev/null && echo y > /dev/stdout",
        "y\n",
    ),
    (&[], "echo z >/dev/stderr; echo e >&2", "z\ne\n"),
    (&[], "cat <(echo sub) <(echo more)", "sub\nmore\n"),
    (&[], "mkfifo p; cat p & echo through > p; wait", "through\n"),
    (
        &[],
        "t=$(mktemp); echo $t | cut -c1-5; d=$(mktemp -d); mv $t $d/x; mv $d/x here; ls here",
        "/tmp/\nhere\n",
    ),
    (
        &[],
        "ln -s f link; ln f twin; chmod 700 f; touch -d 2001-01-01 f; stat -c %a:%Y f",
        "700:978307200\n",
    ),
    (&[], "tar cf t.tar f && tar tf t.tar", "f\n"),
    (
        &[],
        "head -c 3 /dev/urandom | wc -c; head -c 2 /dev/zero | od -An -tx1",
        "3\n 00 00\n",
    ),
    (&[], "sleep 300 & kill %1; wait; echo killed", "killed\n"),
    (&[], "timeout 0.1 sleep 300; echo $?", "124\n"),
    (
        &[],
        "echo $$ > /dev/shm/x; test -s /dev/shm/x && echo shared",
        "shared\n",
    ),
    (
        &[],
        "trap 'echo asked; exit 0' TERM; kill -TERM $$; sleep 1",
        "asked\n",
    ),
    (
        &["ps"],
        "ps -e -o pid= >/tmp/seen; test $(wc -l </tmp/seen) -lt 9 && echo its own",
        "its own\n",
    ),
    (
        &["script"],
        "script -qec 'test -t 1 && echo pty' /dev/null | tr -d '\\r'",
        "pty\n",
    ),
    (
        &["make"],
        "printf 'a: b\\n\\tcp b a\\n' > Makefile; echo made > b; make -s -j2; cat a",
        "made\n",
    ),
    (
        &["gcc"],
        "echo 'int main(){return 7;}' > m.c; gcc m.c -o m; ./m; echo $?",
        "7\n",
    ),
    (
        &["git"],
        "git init -q g && cd g && git -c user.name=a -c user.email=b commit -q --allow-empty -m c && git log --format=%s",
        "c\n",
    ),
    (
        &["python3"],
        "python3 -c 'import pty; pty.spawn([\"tty\"])' | cut -c1-9",
        "/dev/pts/\n",
    ),
    (
        &["python3"],
        "python3 -c 'import os; m=os.openpty(); print(os.isatty(m[1]))'",
        "True\n",
    ),
    (
        &["python3"],
        "python3 -c 'import multiprocessing as m\nif __name__ == \"__main__\": print(sum(m.Pool(2).map(abs, [-1, -2])))'",
        "3\n",
    ),
    (
        &["python3"],
        "python3 -c 'from multiprocessing import shared_memory as s; m = s.SharedMemory(create=True, size=9); print(m.size > 8); m.unlink()'",
        "True\n",
    ),
    (
        &["python3"],
        "python3 -c 'import socket as s; l = s.create_server((\"127.0.0.1\", 0)); c = s.create_connection(l.getsockname()); print(1)'",
        "1\n",
    ),
    (
        &["python3"],
        "python3 -c 'import socket as s\nfor n in [\"/tmp/s\", \"s\", \"\\0own\"]:\n l = s.socket(s.AF_UNIX); l.bind(n); l.listen(); s.socket(s.AF_UNIX).connect(n)\nprint(1)'",
        "1\n",
    ),
    (
        &["python3"],
        "python3 -m venv --without-pip v && v/bin/python -c 'print(2)'",
        "2\n",
    ),
    (
        &["node"],
        "node -e 'console.log(require(\"os\").tmpdir())'",
        "/tmp\n",
    ),
    (
        &["strace"],
        "strace -o /tmp/trace true && tail -n1 /tmp/trace | cut -c1-3",
        "+++\n",
    ),
];

/// Several shells in one sandbox: what is tried here is the sandbox, not its start.
#[test]
fn commands_do_what_they_do_elsewhere() {
    let cell = Cell::new();
    for (needs, command, said) in COMMANDS {
        if has(needs) {
            assert_eq!(cell.ok(command), said, "{command}");
        }
    }
    again_as_user("sandbox::usual_work::commands_do_what_they_do_elsewhere");
}

#[test]
fn a_crate_is_built_with_its_cache_elsewhere() {
    if !has(&["cc"]) {
        return;
    }
    let mut cell = Cell::new();
    cell.put("home/.cargo/registry/x", "");
    cell.put(
        "work/Cargo.toml",
        "[package]\nname = \"tiny\"\nedition = \"2021\"\n",
    );
    cell.put("work/src/main.rs", "fn main() { println!(\"built\") }\n");
    cell.plan.writable.push(cell.at("home/.cargo/registry"));
    // Not by a name that rustup looks after in a home of its own.
    let toolchain = Path::new(env!("CARGO")).parent().unwrap();
    let toolchain = toolchain.display();
    let said = cell.ok(&format!(
        "PATH={toolchain}:$PATH cargo run --offline --quiet"
    ));
    assert_eq!(said, "built\n");
}

#[test]
fn npm_installs_from_a_directory() {
    if !has(&["npm"]) {
        return;
    }
    let mut cell = Cell::new();
    cell.put("home/.npm/x", "");
    cell.plan.writable.push(cell.at("home/.npm"));
    cell.put(
        "work/dep/package.json",
        r#"{"name": "dep", "version": "1.0.0"}"#,
    );
    cell.put(
        "work/package.json",
        r#"{"name": "top", "version": "1.0.0"}"#,
    );
    let said = cell.ok("npm install --offline --no-audit --no-fund ./dep && ls node_modules");
    assert!(said.ends_with("dep\n"), "{said}");
}
