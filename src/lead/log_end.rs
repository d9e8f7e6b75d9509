//! The end of a dead teammate's log in a few safe lines: what went wrong, not what went on. Pure.

/// How much of a log's end is looked at, in bytes.
pub(super) const LOOKED_AT: u64 = 16 * 1024;
/// How many lines are shown, and how long each may be, in characters.
const LINES: usize = 5;
const WIDTH: usize = 200;

/// What the last lines of `log` tell: warnings, errors, panics and whatever else is no routine line of the runtime.
/// Control characters are made harmless, since a tool or a model may have put them there; empty if nothing is left.
pub(super) fn telling(log: &str) -> String {
    let lines: Vec<String> = log.lines().filter_map(line).collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}

fn line(text: &str) -> Option<String> {
    let text = match stamped(text) {
        Some((level, rest)) => matches!(level, "WARN" | "ERROR").then(|| rest.trim_start())?,
        None => text,
    };
    let safe: String = text
        .chars()
        .map(|ch| if ch.is_control() { ' ' } else { ch })
        .collect();
    let safe = safe.trim();
    if safe.chars().count() > WIDTH {
        return Some(safe.chars().take(WIDTH).chain(['…']).collect());
    }
    (!safe.is_empty()).then(|| safe.to_owned())
}

/// A line of the runtime's own log: its level and its text.
fn stamped(text: &str) -> Option<(&str, &str)> {
    let (at, rest) = text.split_once(' ')?;
    let is_time = at.len() >= 20 && at.ends_with('Z') && at.as_bytes()[10] == b'T';
    let (level, rest) = rest.trim_start().split_once(' ')?;
    let is_level = matches!(level, "TRACE" | "DEBUG" | "INFO" | "WARN" | "ERROR");
    (is_time && is_level).then_some((level, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routine_lines_are_left_out_and_the_rest_has_no_stamps() {
        let log = "2026-11-30T22:15:16.479477Z  INFO resumed holds=true\n\
                   2026-11-30T22:15:17.000000Z  WARN the lead cannot be watched\n\
                   2026-11-30T22:15:18.000000Z ERROR no space\n\
                   thread 'main' panicked at src/x.rs:1:2:\n\nindex out of bounds\n";
        assert_eq!(
            telling(log),
            "the lead cannot be watched\nno space\nthread 'main' panicked at src/x.rs:1:2:\nindex out of bounds"
        );
        assert_eq!(telling("2026-11-30T22:15:16.479477Z  INFO resumed\n"), "");
        assert_eq!(telling(""), "");
    }

    #[test]
    fn it_is_short_and_harmless_whatever_stands_there() {
        let wide = "é".repeat(10_000);
        let log = format!("{}\x1b[2J\x07gone\r\n{wide}\n", "x\n".repeat(50));
        let told = telling(&log);
        assert_eq!(told.lines().count(), LINES);
        assert!(told.lines().all(|line| line.chars().count() <= WIDTH + 1));
        assert!(!told.contains(|ch: char| ch.is_control() && ch != '\n'));
        assert!(told.contains("[2J gone"));
    }
}
