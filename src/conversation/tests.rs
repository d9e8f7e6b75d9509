//! Replaying: every ending that a kill can leave, and transcripts that nobody wrote so.

use std::io::Cursor;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::check::validity;
use super::dialogue::INTERRUPTED_CALL;
use super::replay::Replaying;
use super::{
    Block, Compaction, MailRecord, Message, Record, Replay, Role, ToolCall, Transcript, Usage,
};
use crate::clock::Timestamp;
use crate::store::Durability;

fn at() -> Timestamp {
    Timestamp::from_ms(1_764_522_000_123)
}

fn start() -> Record {
    Record::Start {
        agent: "alice".to_owned(),
        session: None,
        at: at(),
    }
}

fn user(text: &str, mail: &[&str]) -> Record {
    Record::User {
        text: text.to_owned(),
        mail: mail.iter().map(|&id| id.to_owned()).collect(),
        by: None,
        at: at(),
    }
}

fn mail(ids: &[&str]) -> Record {
    Record::Mail(MailRecord {
        messages: ids
            .iter()
            .map(|id| json!({"id": id, "content": format!("about {id}")}))
            .collect(),
        bytes: 7,
        hash: "00".to_owned(),
        at: at(),
    })
}

fn call(id: &str) -> Block {
    Block::ToolUse(ToolCall {
        id: id.to_owned(),
        name: "bash".to_owned(),
        input: json!({"command": "true"}),
        cut: None,
    })
}

fn assistant(content: Vec<Block>) -> Record {
    Record::Assistant {
        content,
        usage: Usage {
            input: 1,
            output: 2,
            cache_read: 3,
            cache_write: 4,
        },
        note: None,
        at: at(),
    }
}

fn result(id: &str, content: &str) -> Record {
    Record::Result {
        tool_use_id: id.to_owned(),
        content: content.to_owned(),
        is_error: false,
        at: at(),
    }
}

fn interrupted(why: &str) -> Record {
    Record::Interrupted {
        why: why.to_owned(),
        at: at(),
    }
}

fn lines(records: &[Record]) -> Vec<u8> {
    records
        .iter()
        .flat_map(|record| {
            let mut line = serde_json::to_vec(record).unwrap();
            line.push(b'\n');
            line
        })
        .collect()
}

/// What opening does, without a file.
fn replayed(bytes: &[u8]) -> Replay {
    let mut replaying = Replaying::read(Cursor::new(bytes)).unwrap();
    for id in replaying.unanswered() {
        replaying.take(result(&id, INTERRUPTED_CALL));
    }
    replaying.finish()
}

fn shape(messages: &[Message]) -> Vec<String> {
    messages
        .iter()
        .map(|message| {
            let parts: Vec<String> = message
                .content
                .iter()
                .map(|block| match block {
                    Block::Text { text } => text.clone(),
                    Block::ToolUse(call) => format!("?{}", call.id),
                    Block::ToolResult {
                        tool_use_id,
                        content,
                        ..
                    } => format!("!{tool_use_id}={content}"),
                    Block::Opaque { .. } => "opaque".to_owned(),
                })
                .collect();
            let who = match message.role {
                Role::User => "u",
                Role::Assistant => "a",
            };
            format!("{who}: {}", parts.join(", "))
        })
        .collect()
}

#[test]
fn results_go_before_the_texts_of_their_message() {
    let replay = replayed(&lines(&[
        start(),
        user("go", &[]),
        assistant(vec![Block::text("so"), call("a"), call("b")]),
        result("a", "1"),
        user("news", &[]),
        result("b", "2"),
        user("more", &[]),
        assistant(vec![Block::text("done")]),
    ]));
    assert_eq!(
        shape(&replay.messages),
        [
            "u: go",
            "a: so, ?a, ?b",
            "u: !a=1, !b=2, news, more",
            "a: done"
        ]
    );
    assert!(replay.at_rest);
    assert_eq!(replay.usage.output, 4);
}

#[test]
fn what_says_nothing_leaves_no_trace_and_no_gap() {
    let opaque = Block::Opaque {
        origin: "anthropic:x".to_owned(),
        value: json!({"type": "thinking"}),
    };
    let replay = replayed(&lines(&[
        start(),
        user("go", &[]),
        assistant(vec![]),
        user(" \n", &[]),
        assistant(vec![Block::text(""), opaque]),
        user("on", &[]),
        assistant(vec![Block::text(" "), call("a"), call("a"), call("")]),
        result("a", ""),
        result("a", "twice"),
        result("nobody", "asked"),
    ]));
    assert_eq!(shape(&replay.messages), ["u: go, on", "a: ?a", "u: !a="]);
    assert!(!replay.at_rest);
}

#[test]
fn a_call_that_was_passed_by_is_closed_where_it_stands() {
    let replay = replayed(&lines(&[
        user("go", &[]),
        assistant(vec![call("a")]),
        user("news", &[]),
        assistant(vec![Block::text("done")]),
        result("a", "late"),
    ]));
    assert_eq!(
        shape(&replay.messages),
        [
            "u: go".to_owned(),
            "a: ?a".to_owned(),
            format!("u: !a={INTERRUPTED_CALL}, news"),
            "a: done".to_owned()
        ]
    );
    assert_eq!(validity(&replay.messages), Ok(()));
}

