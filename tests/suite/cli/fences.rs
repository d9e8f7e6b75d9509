//! No block of code in the pages goes unchecked: each kind is one that some test takes, and each command is run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// Kinds of blocks, with what checks them: `readme` and `docs_commands` run `sh`, `guide` and `scripts_docs` play `text`,
/// `docs` reads the `json` of files, `request` the diagrams, `performance` the benches.
const KINDS: [&str; 15] = [
    "sh",
    "text",
    "text result",
    "text watch",
    "json",
    "json hook",
    "json line",
    "json member",
    "json message",
    "json request",
    "json script",
    "json settings",
    "json task",
    "mermaid",
    "console",
];
/// What builds this program is run by whoever runs its tests.
const BUILDS: [&str; 2] = ["cargo run --release --bin lead -- demo", "cargo test"];

fn pages() -> Vec<PathBuf> {
    let docs = std::fs::read_dir(Path::new(ROOT).join("docs")).unwrap();
    let docs = docs.map(|page| page.unwrap().path());
    let top =
        ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| Path::new(ROOT).join(name));
    docs.chain(top).collect()
}

/// Every block of a page: its kind and its lines.
fn blocks(page: &Path) -> Vec<(String, Vec<String>)> {
    let text = std::fs::read_to_string(page).unwrap();
    let mut blocks = Vec::new();
    let mut open: Option<(String, Vec<String>)> = None;
    for line in text.lines() {
        match (line.trim_start().strip_prefix("```"), &mut open) {
            (Some(kind), None) => open = Some((kind.to_owned(), Vec::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some((_, lines))) => lines.push(line.to_owned()),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "{}: a block has no end", page.display());
    blocks
}

#[test]
fn every_block_is_of_a_kind_that_is_checked() {
    let mut seen = BTreeSet::new();
    for page in pages() {
        for (kind, _) in blocks(&page) {
            assert!(
                KINDS.contains(&kind.as_str()),
                "{}: nothing checks a block of kind {kind:?}",
                page.display()
            );
            seen.insert(kind);
        }
    }
    assert_eq!(
        seen.len(),
        KINDS.len(),
        "a kind that nothing uses: {seen:?}"
    );
}

/// The tests that run `sh` blocks run every line but those that build, and begin no other block so.
#[test]
fn every_command_is_run_by_a_test() {
    for page in pages() {
        let commands = blocks(&page).into_iter().filter(|(kind, _)| kind == "sh");
        for command in commands.flat_map(|(_, lines)| lines) {
            let run = ["lead", "export ", "mkdir "];
            assert!(
                run.iter().any(|start| command.starts_with(start))
                    || BUILDS.contains(&command.as_str()),
                "{}: {command:?} is run by nothing",
                page.display()
            );
            let readme = page.ends_with("README.md");
            assert!(
                readme || !BUILDS.contains(&command.as_str()),
                "{}",
                page.display()
            );
        }
    }
}

#[test]
fn every_bench_that_is_named_is_there() {
    let page = Path::new(ROOT).join("docs/performance.md");
    let lines = blocks(&page)
        .into_iter()
        .filter(|(kind, _)| kind == "console");
    let mut named = BTreeSet::new();
    for line in lines.flat_map(|(_, lines)| lines) {
        let rest = line.strip_prefix("$ cargo bench --bench ").unwrap();
        named.insert(rest.split(' ').next().unwrap().to_owned());
    }
    assert!(!named.is_empty());
    for bench in named {
        let file = Path::new(ROOT).join(format!("benches/{bench}.rs"));
        assert!(file.is_file(), "{bench}");
    }
}
