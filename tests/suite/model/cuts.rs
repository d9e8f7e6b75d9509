//! A conversation whose record ends anywhere is put before every provider as a valid request.

use std::collections::HashSet;
use std::sync::Arc;

use pitcrew::clock::Timestamp;
use pitcrew::conversation::{
    Block, Compaction, Dialogue, MailRecord, Record, Role, Transcript, Usage,
};
use pitcrew::store::Durability;
use serde_json::json;

use super::{ANTHROPIC, OLLAMA, OPENAI, Provider, answering, ask_with, call};
use crate::support::model_server::{Answer, ModelServer};

fn at() -> Timestamp {
    Timestamp::from_ms(0)
}

fn said(text: &str, mail: &[&str]) -> Record {
    Record::User {
        text: text.to_owned(),
        mail: mail.iter().map(|&id| id.to_owned()).collect(),
        by: None,
        at: at(),
    }
}

fn replied(content: Vec<Block>) -> Record {
    Record::Assistant {
        content,
        usage: Usage::default(),
        note: None,
        at: at(),
    }
}

fn answered(id: &str, content: &str) -> Record {
    Record::Result {
        tool_use_id: id.to_owned(),
        content: content.to_owned(),
        is_error: false,
        at: at(),
    }
}

/// Thinking, three calls at once, mail between their results, an interruption, and a conversation made shorter.
fn records(origin: &str) -> Vec<Record> {
    let thought = |signature: &str| Block::Opaque {
        origin: origin.to_owned(),
        value: json!({"type": "thinking", "thinking": "hm 🦀", "signature": signature}),
    };
    let command = |id: &str| call(id, json!({"command": format!("echo é {id}")}));
    vec![
        start(),
        said("go", &[]),
        replied(vec![
            thought("s1"),
            Block::text("I look."),
            command("a"),
            command("b"),
            command("c"),
        ]),
        answered("b", "second"),
        Record::Mail(MailRecord {
            messages: vec![json!({"id": "msg_1", "content": "news"})],
            bytes: 9,
            hash: "0".to_owned(),
            at: at(),
        }),
        answered("a", ""),
        answered("c", "third\n\"é\""),
        said("[Messages] news", &["msg_1"]),
        replied(vec![thought("s2"), command("d")]),
        Record::Interrupted {
            why: "a person interrupted it".to_owned(),
            at: at(),
        },
        said("go on", &[]),
        replied(vec![command("e")]),
        answered("e", &"long ".repeat(60)),
        Record::Compacted {
            cut: Compaction {
                whole: 0,
                kept: Some(2),
            },
            text: Some("What went before.".to_owned()),
            usage: Usage::default(),
            note: None,
            at: at(),
        },
        replied(vec![thought("s3")]),
        replied(vec![Block::text("Done.")]),
    ]
}

fn start() -> Record {
    Record::Start {
        agent: "alice".to_owned(),
        session: None,
        at: at(),
    }
}

/// The record is cut at every byte; each conversation that this leaves is sent once.
fn valid_wherever_it_ends(provider: Provider) {
    let mut bytes = Vec::new();
    for record in records(provider.spec) {
        bytes.extend(serde_json::to_vec(&record).unwrap());
        bytes.push(b'\n');
    }
    let server = ModelServer::start(answering(Answer::say("ok")));
    let mut model = provider.open(&server);
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("alice.jsonl");
    let mut sent = HashSet::new();
    for end in 0..=bytes.len() {
        std::fs::write(&path, &bytes[..end]).unwrap();
        // Twice: opening closes what was left open, and that is a record too.
        for _ in 0..2 {
            let (_, replay) = Transcript::open(&path, &start(), Durability::Process).unwrap();
            let mut dialogue = Dialogue::resume(replay.messages);
            let asked = dialogue.messages().last();
            if asked.is_none_or(|last| last.role == Role::Assistant) {
                dialogue.user("go on");
            }
            let messages = dialogue.messages();
            if sent.insert(format!("{messages:?}")) {
                ask_with(&mut *model, messages, &Arc::default(), &mut |_| {}).unwrap();
                let violations = server.violations();
                assert!(violations.is_empty(), "cut at {end}: {violations:?}");
            }
        }
    }
    assert!(sent.len() >= 10, "{} conversations", sent.len());
}

#[test]
fn a_transcript_cut_anywhere_is_sent_valid_over_anthropic() {
    valid_wherever_it_ends(ANTHROPIC);
}

#[test]
fn a_transcript_cut_anywhere_is_sent_valid_over_openai() {
    valid_wherever_it_ends(OPENAI);
}

#[test]
fn a_transcript_cut_anywhere_is_sent_valid_over_ollama() {
    valid_wherever_it_ends(OLLAMA);
}
