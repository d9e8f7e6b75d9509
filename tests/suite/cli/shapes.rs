//! The JSON of the verbs, key by key, against the contract (SPEC §3.1, §4.2, §5.1, §8.1, §14).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::help::{fixture, living_alice};
use crate::support::Bed;

const TASK: &[&str] = &[
    "id",
    "subject",
    "description",
    "status",
    "owner",
    "blockedBy",
    "worktree",
    "assignee",
    "verify",
    "workVersion",
    "attempts",
    "result",
    "createdAt",
    "updatedAt",
];
const MEMBER: &[&str] = &[
    "name",
    "role",
    "model",
    "status",
    "pid",
    "startedAt",
    "task",
    "planGate",
    "planRequest",
    "turns",
    "tokens",
    "restarts",
    "lastError",
    "alive",
];
const REQUEST: &[&str] = &[
    "request_id",
    "type",
    "sender",
    "target",
    "status",
    "payload",
    "work_version",
    "task_id",
    "created_at",
    "decided_at",
    "decided_by",
    "feedback",
    "scope",
];
const MESSAGE: &[&str] = &[
    "id",
    "from",
    "to",
    "type",
    "content",
    "summary",
    "timestamp",
    "metadata",
];
const USED: &[&str] = &[
    "input",
    "output",
    "cacheRead",
    "cacheWrite",
    "calls",
    "cost",
];

/// An object has these keys. Those of ours that the contract does not name are named with them.
#[track_caller]
fn assert_keys(object: &Value, wanted: &[&[&str]]) {
    let keys: BTreeSet<&str> = object
        .as_object()
        .unwrap_or_else(|| panic!("no object: {object}"))
        .keys()
        .map(String::as_str)
        .collect();
    let wanted: BTreeSet<&str> = wanted.iter().copied().flatten().copied().collect();
    assert_eq!(keys, wanted, "{object:#}");
}

fn of(bed: &Bed, call: &[&str]) -> Value {
    let done = bed.lead(&[call, &["--json"]].concat());
    assert!(
        matches!(done.code, Some(0 | 1)),
        "{call:?}: {}",
        done.stderr
    );
    done.json()
}

/// A workspace with something of each kind, in which a lead has run.
fn lived_in() -> Bed {
    let bed = fixture(true);
    let model = bed.script(&json!({ "agents": { "lead": [{ "text": "Done." }] } }));
    drop(bed.lead(&["-p", "go", "--model", &model]));
    bed.write(".tasks/task_0000000b.json", "{");
    let plan = bed.read(".team/state/requests/req_0a1b2c3d.json");
    for (id, kind) in [
        ("req_0a1b2c41", "plan_approval"),
        ("req_0a1b2c42", "permission"),
    ] {
        let record: Value = serde_json::from_str(&plan).unwrap();
        let mut record = record;
        record["request_id"] = id.into();
        record["type"] = kind.into();
        record["status"] = "pending".into();
        bed.write(
            &format!(".team/state/requests/{id}.json"),
            &record.to_string(),
        );
    }
    bed.write(
        ".mailboxes/alice.jsonl",
        "{\"id\":\"msg_0f86d081884c7d65\",\"from\":\"lead\",\"to\":\"alice\",\"type\":\"message\",\"content\":\"x\",\
         \"summary\":\"s\",\"timestamp\":1764522000123,\"metadata\":{\"task_id\":\"task_1a2b3c4d\"}}\n",
    );
    bed
}

