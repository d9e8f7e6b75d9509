//! A lead starts a teammate with a first task. Under its other name this test binary is no teammate and ends at once, so
//! that the lead takes the start back; killed before, it leaves that to the next lead.

use std::path::Path;

use serde_json::json;

use super::steps::{self, Act, Check, Victim};
use crate::cli::entry;
use crate::store::fault::Point;

/// What the next lead does.
const AFTER: &str = "start after";

pub(super) fn acts() -> Vec<Act> {
    let act = |name, perform| Act {
        name,
        prepare,
        perform,
        covers: |point| {
            matches!(
                point,
                Point::MemberRecorded | Point::SpawnClaimed | Point::SpawnStarted
            )
        },
    };
    let mut after = act(AFTER, |root: &Path, victim: &Victim| {
        lead(root, victim, "rest.json");
    });
    after.prepare = |root| {
        put(&root.join("rest.json"), "{\"agents\":{}}");
        Box::new(|_| ())
    };
    vec![
        act("start", |root: &Path, victim: &Victim| {
            lead(root, victim, "script.json");
        }),
        after,
    ]
}

/// A lead from its start to its end; exit codes tell nothing here.
fn lead(root: &Path, victim: &Victim, script: &str) {
    victim.begin();
    let model = format!("script:{}", root.join(script).display());
    let args = ["lead", "-p", "go", "--yes", "--model", &model];
    drop(entry::lead(&args.map(Into::into)));
}

fn prepare(root: &Path) -> Check {
    let member = json!({"name": "alice", "role": "coder", "model": null});
    let spawn =
        json!({"name": "alice", "role": "coder", "prompt": "Do it.", "task_id": "${task1}"});
    let script = json!({"agents": {"lead": [
        {"tools": [
            {"name": "propose_team", "input": {"members": [member], "rationale": "It is needed."}},
            {"name": "create_task", "input": {"subject": "One"}, "as": "task1"},
            {"name": "spawn_teammate", "input": spawn},
        ]},
        {"text": "Over."},
    ]}});
    put(&root.join("script.json"), &script.to_string());
    put(&root.join("rest.json"), "{\"agents\":{}}");
    let root = root.to_path_buf();
    Box::new(move |_| {
        assert!(!steps::run(AFTER, &root, None));
        let alice = root.join(".team/state/members/alice.json");
        assert!(!alice.exists(), "half a start is left");
        let tasks = std::fs::read_dir(root.join(".tasks"))
            .into_iter()
            .flatten()
            .flatten();
        for entry in tasks {
            let name = entry.file_name().into_string().unwrap();
            if name.starts_with("task_") {
                let text = std::fs::read_to_string(entry.path()).unwrap();
                assert!(text.contains("\"pending\""), "{text}");
                assert!(text.contains("\"attempts\": 0"), "{text}");
            }
        }
    })
}

#[expect(clippy::disallowed_methods, reason = "a test writes as a person does")]
fn put(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}
