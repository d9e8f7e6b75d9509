//! Holds the house together: layers point down only, files and functions stay short, names and headers are as agreed.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may fail by a panic, and reads its own sources"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::Visit;

/// Modules from the bottom up; a module may use only those of earlier rows.
const ROWS: [&[&str]; 12] = [
    &["ids", "clock"],
    &["cancel", "workspace"],
    &["store", "process"],
    &["conversation"],
    &[
        "board", "mailbox", "request", "lease", "team", "worktree", "policy", "model",
    ],
    &["tool", "config"],
    &["agent"],
    &["findings"],
    &["timeline"],
    &["lead", "teammate"],
    &["cli"],
    // Tests of all of them.
    &["killed"],
];

/// The first row that may speak of errors in general terms.
const ANYHOW_FROM: &str = "agent";

const MAX_FILE: usize = 500;
const MEDIAN_FILE: usize = 150;
const MAX_FUNCTION: usize = 80;
const USUAL_FUNCTION: usize = 40;

/// Names that say nothing about what a module is for.
const EMPTY_NAMES: [&str; 8] = [
    "util", "utils", "helper", "helpers", "common", "manager", "misc", "shared",
];

struct Source {
    /// Below the repository's root.
    path: PathBuf,
    text: String,
}

impl Source {
    /// The module's path below the crate, such as `["cli", "verbs", "task"]`; empty for `lib.rs`, `None` outside of it.
    fn module(&self) -> Option<Vec<String>> {
        let below = self.path.strip_prefix("src").ok()?;
        if below.starts_with("bin") {
            return None;
        }
        let mut parts: Vec<String> = below
            .with_extension("")
            .iter()
            .map(|part| part.to_string_lossy().into_owned())
            .collect();
        if matches!(parts.last().map(String::as_str), Some("mod" | "lib")) {
            parts.pop();
        }
        Some(parts)
    }

