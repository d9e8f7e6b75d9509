//! What must hold when all is over.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pitcrew::clock::Timestamp;
use pitcrew::conversation::{Record, Transcript, check};
use pitcrew::ids::AgentName;
use pitcrew::store::Durability;
use serde_json::Value;

use super::driver::all_done;
use super::job::{TASKS, tasks};
use crate::support::Bed;
use crate::support::model_server::ModelServer;

pub(super) fn all(bed: &Bed, server: &ModelServer, probes: &[(AgentName, String)]) {
    bed.assert_no_process_left();
    assert!(all_done(bed), "{:?}", tasks(&bed.root()));
    ledger(bed);
    server.assert_valid();
    for path in transcripts(bed) {
        valid(&path);
    }
    told_once(bed);
    letters(bed, probes);
    let status = bed.lead(&["status", "--json"]).expect_code(0).json();
    assert_eq!(status["tasks"]["damaged"], 0, "{status:#}");
    assert_eq!(status["tasks"]["completed"], TASKS, "{status:#}");
}

/// Each number stands in the ledger once.
fn ledger(bed: &Bed) {
    let text = bed.read("ledger");
    let mut numbers: Vec<usize> = text.lines().map(|line| line.parse().unwrap()).collect();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(1..=TASKS), "{text}");
}

fn files(bed: &Bed, dir: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(bed.root().join(".team/state").join(dir)).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn transcripts(bed: &Bed) -> Vec<PathBuf> {
    files(bed, "transcripts")
}

/// The conversation may be put before a model. (Opening closes calls without a result, as a restart would.)
fn valid(path: &Path) {
    let start = Record::Start {
        agent: "checker".to_owned(),
        session: None,
        at: Timestamp::now(),
    };
    let (_, replay) = Transcript::open(path, &start, Durability::Process).unwrap();
    let valid = check::validity(&replay.messages);
    assert!(valid.is_ok(), "{}: {valid:?}", path.display());
}

/// No message was put before its receiver's model twice, in whichever of its conversations.
fn told_once(bed: &Bed) {
    let mut told: BTreeMap<(String, String), usize> = BTreeMap::new();
    for path in transcripts(bed) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let agent = name.split('.').next().unwrap().to_owned();
        for record in lines(&path) {
            let shown = record["type"] == "user"
                && !record["text"]
                    .as_str()
                    .unwrap_or_default()
                    .trim()
                    .is_empty();
            for id in record["mail"]
                .as_array()
                .filter(|_| shown)
                .into_iter()
                .flatten()
            {
                let id = id.as_str().unwrap().to_owned();
                *told.entry((agent.clone(), id)).or_default() += 1;
            }
        }
    }
    let twice: Vec<_> = told.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

/// Each letter is in its receiver's archive once, or waits for one that has ended.
fn letters(bed: &Bed, probes: &[(AgentName, String)]) {
    assert!(!probes.is_empty());
    for path in files(bed, "archive") {
        let mut seen = BTreeMap::new();
        for line in lines(&path) {
            *seen.entry(line["id"].to_string()).or_insert(0) += 1;
        }
        let twice: Vec<_> = seen.iter().filter(|(_, times)| **times > 1).collect();
        assert!(twice.is_empty(), "{}: {twice:?}", path.display());
    }
    for (to, id) in probes {
        let archive = bed.root().join(format!(".team/state/archive/{to}.jsonl"));
        let waiting = bed.root().join(format!(".mailboxes/{to}.jsonl"));
        let places = [archive, waiting].map(|path| {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            text.matches(&format!("\"{id}\"")).count()
        });
        assert_eq!(places[0].max(places[1]), 1, "{id} to {to}: {places:?}");
    }
}

/// The lines that are JSON; a killed writer leaves others.
fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read(path).unwrap();
    let text = String::from_utf8_lossy(&text);
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}