#[test]
fn a_lost_beginning_and_lost_questions_are_bridged() {
    let replay = replayed(&lines(&[
        assistant(vec![Block::text("one")]),
        assistant(vec![Block::text("two"), call("a")]),
    ]));
    assert_eq!(validity(&replay.messages), Ok(()));
    assert_eq!(replay.messages[1].text(), "one\ntwo");
}

#[test]
fn an_interruption_is_told_and_ends_the_round() {
    let cut = lines(&[
        user("go", &[]),
        assistant(vec![call("a")]),
        result("a", "cut"),
        interrupted("by the person"),
    ]);
    let replay = replayed(&cut);
    assert_eq!(
        shape(&replay.messages),
        ["u: go", "a: ?a", "u: !a=cut, [Interrupted: by the person]"]
    );
    assert!(replay.at_rest);
    let on = replayed(&[cut, lines(&[user("go on", &[])])].concat());
    assert!(!on.at_rest);
    assert_eq!(on.messages.len(), 3);
}

#[test]
fn rest_is_an_answer_without_calls_or_nothing_at_all() {
    let rests = |records: &[Record]| replayed(&lines(records)).at_rest;
    assert!(rests(&[]));
    assert!(rests(&[start(), mail(&["m"])]));
    assert!(!rests(&[user("go", &[])]));
    assert!(rests(&[user("go", &[]), assistant(vec![])]));
    assert!(!rests(&[user("go", &[]), assistant(vec![call("a")])]));
    assert!(rests(&[
        user("go", &[]),
        assistant(vec![Block::text("done")]),
        user("", &["m"])
    ]));
}

#[test]
fn the_last_words_are_those_of_a_round_that_ended_with_them() {
    let last = |records: &[Record]| {
        let replay = replayed(&lines(records));
        (replay.replies, replay.last_words)
    };
    let says = |text: &str| assistant(vec![Block::text(text)]);
    let calls = || assistant(vec![Block::text("let me see"), call("a")]);
    let words = |text: &str| Some(text.to_owned());
    let over = [user("go", &[]), calls(), result("a", "1"), says("done")];
    for (more, replies, wanted) in [
        (vec![], 2, words("done")),
        (vec![mail(&["m"]), user("", &["m"])], 2, words("done")),
        (vec![user("next", &[])], 2, None),
        (vec![user("next", &[]), calls()], 3, None),
        (vec![user("next", &[]), says("two")], 3, words("two")),
        (vec![user("next", &[]), assistant(vec![])], 3, None),
        (vec![interrupted("cut")], 2, None),
    ] {
        let records = [&over[..], &more].concat();
        assert_eq!(last(&records), (replies, wanted), "{more:?}");
    }
}

#[test]
fn mail_is_pending_until_a_user_message_carries_it() {
    let replay = replayed(&lines(&[
        mail(&["m1", "m2"]),
        user("two came", &["m2", "unknown"]),
        mail(&["m3", "m1"]),
    ]));
    let pending: Vec<&Value> = replay.pending_mail.iter().map(|m| &m["id"]).collect();
    assert_eq!(pending, ["m1", "m3"]);
    let mut known: Vec<&str> = replay.known_mail.keys().map(String::as_str).collect();
    known.sort_unstable();
    assert_eq!(known, ["m1", "m2", "m3"]);
    assert_eq!(
        replay.known_mail["m1"],
        super::content_hash(&json!({"content": "about m1"}))
    );
    let last = super::LastMail {
        bytes: 7,
        hash: "00".to_owned(),
        first: "m3".to_owned(),
    };
    assert_eq!(replay.last_mail, Some(last));
}

#[test]
fn notes_are_found_again() {
    let note = |key: &str, value: Value| Record::Note {
        key: key.to_owned(),
        value,
        at: at(),
    };
    let placed = |place: u64| Record::Assistant {
        content: vec![Block::text("x")],
        usage: Usage::default(),
        note: Some(json!(place)),
        at: at(),
    };
    let replay = replayed(&lines(&[
        note("task", json!("task_1")),
        placed(3),
        note("task", json!(null)),
        note("gate", json!("open")),
        placed(4),
    ]));
    assert_eq!(replay.notes["task"], Value::Null);
    assert_eq!(replay.notes["gate"], "open");
    assert_eq!(replay.model_notes.of("any"), [json!(3), json!(4)]);
}