    fn parsed(&self) -> syn::File {
        syn::parse_file(&self.text)
            .unwrap_or_else(|error| panic!("{}: {error}", self.path.display()))
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources(dirs: &[&str]) -> Vec<Source> {
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = dirs.iter().map(|dir| root().join(dir)).collect();
    while let Some(dir) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&dir) else {
            continue;
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ext| ext == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let path = path.strip_prefix(root()).unwrap().to_path_buf();
                found.push(Source { path, text });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(!found.is_empty(), "no sources in {dirs:?}");
    found
}

fn row(module: &str) -> Option<usize> {
    ROWS.iter().position(|row| row.contains(&module))
}

/// Fails with all complaints at once.
fn complain(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn every_module_of_the_crate_has_its_row() {
    let lib = std::fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let mut declared: Vec<String> = syn::parse_file(&lib)
        .unwrap()
        .items
        .iter()
        .filter_map(|item| match item {
            syn::Item::Mod(module) => Some(module.ident.to_string()),
            _ => None,
        })
        .collect();
    let mut known: Vec<String> = ROWS
        .iter()
        .flat_map(|row| row.iter().map(ToString::to_string))
        .collect();
    declared.sort();
    known.sort();
    assert_eq!(declared, known);
}

#[test]
fn layers_point_down_only() {
    let mut complaints = Vec::new();
    for source in sources(&["src"]) {
        let Some(module) = source.module() else {
            continue;
        };
        let Some(own) = module.first() else { continue };
        let tokens: TokenStream = source.text.parse().unwrap();
        let mut uses = Vec::new();
        collect_uses(tokens, module.len(), &mut uses);
        let own_row = row(own).unwrap_or_else(|| panic!("{own} has no row"));
        for (used, line) in uses {
            if used == *own {
                continue;
            }
            let allowed = row(&used).is_some_and(|used| used < own_row);
            if !allowed {
                complaints.push(format!(
                    "{}:{line}: {own} uses {used}",
                    source.path.display()
                ));
            }
        }
    }
    complain(&complaints);
}

/// Top modules named by `crate::x`, `crate::{x, y}`, or a chain of `super` that reaches the crate's root; macros included.
fn collect_uses(tokens: TokenStream, depth: usize, uses: &mut Vec<(String, usize)>) {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let mut supers = 0;
    let mut at = 0;
    while at < trees.len() {
        match &trees[at] {
            TokenTree::Group(group) => {
                let is_module = group.delimiter() == Delimiter::Brace
                    && at >= 2
                    && matches!(&trees[at - 2], TokenTree::Ident(ident) if ident == "mod");
                collect_uses(group.stream(), depth + usize::from(is_module), uses);
                supers = 0;
            }
            TokenTree::Ident(ident) if ident == "super" => supers += 1,
            TokenTree::Ident(ident) if ident == "crate" => {
                named_after(&trees[at + 1..], uses);
                supers = 0;
            }
            TokenTree::Ident(ident) => {
                if supers > 0 && supers >= depth {
                    uses.push((ident.to_string(), ident.span().start().line));
                }
                supers = 0;
            }
            TokenTree::Punct(punct) if punct.as_char() == ':' => {}
            TokenTree::Punct(_) | TokenTree::Literal(_) => supers = 0,
        }
        at += 1;
    }
}

fn named_after(trees: &[TokenTree], uses: &mut Vec<(String, usize)>) {
    let is_colon = |tree: Option<&TokenTree>| matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
    if !(is_colon(trees.first()) && is_colon(trees.get(1))) {
        return;
    }
    match trees.get(2) {
        Some(TokenTree::Ident(ident)) => uses.push((ident.to_string(), ident.span().start().line)),
        Some(TokenTree::Group(group)) => {
            let mut first = true;
            for tree in group.stream() {
                match tree {
                    TokenTree::Ident(ident) if first => {
                        uses.push((ident.to_string(), ident.span().start().line));
                        first = false;
                    }
                    TokenTree::Punct(punct) if punct.as_char() == ',' => first = true,
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

#[test]
fn the_reading_of_uses_sees_every_form() {
    let text = "use crate::a::b; use crate::{c::d, e}; fn f() { crate::g::h(); m!(crate::i::j) }
        use super::k; mod tests { use super::*; use super::super::l; }
        pub(crate) fn n() {}";
    let mut uses = Vec::new();
    collect_uses(text.parse().unwrap(), 1, &mut uses);
    let names: Vec<String> = uses.into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["a", "c", "e", "g", "i", "k", "l"]);
}

#[test]
fn errors_are_typed_below_the_agents() {
    let from = row(ANYHOW_FROM).unwrap();
    let complaints: Vec<String> = sources(&["src"])
        .iter()
        .filter(|source| {
            let module = source.module().unwrap_or_default();
            module
                .first()
                .and_then(|own| row(own))
                .is_some_and(|row| row < from)
                && source.text.contains("anyhow")
        })
        .map(|source| format!("{} speaks of anyhow", source.path.display()))
        .collect();
    complain(&complaints);
}

#[test]
fn files_are_short_and_say_what_they_are_for() {
    let mut complaints = Vec::new();
    let sources = sources(&["src", "tests", "examples", "benches"]);
    let mut lengths = Vec::new();
    for source in &sources {
        let path = source.path.display();
        let length = source.text.lines().count();
        if source.path.starts_with("src") {
            lengths.push(length);
        }
        if length > MAX_FILE {
            complaints.push(format!("{path} has {length} lines, at most {MAX_FILE}"));
        }
        if !source.text.starts_with("//! ") {
            complaints.push(format!("{path} does not begin with //! and what it is for"));
        }
        let name = source
            .path
            .file_stem()
            .unwrap()
            .to_string_lossy()
            .into_owned();
        if EMPTY_NAMES.contains(&name.as_str()) {
            complaints.push(format!("{path}: the name says nothing"));
        }
        for word in ["TODO", "FIXME", "XXX:", "todo!("] {
            if source.text.contains(word) && !path.to_string().ends_with("architecture.rs") {
                complaints.push(format!("{path} holds {word}"));
            }
        }
    }
    lengths.sort_unstable();
    let median = lengths[lengths.len() / 2];
    if median > MEDIAN_FILE {
        complaints.push(format!(
            "the median file of src has {median} lines, at most {MEDIAN_FILE}"
        ));
    }
    complain(&complaints);
}

#[test]
fn functions_are_short() {
    let mut lengths = Vec::new();
    let mut complaints = Vec::new();
    for source in sources(&["src", "tests", "examples", "benches"]) {
        let mut functions = Functions::default();
        functions.visit_file(&source.parsed());
        for (name, lines) in functions.0 {
            if lines > MAX_FUNCTION {
                complaints.push(format!(
                    "{}: {name} has {lines} lines, at most {MAX_FUNCTION}",
                    source.path.display()
                ));
            }
            lengths.push(lines);
        }
    }
    lengths.sort_unstable();
    let nine_of_ten = lengths[lengths.len() * 9 / 10];
    if nine_of_ten > USUAL_FUNCTION {
        complaints.push(format!(
            "nine of ten functions have up to {nine_of_ten} lines, at most {USUAL_FUNCTION}"
        ));
    }
    complain(&complaints);
}

/// Every function with a body: its name, and its lines from `fn` to the closing brace.
#[derive(Default)]
struct Functions(Vec<(String, usize)>);

impl Functions {
    fn add(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let from = signature.fn_token.span().start().line;
        let to = body.brace_token.span.close().end().line;
        self.0.push((signature.ident.to_string(), to - from + 1));
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.add(&item.sig, &item.block);
        syn::visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.add(&item.sig, &item.block);
        syn::visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(body) = &item.default {
            self.add(&item.sig, body);
        }
        syn::visit::visit_trait_item_fn(self, item);
    }
}

#[test]
fn the_primitives_have_one_owner_each() {
    // Where clippy's bans do not reach: traits in scope, and exceptions to the bans.
    let owners = BTreeMap::from([
        ("fs2", vec!["src/store/lock"]),
        ("fn now_ms", vec!["src/clock.rs"]),
        ("std::io::stdout", vec!["src/cli"]),
        ("std::io::stderr", vec!["src/cli"]),
        ("println!", vec![]),
        ("static mut", vec![]),
    ]);
    let mut complaints = Vec::new();
    for source in sources(&["src"]) {
        for (primitive, owners) in &owners {
            let owned = owners
                .iter()
                .any(|owner| source.path.to_string_lossy().starts_with(owner));
            let used = source
                .text
                .lines()
                .any(|line| line.contains(primitive) && !line.trim_start().starts_with("//"));
            if used && !owned {
                complaints.push(format!("{} uses {primitive}", source.path.display()));
            }
        }
    }
    complain(&complaints);
}

#[test]
fn the_changelog_knows_this_version() {
    let changelog = std::fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    let newest = changelog
        .lines()
        .filter_map(|line| line.strip_prefix("## [")?.split(']').next())
        .find(|version| *version != "Unreleased");
    assert_eq!(newest, Some(env!("CARGO_PKG_VERSION")));
}

#[test]
fn every_dependency_is_used_and_has_its_reason() {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let reasons = std::fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let product = sources(&["src"]);
    let tests = sources(&["src", "tests", "benches"]);
    let mut users = None;
    let mut complaints = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            users = match line {
                "[dependencies]" => Some(&product),
                "[dev-dependencies]" => Some(&tests),
                _ => None,
            };
        } else if let (Some(users), Some((name, _))) = (users, line.split_once(" = ")) {
            if !reasons.contains(&format!("`{name}`")) {
                complaints.push(format!("docs/architecture.md gives no reason for `{name}`"));
            }
            let path = format!("{}::", name.replace('-', "_"));
            if !users.iter().any(|source| source.text.contains(&path)) {
                complaints.push(format!("nothing uses `{name}`"));
            }
        }
    }
    complain(&complaints);
}
