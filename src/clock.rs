//! The only caller of `now()`.
//!
//! Wall time is Unix milliseconds and may jump; whatever measures a duration takes [`instant`].

use std::fmt;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Wall time in Unix milliseconds; written as ISO-8601 UTC with milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The present.
    pub fn now() -> Self {
        Self(now_ms())
    }

    /// From Unix milliseconds.
    pub fn from_ms(ms: u64) -> Self {
        Self(ms)
    }

    /// As Unix milliseconds.
    pub fn as_ms(self) -> u64 {
        self.0
    }

    /// How long ago it was by the wall clock; nothing if it is yet to come.
    pub fn elapsed(self) -> Duration {
        Duration::from_millis(now_ms().saturating_sub(self.0))
    }

    /// The time of day, `HH:MM` in UTC.
    pub fn time_of_day(self) -> String {
        // As in `2026-11-30T17:00:00.000Z`.
        self.to_string().get(11..16).unwrap_or_default().to_owned()
    }

    /// Reads an ISO-8601 date and time with a zone, `Z` or an offset.
    pub fn parse(text: &str) -> Option<Self> {
        let at: jiff::Timestamp = text.parse().ok()?;
        u64::try_from(at.as_millisecond()).ok().map(Self)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = i64::try_from(self.0).unwrap_or(i64::MAX);
        let at = jiff::Timestamp::from_millisecond(ms).unwrap_or(jiff::Timestamp::MAX);
        write!(f, "{at:.3}")
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        output.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Timestamp;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Timestamp, E> {
                Timestamp::parse(text)
                    .ok_or_else(|| E::custom(format_args!("{text:?} is not an ISO-8601 time")))
            }
        }
        input.deserialize_str(Text)
    }
}

/// Wall time in Unix milliseconds; 0 for a clock set before 1970.
#[expect(clippy::disallowed_methods, reason = "this is the one caller")]
pub fn now_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| {
            u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
        })
}

/// Monotonic time, not counting sleep of the machine on Linux.
#[expect(clippy::disallowed_methods, reason = "this is the one caller")]
pub fn instant() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_iso_with_milliseconds_and_read_back() {
        let at = Timestamp::from_ms(1_764_522_000_123);
        assert_eq!(at.to_string(), "2025-11-30T17:00:00.123Z");
        assert_eq!(Timestamp::parse(&at.to_string()), Some(at));
        assert_eq!(at.time_of_day(), "17:00");
        assert_eq!(
            Timestamp::from_ms(0).to_string(),
            "1970-01-01T00:00:00.000Z"
        );
        assert_eq!(
            Timestamp::parse("2025-11-30T18:00:00+01:00"),
            Timestamp::parse("2025-11-30T17:00:00.000Z")
        );
        assert_eq!(Timestamp::parse("yesterday"), None);
    }
}
