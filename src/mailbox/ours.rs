//! A line as we write it, read straight into a message and kept as it stands; any other line takes the long way.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::parse::{FIRST_MILLISECONDS, MAX_ID};
use super::strict::Strict;
use super::{Kind, Message};

/// The keys that we write. One that is unknown or there twice makes it another tool's line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    id: String,
    from: String,
    to: String,
    #[serde(rename = "type")]
    kind: Kind,
    content: String,
    #[serde(default)]
    summary: Option<String>,
    timestamp: u64,
    #[serde(default)]
    metadata: Option<Strict>,
}

/// The message, if the long way could find no other in `bytes`.
pub(super) fn read(bytes: &[u8]) -> Option<Message> {
    let line: Line = serde_json::from_slice(bytes).ok()?;
    let metadata = match line.metadata {
        None => None,
        Some(Strict(Value::Object(fields))) => Some(fields),
        Some(Strict(_)) => return None,
    };
    let plain = !line.id.is_empty() && line.id.len() <= MAX_ID && !line.from.is_empty();
    (plain && line.timestamp >= FIRST_MILLISECONDS).then_some(Message {
        id: line.id,
        from: line.from,
        to: line.to,
        kind: line.kind,
        content: line.content,
        summary: line.summary,
        timestamp: line.timestamp,
        metadata,
        extra: Map::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse_any;
    use super::*;
    use crate::ids::AgentName;

    #[test]
    fn what_is_read_straight_is_what_the_long_way_reads() {
        let bob = AgentName::parse("bob").unwrap();
        let sent = Message::new(&AgentName::lead(), &bob, Kind::Question, "\u{1}\"é\u{2028}")
            .with("request_id", "req_0a1b2c3d")
            .with("deep", serde_json::json!({ "a": [1, { "b": null }] }));
        let line = serde_json::to_string(&sent).unwrap();
        assert_eq!(read(line.as_bytes()).as_ref(), Some(&sent));
        for (from, to) in [
            (r#""question""#, r#""error""#),
            (r#""question""#, r#""poem""#),
            (r#""metadata":{"#, r#""summary":null,"metadata":{"#),
            (r#""metadata":{"#, r#""summary":"s","metadata":{"#),
        ] {
            let line = line.replace(from, to);
            let long = parse_any(line.as_bytes(), 0, &bob, 0).unwrap().message;
            assert_eq!(read(line.as_bytes()), Some(long), "{line}");
        }
    }

    #[test]
    fn what_may_mean_something_else_takes_the_long_way() {
        let line = r#"{"id":"msg_1","from":"bob","to":"alice","type":"message","content":"hi","timestamp":1764522000123,"metadata":{"a":1}}"#;
        assert!(read(line.as_bytes()).is_some());
        for (from, to) in [
            (r#""id":"msg_1","#, ""),
            ("msg_1", ""),
            ("msg_1", "x".repeat(MAX_ID + 1).as_str()),
            (r#""bob""#, r#""""#),
            (r#""to":"alice","#, ""),
            (r#""hi""#, r#"["hi"]"#),
            ("1764522000123", "1764522000"),
            ("1764522000123", r#""2025-11-30T17:00:00Z""#),
            (r#"{"a":1}"#, r#"{"a":1,"a":1}"#),
            (r#"{"a":1}"#, "[]"),
            (r#""to":"#, r#""mood":1,"to":"#),
            (r#""to":"#, r#""acknowledgedAt":"x","to":"#),
            (r#""to":"#, r#""from":"eve","to":"#),
        ] {
            let other = line.replacen(from, to, 1);
            assert_ne!(other, line);
            assert_eq!(read(other.as_bytes()), None, "{other}");
        }
    }
}
