//! Whether the team has used up what it may (SPEC §9.5): pure.

use std::time::Duration;

use crate::config::settings::Limits;
use crate::team::usage::Spent;

/// Whether a limit needs to know what was spent.
pub fn counts(limits: &Limits) -> bool {
    limits.tokens.is_some() || limits.turns.is_some()
}

/// The first limit that is reached, in words. `spent` is the whole team's, `elapsed` the lead's clock.
pub fn reached(limits: &Limits, spent: &Spent, elapsed: Duration) -> Option<String> {
    if let Some(seconds) = limits.seconds
        && elapsed >= Duration::from_secs(seconds)
    {
        return Some(format!("{seconds} seconds"));
    }
    let usage = spent.usage;
    let tokens = usage.input + usage.output + usage.cache_write;
    let over = |limit: Option<u64>, used: u64, unit: &str| {
        let limit = limit.filter(|limit| used >= *limit)?;
        Some(format!("{limit} {unit}"))
    };
    over(limits.tokens, tokens, "tokens").or_else(|| over(limits.turns, spent.calls, "model calls"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::Usage;

    #[test]
    fn the_whole_team_counts_and_reading_a_cache_does_not() {
        let spent = Spent {
            usage: Usage {
                input: 80,
                output: 10,
                cache_read: 1_000,
                cache_write: 10,
            },
            calls: 4,
        };
        let second = Duration::from_secs(1);
        for (tokens, turns, seconds, wanted) in [
            (None, None, None, None),
            (Some(101), Some(5), Some(2), None),
            (Some(100), None, None, Some("100 tokens")),
            (None, Some(4), None, Some("4 model calls")),
            (Some(1), Some(1), Some(1), Some("1 seconds")),
        ] {
            let limits = Limits {
                tokens,
                turns,
                seconds,
            };
            assert_eq!(reached(&limits, &spent, second).as_deref(), wanted);
        }
    }
}
