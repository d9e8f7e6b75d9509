//! `lead doctor` over real files that were damaged in every way.

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::task;
use crate::support::model_server::{Answer, ModelServer};
use crate::support::{Bed, DEADLINE, Done};

/// The checks of an answer that are not in order, but for those of the surroundings.
fn bad(done: &Done) -> Vec<(String, String, String)> {
    let answer = done.json();
    let checks = answer["checks"].as_array().unwrap();
    checks
        .iter()
        .inspect(|check| {
            let keys: Vec<&String> = check.as_object().unwrap().keys().collect();
            assert_eq!(keys, ["name", "ok", "detail", "repair"]);
        })
        .filter(|check| {
            check["ok"] == false && check["name"] != "model" && check["name"] != "space"
        })
        .map(|check| {
            let text = |key: &str| check[key].as_str().unwrap_or_default().to_owned();
            (text("name"), text("detail"), text("repair"))
        })
        .collect()
}

#[track_caller]
fn assert_found(found: &[(String, String, String)], name: &str, part: &str) {
    let there = found
        .iter()
        .any(|(check, detail, _)| check == name && detail.contains(part));
    assert!(there, "{name}: {part:?} is not in {found:#?}");
}

/// Every file below the root with its bytes (or target, or kind) and times.
fn everything(bed: &Bed) -> BTreeMap<String, (Vec<u8>, Option<SystemTime>, u32)> {
    bed.listing()
        .into_iter()
        .map(|name| {
            let path = bed.root().join(&name);
            let metadata = path.symlink_metadata().unwrap();
            let bytes = if metadata.is_file() {
                std::fs::read(&path).unwrap()
            } else {
                format!("{:?}", metadata.file_type()).into_bytes()
            };
            let mode = metadata.permissions().mode();
            (name, (bytes, metadata.modified().ok(), mode))
        })
        .collect()
}

fn age(path: PathBuf) {
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(then).unwrap();
}

fn private(bed: &Bed, name: &str, text: &str) {
    bed.write(name, text);
    let mut path = bed.root().join(name);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    while path.pop() && path != bed.root() {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    }
}

fn message(id: &str) -> String {
    json!({"id": id, "from": "lead", "to": "alice", "type": "message", "content": id, "timestamp": 1}).to_string()
}

fn damage(bed: &Bed) {
    private(bed, ".tasks/task_00000001.json", &task("task_00000001"));
    private(
        bed,
        ".tasks/task_00000002.json",
        "{\"id\": \"task_00000002\"",
    );
    private(bed, ".tasks/task_00000003.json", &task("task_00000004"));
    private(bed, ".tasks/task_nonsense.json", "{}");
    symlink(
        "task_00000001.json",
        bed.root().join(".tasks/task_00000005.json"),
    )
    .unwrap();
    std::fs::create_dir(bed.root().join(".tasks/task_00000006.json")).unwrap();
    let mut busy: Value = serde_json::from_str(&task("task_00000007")).unwrap();
    busy["status"] = "in_progress".into();
    busy["owner"] = "ghost".into();
    private(bed, ".tasks/task_00000007.json", &busy.to_string());
    private(bed, ".tasks/.task_00000008.json.Ab12cD.tmp", "half");
    age(bed.root().join(".tasks/.task_00000008.json.Ab12cD.tmp"));
    private(bed, ".tasks/.index", "no index");
    private(bed, ".tasks/.lock", "garbage\n");
    let mail = format!(
        "{}\ngarbage\n{}\n{{\"torn",
        message("msg_1"),
        message("msg_2")
    );
    private(bed, ".mailboxes/alice.jsonl", &mail);
    age(bed.root().join(".mailboxes/alice.jsonl"));
    private(bed, ".team/state/usage.jsonl", "{}\n");
    private(bed, ".team/state/grants.jsonl", "[]\n");
    private(bed, ".team/state/transcripts/alice.jsonl", "?\n");
    private(bed, ".team/state/archive/alice.jsonl", "\u{0}\n");
    private(bed, ".team/state/members/bob.json", "null");
    private(bed, ".team/state/requests/req_00000001.json", "");
    private(bed, ".team/state/session.json", "[]");
    private(bed, ".team/state/script.json", "{\"names\": 3}");
    private(bed, ".team/state/leases/held.json", "{\"leases\": [{}]}");
    private(bed, ".team/state/leases/.held.json.Ab12cD.tmp", "half");
    age(bed.root().join(".team/state/leases/.held.json.Ab12cD.tmp"));
    std::fs::set_permissions(
        bed.root().join(".team/state/grants.jsonl"),
        std::fs::Permissions::from_mode(0o644),
    )
    .unwrap();
}

