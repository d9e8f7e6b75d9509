//! One line of a mailbox to a message (SPEC §4.2), forgiving to what other tools write.
//!
//! Read as well: `ts` or `timestamp` as seconds or an ISO-8601 text, a `content` that is no text, missing `to`, `type`, time
//! and `id`. Refused: what is no JSON object with a sender, talk without content, and an object that repeats a key.

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::{Kind, Message, ours, strict};
use crate::clock::Timestamp;
use crate::ids::AgentName;

/// Longest id of a foreign message that is kept, in bytes; a longer one is replaced as if it were missing.
pub(super) const MAX_ID: usize = 128;

/// Below this a number is seconds, from it on milliseconds since 1970 (the year 5138, and March 1973).
pub(super) const FIRST_MILLISECONDS: u64 = 100_000_000_000;

/// What a line holds.
#[derive(Debug, PartialEq)]
pub(super) struct Parsed {
    /// The message.
    pub(super) message: Message,
    /// Whether the line brought no id: it was made from the line's bytes and place.
    pub(super) anonymous: bool,
    /// Whether the line, as it is, is what we would write for the message.
    pub(super) ours: bool,
}

/// What is wrong with a line of a mailbox or an archive.
pub fn line_fault(line: &[u8]) -> Option<String> {
    parse(line, 0, &AgentName::lead(), 0).err()
}

/// Reads the line `bytes`, which stood at the offset `place` of `owner`'s mailbox. `now` stands in for a missing time.
/// `Err` says what is wrong with it.
pub(super) fn parse(
    bytes: &[u8],
    place: u64,
    owner: &AgentName,
    now: u64,
) -> Result<Parsed, String> {
    match ours::read(bytes) {
        Some(message) => Ok(Parsed {
            message,
            anonymous: false,
            ours: true,
        }),
        None => parse_any(bytes, place, owner, now),
    }
}

/// The same for a line of whatever making.
pub(super) fn parse_any(
    bytes: &[u8],
    place: u64,
    owner: &AgentName,
    now: u64,
) -> Result<Parsed, String> {
    let value =
        strict::from_slice(bytes).map_err(|error| format!("it is not valid JSON ({error})"))?;
    let Value::Object(mut fields) = value else {
        return Err("it is JSON, but not an object".to_owned());
    };
    let from = text(&mut fields, "from")?
        .filter(|from| !from.is_empty())
        .ok_or("it does not say who sent it (`from`)")?;
    let kind = match text(&mut fields, "type")? {
        Some(kind) => serde_json::from_value(kind.into()).map_err(|error| error.to_string())?,
        None => Kind::Message,
    };
    let to = text(&mut fields, "to")?.unwrap_or_else(|| owner.to_string());
    let content = match fields.shift_remove("content") {
        Some(Value::String(text)) => text,
        None | Some(Value::Null) if is_talk(&kind) => {
            return Err("it has no `content`".to_owned());
        }
        None | Some(Value::Null) => String::new(),
        Some(other) => other.to_string(),
    };
    let own_id = match fields.shift_remove("id") {
        Some(Value::String(id)) => Some(id),
        Some(Value::Number(id)) => Some(id.to_string()),
        _ => None,
    }
    .filter(|id| !id.is_empty() && id.len() <= MAX_ID);
    let timestamp = time(fields.shift_remove("timestamp"))
        .or(time(fields.shift_remove("ts")))
        .unwrap_or(now);
    let message = Message {
        id: own_id
            .clone()
            .unwrap_or_else(|| made_id(&[bytes, &place.to_le_bytes()])),
        from,
        to,
        kind,
        content,
        summary: text(&mut fields, "summary")?,
        timestamp,
        metadata: metadata(&mut fields)?,
        extra: fields,
    };
    Ok(Parsed {
        message,
        anonymous: own_id.is_none(),
        ours: false,
    })
}

/// `msg_<16 hex>`, the same for the same `parts`: for a message that may have been sent before a crash.
pub fn made_id(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let mut id = format!("msg_{:x}", hash.finalize());
    id.truncate("msg_".len() + 16);
    id
}

/// Whether the content is what such a message is about.
fn is_talk(kind: &Kind) -> bool {
    !kind.is_control() && !matches!(kind, Kind::IdleNotification | Kind::TaskNotification)
}

fn text(fields: &mut Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    match fields.shift_remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("its `{key}` is not a text")),
    }
}

fn metadata(fields: &mut Map<String, Value>) -> Result<Option<Map<String, Value>>, String> {
    match fields.shift_remove("metadata") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(metadata)) => Ok(Some(metadata)),
        Some(_) => Err("its `metadata` is not an object".to_owned()),
    }
}

