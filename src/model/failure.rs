//! From a failed exchange to a [`ModelError`] in plain words: what to retry, after how long, what never. Pure.

use std::time::Duration;

use serde_json::Value;

use super::ModelError;
use super::gate::LONGEST as LONGEST_PAUSE;
use super::peer::Peer;
use super::said::Said;
use super::window;
use crate::clock;

/// How an exchange failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The server answered with a status that is no success.
    Answer(Box<Answer>),
    /// The server told of a failure inside a 200 answer.
    Told(Value),
    /// The connection or stream broke, or carried what cannot be read.
    Broken(String),
    /// No server answers there, or something else does.
    Unreachable(String),
    /// It cannot be tried at all: address, certificate.
    Impossible(String),
    /// Cancelled by us.
    Cancelled,
}

impl Failure {
    /// The size of the model's window, if the server names it.
    pub(super) fn window(&self) -> Option<u64> {
        match self {
            Self::Answer(answer) => window::said(&answer.said.message),
            Self::Told(value) => window::said(&Said::from_value(value).message),
            Self::Broken(_) | Self::Unreachable(_) | Self::Impossible(_) | Self::Cancelled => None,
        }
    }

    /// What the caller is told.
    pub(super) fn into_error(self, peer: &Peer) -> ModelError {
        match self {
            Self::Answer(answer) => answer.into_error(peer),
            Self::Told(value) => told(&value, peer),
            Self::Broken(why) => broken(format!("{}: {}", peer.model(), peer.shown(&why))),
            Self::Unreachable(why) => broken(with_the_way(&why, peer)),
            Self::Impossible(why) => ModelError::Refused(with_the_way(&why, peer)),
            Self::Cancelled => ModelError::Cancelled,
        }
    }
}

fn broken(why: String) -> ModelError {
    ModelError::Retry {
        why,
        status: None,
        after: None,
    }
}

fn with_the_way(why: &str, peer: &Peer) -> String {
    let advice = peer.way_to_it().map(|way| format!("; {way}"));
    let advice = advice.unwrap_or_default();
    format!("{}: {}{advice}", peer.model(), peer.shown(why))
}

/// An answer that is no success.
#[derive(Debug, Clone, Default)]
pub(super) struct Answer {
    /// HTTP status.
    pub(super) status: u16,
    /// What the server asked for.
    pub(super) after: Option<Duration>,
    /// `x-should-retry`.
    pub(super) should_retry: Option<bool>,
    /// `request-id` or `x-request-id`.
    pub(super) request_id: Option<String>,
    /// `location`.
    pub(super) location: Option<String>,
    /// What it said.
    pub(super) said: Said,
}

impl Answer {
    /// A failure as a script plays it.
    pub(super) fn scripted(status: u16, message: &str, after_secs: Option<f64>) -> Self {
        Self {
            status,
            after: after_secs.and_then(|secs| pause(secs, 1.0)),
            said: Said::from_body(message.as_bytes()),
            ..Self::default()
        }
    }

    /// What the caller is told.
    pub(super) fn into_error(self, peer: &Peer) -> ModelError {
        let why = self.words(peer);
        if self.status == 413 || self.said.is_too_long(Some(self.status)) {
            return ModelError::TooLong(why);
        }
        let retry =
            !self.said.is_spent_budget() && self.should_retry.unwrap_or(is_passing(self.status));
        if retry {
            ModelError::Retry {
                why,
                status: Some(self.status),
                after: self.after,
            }
        } else {
            ModelError::Refused(why)
        }
    }

    fn words(&self, peer: &Peer) -> String {
        let (what, advice) = self.meaning(peer);
        let mut text = format!("{}: {what} ({}", peer.model(), self.status);
        if !self.said.kind.is_empty() {
            text.push(' ');
            text.push_str(&self.said.kind);
        }
        text.push(')');
        for detail in [Some(&self.said.message), self.location.as_ref()] {
            if let Some(detail) = detail.filter(|detail| !detail.is_empty()) {
                text.push_str(": ");
                text.push_str(detail.trim_end_matches('.'));
            }
        }
        if let Some(advice) = advice {
            text.push_str("; ");
            text.push_str(&advice);
        }
        if let Some(id) = &self.request_id {
            text = format!("{text} [request {id}]");
        }
        peer.shown(&text)
    }

