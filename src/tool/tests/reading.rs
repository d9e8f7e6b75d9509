//! `read_file`, `glob`, `grep`.

use std::fmt::Write as _;

use serde_json::json;

use crate::tool::fixture::{Bench, path};

#[test]
fn lines_are_numbered_and_the_rest_is_offered() {
    let bench = Bench::lead();
    bench.put("a.txt", "one\r\ntwo\nthree");
    assert_eq!(
        bench.ok("read_file", path("a.txt")),
        "     1\tone\n     2\ttwo\n     3\tthree\n"
    );
    assert_eq!(
        bench.ok(
            "read_file",
            json!({"path": "a.txt", "offset": 2, "limit": 1})
        ),
        "     2\ttwo\n(there is more; read on with offset 3)\n"
    );
    assert_eq!(
        bench.ok("read_file", json!({"path": "a.txt", "offset": 3})),
        "     3\tthree\n"
    );
    let said = bench.err("read_file", json!({"path": "a.txt", "offset": 4}));
    assert!(said.contains("has 3 lines"), "{said}");
    let said = bench.err("read_file", json!({"path": "a.txt", "offset": 0}));
    assert!(said.contains("`offset`"), "{said}");
    bench.put("empty", "");
    assert_eq!(bench.ok("read_file", path("empty")), "empty is empty");
    bench.put("bom", "\u{feff}x\n");
    assert_eq!(bench.ok("read_file", path("bom")), "     1\tx\n");
}

#[test]
fn one_call_reads_two_thousand_lines_or_a_quarter_of_a_mebibyte() {
    let bench = Bench::lead();
    bench.put("many", "x\n".repeat(2001));
    let text = bench.ok("read_file", path("many"));
    assert!(text.ends_with("  2000\tx\n(there is more; read on with offset 2001)\n"));
    bench.put("exactly", "x\n".repeat(2000));
    assert!(!bench.ok("read_file", path("exactly")).contains("more"));

    let line = format!("{}\n", "y".repeat(99_999));
    bench.put("wide", line.repeat(3));
    let text = bench.ok("read_file", path("wide"));
    assert!(text.ends_with("(there is more; read on with offset 3)\n"));
    let most = 256 * 1024;
    assert!(text.len() <= most);
    // What is not UTF-8 is longer when it is shown.
    for (name, line) in [("bytes", 5000), ("one of bytes", 400_000)] {
        bench.put(name, [vec![0xff; line], vec![b'\n']].concat().repeat(100));
        let text = bench.ok("read_file", path(name));
        assert!(
            text.len() <= most && text.ends_with(")\n"),
            "{}",
            text.len()
        );
    }

    bench.put("one", format!("{}é\nnext\n", "z".repeat(400_000)));
    let text = bench.ok("read_file", path("one"));
    assert!(
        text.contains("line 1 has 400003 bytes and is cut"),
        "{}",
        &text[text.len() - 200..]
    );
    assert!(text.ends_with("read on with offset 2)\n"));
    assert_eq!(
        bench.ok("read_file", json!({"path": "one", "offset": 2})),
        "     2\tnext\n"
    );
}

#[test]
fn a_file_larger_than_what_is_edited_is_still_read_in_parts() {
    let bench = Bench::lead();
    let mut text = String::new();
    for number in 0..2_000_000 {
        let _ = writeln!(text, "line {number}");
    }
    assert!(text.len() > 16 << 20);
    bench.put("large", &text);
    let last = bench.ok("read_file", json!({"path": "large", "offset": 2_000_000}));
    assert_eq!(last, "2000000\tline 1999999\n");
}

#[test]
fn what_is_not_a_text_file_is_named_as_what_it_is() {
    let bench = Bench::lead();
    bench.put("bin", b"\x7fELF\0\0");
    let said = bench.err("read_file", path("bin"));
    assert!(said.contains("binary file of 6 bytes"), "{said}");
    bench.put("src/a.rs", "");
    bench.put("src/b/c", "");
    let said = bench.err("read_file", path("src"));
    assert!(
        said.contains("is a directory") && said.contains("a.rs, b/"),
        "{said}"
    );
    let said = bench.err("read_file", path("."));
    assert!(said.contains("is a directory"), "{said}");
    for missing in ["nope", "no/pe", "src/x"] {
        let said = bench.err("read_file", path(missing));
        assert!(
            said.contains(&format!("there is no file {missing}")),
            "{said}"
        );
    }
    bench.put("latin", b"caf\xe9\n");
    assert_eq!(
        bench.ok("read_file", path("latin")),
        "     1\tcaf\u{fffd}\n"
    );
}

fn age(bench: &Bench, path: &str, seconds: u64) {
    let file = std::fs::File::options()
        .append(true)
        .open(bench.root().join(path))
        .unwrap();
    let then = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000 - seconds);
    file.set_modified(then).unwrap();
}

