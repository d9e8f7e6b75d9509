//! Whether the team has used up what it may (SPEC §9.5): pure.

use std::time::Duration;

use crate::config::settings::Limits;
use crate::team::Prices;
use crate::team::usage::Spent;

/// Whether a limit needs to know what was spent.
pub fn counts(limits: &Limits) -> bool {
    limits.tokens.is_some() || limits.turns.is_some() || limits.cost.is_some()
}

/// The first limit that is reached, in words. `spent` is the whole team's, `elapsed` the lead's clock. What cannot be
/// priced is beyond any limit on cost.
pub fn reached(
    limits: &Limits,
    prices: &Prices,
    spent: &Spent,
    elapsed: Duration,
) -> Option<String> {
    if let Some(seconds) = limits.seconds
        && elapsed >= Duration::from_secs(seconds)
    {
        return Some(format!("{seconds} seconds"));
    }
    if let Some(limit) = limits.cost
        && prices.cost(spent).is_none_or(|cost| cost >= limit)
    {
        return Some(format!("a cost of {limit}"));
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
    use serde_json::json;

    use super::*;
    use crate::conversation::Usage;

    #[test]
    fn the_whole_team_counts_and_reading_a_cache_does_not() {
        let usage = Usage {
            input: 80,
            output: 10,
            cache_read: 1_000,
            cache_write: 10,
        };
        let spent = Spent {
            usage,
            calls: 4,
            models: [("openai:m".to_owned(), usage)].into(),
        };
        let prices = |model: &str| -> Prices {
            let price =
                json!({"input": 10_000, "output": 20_000, "cacheRead": 100, "cacheWrite": 0});
            serde_json::from_value(json!({ model: price })).unwrap()
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
                cost: None,
            };
            let reached = reached(&limits, &Prices::default(), &spent, second);
            assert_eq!(reached.as_deref(), wanted);
        }
        for (model, cost, wanted) in [
            ("openai:m", 1.11, None),
            ("m", 1.1, Some("a cost of 1.1")),
            ("other", 9.0, Some("a cost of 9")),
        ] {
            let limits = Limits {
                cost: Some(cost),
                ..Limits::default()
            };
            let reached = reached(&limits, &prices(model), &spent, second);
            assert_eq!(reached.as_deref(), wanted, "{model} {cost}");
        }
    }
}
