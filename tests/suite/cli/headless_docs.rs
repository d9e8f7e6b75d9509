//! What `docs/headless.md` says of events, and of runs that break, is what happens.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::support::{Bed, DEADLINE, wait_until};

const PAGE: &str = include_str!("../../../docs/headless.md");
/// Keys of every event.
const COMMON: [&str; 3] = ["event", "at", "agent"];

/// The cells of a table row, without marks.
fn cells(line: &str) -> Vec<&str> {
    line.trim_matches('|').split('|').map(str::trim).collect()
}

/// Rows of the table that follows `heading`.
fn table(heading: &str) -> Vec<Vec<&'static str>> {
    let (_, rest) = PAGE.split_once(heading).unwrap();
    rest.lines()
        .skip_while(|line| !line.starts_with('|'))
        .take_while(|line| line.starts_with('|'))
        .skip(2)
        .map(cells)
        .collect()
}

/// What stands in code marks.
fn codes(cell: &str) -> BTreeSet<String> {
    let marked = cell.split('`').skip(1).step_by(2);
    marked.map(str::to_owned).collect()
}

fn documented() -> BTreeMap<String, BTreeSet<String>> {
    let rows = table("## Events").into_iter();
    rows.map(|row| (codes(row[0]).pop_first().unwrap(), codes(row[1])))
        .collect()
}

fn keys(event: &Value) -> BTreeSet<String> {
    let all = event.as_object().unwrap().keys();
    all.filter(|key| !COMMON.contains(&key.as_str()))
        .cloned()
        .collect()
}

#[test]
fn every_event_is_documented_with_its_keys_and_every_documented_one_happens() {
    let bed = Bed::new();
    let model = bed.script(&json!({ "agents": {
        "lead": [
            { "text": "A team.", "tools": [
                { "name": "create_task", "input": { "subject": "Do it" }, "as": "t" },
                { "name": "propose_team", "input": { "members": [{ "name": "bob", "role": "coder" }], "rationale": "one" } }] },
            { "tools": [{ "name": "spawn_teammate", "input": { "name": "bob", "role": "coder", "prompt": "Do it.", "task_id": "${t}" } }] },
            { "text": "Bob works." },
            { "when": "[Team events]", "text": "Done." },
        ],
        "bob": [
            { "tools": [{ "name": "complete_task", "input": { "task_id": "${task}" } }] },
            { "text": "Done." },
        ],
    } }));
    let run = bed.start_lead(&[
        "-p",
        "go",
        "--yes",
        "--model",
        &model,
        "--output-format",
        "stream-json",
    ]);
    let done = run.wait(DEADLINE).expect_code(0);
    let documented = documented();
    let mut seen = BTreeSet::new();
    let broken = broken_early("stream-json");
    let refused = refused("stream-json");
    let lines = done.stdout.lines().chain(broken.lines());
    for line in lines.chain(refused.lines()) {
        let event: Value = serde_json::from_str(line).unwrap();
        for key in COMMON {
            assert!(event[key].is_string(), "{key}: {event}");
        }
        let name = event["event"].as_str().unwrap();
        let wanted = documented
            .get(name)
            .unwrap_or_else(|| panic!("{name} is not documented"));
        assert_eq!(&keys(&event), wanted, "{name}");
        seen.insert(name.to_owned());
    }
    let all: BTreeSet<String> = documented.into_keys().collect();
    assert_eq!(seen, all);
    bed.assert_no_process_left();
}

/// A run whose transcripts have no place.
fn broken_early(format: &str) -> String {
    let bed = Bed::new();
    bed.write(".team/state/transcripts", "no directory");
    let model = bed.script(&json!({"agents": {"lead": [{"text": "x"}]}}));
    let done = bed.lead(&["-p", "go", "--model", &model, "--output-format", format]);
    assert_eq!(done.code, Some(1), "{}", done.stderr);
    assert!(done.stderr.contains("error: "), "{}", done.stderr);
    done.stdout
}

/// A run that the model's server refuses.
fn refused(format: &str) -> String {
    let bed = Bed::new();
    let reply = json!({"error": {"status": 400, "message": "no"}});
    let model = bed.script(&json!({"agents": {"lead": [reply]}}));
    let args = ["-p", "go", "--model", &model, "--output-format", format];
    bed.lead(&args).expect_code(1).stdout
}

#[test]
fn a_run_that_breaks_has_a_result_too() {
    assert_eq!(broken_early("text"), "");
    let object: Value = serde_json::from_str(&broken_early("json")).unwrap();
    let wanted: BTreeSet<String> = table("## One object")
        .iter()
        .flat_map(|row| codes(row[0]))
        .collect();
    assert_eq!(keys(&object), wanted);
    assert_eq!(object["status"], "failed");
    assert!(
        object["result"].as_str().unwrap().contains("transcripts"),
        "{object}"
    );
    assert_eq!(object["tasks"], json!([]));
    assert_eq!(object["usage"]["total"]["calls"], 0);

    // In the middle: the board's directory is replaced while the model thinks.
    let bed = Bed::new();
    let replies = json!([{"text": "late", "delay_ms": 2000}]);
    let model = bed.script(&json!({"agents": {"lead": replies}}));
    let run = bed.start_lead(&["-p", "go", "--model", &model, "--output-format", "json"]);
    let session = wait_until("a session", DEADLINE, || {
        let session = bed.json(".team/state/session.json")?;
        (session["status"] == "working").then_some(session)
    });
    bed.write(".tasks", "no directory");
    let done = run.wait(DEADLINE).expect_code(1);
    let object = done.json();
    assert_eq!(
        (&object["status"], &object["session"]),
        (&json!("failed"), &session["id"])
    );
    bed.assert_no_process_left();
}

#[test]
fn the_documented_exit_codes_are_those_of_the_contract() {
    let rows = table("## How it ends");
    let told: Vec<(&str, &str)> = rows.iter().map(|row| (row[0], row[1])).collect();
    assert_eq!(
        told,
        [
            ("0", "`completed`"),
            ("1", "`incomplete`"),
            ("1", "`failed`"),
            ("2", "no object"),
            ("3", "`limit`"),
            ("130", "`interrupted`"),
            ("143", "`interrupted`"),
        ]
    );
}
