//! Diffs for people who decide and for models that have edited.

use std::time::Duration;

use similar::{Algorithm, TextDiff};

/// Longest diff in a tool's answer, in lines.
const SHORT: usize = 60;
/// Longest line of a diff in a tool's answer, in characters.
const WIDE: usize = 300;

/// The whole change of the file named `path`, with three lines around each place.
pub(crate) fn full(path: &str, old: &str, new: &str) -> String {
    TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .timeout(Duration::from_secs(1))
        .diff_lines(old, new)
        .unified_diff()
        .context_radius(3)
        .header(&format!("a/{path}"), &format!("b/{path}"))
        .to_string()
}

/// The same, cut for a tool's answer.
pub(crate) fn short(path: &str, old: &str, new: &str) -> String {
    let whole = full(path, old, new);
    let mut lines: Vec<String> = whole.lines().take(SHORT).map(cut).collect();
    let more = whole.lines().count().saturating_sub(SHORT);
    if more > 0 {
        lines.push(format!("… {more} more lines of the diff"));
    }
    lines.join("\n")
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(WIDE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
