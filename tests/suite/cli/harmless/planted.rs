//! Files as a hostile or broken program may have left them.

use serde_json::{Value, json};

use super::{HOSTILE, hostile};
use crate::support::Bed;

const AT: &str = "2026-11-30T17:00:00.000Z";

/// All there can be in a workspace, and what cannot be read.
pub(super) fn plant(bed: &Bed) {
    tasks(bed);
    mail(bed);
    members(bed);
    requests(bed);
    the_rest(bed);
}

fn tasks(bed: &Bed) {
    let task = |id: &str, more: Value| {
        let mut task = json!({
            "id": id, "subject": hostile("Subject"), "description": hostile("Description"), "status": "pending",
            "owner": null, "blockedBy": ["task_00000099"], "worktree": null, "assignee": hostile("who"),
            "verify": hostile("true"), "result": hostile("Result"), "workVersion": 0, "attempts": 0,
            "createdAt": AT, "updatedAt": AT, HOSTILE: HOSTILE,
        });
        task.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        bed.write(&format!(".tasks/{id}.json"), &task.to_string());
    };
    task("task_00000001", json!({}));
    task(
        "task_00000002",
        json!({"status": "in_progress", "owner": "bob", "blockedBy": []}),
    );
    task("task_00000003", json!({"status": HOSTILE}));
    task("task_00000004", json!({"worktree": HOSTILE}));
    task("task_00000005", json!({"owner": HOSTILE}));
    task("task_00000006", json!({"id": HOSTILE}));
    task("task_00000007", json!({"blockedBy": [HOSTILE]}));
    task("task_00000008", json!({"blockedBy": ["task_00000009"]}));
    task("task_00000009", json!({"blockedBy": ["task_00000008"]}));
    bed.write(".tasks/task_0000000a.json", HOSTILE);
    bed.write(&format!(".tasks/task_{HOSTILE}.json"), "{}");
    bed.write(&format!(".mailboxes/{HOSTILE}.jsonl"), "{}\n");
}

fn mail(bed: &Bed) {
    let message = |more: Value| {
        let mut message = json!({
            "id": "msg_00000000000000aa", "from": "bob", "to": "lead", "type": "message", "content": hostile("Content"),
            "summary": hostile("Summary"), "timestamp": 1_764_522_000_123_u64, "metadata": {"request_id": HOSTILE, HOSTILE: HOSTILE},
        });
        message
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        message.to_string() + "\n"
    };
    let mail: String = [
        json!({}),
        json!({"type": HOSTILE}),
        json!({"from": HOSTILE}),
        json!({"to": HOSTILE}),
        json!({"id": HOSTILE}),
        json!({"content": {HOSTILE: HOSTILE}}),
        json!({"timestamp": HOSTILE}),
        json!({"type": "plan_approval_request"}),
    ]
    .map(message)
    .concat();
    bed.write(".mailboxes/lead.jsonl", &format!("{mail}{HOSTILE}\n"));
    bed.write(".mailboxes/bob.jsonl", &mail);
    bed.write(
        ".team/state/archive/lead.jsonl",
        &format!("{mail}{HOSTILE}\n"),
    );
}

fn members(bed: &Bed) {
    bed.write(
        ".team/state/members/bob.json",
        &json!({
            "name": "bob", "role": hostile("role"), "model": hostile("model"), "status": "failed", "pid": null,
            "startedAt": AT, "task": "task_00000002", "planGate": "not_required", "planRequest": null, "turns": 0,
            "tokens": 0, "restarts": 0, "lastError": hostile("error"), HOSTILE: HOSTILE,
        })
        .to_string(),
    );
    bed.write(
        ".team/state/members/eve.json",
        &json!({"name": HOSTILE, "status": HOSTILE}).to_string(),
    );
    bed.write(&format!(".team/state/members/{HOSTILE}.json"), HOSTILE);
}

fn requests(bed: &Bed) {
    for (id, kind, payload) in [
        (
            "req_0000000a",
            "plan_approval",
            json!({"title": HOSTILE, "steps": [HOSTILE], "rationale": HOSTILE}),
        ),
        (
            "req_0000000b",
            "permission",
            json!({"tool": "bash", "input": {"command": hostile("rm x")}, "because": HOSTILE, "always": HOSTILE, "dir": HOSTILE, "task": HOSTILE}),
        ),
        (
            "req_0000000c",
            "team",
            json!({"members": [{"name": "x", "role": HOSTILE, "task": HOSTILE}], "rationale": HOSTILE}),
        ),
        ("req_0000000d", HOSTILE, json!({})),
    ] {
        let record = json!({
            "request_id": id, "type": kind, "sender": "bob", "target": "user", "status": "pending", "payload": payload,
            "work_version": null, "task_id": null, "created_at": AT, "decided_at": null, "decided_by": null,
            "feedback": HOSTILE, "scope": HOSTILE, HOSTILE: HOSTILE,
        });
        bed.write(
            &format!(".team/state/requests/{id}.json"),
            &record.to_string(),
        );
    }
    bed.write(&format!(".team/state/requests/{HOSTILE}.json"), HOSTILE);
}

fn the_rest(bed: &Bed) {
    let usage = json!({"at": AT, "agent": HOSTILE, "model": HOSTILE, "input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0});
    bed.write(".team/state/usage.jsonl", &format!("{usage}\n{HOSTILE}\n"));
    bed.write(".team/state/gate.json", HOSTILE);
    bed.write(
        ".team/state/transcripts/bob.jsonl",
        &format!("{}\n{HOSTILE}\n", json!({"type": HOSTILE, "text": HOSTILE})),
    );
    bed.write(".team/state/logs/lead.log", HOSTILE);
    bed.write(&format!(".team/agents/{HOSTILE}.md"), HOSTILE);
}
