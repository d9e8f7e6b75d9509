//! Scripts as agents play them.

use serde_json::json;

use super::*;
use crate::conversation::{Message, Role};

struct Stage {
    scratch: tempfile::TempDir,
}

impl Stage {
    fn new(script: &Value) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let file = std::fs::File::create(scratch.path().join("s.json")).unwrap();
        serde_json::to_writer(file, script).unwrap();
        Self { scratch }
    }

    fn workspace(&self) -> Workspace {
        Workspace::at(self.scratch.path().to_owned())
    }

    fn open(&self, agent: &str) -> Script {
        Script::open(
            &self.scratch.path().join("s.json"),
            &self.workspace(),
            agent,
        )
        .unwrap()
    }
}

fn ask(script: &mut Script, newest: &str, task: Option<&str>) -> Result<Reply, ModelError> {
    let messages = [Message {
        role: Role::User,
        content: vec![Block::text(newest)],
    }];
    let request = Request {
        system: &[],
        messages: &messages,
        tools: &[],
        task,
    };
    script.call(&request, &Arc::new(Cancel::new()), &mut |_| {})
}

fn said(script: &mut Script, newest: &str) -> String {
    let content = ask(script, newest, None).unwrap().content;
    assert!(
        content
            .iter()
            .all(|block| matches!(block, Block::Text { .. }))
    );
    Message {
        role: Role::Assistant,
        content,
    }
    .text()
}

fn calls(reply: &Reply) -> Vec<ToolCall> {
    reply
        .content
        .iter()
        .filter_map(|block| match block {
            Block::ToolUse(call) => Some(call.clone()),
            _ => None,
        })
        .collect()
}

#[test]
fn replies_come_in_order_then_the_agent_is_done() {
    let stage = Stage::new(&json!({"agents": {
        "lead": [{"text": "one"}, {"when": "[Team events]", "text": "events"}, {"text": "two"}],
        "*": [{"text": "star"}],
    }}));
    let mut lead = stage.open("lead");
    assert_eq!(said(&mut lead, "go"), "one");
    assert_eq!(said(&mut lead, "go"), "two");
    assert_eq!(said(&mut lead, "go"), "…");
    assert_eq!(said(&mut lead, "…\n[Team events]\n"), "events");
    assert_eq!(said(&mut lead, "[Team events]"), "Done.");
    for other in ["alice", "bob"] {
        let mut other = stage.open(other);
        assert_eq!(said(&mut other, "go"), "star");
        assert_eq!(said(&mut other, "go"), "Done.");
    }
}

#[test]
fn a_reopened_script_goes_on_after_the_notes() {
    let stage = Stage::new(&json!({"agents": {"a": [
        {"text": "one"}, {"error": {"status": 529}}, {"text": "two"}, {"text": "three"},
    ]}}));
    let mut first = stage.open("a");
    let mut notes = vec![ask(&mut first, "go", None).unwrap().note.unwrap()];
    let error = ask(&mut first, "go", None).unwrap_err();
    assert!(
        matches!(
            error,
            ModelError::Retry {
                status: Some(529),
                ..
            }
        ),
        "{error:?}"
    );
    notes.push(ask(&mut first, "go", None).unwrap().note.unwrap());
    let mut second = stage.open("a");
    second.resume(&notes);
    assert_eq!(said(&mut second, "go"), "three");
}

#[test]
fn errors_fail_as_a_servers_would() {
    let stage = Stage::new(&json!({"agents": {"a": [
        {"error": {"status": 429, "retry_after": 0.25}},
        {"error": {"status": 401, "message": "bad key"}},
        {"error": {"status": 400, "message": "prompt is too long: 9 tokens > 8 maximum"}},
    ]}}));
    let mut script = stage.open("a");
    let ModelError::Retry { after, .. } = ask(&mut script, "", None).unwrap_err() else {
        panic!("not retried")
    };
    assert_eq!(after, Some(Duration::from_millis(250)));
    let refused = ask(&mut script, "", None).unwrap_err();
    assert!(matches!(&refused, ModelError::Refused(why) if why.contains("bad key")));
    assert!(matches!(
        ask(&mut script, "", None),
        Err(ModelError::TooLong(_))
    ));
}