#[test]
fn a_sound_workspace_is_told_to_be_and_left_without_a_trace() {
    let bed = Bed::new();
    let done = bed.lead(&["doctor", "--json"]).expect_code(0);
    assert_eq!(bad(&done), []);
    assert_eq!(bed.listing(), [""; 0]);
    let model = done.json()["checks"]
        .as_array()
        .unwrap()
        .last()
        .cloned()
        .unwrap();
    assert_eq!(
        (&model["name"], &model["ok"]),
        (&json!("model"), &json!(false))
    );

    drop(bed.lead(&["task", "add", "x"]).expect_code(0));
    drop(bed.lead(&["mail", "send", "lead", "x"]).expect_code(0));
    let before = everything(&bed);
    assert_eq!(bad(&bed.lead(&["doctor", "--json"]).expect_code(0)), []);
    let plain = bed.lead(&["doctor"]).expect_code(0);
    for part in [
        "ok    locking",
        "note  model ",
        "\nnothing needs repair; 1 note\n",
    ] {
        assert!(plain.stdout.contains(part), "{part}: {}", plain.stdout);
    }
    assert_eq!(everything(&bed), before);
}

/// What [`damage`] leaves to be found: the check, and a part of what it says.
const DAMAGE: [(&str, &str); 21] = [
    ("tasks", "task_00000002.json: EOF"),
    (
        "tasks",
        "task_00000003.json: it says that its id is task_00000004",
    ),
    ("tasks", "task_nonsense.json: its name"),
    ("tasks", "task_00000005.json: it is a symbolic link"),
    ("tasks", "task_00000006.json: it is a directory"),
    ("owners", "task_00000007: in progress with ghost"),
    ("leftovers", ".task_00000008"),
    ("index", "not whole"),
    ("board", ".lock"),
    ("mailboxes", "alice.jsonl: 2 lines"),
    ("usage", "usage.jsonl: a line"),
    ("grants", "grants.jsonl: a line"),
    ("transcripts", "alice.jsonl: a line"),
    ("archives", "alice.jsonl: a line"),
    ("members", "bob.json"),
    ("requests", "req_00000001.json"),
    ("session", "session.json"),
    ("session", "script.json"),
    ("leases", "held.json: missing field"),
    ("leftovers", ".held.json"),
    ("modes", "grants.jsonl: others may read it (mode 644)"),
];

#[test]
fn everything_damaged_is_found_then_moved_and_nothing_else_is_touched() {
    let bed = Bed::new();
    damage(&bed);
    let before = everything(&bed);
    let found = bad(&bed.lead(&["doctor", "--json"]).expect_code(1));
    for (name, part) in DAMAGE {
        assert_found(&found, name, part);
    }
    assert!(
        found
            .iter()
            .all(|(_, _, repair)| repair.starts_with("lead doctor --repair")),
        "{found:#?}"
    );
    assert_eq!(everything(&bed), before, "it only looked");

    let done = bed.lead(&["doctor", "--repair", "--json"]).expect_code(0);
    assert_eq!(bad(&done), [], "{}", done.stdout);
    let again = bed.lead(&["doctor", "--repair", "--json"]).expect_code(0);
    assert_eq!(bad(&again), []);
    assert!(!again.stderr.contains("looking again"), "{}", again.stderr);

    assert_eq!(bed.read(".tasks/task_00000001.json"), task("task_00000001"));
    assert_eq!(
        bed.json(".tasks/task_00000007.json").unwrap()["status"],
        "pending"
    );
    let mail = bed
        .lead(&["mail", "list", "alice", "--json"])
        .expect_code(0)
        .json();
    let ids: Vec<&Value> = mail
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["id"])
        .collect();
    assert_eq!(ids, ["msg_1", "msg_2"]);
    let kept: Vec<String> = bed
        .listing()
        .into_iter()
        .filter(|name| name.starts_with(".team/state/quarantine/"))
        .collect();
    for part in [
        "task_00000002",
        "task_nonsense",
        "task_00000005",
        "task_00000006",
        "alice.jsonl",
        "index",
        "bob.json",
        "held.json",
    ] {
        let moved = kept
            .iter()
            .find(|name| name.contains(part) && !name.contains(".why"));
        let moved = moved.unwrap_or_else(|| panic!("{part} in {kept:?}"));
        assert!(!bed.read(&format!("{moved}.why")).is_empty());
    }
    let torn = kept
        .iter()
        .find(|name| name.contains("alice.jsonl") && bed.read(name).contains("{\"torn"));
    assert!(torn.is_some(), "the line is kept as it was");
}