    fn meaning(&self, peer: &Peer) -> (&'static str, Option<String>) {
        if self.said.is_spent_budget() {
            return ("the budget is spent", Some("add credit or raise it".into()));
        }
        match self.status {
            300..=399 => (
                "the address redirects elsewhere",
                Some("name the final address as the base URL".into()),
            ),
            401 => (
                "the key is not accepted",
                peer.key_variable()
                    .map(|name| format!("set {name} to a valid one")),
            ),
            402 => ("payment is required", Some("add credit".into())),
            403 => ("the key may not do this", None),
            404 => (
                "no such model or address",
                Some("check the model's name and the base URL".into()),
            ),
            413 => ("the request is too large", None),
            429 => ("too many requests", None),
            503 | 529 => ("the server is overloaded", None),
            500.. => ("the server failed", None),
            _ => ("the request is refused", None),
        }
    }
}

/// A failure told inside a 200 answer breaks the stream, unless it is of a kind that comes again.
fn told(value: &Value, peer: &Peer) -> ModelError {
    let said = Said::from_value(value);
    let request_id = value.get("request_id").and_then(Value::as_str);
    let status = said.status();
    if let Some(status) = status.filter(|status| !is_passing(*status)) {
        let answer = Answer {
            status,
            request_id: request_id.map(str::to_owned),
            said,
            ..Answer::default()
        };
        return answer.into_error(peer);
    }
    let mut text = format!("{}: the server failed in mid-answer", peer.model());
    for part in [&said.kind, &said.message] {
        if !part.is_empty() {
            text.push_str(": ");
            text.push_str(part);
        }
    }
    if let Some(id) = request_id {
        text = format!("{text} [request {id}]");
    }
    let why = peer.shown(&text);
    if said.is_too_long(None) {
        ModelError::TooLong(why)
    } else if said.is_spent_budget() {
        ModelError::Refused(why)
    } else {
        ModelError::Retry {
            why,
            status,
            after: None,
        }
    }
}

/// Whether the same may succeed later.
fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 409 | 429 | 500..)
}

/// The pause asked for by `retry-after-ms` (milliseconds) or else `retry-after` (seconds, or a date).
pub(super) fn retry_after(ms: Option<&str>, after: Option<&str>) -> Option<Duration> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    if let Some(pause) = ms.and_then(number).and_then(|ms| pause(ms, 1000.0)) {
        return Some(pause);
    }
    let after = after?;
    if let Some(secs) = number(after) {
        return pause(secs, 1.0);
    }
    // Some servers name the wrong day of the week.
    let date = jiff::fmt::rfc2822::DateTimeParser::new()
        .relaxed_weekday(true)
        .parse_timestamp(after.trim())
        .ok()?;
    let at = u64::try_from(date.as_millisecond()).ok()?;
    let ms = at.saturating_sub(clock::now_ms());
    (ms > 0).then(|| Duration::from_millis(ms).min(LONGEST_PAUSE))
}

