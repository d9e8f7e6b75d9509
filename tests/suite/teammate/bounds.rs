//! What binds one member, what the whole team may, and what was answered for always (SPEC §8.4, §10.1).

use pitcrew::ids::AgentName;
use pitcrew::mailbox::{Kind, inbox};
use pitcrew::request::{Decision, Record, RequestKind, RequestStatus};
use serde_json::{Value, json};

use super::played::Played;
use super::{bash, complete, says, tool, turn};
use crate::support::{DEADLINE, wait_until};

fn write(path: &str) -> Value {
    turn(&[tool("write_file", &json!({"path": path, "content": "x\n"}))])
}

impl Played {
    /// Answers for always.
    fn always(&self, record: &Record, status: RequestStatus) {
        let decision = Decision {
            kind: record.kind,
            by: AgentName::user(),
            status,
            feedback: None,
            scope: Some("always".to_owned()),
        };
        self.requests()
            .decide(&record.request_id, &decision)
            .unwrap();
        self.send(Kind::PermissionResponse, "");
    }

    fn questions(&self) -> Vec<Record> {
        let mut all = self.requests().all().unwrap();
        all.retain(|record| record.kind == RequestKind::Permission);
        all
    }
}

#[test]
fn edits_outside_of_a_members_paths_ask_and_their_owner_is_told() {
    let settings = json!({
        "members": {
            "Alice": {"allowedPaths": ["src"], "cannotEdit": ["src/secret.rs"]},
            "bob": {"allowedPaths": ["docs"]},
        },
        "teamAllowedPaths": [{"path": "shared", "toolName": "Write", "addedBy": "user"}],
    });
    let replies = json!([
        write("src/a.rs"),
        write("shared/b.txt"),
        write("docs/c.md"),
        write("src/secret.rs"),
        complete(),
        says("done")
    ]);
    let lead = Played::with(&replies, settings);
    lead.bed.write(
        ".team/state/members/bob.json",
        &json!({"name": "bob", "role": "writer", "model": "script:x", "status": "stopped", "pid": null,
            "startedAt": "2026-11-30T17:00:00.000Z", "task": null})
        .to_string(),
    );
    let id = lead.task("Write");
    let _alice = lead.start(&[]);
    let first = lead.asked(RequestKind::Permission);
    assert_eq!(first.payload["input"]["path"], "docs/c.md");
    assert!(
        first.payload["because"]
            .as_str()
            .unwrap()
            .contains("outside the paths")
    );
    assert!(lead.bed.root().join("src/a.rs").exists());
    assert!(lead.bed.root().join("shared/b.txt").exists());
    lead.answer(&first, RequestStatus::Allowed, "this once");
    let second = wait_until("the other question", DEADLINE, || {
        lead.requests()
            .open_ones(Some(RequestKind::Permission))
            .unwrap()
            .pop()
    });
    assert_eq!(second.payload["input"]["path"], "src/secret.rs");
    lead.answer(&second, RequestStatus::Denied, "");
    lead.wait_for_task(&id, "completed");
    assert!(!lead.bed.root().join("src/secret.rs").exists());
    let bob = AgentName::parse("bob").unwrap();
    let told = inbox::waiting(&lead.workspace, &bob).unwrap();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].kind, Kind::StatusUpdate);
    assert!(told[0].content.contains("docs/c.md") && told[0].content.contains("alice"));
}

#[test]
fn what_is_answered_for_always_is_not_asked_again_also_after_a_restart() {
    for (status, exists) in [
        (RequestStatus::Allowed, false),
        (RequestStatus::Denied, true),
    ] {
        let lead = Played::new(&json!([
            bash("rm -f one"),
            bash("rm -f two"),
            complete(),
            says("done"),
            bash("rm -f three"),
            complete(),
            says("done")
        ]));
        for name in ["one", "two", "three"] {
            lead.bed.write(name, "");
        }
        let id = lead.task("Clean");
        let alice = lead.start(&[]);
        let question = lead.asked(RequestKind::Permission);
        assert_eq!(question.payload["always"], "bash(rm *)");
        lead.always(&question, status);
        lead.wait_for_task(&id, "completed");
        lead.letter(&Kind::IdleNotification, 1);
        alice.signal(nix::sys::signal::Signal::SIGKILL);
        drop(alice);
        let again = lead.task("Clean more");
        let _alice = lead.start(&[]);
        lead.wait_for_task(&again, "completed");
        for name in ["one", "two", "three"] {
            assert_eq!(
                lead.bed.root().join(name).exists(),
                exists,
                "{status} {name}"
            );
        }
        assert_eq!(lead.questions().len(), 1, "{status}: {:?}", lead.results());
    }
}

#[test]
fn questions_of_a_killed_process_are_over_when_it_comes_back() {
    let lead = Played::new(&json!([bash("rm -f x"), complete(), says("done")]));
    let id = lead.task("Clean");
    let alice = lead.start(&[]);
    let question = lead.asked(RequestKind::Permission);
    alice.signal(nix::sys::signal::Signal::SIGKILL);
    drop(alice);
    let _alice = lead.start(&["--task", id.as_str()]);
    lead.wait_for_task(&id, "completed");
    let record = lead.requests().get(&question.request_id).unwrap();
    assert_eq!(record.status, RequestStatus::Withdrawn);
    assert!(lead.results()[0].contains("may have had effects"));
}
