//! What models write into their text that is none: calls that a small model wrote instead of making them, and thoughts. Pure.
//!
//! Seen: the whole reply, or all of it within one fence or `<tool_call>` mark, is `{"name": …, "arguments": {…}}`. Taken
//! for a call only if it names a tool that was offered, and never from a server whose models know better.

use serde_json::Value;

/// Marks that may stand around a call.
const AROUND: [(&str, &str); 3] = [
    ("<tool_call>", "</tool_call>"),
    ("```json", "```"),
    ("```", "```"),
];

/// `text` without the thoughts that some servers leave before it.
pub(super) fn after_thinking(text: &str) -> &str {
    let thoughts = text.trim_start().strip_prefix("<think>");
    match thoughts.and_then(|rest| rest.split_once("</think>")) {
        Some((_, text)) => text.trim_start(),
        None => text,
    }
}

/// The calls that `text` is, by name and arguments as JSON text; empty if it is anything else.
pub(super) fn calls(text: &str, tools: &[&str]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (one, after) = next(rest);
        let Some(call) = call(one, tools) else {
            return Vec::new();
        };
        found.push(call);
        rest = after.trim();
    }
    found
}

/// What the first marks hold, and what stands after them; without marks all.
fn next(text: &str) -> (&str, &str) {
    for (open, close) in AROUND {
        if let Some(inside) = text.strip_prefix(open) {
            return inside.split_once(close).unwrap_or((inside, ""));
        }
    }
    (text, "")
}

fn call(text: &str, tools: &[&str]) -> Option<(String, String)> {
    let value: Value = serde_json::from_str(text.trim()).ok()?;
    let name = value["name"].as_str()?;
    let arguments = value.get("arguments").or_else(|| value.get("parameters"))?;
    let known = tools.contains(&name) && arguments.is_object();
    known.then(|| (name.to_owned(), arguments.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_before_the_text_are_no_text() {
        for (text, wanted) in [
            ("<think>\nhm\n</think>\n\nYes.", "Yes."),
            ("\n<think></think>", ""),
            ("<think>cut off", "<think>cut off"),
            (" I <think>so</think>", " I <think>so</think>"),
        ] {
            assert_eq!(after_thinking(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn only_a_whole_reply_that_names_a_tool_is_a_call() {
        let bash = r#"{"name": "bash", "arguments": {"command": "ls"}}"#;
        let one = || vec![("bash".to_owned(), r#"{"command":"ls"}"#.to_owned())];
        for (text, wanted) in [
            (bash.to_owned(), one()),
            (format!("\n```json\n{bash}\n```\n"), one()),
            (format!("```\n{bash}\n```"), one()),
            (format!("<tool_call>\n{bash}\n</tool_call>"), one()),
            (format!("<tool_call>{bash}"), one()),
            (
                format!("<tool_call>{bash}</tool_call>\n<tool_call>{bash}</tool_call>"),
                [one(), one()].concat(),
            ),
            (bash.replace("arguments", "parameters"), one()),
            (format!("I call {bash}"), vec![]),
            (format!("```json\n{bash}\n``` as you see"), vec![]),
            (bash.replace("bash", "sudo"), vec![]),
            (r#"{"name": "bash", "arguments": "ls"}"#.to_owned(), vec![]),
            (r#"{"name": "bash"}"#.to_owned(), vec![]),
            (String::new(), vec![]),
        ] {
            assert_eq!(calls(&text, &["bash"]), wanted, "{text}");
        }
    }
}
