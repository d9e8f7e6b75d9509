//! Calls of tools and the person's own commands, as lines.

use crate::cli::safe::{safe, safe_line};
use crate::cli::shell::Style;
use crate::conversation::ToolCall;
use crate::lead::ShellEnd;
use crate::process::guard::End;

/// A call on one line: its name and the value that says most.
pub fn tool_call(call: &ToolCall) -> String {
    let says_most = [
        "command", "path", "subject", "to", "name", "teammate", "task_id", "title", "pattern",
    ];
    let value = says_most.iter().find_map(|key| call.input[*key].as_str());
    let value = value.map_or_else(String::new, |value| format!(" {value}"));
    safe_line(&format!("{}{value}", call.name), 160)
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
