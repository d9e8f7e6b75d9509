//! How many tokens a model's window has: from a table of names, and from what servers say when it is too small. Pure.

/// Where nothing is known.
pub(super) const UNKNOWN: u64 = 128_000;

/// By how names begin, the longest first.
const KNOWN: [(&str, u64); 22] = [
    ("claude-haiku-4-5", 200_000),
    ("claude-sonnet-4-5", 200_000),
    ("claude-opus-4-5", 200_000),
    ("claude-opus-4-", 1_000_000),
    ("claude-sonnet-4-", 1_000_000),
    ("claude-opus-5", 1_000_000),
    ("claude-sonnet-5", 1_000_000),
    ("claude-haiku-5", 1_000_000),
    ("claude-fable-5", 1_000_000),
    ("claude-mythos-5", 1_000_000),
    ("claude-", 200_000),
    ("gpt-5.4-mini", 272_000),
    ("gpt-5.4", 1_000_000),
    ("gpt-5.5", 1_000_000),
    ("gpt-5.6", 1_000_000),
    ("gpt-6", 922_000),
    ("gpt-5", 272_000),
    ("deepseek-v4-", 1_000_000),
    ("kimi-k3", 1_000_000),
    ("kimi-k2", 262_000),
    ("glm-5", 1_000_000),
    ("glm-4.7", 200_000),
];

/// In which refusals, and after which words of them, servers name their limit.
const SAID: [(&str, &str); 4] = [
    ("prompt is too long", " tokens > "),
    ("maximum context length", "context length is "),
    ("available context size", "context size ("),
    ("exceed context limit", " > "),
];

/// The window of the model of that name, whoever serves it (`org/name` counts as `name`).
pub(super) fn of(name: &str) -> u64 {
    known(name).unwrap_or(UNKNOWN)
}

/// The same, if the name says it.
pub(super) fn known(name: &str) -> Option<u64> {
    let name = name.rsplit('/').next().unwrap_or(name);
    KNOWN
        .iter()
        .find(|(beginning, _)| name.starts_with(beginning))
        .map(|(_, window)| *window)
}

/// The limit that a refusal names.
pub(super) fn said(text: &str) -> Option<u64> {
    let (_, before) = SAID.iter().find(|(refusal, _)| text.contains(refusal))?;
    let (_, after) = text.split_once(before)?;
    let number = after.split(|ch: char| !ch.is_ascii_digit()).next()?;
    number.parse().ok().filter(|&window| window > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_by_their_beginning() {
        for (name, window) in [
            ("claude-sonnet-5-5", 1_000_000),
            ("claude-sonnet-4-5-20250929", 200_000),
            ("anthropic/claude-opus-4-8", 1_000_000),
            ("gpt-5.4-mini-2026", 272_000),
            ("gpt-6.2-astra", 922_000),
            ("qwen3:8b", UNKNOWN),
        ] {
            assert_eq!(of(name), window, "{name}");
        }
    }

    #[test]
    fn every_wording_of_the_limit_is_read() {
        for (text, window) in [
            (
                "prompt is too long: 208310 tokens > 200000 maximum",
                200_000,
            ),
            (
                "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens`",
                200_000,
            ),
            (
                "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
                8192,
            ),
            (
                "request (3020 tokens) exceeds the available context size (1024 tokens), try increasing it",
                1024,
            ),
        ] {
            assert_eq!(said(text), Some(window), "{text}");
        }
        for text in [
            "too long",
            "tokens > many maximum",
            "prompt is too long: 9 tokens > 0 maximum",
        ] {
            assert_eq!(said(text), None, "{text}");
        }
    }
}