#[test]
fn the_json_of_every_verb_has_the_keys_of_the_contract() {
    let bed = lived_in();
    let status = of(&bed, &["status"]);
    let own = &["held", "damaged"][..];
    assert_keys(
        &status,
        &[&["lead", "teammates", "tasks", "requests", "mail"], own],
    );
    let lead = &["pid", "alive", "model", "status", "since"][..];
    assert_keys(&status["lead"], &[lead, &["session"]]);
    let counts = &[
        "pending",
        "in_progress",
        "completed",
        "cancelled",
        "ready",
        "damaged",
    ][..];
    assert_keys(&status["tasks"], &[counts]);
    assert_eq!(status["tasks"]["damaged"], 1);
    assert_eq!(status["mail"]["alice"], 1);
    for teammate in [&status["teammates"][0], &of(&bed, &["team", "list"])[0]] {
        assert_keys(teammate, &[MEMBER, &["startedBy", "requirePlan"]]);
        assert_eq!(teammate["alive"], false);
    }
    for request in status["requests"].as_array().unwrap() {
        assert_keys(request, &[REQUEST]);
    }

    let tasks = of(&bed, &["task", "list"]);
    let tasks = tasks.as_array().unwrap();
    let (damaged, whole): (Vec<&Value>, Vec<&Value>) =
        tasks.iter().partition(|task| task.get("damaged").is_some());
    assert_eq!((damaged.len(), whole.len()), (1, 3), "{tasks:#?}");
    assert_keys(damaged[0], &[&["id", "damaged", "ready"]]);
    assert_eq!(
        (&damaged[0]["id"], &damaged[0]["ready"]),
        (&json!("task_0000000b"), &json!(false))
    );
    let shown = of(&bed, &["task", "show", "task_1a2b3c4d"]);
    for task in whole.into_iter().chain([&shown]) {
        assert_keys(task, &[TASK, &["ready", "blockedReason"]]);
    }

    assert_keys(&of(&bed, &["mail", "list", "alice"])[0], &[MESSAGE]);
    for kind in ["plan", "permission"] {
        let records = of(&bed, &[kind, "list"]);
        assert!(!records.as_array().unwrap().is_empty(), "{kind}");
        for record in records.as_array().unwrap() {
            assert_keys(record, &[REQUEST]);
        }
    }
    let worktree = [
        "name", "path", "task", "owner", "branch", "ahead", "behind", "changes", "inUse", "problem",
    ];
    assert_keys(
        &of(&bed, &["worktree", "list"])[0],
        &[&worktree, &["inUseBy"]],
    );

    // A living one takes its mail in.
    for verb in ["stop", "kill"] {
        let alice = living_alice(&bed);
        assert_keys(&of(&bed, &["team", verb, "alice"]), &[REQUEST]);
        drop(alice);
    }
}

#[test]
fn the_json_of_what_happened_and_of_the_doctor_has_the_keys_of_the_contract() {
    let bed = lived_in();
    let usage = of(&bed, &["usage"]);
    assert_keys(&usage, &[&["total", "agents"]]);
    assert_keys(&usage["total"], &[USED]);
    assert_keys(&usage["agents"]["lead"], &[USED]);
    let log = of(&bed, &["log"]);
    assert!(log.as_array().unwrap().len() > 3, "{log:#}");
    for event in log.as_array().unwrap() {
        for key in ["event", "at", "agent"] {
            assert!(event[key].is_string(), "{event}");
        }
    }
    let doctor = of(&bed, &["doctor"]);
    assert_keys(&doctor, &[&["checks"]]);
    for check in doctor["checks"].as_array().unwrap() {
        assert_keys(check, &[&["name", "ok", "detail", "repair"]]);
    }
    let sessions = of(&bed, &["sessions"]);
    assert_eq!(sessions.as_array().unwrap().len(), 1);
}

/// A line of a mailbox or an archive with every key of a message.
fn letter(more: &Value) -> String {
    let mut letter = json!({"id": "msg_1f86d081884c7d65", "from": "lead", "to": "alice", "type": "message", "content": "x",
        "summary": "s", "timestamp": 1_764_522_000_100_u64, "metadata": {}});
    for (key, value) in more.as_object().unwrap() {
        letter[key] = value.clone();
    }
    format!("{letter}\n")
}

#[test]
fn mail_that_was_taken_in_is_listed_where_all_is_asked_for() {
    let bed = Bed::new();
    let at = json!({"acknowledgedAt": "2026-11-30T17:00:00.000Z"});
    bed.write(".team/state/archive/alice.jsonl", &letter(&at));
    let waits = json!({"id": "msg_2f86d081884c7d65", "timestamp": 1_764_522_000_200_u64});
    bed.write(".mailboxes/alice.jsonl", &letter(&waits));
    let all = of(&bed, &["mail", "list", "alice", "--all"]);
    assert_eq!(all.as_array().unwrap().len(), 2, "{all:#}");
    assert_keys(&all[0], &[MESSAGE, &["acknowledgedAt"]]);
    assert_keys(&all[1], &[MESSAGE]);
    let waiting = of(&bed, &["mail", "list", "alice"]);
    assert_eq!(waiting.as_array().unwrap().len(), 1, "{waiting:#}");
}

#[test]
fn nothing_there_has_the_same_shapes() {
    let bed = Bed::new();
    let status = of(&bed, &["status"]);
    assert_eq!(status["lead"], Value::Null);
    for key in ["teammates", "requests"] {
        assert_eq!(status[key], json!([]), "{key}");
    }
    assert_eq!(status["tasks"]["pending"], 0);
    for call in [
        &["team", "list"][..],
        &["task", "list"],
        &["plan", "list"],
        &["permission", "list"],
        &["mail", "list", "lead"],
        &["worktree", "list"],
        &["log"],
        &["sessions"],
    ] {
        assert_eq!(of(&bed, call), json!([]), "{call:?}");
    }
    let usage = of(&bed, &["usage"]);
    assert_eq!(usage["agents"], json!({}));
    assert_keys(&usage["total"], &[USED]);
}