/// Unix milliseconds of a number of seconds or milliseconds, or of an ISO-8601 text.
fn time(value: Option<Value>) -> Option<u64> {
    match value? {
        Value::String(text) => Timestamp::parse(&text).map(Timestamp::as_ms),
        Value::Number(number) => {
            let given = number.as_f64().filter(|given| *given >= 0.0)?;
            let ms = number.as_u64().unwrap_or(whole(given));
            if ms >= FIRST_MILLISECONDS {
                Some(ms)
            } else {
                Some(whole(given * 1000.0))
            }
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float to integer cast saturates, and the caller gives none below 0"
)]
fn whole(ms: f64) -> u64 {
    ms.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_764_522_000_123;

    fn read(line: &str) -> Result<Message, String> {
        let owner = AgentName::parse("alice").unwrap();
        parse(line.as_bytes(), 0, &owner, NOW).map(|parsed| parsed.message)
    }

    #[test]
    fn a_message_of_ours_reads_back_as_it_was() {
        let alice = AgentName::parse("alice").unwrap();
        let text =
            "nul \u{0} bell \u{7} escape \u{1b}[2J\r\n line \u{2028} para \u{2029} 🦀 \"q\" \\";
        let sent = Message::new(&AgentName::lead(), &alice, Kind::Question, text)
            .with("request_id", "req_0a1b2c3d");
        let line = serde_json::to_string(&sent).unwrap();
        assert!(!line.contains('\n') && !line.contains('\r'));
        assert_eq!(read(&line).unwrap(), sent);
    }

    #[test]
    fn foreign_spellings_are_read() {
        let at = |field: &str| {
            read(&format!(r#"{{"from":"bob","content":"x",{field}}}"#))
                .unwrap()
                .timestamp
        };
        assert_eq!(at(r#""ts":1764522000"#), 1_764_522_000_000);
        assert_eq!(at(r#""timestamp":1764522000.5"#), 1_764_522_000_500);
        assert_eq!(at(r#""timestamp":1764522000123"#), 1_764_522_000_123);
        assert_eq!(at(r#""ts":"2025-11-30T17:00:00.123Z""#), 1_764_522_000_123);
        for none in [r#""ts":null"#, r#""ts":-5"#, r#""ts":"noon""#, r#""ts":[]"#] {
            assert_eq!(at(none), NOW, "{none}");
        }
        assert_eq!(at(r#""ts":1e300"#), u64::MAX);
        let content = |json: &str| {
            read(&format!(r#"{{"from":"bob","content":{json}}}"#))
                .unwrap()
                .content
        };
        assert_eq!(
            content(r#"{"b":[1,null],"a":"é"}"#),
            r#"{"b":[1,null],"a":"é"}"#
        );
        assert_eq!(content("17"), "17");
        assert_eq!(content(r#""""#), "");
    }

    #[test]
    fn what_is_missing_is_made_up_and_what_is_unknown_is_kept() {
        let bare = read(r#"{"from":"bob","content":"hi","mood":"good"}"#).unwrap();
        assert_eq!((bare.to.as_str(), &bare.kind), ("alice", &Kind::Message));
        assert_eq!(bare.extra["mood"], "good");
        let odd = read(r#"{"from":"bob","type":"poem","content":"hi","id":7}"#).unwrap();
        assert_eq!(odd.kind, Kind::Other("poem".to_owned()));
        assert!(odd.starts_round());
        assert_eq!(odd.id, "7");
        let error = read(r#"{"from":"bob","type":"error","content":"hi"}"#).unwrap();
        assert_eq!(error.kind, Kind::ErrorReport);
        assert!(read(r#"{"from":"lead","type":"shutdown_request"}"#).is_ok());
    }

    #[test]
    fn an_id_is_made_from_bytes_and_place() {
        let alice = AgentName::parse("alice").unwrap();
        let id = |line: &str, place| {
            let parsed = parse(line.as_bytes(), place, &alice, NOW).unwrap();
            assert!(parsed.anonymous, "{line}");
            parsed.message.id
        };
        let line = r#"{"from":"bob","content":"hi"}"#;
        assert_eq!(id(line, 0), id(line, 0));
        assert_ne!(id(line, 0), id(line, 30));
        assert_ne!(id(line, 0), id(r#"{"from":"bob","content":"ho"}"#, 0));
        for other in [r#""""#, "null", "[]", &format!("{:?}", "x".repeat(200))] {
            id(
                &format!(r#"{{"from":"bob","content":"hi","id":{other}}}"#),
                0,
            );
        }
    }

    #[test]
    fn bad_lines_are_refused_with_what_is_wrong() {
        for (line, why) in [
            ("garbage", "not valid JSON"),
            ("[]", "not an object"),
            ("null", "not an object"),
            ("17", "not an object"),
            (r#"{"content":"x"}"#, "`from`"),
            (r#"{"from":"","content":"x"}"#, "`from`"),
            (r#"{"from":5,"content":"x"}"#, "`from`"),
            (r#"{"from":"bob"}"#, "`content`"),
            (r#"{"from":"bob","content":null}"#, "`content`"),
            (r#"{"from":"bob","content":"x","type":1}"#, "`type`"),
            (
                r#"{"from":"bob","content":"x","metadata":[]}"#,
                "`metadata`",
            ),
            (r#"{"from":"bob","content":"x","from":"lead"}"#, "twice"),
            (
                r#"{"from":"bob","content":"x","metadata":{"a":1,"a":2}}"#,
                "twice",
            ),
            (r#"{"from":"bob","content":"x"}{"from":"#, "not valid JSON"),
            (&"[".repeat(5000), "not valid JSON"),
        ] {
            let error = read(line).unwrap_err();
            assert!(error.contains(why), "{line:.60}: {error}");
        }
        let alice = AgentName::parse("alice").unwrap();
        assert!(parse(b"{\"from\":\"b\",\"content\":\"\xff\"}", 0, &alice, NOW).is_err());
    }
}