#[test]
fn names_bound_by_one_agent_are_known_to_all_until_forgotten() {
    let stage = Stage::new(&json!({"agents": {
        "lead": [
            {"tools": [
                {"name": "create_task", "input": {"subject": "Config"}, "as": "config"},
                {"name": "create_task", "input": {"subject": "Docs"}},
            ]},
            {"text": "made ${config}"},
        ],
        "alice": [{"tools": [{"name": "send", "input": {"to": "lead", "deep": [{"id": "${config}/${task}"}]}}]}],
    }}));
    let mut lead = stage.open("lead");
    let made = calls(&ask(&mut lead, "go", None).unwrap());
    let mut alice = stage.open("alice");
    let asked = calls(&ask(&mut alice, "go", Some("task_00000001")).unwrap());
    let unknown = alice.resolve(&asked[0], Some("task_00000001")).unwrap_err();
    assert!(unknown.contains("${config}"), "{unknown}");

    lead.observe(&made[1], "created task_99999999");
    lead.observe(&made[0], "created task_1a2b3c4d, blocked by task_99999999");
    assert_eq!(
        alice.resolve(&asked[0], Some("task_00000001")).unwrap(),
        json!({"to": "lead", "deep": [{"id": "task_1a2b3c4d/task_00000001"}]})
    );
    assert!(
        alice
            .resolve(&asked[0], None)
            .unwrap_err()
            .contains("${task}")
    );
    assert_eq!(said(&mut lead, "go"), "made task_1a2b3c4d");

    forget_names(&stage.workspace()).unwrap();
    assert!(alice.resolve(&asked[0], Some("task_00000001")).is_err());
}

#[test]
fn a_text_with_an_unknown_name_fails_its_call() {
    let stage = Stage::new(&json!({"agents": {"a": [{"text": "see ${nothing}"}, {"text": "on"}]}}));
    let mut script = stage.open("a");
    let refused = ask(&mut script, "", None).unwrap_err();
    assert!(matches!(&refused, ModelError::Refused(why) if why.contains("${nothing}")));
    assert_eq!(said(&mut script, ""), "on");
}

#[test]
fn forgetting_leaves_no_trace_where_nothing_was() {
    let stage = Stage::new(&json!({"agents": {}}));
    forget_names(&stage.workspace()).unwrap();
    assert!(!stage.workspace().team_dir().exists());
}

#[test]
fn a_delayed_reply_can_be_cancelled_and_comes_again() {
    let stage = Stage::new(&json!({"agents": {"a": [{"delay_ms": 600_000, "text": "late"}]}}));
    let mut script = stage.open("a");
    let cancel = Arc::new(Cancel::new());
    let request = Request {
        system: &[],
        messages: &[],
        tools: &[],
        task: None,
    };
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| script.call(&request, &cancel, &mut |_| {}));
        cancel.cancel();
        assert_eq!(waiting.join().unwrap(), Err(ModelError::Cancelled));
    });
    assert!(script.used.is_empty());
}

#[test]
fn names_bound_at_once_by_many_are_all_kept() {
    let stage = Stage::new(&json!({"agents": {}}));
    let workspace = stage.workspace();
    std::thread::scope(|scope| {
        for agent in 0..8 {
            let workspace = &workspace;
            scope.spawn(move || {
                for n in 0..10 {
                    names::bind(workspace, &format!("n{agent}_{n}"), "task_00000001").unwrap();
                }
            });
        }
    });
    let kept = std::fs::read_to_string(workspace.script_names()).unwrap();
    assert_eq!(kept.matches("task_00000001").count(), 80);
}