#[test]
fn glob_names_the_newest_first_and_leaves_out_what_git_ignores() {
    let bench = Bench::lead();
    for file in [
        "old.rs",
        "src/new.rs",
        "src/deep/mid.rs",
        "target/x.rs",
        ".github/ci.rs",
    ] {
        bench.put(file, "");
    }
    for file in [
        ".git/x.rs",
        ".tasks/x.rs",
        ".team/state/x.rs",
        ".worktrees/w/x.rs",
    ] {
        bench.put(file, "");
    }
    bench.put(".gitignore", "target/\n");
    for (seconds, file) in ["src/new.rs", "src/deep/mid.rs", ".github/ci.rs", "old.rs"]
        .into_iter()
        .enumerate()
    {
        age(&bench, file, seconds as u64);
    }
    let found = |input| bench.ok("glob", input);
    assert_eq!(
        found(json!({"pattern": "**/*.rs"})),
        "src/new.rs\nsrc/deep/mid.rs\n.github/ci.rs\nold.rs"
    );
    assert_eq!(found(json!({"pattern": "*.rs"})), "old.rs");
    assert_eq!(
        found(json!({"pattern": "deep/*.{rs,c}", "path": "src"})),
        "src/deep/mid.rs"
    );
    let none = found(json!({"pattern": "*.py"}));
    assert!(none.contains("**/*.py"), "{none}");
    for bad in ["", "/etc/*", "../*", "a/../../b", "[", "~/x"] {
        let said = bench.err("glob", json!({"pattern": bad}));
        assert!(said.contains("`pattern`"), "{said}");
    }
    let said = bench.err("glob", json!({"pattern": "*", "path": "nope"}));
    assert!(said.contains("there is no nope"), "{said}");
}

#[test]
fn two_hundred_results_are_named_and_the_others_counted() {
    let bench = Bench::lead();
    for number in 0..203 {
        bench.put(&format!("f{number}.txt"), "needle\nneedle\n");
    }
    let text = bench.ok("glob", json!({"pattern": "*.txt"}));
    assert_eq!(text.lines().count(), 201);
    assert!(text.ends_with("(3 older files are left out; narrow the pattern or the path)"));
    let text = bench.ok("grep", json!({"pattern": "needle"}));
    assert_eq!(text.lines().count(), 201);
    assert!(text.contains("(206 more matches are left out"), "{text}");
    let wide = format!("{}\n", "wide ".repeat(90));
    bench.put("wide", wide.repeat(1000));
    let text = bench.ok(
        "grep",
        json!({"pattern": "wide", "path": "wide", "context": 20}),
    );
    assert!(
        text.len() < 100_000 && text.contains("(800 more matches"),
        "{}",
        text.len()
    );
    bench.put("around", format!("needle\n{}", wide.repeat(40)).repeat(100));
    let text = bench.ok(
        "grep",
        json!({"pattern": "needle", "path": "around", "context": 20}),
    );
    assert!(
        text.len() < 270_000 && text.contains("more matches are left out"),
        "{}",
        text.len()
    );
}

#[test]
fn grep_shows_lines_with_their_surroundings_newest_files_first() {
    let bench = Bench::lead();
    bench.put("a.rs", "zero\nfn one() {}\ntwo\nthree\nfn four() {}\n");
    bench.put("sub/b.md", "fn five\n");
    bench.put("bin", b"fn six\n\0\0\0");
    bench.put(
        "bin2",
        [b"x".repeat(100_000), b"\0fn six\n".to_vec()].concat(),
    );
    age(&bench, "a.rs", 5);
    age(&bench, "sub/b.md", 1);
    let found = |input| bench.ok("grep", input);
    assert_eq!(
        found(json!({"pattern": "^fn \\w+"})),
        "sub/b.md:1: fn five\na.rs:2: fn one() {}\na.rs:5: fn four() {}"
    );
    assert_eq!(
        found(json!({"pattern": "one|four", "glob": "*.rs", "context": 1})),
        "a.rs-1- zero\na.rs:2: fn one() {}\na.rs-3- two\na.rs-4- three\na.rs:5: fn four() {}"
    );
    assert_eq!(
        found(json!({"pattern": "(?i)FIVE", "path": "sub"})),
        "sub/b.md:1: fn five"
    );
    assert_eq!(
        found(json!({"pattern": "zero", "path": "a.rs"})),
        "a.rs:1: zero"
    );
    assert_eq!(
        found(json!({"pattern": "nowhere"})),
        "no line matches nowhere"
    );
    for (bad, field) in [
        (json!({"pattern": "("}), "`pattern`"),
        (json!({"pattern": ""}), "`pattern`"),
        (json!({"pattern": "a\nb"}), "`pattern`"),
        (json!({"pattern": "a", "glob": "["}), "`glob`"),
        (json!({"pattern": "a", "path": "nope"}), "there is no nope"),
    ] {
        let said = bench.err("grep", bad);
        assert!(said.contains(field), "{said}");
    }
}

#[test]
fn a_very_long_line_is_cut_at_a_character() {
    let bench = Bench::lead();
    bench.put("min.js", format!("needle{}\n", "é".repeat(5000)));
    let text = bench.ok("grep", json!({"pattern": "needle"}));
    assert!(
        text.ends_with('…') && text.chars().count() < 450,
        "{}",
        text.len()
    );
}
