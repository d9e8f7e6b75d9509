//! Diffs made safe and in colour.

use crate::cli::safe::safe;
use crate::cli::shell::Style;

/// The lines of a unified diff.
pub fn lines(style: Style, diff: &str) -> Vec<String> {
    safe(diff)
        .lines()
        .map(|line| coloured(style, line))
        .collect()
}

/// The first `most` lines of a diff in a tool's answer, without the names of the file; what `more` says of the rest.
pub fn beginning(
    style: Style,
    answer: &str,
    most: usize,
    more: impl Fn(usize) -> String,
) -> Vec<String> {
    let answer = safe(answer);
    let mut changes = answer.lines().skip_while(|line| !line.starts_with("@@"));
    let mut lines: Vec<String> = changes
        .by_ref()
        .take(most)
        .map(|line| format!("  {}", coloured(style, line)))
        .collect();
    let left = changes.count();
    if left > 0 {
        lines.push(style.dim(&format!("  … ({})", more(left))));
    }
    lines
}

/// One line of a diff, safe already.
pub fn coloured(style: Style, line: &str) -> String {
    if ["+++ ", "--- ", "diff ", "index "]
        .iter()
        .any(|begin| line.starts_with(begin))
    {
        return style.bold(line);
    }
    match line.as_bytes().first() {
        Some(b'+') => style.good(line),
        Some(b'-') => style.bad(line),
        Some(b'@') => style.name(line),
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n-old\u{1b}[2J\n+new\n";

    #[test]
    fn lines_are_coloured_by_what_they_do() {
        let lines = lines(Style { color: true }, DIFF);
        assert_eq!(lines[0], "\u{1b}[1m--- a/x\u{1b}[0m");
        assert_eq!(lines[3], " same");
        assert_eq!(lines[4], "\u{1b}[31m-old␛\u{1b}[0m");
        assert_eq!(lines[5], "\u{1b}[32m+new\u{1b}[0m");
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let answer = format!("Edited x.\n{DIFF}");
        let more = |left| format!("{left} more");
        let plain = Style::default();
        assert_eq!(
            beginning(plain, &answer, 3, more),
            ["  @@ -1,2 +1,2 @@", "   same", "  -old␛", "  … (1 more)"]
        );
        assert_eq!(beginning(plain, &answer, 9, more).len(), 4);
        assert!(beginning(plain, "Nothing to change.", 9, more).is_empty());
    }
}
