//! Files that grow, move and come twice: each thing is told once.

use std::fs;
use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::*;
use crate::ids::AgentName;
use crate::request::Requests;
use crate::store::Durability;
use crate::team::Roster;
use crate::workspace::Workspace;

struct Scene {
    _dir: tempfile::TempDir,
    workspace: Workspace,
    history: History,
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::at(dir.path().to_path_buf());
        let history = History::new(
            &workspace,
            Roster::new(workspace.clone(), Durability::Process),
            Requests::new(workspace.clone(), Durability::Process),
        );
        Self {
            _dir: dir,
            workspace,
            history,
        }
    }

    /// What is new, as the event's name and what tells it apart.
    fn news(&mut self) -> Vec<String> {
        let mut news = Vec::new();
        let each = |event: &Event| {
            let json = event.json();
            let which = ["/message/id", "/task/id", "/text", "/request/status"]
                .iter()
                .find_map(|path| json.pointer(path).and_then(Value::as_str));
            let name = json["event"].as_str().unwrap();
            news.push(format!("{name} {}", which.unwrap_or_default()));
            true
        };
        self.history.read_on(each).unwrap();
        news
    }
}

fn append(path: &Path, line: &Value) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = fs::File::options()
        .create(true)
        .append(true)
        .open(path)
        .unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

fn change(seq: u64) -> Value {
    let at = format!("2026-11-30T17:00:0{seq}.000Z");
    json!({"seq": seq, "at": at, "by": "lead", "task": format!("task_0000000{seq}"), "change": {}})
}

fn message(id: &str) -> Value {
    json!({"id": id, "from": "lead", "to": "alice", "type": "message", "content": "x", "timestamp": 1_764_522_000_500_u64})
}

#[test]
fn a_message_is_told_once_whether_it_waits_or_was_taken_in_or_both() {
    let mut scene = Scene::new();
    let alice = AgentName::parse("alice").unwrap();
    let (mailbox, archive) = (
        scene.workspace.mailbox(&alice),
        scene.workspace.archive(&alice),
    );
    append(&mailbox, &message("one"));
    append(&archive, &message("zero"));
    assert_eq!(scene.news(), ["message one", "message zero"]);
    // Taken in, but not out of the mailbox yet.
    append(&archive, &message("one"));
    assert_eq!(scene.news(), [""; 0]);
    fs::write(&mailbox, "").unwrap();
    append(&mailbox, &message("two"));
    append(&archive, &message("two"));
    assert_eq!(scene.news(), ["message two"]);
    fs::write(&mailbox, "").unwrap();
    append(&archive, &message("three"));
    assert_eq!(scene.news(), ["message three"]);
    assert_eq!(scene.news(), [""; 0]);
}

#[test]
fn reading_goes_on_over_a_rotation_a_cut_and_a_new_file() {
    let mut scene = Scene::new();
    let journal = scene.workspace.journal();
    append(&journal, &change(1));
    assert_eq!(scene.news(), ["task task_00000001"]);
    append(&journal, &change(2));
    fs::rename(&journal, journal.with_file_name(".journal.1.jsonl")).unwrap();
    append(&journal, &change(3));
    assert_eq!(scene.news(), ["task task_00000002", "task task_00000003"]);
    fs::write(&journal, "").unwrap();
    assert_eq!(scene.news(), [""; 0]);
    append(&journal, &change(4));
    append(&scene.workspace.usage(), &json!("no call"));
    assert_eq!(scene.news(), ["task task_00000004"]);
    assert_eq!(scene.history.skipped(), 1);
    fs::remove_file(&journal).unwrap();
    append(&journal, &change(5));
    assert_eq!(scene.news(), ["task task_00000005"]);
}

#[test]
fn a_request_is_told_when_it_is_made_and_when_it_is_answered() {
    let mut scene = Scene::new();
    let record = |status: &str, decided: Option<&str>| {
        json!({"request_id": "req_00000001", "type": "permission", "sender": "alice", "target": "user",
            "status": status, "created_at": "2026-11-30T17:00:00.000Z", "decided_at": decided})
        .to_string()
    };
    let path = scene.workspace.requests_dir().join("req_00000001.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let put = |text: String| {
        let beside = path.with_extension("new");
        fs::write(&beside, text).unwrap();
        fs::rename(beside, &path).unwrap();
    };
    put(record("pending", None));
    assert_eq!(scene.news(), ["request pending"]);
    assert_eq!(scene.news(), [""; 0]);
    put(record("denied", Some("2026-11-30T17:00:01.000Z")));
    assert_eq!(scene.news(), ["request denied"]);
    let mut whole = Scene::new();
    fs::create_dir_all(whole.workspace.requests_dir()).unwrap();
    let copy = whole.workspace.requests_dir().join("req_00000001.json");
    fs::copy(&path, copy).unwrap();
    assert_eq!(whole.news(), ["request pending", "request denied"]);
}
