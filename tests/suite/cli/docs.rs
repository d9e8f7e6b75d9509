//! The docs say what is true: their examples of files are read as what they are, and the commands they name exist.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::Bed;

const FILES: &str = include_str!("../../../docs/files.md");

/// Every page that a person reads.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let docs = std::fs::read_dir(root.join("docs")).unwrap();
    let docs = docs.map(|entry| entry.unwrap().path());
    docs.chain([root.join("README.md"), root.join("CONTRIBUTING.md")])
        .collect()
}

/// The one block of `files.md` that is marked so.
#[track_caller]
fn example(kind: &str) -> String {
    let start = format!("```json {kind}\n");
    let (_, rest) = FILES.split_once(&start).unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

#[track_caller]
fn parsed(kind: &str) -> Value {
    serde_json::from_str(&example(kind)).unwrap()
}

#[test]
fn the_examples_of_files_are_files_that_the_verbs_read() {
    let bed = Bed::new();
    let mut task = parsed("task");
    bed.write(".tasks/task_1a2b3c4d.json", &example("task"));
    let mut list = bed.lead(&["task", "list", "--json"]).expect_code(0).json();
    let listed = list[0].as_object_mut().unwrap();
    assert_eq!(listed.remove("ready"), Some(false.into()));
    assert!(listed.remove("blockedReason").is_some());
    task.as_object_mut().unwrap().sort_keys();
    listed.sort_keys();
    assert_eq!(list[0], task);

    bed.write(".mailboxes/lead.jsonl", &example("message"));
    let mail = bed.lead(&["mail", "list", "lead", "--json"]).expect_code(0);
    assert_eq!(mail.json()[0], parsed("message"));

    bed.write(
        ".team/state/requests/req_9d99abfa.json",
        &example("request").replace("\"rejected\"", "\"pending\""),
    );
    let plans = bed.lead(&["plan", "list", "--json"]).expect_code(0).json();
    assert_eq!(plans[0]["payload"], parsed("request")["payload"]);

    bed.write(".team/state/members/alice.json", &example("member"));
    let team = bed.lead(&["team", "list", "--json"]).expect_code(0).json();
    let member = parsed("member");
    for (key, value) in member.as_object().unwrap() {
        assert_eq!(&team[0][key], value, "{key}");
    }
    assert_eq!(team[0]["alive"], false);

    let path = bed.home().join(".config/pitcrew/settings.json");
    bed.put(&path, &example("settings"));
    let config = bed.lead(&["config", "--json"]).expect_code(0);
    assert_eq!(config.stderr, "");
    let hooks = &config.json()["settings"]["hooks"];
    let named = &parsed("hook")["event"];
    assert_eq!(hooks[named.as_str().unwrap()][0], "./check-call.sh");

    let line = parsed("line");
    assert!(line["seq"].is_u64() && line["change"]["owner"]["new"].is_string());
}

#[test]
fn every_verb_that_the_docs_name_exists() {
    let bed = Bed::new();
    let mut verbs = BTreeSet::new();
    for page in pages() {
        let text = std::fs::read_to_string(page).unwrap();
        let told = text.split("## What it does not do yet").next().unwrap();
        for span in told.split('`').skip(1).step_by(2) {
            let Some(rest) = span.strip_prefix("lead ") else {
                continue;
            };
            let words: Vec<String> = rest
                .split_whitespace()
                .take_while(|word| word.chars().all(|ch| ch.is_ascii_lowercase()))
                .take(2)
                .map(str::to_owned)
                .collect();
            verbs.insert(words);
        }
    }
    verbs.remove(&Vec::new());
    assert!(verbs.len() > 8, "{verbs:?}");
    for verb in verbs {
        let words = verb.iter().map(String::as_str);
        let call: Vec<&str> = words.chain(["--help"]).collect();
        let done = bed.lead(&call);
        assert_eq!(
            done.code,
            Some(0),
            "lead {}: {}",
            verb.join(" "),
            done.stderr
        );
    }
}

#[test]
fn every_link_between_the_docs_leads_somewhere() {
    let mut seen = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1) {
            let target = link.split([')', '#']).next().unwrap();
            if target.is_empty() || target.contains("://") {
                continue;
            }
            seen += 1;
            let found = page.parent().unwrap().join(target).exists();
            assert!(found, "{}: {target}", page.display());
        }
    }
    assert!(seen > 10, "{seen}");
}