#[test]
fn a_line_that_is_no_record_costs_only_itself() {
    let mut bytes = b"\xef\xbb\xbf".to_vec();
    bytes.extend(lines(&[user("go", &[])]));
    bytes.extend(b"\r\n\xff\xfe\0garbage\n{\"type\":\"later\"}\n[1]\n");
    bytes.extend(br#"{"type":"user","text":"crlf","at":"2025-11-30T17:00:00.000Z","new":1}"#);
    bytes.extend(b"\r\n");
    bytes.extend(br#"{"type":"user","text":"torn"#);
    assert_eq!(shape(&replayed(&bytes).messages), ["u: go, crlf"]);
}

#[test]
fn results_stand_in_the_order_of_their_calls() {
    let replay = replayed(&lines(&[
        start(),
        user("go", &[]),
        assistant(vec![call("a"), call("b"), call("c")]),
        result("c", "3"),
        result("a", "1"),
        user("news", &[]),
        result("b", "2"),
    ]));
    assert_eq!(shape(&replay.messages)[2], "u: !a=1, !b=2, !c=3, news");
}

#[test]
fn opening_closes_what_a_kill_left_open_once_and_goes_on() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("transcripts/alice.jsonl");
    let open = || Transcript::open(&path, &start(), Durability::Process).unwrap();
    let (mut transcript, replay) = open();
    assert!(replay.at_rest && replay.messages.is_empty());
    for record in [
        user("go", &[]),
        assistant(vec![call("a"), call("b")]),
        result("a", "1"),
    ] {
        transcript.append(&record).unwrap();
    }
    drop(transcript);
    let mut torn = std::fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .unwrap();
    std::io::Write::write_all(&mut torn, br#"{"type":"result","tool_use_id":"b","con"#).unwrap();
    let (mut transcript, first) = open();
    assert_eq!(validity(&first.messages), Ok(()));
    assert!(!first.at_rest);
    transcript.append(&user("again", &[])).unwrap();
    let (_, second) = open();
    assert_eq!(
        shape(&second.messages)[2],
        format!("u: !a=1, !b={INTERRUPTED_CALL}, again")
    );
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.matches("\"type\":\"start\"").count(), 1);
    assert_eq!(text.matches(INTERRUPTED_CALL).count(), 1);
}

/// One turn as agents record it, as an order of records.
#[derive(Debug, Clone)]
enum Step {
    User(String),
    Mail(u8),
    Reply {
        text: String,
        calls: u8,
        late_mail: bool,
    },
    Interrupted,
    Shorter(Compaction),
    Note,
}

fn step() -> impl Strategy<Value = Step> {
    let text = "[a-zé\\\\\"\n ]{0,6}";
    prop_oneof![
        text.prop_map(Step::User),
        (0..3_u8).prop_map(Step::Mail),
        (text, 0..4_u8, any::<bool>()).prop_map(|(text, calls, late_mail)| Step::Reply {
            text,
            calls,
            late_mail
        }),
        Just(Step::Interrupted),
        (0..4_usize, prop::option::of(0..9_usize))
            .prop_map(|(whole, kept)| Step::Shorter(Compaction { whole, kept })),
        Just(Step::Note),
    ]
}

fn records(steps: &[Step]) -> Vec<Record> {
    let mut records = vec![start(), user("go", &[])];
    for (turn, step) in steps.iter().enumerate() {
        match step {
            Step::User(text) => records.push(user(text, &[])),
            Step::Mail(n) => {
                let ids: Vec<String> = (0..*n).map(|i| format!("m{turn}.{i}")).collect();
                let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
                records.push(mail(&ids));
                records.push(user("mail", &ids));
            }
            Step::Reply {
                text,
                calls,
                late_mail,
            } => {
                let ids: Vec<String> = (0..*calls).map(|i| format!("c{turn}.{i}")).collect();
                let mut content = vec![Block::text(text.clone())];
                content.extend(ids.iter().map(|id| call(id)));
                records.push(assistant(content));
                records.extend(ids.iter().map(|id| result(id, "ok")));
                if *late_mail {
                    records.push(user("late", &[]));
                }
            }
            Step::Interrupted => records.push(interrupted("by a test")),
            Step::Shorter(cut) => records.push(Record::Compacted {
                cut: *cut,
                text: cut.kept.map(|kept| format!("all before the last {kept}")),
                usage: Usage::default(),
                note: None,
                at: at(),
            }),
            Step::Note => records.push(Record::Note {
                key: "k".to_owned(),
                value: json!(turn),
                at: at(),
            }),
        }
    }
    records
}

fn holds(bytes: &[u8]) -> Result<(), TestCaseError> {
    let replay = replayed(bytes);
    prop_assert_eq!(validity(&replay.messages), Ok(()), "{:?}", replay.messages);
    if let Some(last) = replay.messages.last()
        && !replay.at_rest
    {
        prop_assert_eq!(last.role, Role::User);
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_beginning_of_a_transcript_is_a_valid_conversation(
        steps in prop::collection::vec(step(), 0..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let bytes = lines(&records(&steps));
        holds(&bytes)?;
        holds(&bytes[..cut.index(bytes.len() + 1)])?;
    }

    #[test]
    fn any_choice_of_its_lines_is_one_too(
        steps in prop::collection::vec(step(), 0..8),
        kept in prop::collection::vec(any::<bool>(), 64),
    ) {
        let kept: Vec<Record> = records(&steps)
            .into_iter()
            .zip(kept.iter().cycle())
            .filter_map(|(record, keep)| keep.then_some(record))
            .collect();
        holds(&lines(&kept))?;
    }
}
