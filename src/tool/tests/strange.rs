//! What is no plain file, has no plain name, or claims to be endless: an answer at once, and never a wait.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::{Value, json};

use crate::tool::fixture::{Bench, path};

/// Far more than any of these calls takes, far less than for ever.
const SOON: Duration = Duration::from_secs(20);

/// The inputs with which every file tool is called on `name`.
fn calls(name: &str) -> [(&'static str, Value); 4] {
    [
        ("read_file", path(name)),
        ("write_file", json!({"path": name, "content": "x"})),
        (
            "edit_file",
            json!({"path": name, "old_text": "a", "new_text": "b"}),
        ),
        ("grep", json!({"pattern": "a", "path": name})),
    ]
}

#[test]
fn what_is_no_file_is_refused_by_what_it_is() {
    let bench = Bench::lead();
    mkfifo(&bench.root().join("fifo"), Mode::S_IRWXU).unwrap();
    let _listener = UnixListener::bind(bench.root().join("socket")).unwrap();
    bench.put("dir/f", "");
    let began = Instant::now();
    for (name, what) in [
        ("fifo", "plain file"),
        ("socket", "plain file"),
        ("dir", "directory"),
        ("/dev/zero", "/dev is closed to agents"),
        ("/proc/self/mem", "/proc is closed to agents"),
        ("/proc/self/environ", "/proc is closed to agents"),
        ("/sys/kernel/mm", "/sys is closed to agents"),
    ] {
        for (tool, input) in calls(name) {
            if (tool, name) == ("grep", "dir") {
                continue;
            }
            let said = bench.err(tool, input);
            assert!(said.contains(what), "{tool} {name}: {said}");
        }
    }
    for name in ["fifo", "socket"] {
        let said = bench.err("glob", json!({"pattern": "*", "path": name}));
        assert!(said.contains("directory"), "{said}");
    }
    // What a link of `/proc` leads to is judged as what it is: outside.
    bench.answer(Err("nobody agreed".to_owned()));
    let said = bench.err("read_file", path("/proc/self/root/etc/passwd"));
    assert_eq!(said, "nobody agreed");
    assert!(began.elapsed() < SOON);
}

#[test]
fn a_walk_passes_by_what_is_no_file_and_waits_for_none() {
    let bench = Bench::lead();
    for dir in ["", "sub/"] {
        bench.put(&format!("{dir}f.txt"), "needle\n");
        for name in ["fifo", ".gitignore", ".ignore"] {
            mkfifo(&bench.root().join(format!("{dir}{name}")), Mode::S_IRWXU).unwrap();
        }
    }
    std::os::unix::fs::symlink("/dev/zero", bench.root().join("zero")).unwrap();
    let began = Instant::now();
    let found = bench.ok("glob", json!({"pattern": "**"}));
    let mut found: Vec<&str> = found.lines().collect();
    found.sort_unstable();
    assert_eq!(found, ["f.txt", "sub/f.txt"]);
    let found = bench.ok("grep", json!({"pattern": "needle"}));
    assert_eq!(found.lines().count(), 2, "{found}");
    assert!(began.elapsed() < SOON);
}

#[test]
fn a_file_of_any_size_is_answered_soon() {
    let bench = Bench::lead();
    let claims = |name: &str, content: &str| {
        let file = bench.put(name, content);
        let file = std::fs::File::options().append(true).open(file).unwrap();
        file.set_len(1 << 40).unwrap();
    };
    claims("hole", "");
    claims("one line", &"needle ".repeat(3000));
    claims("lines", &"needle\n".repeat(3000));
    let began = Instant::now();
    let said = bench.err("read_file", path("hole"));
    assert!(
        said.contains("binary file of 1099511627776 bytes"),
        "{said}"
    );
    let text = bench.ok("read_file", path("one line"));
    assert!(
        text.contains("(line 1 has more than ") && text.len() <= 256 * 1024,
        "{}",
        text.len()
    );
    let text = bench.ok(
        "read_file",
        json!({"path": "lines", "offset": 2900, "limit": 10}),
    );
    assert!(text.ends_with("read on with offset 2910)\n"), "{text}");
    let said = bench.err("read_file", json!({"path": "lines", "offset": 4000}));
    assert!(said.contains("use bash"), "{said}");
    for (tool, input) in calls("lines") {
        let outcome = bench.run(tool, &input);
        if tool == "write_file" || tool == "edit_file" {
            assert!(
                outcome.content.contains("more than 16777216 bytes"),
                "{tool}: {}",
                outcome.content
            );
        }
    }
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
}

#[test]
fn a_name_with_a_line_break_is_one_name_and_can_be_given_back() {
    let bench = Bench::lead();
    let names = ["a\nb", "tab\there", "esc\u{1b}[31m", "quo\"te", "plain é"];
    for name in names {
        bench.put(&format!("d/{name}"), "needle\n");
    }
    let found = bench.ok("glob", json!({"pattern": "d/*"}));
    assert_eq!(found.lines().count(), names.len(), "{found}");
    for line in found.lines() {
        let name = serde_json::from_str::<String>(line).unwrap_or_else(|_| line.to_owned());
        assert_eq!(
            bench.ok("read_file", path(&name)),
            "     1\tneedle\n",
            "{line}"
        );
    }
    let found = bench.ok("grep", json!({"pattern": "needle"}));
    assert_eq!(found.lines().count(), names.len(), "{found}");
    let said = bench.err("read_file", path("d"));
    assert!(
        said.contains(r#""a\nb""#) && said.lines().count() == 1,
        "{said}"
    );
    let said = bench.err("read_file", path("d/x\ny"));
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn a_name_that_is_not_utf8_is_told_as_such() {
    let bench = Bench::lead();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9");
    if std::fs::File::create(bench.root().join(name)).is_err() {
        return; // Some file systems have no such names.
    }
    let found = bench.ok("glob", json!({"pattern": "*"}));
    assert!(
        found.starts_with("caf\u{fffd}\n(a name with \u{fffd} is not UTF-8"),
        "{found}"
    );
    let said = bench.err("read_file", path("caf\u{fffd}"));
    assert!(said.contains("there is no file"), "{said}");
}

#[test]
fn a_second_name_of_a_file_keeps_what_it_has() {
    let bench = Bench::lead();
    bench.put("../outside.txt", "theirs\n");
    let outside = bench.root().parent().unwrap().join("outside.txt");
    std::fs::hard_link(&outside, bench.root().join("inside.txt")).unwrap();
    bench.ok("read_file", path("inside.txt"));
    bench.ok(
        "write_file",
        json!({"path": "inside.txt", "content": "mine\n"}),
    );
    bench.ok(
        "edit_file",
        json!({"path": "inside.txt", "old_text": "mine", "new_text": "ours"}),
    );
    assert_eq!(bench.text("inside.txt"), "ours\n");
    assert_eq!(std::fs::read_to_string(outside).unwrap(), "theirs\n");
}
