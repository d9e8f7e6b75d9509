//! `write_file` and `edit_file`.

use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::{Value, json};

use crate::tool::fixture::{Bench, path};

fn write(path: &str, content: &str) -> Value {
    json!({"path": path, "content": content})
}

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"path": path, "old_text": old, "new_text": new})
}

#[test]
fn a_new_file_is_made_with_its_directories() {
    let bench = Bench::lead();
    let said = bench.ok("write_file", write("a/b/c.txt", "x\ny\n"));
    assert!(said.starts_with("made a/b/c.txt (2 lines)\n"), "{said}");
    assert!(said.ends_with("+x\n+y"), "{said}");
    assert_eq!(
        bench.ok("write_file", write("empty", "")),
        "made empty (0 lines)"
    );
    assert_eq!(bench.text("a/b/c.txt"), "x\ny\n");
    let names: Vec<_> = std::fs::read_dir(bench.root().join("a/b"))
        .unwrap()
        .collect();
    assert_eq!(names.len(), 1, "no temporary file is left");
}

#[test]
fn an_existing_file_is_only_overwritten_once_it_was_read() {
    let bench = Bench::lead();
    bench.put("a.txt", "theirs\n");
    let said = bench.err("write_file", write("a.txt", "mine\n"));
    assert!(said.contains("you have not read it"), "{said}");
    assert_eq!(bench.text("a.txt"), "theirs\n");

    bench.ok("read_file", path("./a.txt"));
    let said = bench.ok("write_file", write("a.txt", "mine"));
    assert!(said.contains("-theirs\n+mine"), "{said}");
    assert_eq!(bench.text("a.txt"), "mine\n", "the final newline is kept");
    bench.ok("write_file", write("a.txt", "again\n"));

    bench.put("a.txt", "somebody\n");
    let said = bench.err("write_file", write("a.txt", "mine\n"));
    assert!(
        said.contains("has changed since you last read it"),
        "{said}"
    );
    let said = bench.err("edit_file", edit("a.txt", "some", "no"));
    assert!(said.contains("has changed since"), "{said}");
    bench.ok("read_file", json!({"path": "a.txt", "limit": 1}));
    bench.ok("edit_file", edit("a.txt", "some", "no"));
    assert_eq!(bench.text("a.txt"), "nobody\n");
}

#[test]
fn an_edit_keeps_the_mode_and_goes_through_links_inside() {
    let bench = Bench::lead();
    let script = bench.put("bin/run.sh", "#!/bin/sh\necho one\n");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    symlink("bin/run.sh", bench.root().join("run")).unwrap();
    let said = bench.ok("edit_file", edit("run", "one", "two"));
    assert!(said.starts_with("edited bin/run.sh (line 2)\n"), "{said}");
    assert!(said.contains("-echo one\n+echo two"), "{said}");
    let meta = std::fs::symlink_metadata(&script).unwrap();
    assert!(meta.is_file());
    assert_eq!(meta.permissions().mode() & 0o777, 0o755);
    assert!(
        std::fs::symlink_metadata(bench.root().join("run"))
            .unwrap()
            .is_symlink()
    );
}

#[test]
fn exactly_one_place_is_edited_unless_all_are_meant() {
    let bench = Bench::lead();
    bench.put("a.txt", "x = 1\ny\nx = 1\n");
    let said = bench.err("edit_file", edit("a.txt", "x = 1", "x = 2"));
    assert!(said.contains("found 2 times, in lines 1, 3"), "{said}");
    assert_eq!(bench.text("a.txt"), "x = 1\ny\nx = 1\n");
    let all =
        json!({"path": "a.txt", "old_text": "x = 1", "new_text": "x = 2", "replace_all": true});
    assert!(
        bench
            .ok("edit_file", all)
            .contains("(2 places, lines 1, 3)")
    );
    assert_eq!(bench.text("a.txt"), "x = 2\ny\nx = 2\n");
    bench.ok("edit_file", edit("a.txt", "y\nx = 2", "y\nx = 3"));
    assert_eq!(bench.text("a.txt"), "x = 2\ny\nx = 3\n");

    bench.put("b.txt", "é}\n}\n}\n");
    let said = bench.err("edit_file", edit("b.txt", "}\n}\n", "x\n"));
    assert!(
        said.contains("found 2 times, in lines 1, 2"),
        "either may be meant: {said}"
    );
}

#[test]
fn a_slip_is_answered_with_what_would_help() {
    let bench = Bench::lead();
    bench.put("a.rs", "fn a() {\n    one();\n    two();\n}\n");
    let table = [
        (
            edit("a.rs", "  one();\n  two();", "x"),
            "line 2 has the same words",
        ),
        (
            edit("a.rs", "three()", "x"),
            "was not found; read the file again",
        ),
        (edit("a.rs", "", "x"), "`old_text` is empty"),
        (edit("a.rs", "one", "one"), "are the same"),
        (edit("nope.rs", "a", "b"), "there is no file nope.rs"),
        (edit("no/pe.rs", "a", "b"), "there is no file no/pe.rs"),
        (edit(".", "a", "b"), "directory"),
    ];
    for (input, wanted) in table {
        let said = bench.err("edit_file", input);
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
    bench.put("latin", b"caf\xe9\n");
    assert!(
        bench
            .err("edit_file", edit("latin", "caf", "x"))
            .contains("not UTF-8")
    );
    let said = bench.err("write_file", write("a.rs/x", ""));
    assert!(said.contains("not a directory"), "{said}");
}

#[test]
fn line_ends_and_the_final_newline_stay_as_they_were() {
    let bench = Bench::lead();
    bench.put("dos.txt", "a\r\nb\r\nc\r\n");
    bench.ok("edit_file", edit("dos.txt", "a\nb", "one\ntwo"));
    assert_eq!(bench.text("dos.txt"), "one\r\ntwo\r\nc\r\n");
    bench.put("end.txt", "a\nb\n");
    bench.ok("edit_file", edit("end.txt", "b\n", "c"));
    assert_eq!(bench.text("end.txt"), "a\nc\n");
    bench.put("bare.txt", "a\nb");
    bench.ok("edit_file", edit("bare.txt", "b", "c"));
    assert_eq!(bench.text("bare.txt"), "a\nc");
    bench.put("all.txt", "gone\n");
    bench.ok("edit_file", edit("all.txt", "gone\n", ""));
    assert_eq!(bench.text("all.txt"), "");
}

#[test]
fn a_large_change_is_shown_short() {
    let bench = Bench::lead();
    let lines = |word: &str| -> String { format!("{word}\n").repeat(500) };
    bench.put("a.txt", lines("old"));
    bench.ok("read_file", path("a.txt"));
    let said = bench.ok("write_file", write("a.txt", &lines("new")));
    assert!(said.lines().count() < 70, "{}", said.lines().count());
    assert!(said.contains("more lines of the diff"));
}