fn pause(amount: f64, per_second: f64) -> Option<Duration> {
    if amount.is_nan() || amount <= 0.0 {
        return None;
    }
    let secs = (amount / per_second).min(LONGEST_PAUSE.as_secs_f64());
    Duration::try_from_secs_f64(secs).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, body: &str) -> Answer {
        Answer {
            status,
            said: Said::from_body(body.as_bytes()),
            ..Answer::default()
        }
    }

    fn peer() -> Peer {
        let key = ("ANTHROPIC_API_KEY", "sk-secret".to_owned());
        Peer::new("anthropic:m", "http://h", Some(key))
    }

    fn class(answer: Answer) -> &'static str {
        match answer.into_error(&peer()) {
            ModelError::Retry { .. } => "retry",
            ModelError::Refused(_) => "refused",
            ModelError::TooLong(_) => "too long",
            ModelError::Limit | ModelError::Cancelled => "ours",
        }
    }

    #[test]
    fn statuses_are_retried_or_refused_by_the_table() {
        for status in [408, 409, 429, 500, 502, 503, 504, 522, 529] {
            assert_eq!(class(answer(status, "<html>")), "retry", "{status}");
        }
        for status in [301, 400, 401, 402, 403, 404, 405, 422] {
            assert_eq!(class(answer(status, "")), "refused", "{status}");
        }
        assert_eq!(class(answer(413, "<html>")), "too long");
        assert_eq!(
            class(answer(
                400,
                r#"{"error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}"#
            )),
            "too long"
        );
    }

    #[test]
    fn the_servers_own_word_and_spent_budgets_win() {
        let with = |status, should_retry| Answer {
            should_retry: Some(should_retry),
            ..answer(status, "")
        };
        assert_eq!(class(with(400, true)), "retry");
        assert_eq!(class(with(529, false)), "refused");
        let spent = r#"{"error":{"code":"insufficient_quota","message":"m"}}"#;
        assert_eq!(class(answer(429, spent)), "refused");
        let spent = r#"{"error":{"type":"rate_limit_error","details":{"error_code":"enforced_spend_limit_reached"}}}"#;
        let spent = Answer {
            should_retry: Some(true),
            ..answer(429, spent)
        };
        assert_eq!(class(spent), "refused");
    }

    #[test]
    fn failures_inside_a_good_answer_break_the_stream() {
        let told =
            |body: &str| Failure::Told(serde_json::from_str(body).unwrap()).into_error(&peer());
        let ModelError::Retry { status, why, .. } = told(
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}"#,
        ) else {
            panic!("not retried")
        };
        assert_eq!(status, Some(529));
        assert!(why.contains("Overloaded") && why.contains("req_1"), "{why}");
        assert!(matches!(
            told(r#"{"error":{"code":429,"message":"slow down"}}"#),
            ModelError::Retry {
                status: Some(429),
                ..
            }
        ));
        assert!(matches!(
            told(r#"{"error":{"type":"exceed_context_size_error"}}"#),
            ModelError::TooLong(_)
        ));
        assert!(matches!(
            told(r#"{"error":{"code":"insufficient_quota"}}"#),
            ModelError::Refused(_)
        ));
        for (kind, class) in [
            ("authentication_error", "ANTHROPIC_API_KEY"),
            ("billing_error", "add credit"),
            ("permission_error", "403"),
            ("not_found_error", "404"),
            ("invalid_request_error", "400"),
        ] {
            let error = told(&format!(
                r#"{{"type":"error","error":{{"type":"{kind}"}}}}"#
            ));
            assert!(
                matches!(&error, ModelError::Refused(why) if why.contains(class)),
                "{kind}: {error:?}"
            );
        }
        for unknown in ["{}", r#"{"error":{"type":"news_error"}}"#, r#"{"error":7}"#] {
            assert!(
                matches!(told(unknown), ModelError::Retry { .. }),
                "{unknown}"
            );
        }
        assert!(matches!(
            told(r#"{"error":{"type":"request_too_large"}}"#),
            ModelError::TooLong(_)
        ));
    }

    #[test]
    fn texts_name_the_way_out_and_never_the_key() {
        let body =
            r#"{"error":{"type":"authentication_error","message":"invalid x-api-key sk-secret."}}"#;
        let mut refused = answer(401, body);
        refused.request_id = Some("req_9".to_owned());
        assert_eq!(
            refused.into_error(&peer()).to_string(),
            "anthropic:m: the key is not accepted (401 authentication_error): invalid x-api-key [key]; \
             set ANTHROPIC_API_KEY to a valid one [request req_9]"
        );
    }

    #[test]
    fn pauses_are_read_in_every_form() {
        let secs = Duration::from_secs;
        for (ms, after, expected) in [
            (None, None, None),
            (None, Some("7"), Some(secs(7))),
            (None, Some("0.5"), Some(Duration::from_millis(500))),
            (Some("250"), Some("7"), Some(Duration::from_millis(250))),
            (Some("x"), Some("7"), Some(secs(7))),
            (None, Some("0"), None),
            (None, Some("-3"), None),
            (None, Some("nan"), None),
            (None, Some("inf"), Some(LONGEST_PAUSE)),
            (None, Some("1e300"), Some(LONGEST_PAUSE)),
            (None, Some("soon"), None),
            (None, Some("Sun, 06 Nov 1994 08:49:37 GMT"), None),
            (
                None,
                Some("Sat, 01 Jan 2180 00:00:00 GMT"),
                Some(LONGEST_PAUSE),
            ),
            (
                None,
                Some("Mon, 01 Jan 2180 00:00:00 GMT"),
                Some(LONGEST_PAUSE),
            ),
            (Some("0.5"), None, Some(Duration::from_micros(500))),
            (Some("-1"), Some("2"), Some(secs(2))),
            (Some("1e99"), None, Some(LONGEST_PAUSE)),
            (None, Some(" 3 "), Some(secs(3))),
            (None, Some(""), None),
            (
                None,
                Some("99999999999999999999999999"),
                Some(LONGEST_PAUSE),
            ),
        ] {
            assert_eq!(retry_after(ms, after), expected, "{ms:?} {after:?}");
        }
    }
}
