//! Calls of tools and the person's own commands, as lines.

use std::time::Duration;

use crate::cli::front::diff;
use crate::cli::safe::{safe, safe_line};
use crate::cli::shell::Style;
use crate::cli::wrap;
use crate::conversation::ToolCall;
use crate::lead::ShellEnd;
use crate::process::guard::End;

/// Most lines of why a call failed.
const WHY_LINES: usize = 8;
/// Most lines of what a call changed.
const DIFF_LINES: usize = 20;

/// A call on one line: its name and the value that says most.
pub fn tool_call(call: &ToolCall) -> String {
    let says_most = [
        "command", "path", "subject", "to", "name", "teammate", "task_id", "title", "pattern",
    ];
    let value = says_most.iter().find_map(|key| call.input[*key].as_str());
    let value = value.map_or_else(String::new, |value| format!(" {value}"));
    safe_line(&format!("{}{value}", call.name), 160)
}

/// How a call ended.
pub(super) struct Ended<'a> {
    pub(super) call: &'a ToolCall,
    pub(super) output: &'a str,
    pub(super) ok: bool,
    /// How long it took, if its beginning was seen.
    pub(super) took: Option<Duration>,
}

/// A call that has ended, on one line; beneath it why it failed, or what it changed in a file.
pub(super) fn folded(style: Style, ended: &Ended<'_>, width: Option<usize>) -> Vec<String> {
    let Ended {
        call, output, ok, ..
    } = *ended;
    let sign = if ok {
        style.good("✓")
    } else {
        style.bad("✗")
    };
    let size = size(ended);
    let mut lines = vec![format!("{sign} {}{}", tool_call(call), style.dim(&size))];
    let all = |left| {
        format!(
            "{left} more lines; /log {} shows all",
            safe_line(&call.id, 80)
        )
    };
    lines = wrap::lines(lines, width);
    if !ok {
        let output = safe(output);
        let mut why = output.trim_end().lines();
        let first = why.by_ref().take(WHY_LINES);
        let mut rows: Vec<String> = first.map(|line| style.dim(&format!("  {line}"))).collect();
        let left = why.count();
        if left > 0 {
            rows.push(style.dim(&format!("  … ({})", all(left))));
        }
        lines.extend(wrap::lines(rows, width));
    } else if matches!(call.name.as_str(), "edit_file" | "write_file") {
        lines.extend(diff::beginning(style, output, DIFF_LINES, all));
    }
    lines
}

/// What is worth knowing of how long it took and how much it said.
fn size(ended: &Ended<'_>) -> String {
    let took = ended.took.filter(|took| *took >= Duration::from_secs(1));
    let took = took.map(|took| match took.as_secs() / 60 {
        0 => format!("{:.1} s", took.as_secs_f64()),
        minutes => format!("{minutes} min {:02} s", took.as_secs() % 60),
    });
    let count = ended.output.trim_end().lines().count();
    let count = (count > 1).then(|| format!("{count} lines"));
    let parts: Vec<String> = took.into_iter().chain(count).collect();
    if parts.is_empty() {
        String::new()
    } else {
        format!(" ({})", parts.join(", "))
    }
}

/// The person's own command and what it printed.
pub(super) fn shell(style: Style, command: &str, end: &ShellEnd) -> Vec<String> {
    let mut lines = vec![style.bold(&format!("$ {}", safe_line(command, 400)))];
    match end {
        ShellEnd::NotRun(why) => lines.push(style.bad(&safe_line(why, 400))),
        ShellEnd::Ran(result) => {
            lines.extend(safe(&result.output).lines().map(str::to_owned));
            match result.end {
                End::Exited(0) => {}
                End::Exited(code) => lines.push(style.bad(&format!("exit code {code}"))),
                End::Signalled(signal) => {
                    lines.push(style.bad(&format!("ended by signal {signal}")));
                }
                End::TimedOut => lines.push(style.bad("ended at its time limit")),
                End::Cancelled => lines.push(style.bad("ended by you")),
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lines(
        name: &str,
        input: serde_json::Value,
        output: &str,
        ok: bool,
        millis: u64,
    ) -> Vec<String> {
        let call = ToolCall {
            id: "call_1".into(),
            name: name.into(),
            input,
            cut: None,
        };
        let took = Some(Duration::from_millis(millis));
        let ended = Ended {
            call: &call,
            output,
            ok,
            took,
        };
        folded(Style::default(), &ended, Some(30))
    }

    #[test]
    fn a_call_is_one_line_with_what_is_worth_knowing() {
        let bash = |output: &str, millis| {
            lines(
                "bash",
                json!({"command": "cargo test"}),
                output,
                true,
                millis,
            )
        };
        assert_eq!(
            bash("a\n".repeat(214).as_str(), 3200),
            ["✓ bash cargo test (3.2 s, 214", "  lines)"]
        );
        assert_eq!(bash("ok", 10), ["✓ bash cargo test"]);
        assert_eq!(bash("ok", 65_000), ["✓ bash cargo test (1 min 05 s)"]);
    }

    #[test]
    fn a_failure_says_why_and_where_the_rest_is() {
        let output = (1..=20)
            .map(|at| format!("line {at}"))
            .collect::<Vec<_>>()
            .join("\n");
        let lines = lines("bash", json!({"command": "x\u{1b}[2J"}), &output, false, 0);
        assert_eq!(lines[0], "✗ bash x␛ (20 lines)");
        assert_eq!(lines[1], "  line 1");
        assert_eq!(
            lines[9..],
            ["  … (12 more lines; /log", "  call_1 shows all)"]
        );
    }

    #[test]
    fn an_edit_shows_what_it_changed() {
        let output = "Replaced one place in x.\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n+two\n";
        let lines = lines("edit_file", json!({"path": "x"}), output, true, 0);
        assert_eq!(
            lines,
            [
                "✓ edit_file x (6 lines)",
                "  @@ -1 +1 @@",
                "  -one",
                "  +two"
            ]
        );
    }
}
