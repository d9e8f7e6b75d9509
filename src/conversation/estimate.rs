//! How many tokens a conversation has, from its bytes: pure.
//!
//! Before any reply was counted, three bytes are taken for a token. That is too many tokens for English and code by up to
//! half, and too few for scripts in which a character is a token by at most a third. From then on the server's own count of
//! the last call says how many bytes a token has; what is added until the next call may differ from the rest by a quarter.

use super::Usage;

/// Bytes of a token where nothing is known.
const PER_TOKEN: f64 = 3.0;
/// What a server's count is believed to be: outside, it counts something else.
const BELIEVED: std::ops::RangeInclusive<f64> = 1.0..=8.0;
/// Fewer tokens say too little.
const ENOUGH: u64 = 500;

/// See the module.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    per_token: f64,
}

impl Default for Estimate {
    fn default() -> Self {
        Self {
            per_token: PER_TOKEN,
        }
    }
}

impl Estimate {
    /// A call with so many bytes was counted so.
    pub fn counted(&mut self, bytes: usize, usage: Usage) {
        let tokens = usage
            .input
            .saturating_add(usage.cache_read)
            .saturating_add(usage.cache_write);
        let per_token = as_float(bytes) / as_float(usize::try_from(tokens).unwrap_or(usize::MAX));
        if tokens >= ENOUGH && BELIEVED.contains(&per_token) {
            self.per_token = per_token;
        }
    }

    /// How many bytes have so many tokens.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate; a cast from a float saturates"
    )]
    pub fn bytes(&self, tokens: u64) -> usize {
        (as_float(usize::try_from(tokens).unwrap_or(usize::MAX)) * self.per_token) as usize
    }
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn as_float(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(input: u64, cache_read: u64, cache_write: u64) -> Usage {
        Usage {
            input,
            output: 9_999,
            cache_read,
            cache_write,
        }
    }

    #[test]
    fn the_servers_count_is_learned_if_it_can_be_one() {
        let mut estimate = Estimate::default();
        assert_eq!(estimate.bytes(1_000), 3_000);
        for (bytes, usage) in [
            (400, prompt(100, 0, 0)),
            (4_000, prompt(0, 0, 0)),
            (4_000_000, prompt(1_000, 0, 0)),
            (400, prompt(1_000, 0, 0)),
        ] {
            estimate.counted(bytes, usage);
            assert_eq!(estimate.bytes(1_000), 3_000, "{bytes} {usage:?}");
        }
        estimate.counted(40_000, prompt(1_000, 8_000, 1_000));
        assert_eq!(estimate.bytes(1_000), 4_000);
    }
}