#[test]
fn what_only_a_person_can_say_is_left_to_the_person() {
    let bed = Bed::git();
    let mut one: Value = serde_json::from_str(&task("task_00000001")).unwrap();
    let mut two = one.clone();
    one["blockedBy"] = json!(["task_00000002", "task_000000ff"]);
    two["id"] = "task_00000002".into();
    two["blockedBy"] = json!(["task_00000001"]);
    two["worktree"] = "gone".into();
    private(&bed, ".tasks/task_00000001.json", &one.to_string());
    private(&bed, ".tasks/task_00000002.json", &two.to_string());
    private(&bed, ".mailboxes/Alice.jsonl", "");
    private(&bed, ".mailboxes/alice.jsonl", "");
    bed.write(".team/team.json", "{\"maxTeammates\": \"many\"}");
    for args in [&["doctor", "--json"][..], &["doctor", "--repair", "--json"]] {
        let found = bad(&bed.lead(args).expect_code(1));
        assert_found(
            &found,
            "dependencies",
            "task_00000001: waits for task_000000ff",
        );
        assert_found(&found, "dependencies", "task_00000001 → task_00000002");
        assert_found(&found, "worktrees", "gone");
        assert_found(&found, "names", "Alice.jsonl");
        assert_found(&found, "settings", "team.json");
        assert_eq!(found.len(), 5, "{found:#?}");
        assert!(
            found
                .iter()
                .all(|(_, _, repair)| repair.starts_with("by you: ")),
            "{found:#?}"
        );
    }
}

#[test]
fn a_tool_of_an_agent_may_look_and_not_repair() {
    let bed = Bed::new();
    let root = bed.root().display().to_string();
    let bed = bed.with_env("PITCREW_AGENT", format!("alice@{root}"));
    drop(bed.lead(&["doctor"]).expect_code(0));
    bed.lead(&["doctor", "--repair"])
        .expect_usage_error("alice");
}

#[test]
fn beside_a_lead_it_leaves_to_the_lead_what_is_the_leads() {
    let bed = Bed::new();
    let model = bed.script(&json!({"agents": {}}));
    let mut lead = bed.start_lead(&["--model", &model]);
    lead.line("hello");
    // By then the start has put in order what it found.
    lead.wait_for("Done.", DEADLINE);
    let mut busy: Value = serde_json::from_str(&task("task_00000007")).unwrap();
    busy["status"] = "in_progress".into();
    busy["owner"] = "ghost".into();
    private(&bed, ".tasks/task_00000007.json", &busy.to_string());
    let request = json!({"request_id": "req_00000001", "type": "permission", "sender": "ghost", "target": "user",
        "status": "pending", "created_at": "2026-11-30T17:00:00.000Z"});
    private(
        &bed,
        ".team/state/requests/req_00000001.json",
        &request.to_string(),
    );
    private(&bed, ".tasks/task_00000002.json", "{");
    let done = bed.lead(&["doctor", "--repair", "--json"]).expect_code(1);
    let found = bad(&done);
    assert_found(&found, "owners", "task_00000007");
    assert_found(&found, "questions", "req_00000001");
    assert!(
        found
            .iter()
            .all(|(_, _, repair)| repair == "left by the lead that runs"),
        "{found:#?}"
    );
    assert_eq!(
        bed.json(".tasks/task_00000007.json").unwrap()["owner"],
        "ghost"
    );
    assert!(
        !bed.root().join(".tasks/task_00000002.json").exists(),
        "the file was moved all the same"
    );
    lead.end_input();
    drop(lead.wait(DEADLINE));
}

#[test]
fn a_living_lead_moves_a_bad_file_and_tells_it() {
    let bed = Bed::new();
    private(&bed, ".tasks/task_00000002.json", "{");
    let model = bed.script(&json!({"agents": {}}));
    let mut lead = bed.start_lead(&["--model", &model]);
    lead.wait_for("task_00000002.json: EOF", DEADLINE);
    assert!(!bed.root().join(".tasks/task_00000002.json").exists());
    lead.end_input();
    let done = lead.wait(DEADLINE);
    assert_eq!(
        done.stdout
            .matches("moved to .team/state/quarantine/")
            .count(),
        1,
        "{}",
        done.stdout
    );
}

/// A server of one's own is asked whether it has the model, before anybody works with it.
#[test]
fn what_stands_in_the_way_of_a_local_model_is_said() {
    let server = ModelServer::start(|_| Answer::say("unasked"));
    let host = server.ollama_host();
    for (host, model, ok, part) in [
        (&*host, "listed:8b", true, "answers"),
        (
            &*host,
            "other",
            false,
            "has no other, but nomic-embed-text, listed:8b",
        ),
        (
            "127.0.0.1:1",
            "other",
            false,
            "the Ollama at 127.0.0.1:1 does not answer",
        ),
    ] {
        let bed = Bed::new()
            .with_env("OLLAMA_HOST", host)
            .with_env("PITCREW_MODEL", format!("ollama:{model}"));
        let answer = bed.lead(&["doctor", "--json"]).expect_code(0).json();
        let checks = answer["checks"].as_array().unwrap();
        let check = checks
            .iter()
            .find(|check| check["name"] == "model")
            .unwrap();
        assert_eq!(check["ok"], ok, "{check}");
        assert!(check["detail"].as_str().unwrap().contains(part), "{check}");
    }
    assert!(server.asks().is_empty(), "no call was made");
}
