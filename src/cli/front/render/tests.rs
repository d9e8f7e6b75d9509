//! Streaming, and what becomes of hostile text.

use std::time::Duration;

use serde_json::json;

use super::Renderer;
use crate::cli::shell::Style;
use crate::conversation::ToolCall;
use crate::ids::AgentName;
use crate::lead::{Shown, TeammateNews};
use crate::mailbox::Message;

fn renderer() -> Renderer {
    Renderer::new(Style::default(), false)
}

#[test]
fn streamed_text_comes_line_by_line_and_only_once() {
    let mut renderer = renderer();
    assert!(renderer.lines(&Shown::Delta("one".into())).is_empty());
    assert_eq!(
        renderer.lines(&Shown::Delta(" line\ntwo\nthr".into())),
        ["one line", "two"]
    );
    assert_eq!(
        renderer.lines(&Shown::Text("one line\ntwo\nthree".into())),
        ["thr"]
    );
    assert_eq!(renderer.lines(&Shown::Text("whole".into())), ["whole"]);
}

/// In a window a word is seen as soon as it has come, and stays in one piece.
#[test]
fn in_a_window_rows_end_between_words() {
    let mut renderer = renderer().in_rows(|| Some(12));
    assert!(
        renderer
            .lines(&Shown::Delta("some words".into()))
            .is_empty()
    );
    assert_eq!(renderer.open(3), ["some words"]);
    assert_eq!(
        renderer.lines(&Shown::Delta(" that come".into())),
        ["some words"]
    );
    assert_eq!(renderer.lines(&Shown::Text("all".into())), ["that come"]);
    assert!(renderer.open(3).is_empty());
    assert_eq!(
        renderer.lines(&Shown::Notice("told to everybody here".into())),
        ["told to", "everybody", "here"]
    );
    let message = serde_json::from_value(json!({
        "id": "msg_1", "from": "alice", "to": "lead", "type": "result", "content": "- one two three", "timestamp": 1,
    }));
    assert_eq!(
        renderer.lines(&Shown::Mail(message.unwrap())),
        ["alice → lead", "result", "  - one two", "    three"]
    );
}

#[test]
fn what_was_streamed_before_a_retry_is_marked_as_void() {
    let mut renderer = renderer();
    renderer.lines(&Shown::Delta("half".into()));
    let lines = renderer.lines(&Shown::Retrying {
        why: "overloaded".into(),
        wait: Duration::from_millis(1500),
    });
    assert_eq!(
        lines,
        ["half", "the model is asked again in 1.5 s: overloaded"]
    );
    assert_eq!(renderer.lines(&Shown::Text("again".into())), ["again"]);
}

#[test]
fn nothing_said_by_others_reaches_the_terminal_raw() {
    let evil = "x\u{1b}]52;c;AAAA\u{7}\u{9b}2J\u{202e}\r";
    let message: Message = serde_json::from_value(json!({
        "id": "msg_1", "from": evil, "to": "lead", "type": evil, "content": evil, "summary": evil, "timestamp": 1,
    }))
    .unwrap();
    let call = ToolCall {
        id: "1".into(),
        name: evil.into(),
        input: json!({ "command": evil }),
        cut: None,
    };
    for item in [
        Shown::Delta(format!("{evil}\n")),
        Shown::Text(evil.into()),
        Shown::Mail(message),
        Shown::ToolUse(call.clone()),
        Shown::ToolResult {
            call,
            output: evil.into(),
            ok: false,
        },
        Shown::Notice(evil.into()),
        Shown::Error(evil.into()),
        Shown::Retrying {
            why: evil.into(),
            wait: Duration::ZERO,
        },
    ] {
        for line in renderer().lines(&item) {
            assert!(
                !line.chars().any(crate::cli::safe::acts_on_terminal),
                "{item:?}: {line:?}"
            );
            assert!(!line.contains("AAAA"), "{line:?}");
        }
    }
}

#[test]
fn nobody_is_waited_for_whose_stop_was_shown() {
    let mut renderer = renderer();
    let member: crate::team::Member = serde_json::from_value(json!({
        "name": "alice", "role": "coder", "model": "script:x", "status": "stopped", "pid": null,
        "startedAt": "2026-11-30T17:00:00.000Z", "task": null,
    }))
    .unwrap();
    let [alice, bob] = ["alice", "bob"].map(|name| AgentName::parse(name).unwrap());
    let both = Shown::Leaving(vec![alice.clone(), bob]);
    assert_eq!(renderer.lines(&both), ["waiting for alice, bob to stop"]);
    renderer.lines(&Shown::Teammate(TeammateNews {
        member: Box::new(member),
        alive: true,
        note: None,
    }));
    assert_eq!(renderer.lines(&both), ["waiting for bob to stop"]);
    assert!(renderer.lines(&Shown::Leaving(vec![alice])).is_empty());
}

#[test]
fn an_error_that_was_reported_is_not_told_again_by_the_log() {
    let mut renderer = renderer();
    let member: crate::team::Member = serde_json::from_value(json!({
        "name": "bob", "role": "coder", "model": "script:x", "status": "failed", "pid": null,
        "startedAt": "2026-11-30T17:00:00.000Z", "task": null,
    }))
    .unwrap();
    let failed = |note: &str| {
        Shown::Teammate(TeammateNews {
            member: Box::new(member.clone()),
            alive: false,
            note: Some(note.to_owned()),
        })
    };
    let report: Message = serde_json::from_value(json!({
        "id": "msg_1", "from": "bob", "to": "lead", "type": "error_report", "content": "no key", "timestamp": 1,
    }))
    .unwrap();
    renderer.lines(&Shown::Mail(report));
    assert_eq!(renderer.lines(&failed("no key\n")), ["● bob has failed"]);
    assert_eq!(renderer.lines(&failed("a panic")), ["  a panic"]);
}
