//! Files come back byte by byte, whatever git would make of them.

use super::*;

const MIXED: &str = "one\r\ntwo\nthree\r\n";

fn bytes_of(scratch: &Scratch, name: &str) -> String {
    scratch.text(name).unwrap()
}

/// What is committed, what is changed since, and what git does not know, in a repository set up with `config` and
/// `attributes`.
fn comes_back(config: &[(&str, &str)], attributes: &str) {
    let scratch = Scratch::committed();
    for (key, value) in config {
        scratch.git(&["config", key, value]);
    }
    scratch.put(".gitattributes", attributes);
    scratch.put("clean.txt", "$Id$ secret\n");
    scratch.put("mixed.txt", MIXED);
    scratch.put("removed.txt", MIXED);
    scratch.commit("converted");
    // As git itself would write it; its index takes the file for unchanged.
    scratch.remove("clean.txt");
    scratch.git(&["checkout", "-q", "--", "clean.txt"]);
    scratch.put("untracked.txt", MIXED);
    let names = ["clean.txt", "mixed.txt", "removed.txt", "untracked.txt"];
    let before = names.map(|name| bytes_of(&scratch, name));
    let untouched = scratch.untouched();
    scratch.keep();
    assert_eq!(scratch.diff(Form::Patch), "", "{attributes}");

    scratch.put("clean.txt", "changed\r\n");
    scratch.put("mixed.txt", &MIXED.replace('\r', ""));
    scratch.remove("removed.txt");
    scratch.put("untracked.txt", "changed\n");
    scratch.put(".gitattributes", "* text eol=crlf\n");
    let stat = scratch.diff(Form::Stat);
    assert!(stat.contains("5 files changed"), "{attributes}: {stat}");
    assert_eq!(scratch.undo().files, 5, "{attributes}");
    assert_eq!(
        names.map(|name| bytes_of(&scratch, name)),
        before,
        "{attributes}"
    );
    assert_eq!(bytes_of(&scratch, ".gitattributes"), attributes);
    assert_eq!(scratch.untouched(), untouched, "{attributes}");
}

#[test]
fn line_endings_are_those_of_the_files() {
    comes_back(&[("core.autocrlf", "true"), ("core.safecrlf", "false")], "");
    comes_back(&[("core.safecrlf", "false")], "*.txt text eol=lf\n");
}

#[test]
fn what_filters_encodings_and_identities_make_of_a_file_is_not_held() {
    let filter = [
        ("filter.x.clean", "sed s/secret/clean/"),
        ("filter.x.smudge", "sed s/clean/smudged/"),
        ("filter.x.required", "true"),
    ];
    comes_back(&filter, "*.txt filter=x ident\n");
    comes_back(&[], "*.txt text=auto working-tree-encoding=UTF-8\n");
}

/// What only the conversion makes small is held by nobody, and stays.
#[test]
fn a_large_file_that_git_converts_is_named_and_stays() {
    let scratch = Scratch::committed();
    scratch.git(&["config", "filter.pointer.clean", "head -c 7"]);
    scratch.put(".gitattributes", "*.bin filter=pointer\n");
    let large = scratch.root().join("large.bin");
    let file = File::create(&large).unwrap();
    file.set_len(super::super::left_out::LARGEST + 1).unwrap();
    scratch.commit("a pointer");
    let kept = keep(&scratch.workspace(), &scratch.session).unwrap();
    assert!(
        matches!(&kept, Kept::Partly(said) if said.contains("large.bin")),
        "{kept:?}"
    );
    scratch.put("a.txt", "changed\n");
    assert_eq!(scratch.undo().files, 1);
    assert_eq!(
        fs::metadata(&large).unwrap().len(),
        super::super::left_out::LARGEST + 1
    );
}
