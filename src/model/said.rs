//! What a failing server said, whichever of the known shapes it said it in. Pure.
//!
//! Shapes: `{"error":{type,message,code,details}}` (with or without `"type":"error"`), `{"error":"…"}`,
//! `{"object":"error",message,code}`, `{"message"}`, `{"detail": "…" | [{msg}]}`, a web page, plain text, nothing.

use serde_json::Value;

/// Spent budgets: waiting does not help.
const BUDGET: [&str; 6] = [
    "insufficient_quota",
    "credit_balance_exhausted",
    "billing_hard_limit_reached",
    "contract_spend_limit_reached",
    "enforced_spend_limit_reached",
    "billing_error",
];

/// How servers word that a conversation is too long.
const TOO_LONG: [&str; 7] = [
    "maximum context length",
    "context length exceeded",
    "context size",
    "context window",
    "prompt is too long",
    "too many tokens",
    "exceed context limit",
];

/// The statuses that kinds of failures have where they are told with one.
const KINDS: [(&str, u16); 12] = [
    ("invalid_request_error", 400),
    ("authentication_error", 401),
    ("billing_error", 402),
    ("permission_error", 403),
    ("not_found_error", 404),
    ("conflict_error", 409),
    ("request_too_large", 413),
    ("rate_limit_error", 429),
    ("api_error", 500),
    ("server_error", 500),
    ("timeout_error", 504),
    ("overloaded_error", 529),
];

/// A failure in the server's words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Said {
    /// Its `type`.
    pub(super) kind: String,
    /// Its `code`, or the finer `details.error_code`.
    pub(super) code: String,
    /// Its words; may be empty.
    pub(super) message: String,
}

impl Said {
    /// From the body of an answer.
    pub(super) fn from_body(body: &[u8]) -> Self {
        if let Ok(value) = serde_json::from_slice::<Value>(body)
            && value.is_object()
        {
            return Self::from_value(&value);
        }
        let text = String::from_utf8_lossy(body);
        let text = text.trim();
        let message = if text.starts_with('<') {
            "(a web page)"
        } else {
            text
        };
        Self {
            message: message.to_owned(),
            ..Self::default()
        }
    }

    /// From a JSON object.
    pub(super) fn from_value(value: &Value) -> Self {
        let inner = match value.get("error") {
            Some(Value::String(text)) => {
                return Self {
                    message: text.clone(),
                    ..Self::default()
                };
            }
            Some(inner @ Value::Object(_)) => inner,
            _ => value,
        };
        let fine = inner.get("details").and_then(|d| d.get("error_code"));
        Self {
            kind: word(inner.get("type")),
            code: word(fine.or_else(|| inner.get("code"))),
            message: words(inner),
        }
    }

    /// Whether the same would fail for want of money whenever it is tried.
    pub(super) fn is_spent_budget(&self) -> bool {
        BUDGET.contains(&self.code.as_str()) || BUDGET.contains(&self.kind.as_str())
    }

    /// Whether the conversation does not fit: by code in any answer, by words where `status` allows.
    pub(super) fn is_too_long(&self, status: Option<u16>) -> bool {
        if self.code == "context_length_exceeded" || self.kind == "exceed_context_size_error" {
            return true;
        }
        let message = self.message.to_lowercase();
        matches!(status, None | Some(400 | 413 | 422))
            && TOO_LONG.iter().any(|words| message.contains(words))
    }

    /// The HTTP status that this would have had, for failures told inside a 200 answer.
    pub(super) fn status(&self) -> Option<u16> {
        let of_kind = KINDS.iter().find(|(kind, _)| *kind == self.kind);
        if let Some((_, status)) = of_kind {
            return Some(*status);
        }
        match self.code.as_str() {
            "rate_limit_exceeded" => Some(429),
            code => code.parse().ok().filter(|code| (400..600).contains(code)),
        }
    }
}

fn words(inner: &Value) -> String {
    if let Some(text) = inner.get("message").and_then(Value::as_str) {
        // What the server behind OpenRouter said.
        let raw = word(inner.get("metadata").and_then(|data| data.get("raw")));
        let between = if raw.is_empty() { "" } else { ": " };
        return format!("{text}{between}{raw}");
    }
    match inner.get("detail") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) => items
            .iter()
            .filter_map(|item| item.get("msg").and_then(Value::as_str))
            .collect::<Vec<_>>()
            .join("; "),
        _ => String::new(),
    }
}

fn word(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(kind: &str, code: &str, message: &str) -> Said {
        Said {
            kind: kind.to_owned(),
            code: code.to_owned(),
            message: message.to_owned(),
        }
    }

    #[test]
    fn every_known_shape_is_read() {
        for (body, expected) in [
            (
                r#"{"type":"error","error":{"type":"overloaded_error","message":"m"}}"#,
                said("overloaded_error", "", "m"),
            ),
            (
                r#"{"error":{"type":"rate_limit_error","message":"m","details":{"error_code":"enforced_spend_limit_reached"}}}"#,
                said("rate_limit_error", "enforced_spend_limit_reached", "m"),
            ),
            (
                r#"{"error":{"message":"m","type":"t","param":null,"code":429}}"#,
                said("t", "429", "m"),
            ),
            (
                r#"{"error":"model not found"}"#,
                said("", "", "model not found"),
            ),
            (
                r#"{"object":"error","message":"m","type":"Bad","code":400}"#,
                said("Bad", "400", "m"),
            ),
            (r#"{"detail":"Not Found"}"#, said("", "", "Not Found")),
            (
                r#"{"detail":[{"msg":"a","loc":[]},{"msg":"b"}]}"#,
                said("", "", "a; b"),
            ),
            (r#"{"message":"m"}"#, said("", "", "m")),
            (
                r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"why","provider_name":"p"}}}"#,
                said("", "400", "Provider returned error: why"),
            ),
            (
                "<html><body>502</body></html>",
                said("", "", "(a web page)"),
            ),
            (" upstream gone\n", said("", "", "upstream gone")),
            ("", said("", "", "")),
            ("[]", said("", "", "[]")),
        ] {
            assert_eq!(Said::from_body(body.as_bytes()), expected, "{body}");
        }
    }

    #[test]
    fn too_long_is_told_from_other_bad_requests() {
        for message in [
            "prompt is too long: 208310 tokens > 200000 maximum",
            "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000",
            "This model's maximum context length is 8192 tokens. However",
            "request (3020 tokens) exceeds the available context size (1024 tokens), try increasing it",
        ] {
            assert!(said("", "", message).is_too_long(Some(400)), "{message}");
            assert!(!said("", "", message).is_too_long(Some(500)), "{message}");
        }
        assert!(said("exceed_context_size_error", "", "").is_too_long(Some(500)));
        assert!(said("", "context_length_exceeded", "").is_too_long(Some(400)));
        assert!(!said("", "", "max_tokens: 99 > 9, which is the maximum").is_too_long(Some(400)));
    }
}
