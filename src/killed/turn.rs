//! A turn of alice's with tools that have effects, two messages to the lead; and her conversation made shorter.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::json;

use super::steps::{Act, Check, Victim, anywhere};
use crate::agent::{Happening, Input, Report, Thinker, ThinkerParts};
use crate::clock::Timestamp;
use crate::conversation::check::validity;
use crate::conversation::{Block, Record, Replay, Transcript, Usage};
use crate::ids::AgentName;
use crate::mailbox::inbox;
use crate::model::{self, Credentials, ModelSpec};
use crate::store::Durability;
use crate::tool::{AgentContext, ToolBox};
use crate::workspace::Workspace;

pub(super) fn acts() -> Vec<Act> {
    vec![
        Act {
            name: "turn",
            prepare,
            perform,
            covers: anywhere,
        },
        Act {
            name: "shorten",
            prepare: prepare_long,
            perform: shorten,
            covers: anywhere,
        },
    ]
}

fn open(workspace: &Workspace) -> (Transcript, Replay) {
    let start = Record::Start {
        agent: "alice".to_owned(),
        session: None,
        at: Timestamp::from_ms(0),
    };
    let path = workspace.transcript(&AgentName::parse("alice").unwrap());
    Transcript::open(&path, &start, Durability::Power).unwrap()
}

fn thinker(root: &Path) -> (Thinker, Receiver<Report>) {
    let workspace = Workspace::at(root.to_path_buf());
    let spec = ModelSpec::Script(root.join("script.json"));
    let model = model::open(&spec, &Credentials::default(), &workspace, "alice").unwrap();
    let (transcript, replay) = open(&workspace);
    let (sender, reports) = channel();
    let thinker = Thinker::start(ThinkerParts {
        transcript,
        replay,
        model,
        toolbox: Arc::new(ToolBox::new(Arc::new(AgentContext::alone(
            &workspace,
            "alice",
            Durability::Power,
        )))),
        system: vec!["You are alice.".to_owned()],
        send: Box::new(move |report| drop(sender.send(report))),
    });
    (thinker, reports)
}

fn perform(root: &Path, victim: &Victim) {
    let (mut thinker, reports) = thinker(root);
    victim.begin();
    thinker.begin_round(vec![Input::text("go")]).unwrap();
    loop {
        let report = reports.recv_timeout(Duration::from_mins(1)).unwrap();
        for happening in thinker.handle(report).unwrap() {
            match happening {
                Happening::ToolEnded {
                    output, is_error, ..
                } => {
                    assert!(!is_error, "{output}");
                    victim.say("told");
                }
                Happening::Boundary => thinker.next_turn(Vec::new()).unwrap(),
                Happening::RoundOver(_) => return,
                _ => {}
            }
        }
    }
}

fn prepare(root: &Path) -> Check {
    let tell =
        |text: &str| json!({"name": "send_message", "input": {"to": "lead", "content": text}});
    let script = json!({"agents": {"alice": [
        {"tools": [tell("first"), tell("second")]},
        {"text": "Both are told."},
    ]}});
    put(&root.join("script.json"), &script.to_string());
    let workspace = Workspace::at(root.to_path_buf());
    Box::new(move |said| {
        let (_, replay) = open(&workspace);
        validity(&replay.messages).unwrap();
        let (mut told, mut cut) = (0, 0);
        for block in replay.messages.iter().flat_map(|message| &message.content) {
            if let Block::ToolResult { is_error, .. } = block {
                *(if *is_error { &mut cut } else { &mut told }) += 1;
            }
        }
        assert!(told >= said.len(), "a result that was told is lost");
        let mail = inbox::waiting(&workspace, &AgentName::lead()).unwrap();
        let texts: Vec<&str> = mail
            .iter()
            .map(|message| message.content.as_str())
            .collect();
        let sent = texts.len();
        assert_eq!(texts, ["first", "second"][..sent]);
        // What has a result was done; of the interrupted calls one at most had its effect.
        assert!(
            (told..=told + cut.min(1)).contains(&sent),
            "{told} told, {cut} cut, {texts:?}"
        );
        // Opened again, the same.
        assert_eq!(open(&workspace).1.messages, replay.messages);
    })
}

fn shorten(root: &Path, victim: &Victim) {
    let (mut thinker, reports) = thinker(root);
    victim.begin();
    thinker.shorten().unwrap();
    loop {
        let report = reports.recv_timeout(Duration::from_mins(1)).unwrap();
        let happened = thinker.handle(report).unwrap();
        if happened.contains(&Happening::Shortened) {
            victim.say("shortened");
            return;
        }
    }
}

/// Alice's conversation is long; it is whole or made shorter afterwards, and goes on either way.
fn prepare_long(root: &Path) -> Check {
    let script = json!({"agents": {"alice": [{"text": "Much was said."}]}});
    put(&root.join("script.json"), &script.to_string());
    let workspace = Workspace::at(root.to_path_buf());
    let (mut transcript, _) = open(&workspace);
    let at = Timestamp::from_ms(0);
    for turn in 0..20 {
        let words = |who: &str| format!("{who} {turn} {}", "word ".repeat(100));
        let asked = Record::User {
            text: words("go"),
            mail: Vec::new(),
            by: None,
            at,
        };
        let answered = Record::Assistant {
            content: vec![Block::text(words("gone"))],
            usage: Usage::default(),
            note: None,
            at,
        };
        transcript.append(&asked).unwrap();
        transcript.append(&answered).unwrap();
    }
    drop(transcript);
    let whole = open(&workspace).1.messages;
    Box::new(move |said| {
        let after = open(&workspace).1.messages;
        validity(&after).unwrap();
        if after.len() == whole.len() {
            assert!(said.is_empty(), "what was told is lost");
            assert_eq!(after, whole);
        } else {
            assert!(after[0].text().contains("Much was said."), "{after:?}");
            assert_eq!(after[1..], whole[whole.len() + 1 - after.len()..]);
        }
        assert_eq!(open(&workspace).1.messages, after);
    })
}

#[expect(clippy::disallowed_methods, reason = "a test writes as a person does")]
fn put(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}
