//! An open question in full, for the person who is to answer it.

use serde::de::DeserializeOwned;

use super::diff;
use crate::cli::safe::{safe, safe_line};
use crate::cli::shell::Style;
use crate::cli::wrap::hang;
use crate::request::{Record, RequestKind};
use crate::tool::{PermissionAsk, Plan, TeamProposal};

/// Most characters of one value that are shown.
const MAX_SHOWN: usize = 6000;

/// How many wait behind the question.
pub fn behind(style: Style, count: usize) -> Vec<String> {
    let line = match count {
        0 => return Vec::new(),
        1 => "1 more question waits".to_owned(),
        _ => format!("{count} more questions wait"),
    };
    vec![style.dim(&line)]
}

/// How a question is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Lines one after another, as a program or a screen reader reads them.
    Plain,
    /// In a frame of rows that are so wide; `keys`: some keys answer at once.
    Framed {
        /// Columns.
        width: usize,
        /// Whether keys are read one by one.
        keys: bool,
    },
}

/// The question as lines, safe and styled, with how many wait behind it. `subject` is that of the task it is about.
pub fn lines(
    style: Style,
    record: &Record,
    subject: Option<&str>,
    more: usize,
    look: Look,
) -> Vec<String> {
    let body = match record.kind {
        RequestKind::Team => read(record).map(|proposal| team(style, &proposal)),
        RequestKind::PlanApproval => read(record).map(|plan| self::plan(&plan)),
        RequestKind::Permission => read(record).map(|ask| permission(style, &ask)),
        RequestKind::Shutdown | RequestKind::PlanWish => None,
    };
    let body = body.unwrap_or_else(|| shown(&record.payload.to_string()));
    let heading = style.warn(&heading(record, subject));
    let mut lines = match look {
        Look::Plain => {
            let body = body.into_iter().map(|line| format!("  {line}"));
            let heading = format!("{} {heading}", style.warn("──"));
            let choices = style.bold(&format!("{}{THEN}", choices(record)));
            std::iter::once(heading)
                .chain(body)
                .chain([choices])
                .collect()
        }
        Look::Framed { width, keys } => {
            let bar = format!("{} ", style.warn("│"));
            let mut rows = hang(&format!("{}{heading}", style.warn("╭─ ")), width, &bar);
            let inside = body.iter().map(|line| format!("{bar}{line}"));
            rows.extend(inside.flat_map(|line| hang(&line, width, &bar)));
            let then = if keys { "" } else { THEN };
            let choices = style.bold(&format!("{}{then}", choices(record)));
            rows.extend(hang(
                &format!("{}{choices}", style.warn("╰─ ")),
                width,
                "   ",
            ));
            let how = keys.then(|| style.dim(&format!("   {}", how(record))));
            rows.extend(how.iter().flat_map(|line| hang(line, width, "   ")));
            rows
        }
    };
    lines.extend(behind(style, more));
    lines
}

/// Said of answers that are lines.
const THEN: &str = ", then a comment if you like";

/// How an answer is entered where keys are read one by one.
fn how(record: &Record) -> &'static str {
    match record.kind {
        RequestKind::Permission => {
            "a and A at once, d and D with Enter or why; with a comment, begin with a blank"
        }
        RequestKind::Team
        | RequestKind::PlanApproval
        | RequestKind::Shutdown
        | RequestKind::PlanWish => {
            "y at once, n with Enter or why; with a comment, begin with a blank"
        }
    }
}

/// The keys that answer at once, with nothing typed before them, where `prompt` stands.
pub fn at_once(prompt: &str) -> &'static str {
    [(YES_NO, "y"), (ALWAYS, "aA"), (ONCE, "a")]
        .into_iter()
        .find_map(|(ending, keys)| prompt.ends_with(ending).then_some(keys))
        .unwrap_or_default()
}

const YES_NO: &str = "? [y/n] ";
const ALWAYS: &str = "? [a/A/d/D] ";
const ONCE: &str = "? [a/d] ";

/// What stands in the prompt while the question is open.
pub fn prompt(record: &Record) -> String {
    match record.kind {
        RequestKind::Team => format!("team{YES_NO}"),
        RequestKind::PlanApproval => format!("plan of {}{YES_NO}", record.sender),
        RequestKind::Permission if offers_always(record) => {
            format!("allow {}{ALWAYS}", record.sender)
        }
        RequestKind::Permission => format!("allow {}{ONCE}", record.sender),
        RequestKind::Shutdown | RequestKind::PlanWish => "? ".to_owned(),
    }
}

fn offers_always(record: &Record) -> bool {
    record.payload["always"].is_string()
}

fn heading(record: &Record, subject: Option<&str>) -> String {
    let who = &record.sender;
    let subject = subject.map_or_else(String::new, |subject| {
        format!(" {}", safe_line(subject, 80))
    });
    let task = record
        .task_id
        .as_ref()
        .map_or_else(String::new, |task| format!(" for {task}{subject}"));
    let what = match record.kind {
        RequestKind::Team => format!("{who} proposes a team"),
        RequestKind::PlanApproval => format!("{who} submits a plan{task}"),
        RequestKind::Permission => format!("{who} asks for permission{task}"),
        RequestKind::Shutdown => format!("{who} asks {} to stop", record.target),
        RequestKind::PlanWish => format!("{who} wants a plan of {}", record.target),
    };
    format!("{what} ({})", record.request_id)
}

fn choices(record: &Record) -> &'static str {
    match record.kind {
        RequestKind::Permission if offers_always(record) => {
            "[a]llow once / [A]llow always / [d]eny / [D]eny always"
        }
        RequestKind::Permission => "[a]llow once / [d]eny",
        RequestKind::Team
        | RequestKind::PlanApproval
        | RequestKind::Shutdown
        | RequestKind::PlanWish => "[y]es / [n]o",
    }
}

fn read<T: DeserializeOwned>(record: &Record) -> Option<T> {
    serde_json::from_value(record.payload.clone()).ok()
}

fn team(style: Style, proposal: &TeamProposal) -> Vec<String> {
    let mut lines = Vec::new();
    for member in &proposal.members {
        let model = member
            .model
            .as_ref()
            .map_or_else(String::new, |model| format!(" on {model}"));
        let task = member
            .task
            .as_ref()
            .map_or_else(String::new, |task| format!(": {task}"));
        let name = style.name(&safe_line(&member.name, 80));
        lines.push(format!(
            "{name} {}",
            safe_line(&format!("({}{model}){task}", member.role), 400)
        ));
    }
    lines.extend(shown(&format!("because: {}", proposal.rationale)));
    lines
}

fn plan(plan: &Plan) -> Vec<String> {
    let mut lines = shown(&plan.title);
    if let Some(rationale) = &plan.rationale {
        lines.extend(shown(&format!("because: {rationale}")));
    }
    for (index, step) in plan.steps.iter().enumerate() {
        lines.extend(shown(&format!("{}. {step}", index + 1)));
    }
    lines
}

fn permission(style: Style, ask: &PermissionAsk) -> Vec<String> {
    let mut lines = vec![style.bold(&safe_line(&ask.tool, 80))];
    match &ask.diff {
        Some(changes) => {
            let path = ask.input["path"].as_str().unwrap_or_default();
            lines.push(safe_line(path, 400));
            lines.extend(
                shown(changes)
                    .iter()
                    .map(|line| diff::coloured(style, line)),
            );
        }
        None => lines.extend(input(&ask.input)),
    }
    lines.push(format!("in {}", safe_line(&ask.dir, 400)));
    lines.push(format!("because {}", safe_line(&ask.because, 400)));
    if let Some(rule) = &ask.always {
        // Whole: it is what the person agrees to.
        let rule = safe_line(rule, usize::MAX);
        lines.push(format!("always means the rule {}", style.bold(&rule)));
    }
    lines
}

fn input(input: &serde_json::Value) -> Vec<String> {
    let Some(object) = input.as_object() else {
        return shown(&input.to_string());
    };
    let mut lines = Vec::new();
    for (key, value) in object {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        lines.extend(shown(&format!("{key}: {text}")));
    }
    lines
}

/// `text` as safe lines; what is over the bound is counted and where to find it is said.
fn shown(text: &str) -> Vec<String> {
    let count = text.chars().count();
    let kept: String = text.chars().take(MAX_SHOWN).collect();
    let mut lines: Vec<String> = safe(&kept).lines().map(str::to_owned).collect();
    if count > MAX_SHOWN {
        lines.push(format!(
            "… {} more characters; `lead permission list --json` or `lead plan list --json` shows all",
            count - MAX_SHOWN
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cli::wrap;

    fn record(kind: &str, payload: &serde_json::Value) -> Record {
        serde_json::from_value(json!({
            "request_id": "req_00000001", "type": kind, "sender": "alice", "target": "user",
            "status": "pending", "payload": payload, "work_version": 1, "task_id": "task_00000001",
            "created_at": "2026-11-30T17:00:00.000Z", "decided_at": null, "decided_by": null,
            "feedback": null, "scope": null,
        }))
        .unwrap()
    }

    fn text(kind: &str, payload: &serde_json::Value) -> String {
        lines(
            Style::default(),
            &record(kind, payload),
            Some("Parse it"),
            1,
            Look::Plain,
        )
        .join("\n")
    }

    #[test]
    fn each_question_shows_all_that_is_asked() {
        let team = text(
            "team",
            &json!({"members": [{"name": "bob", "role": "coder", "model": "script:x", "task": "parse"}], "rationale": "two halves"}),
        );
        for part in [
            "alice proposes a team",
            "bob (coder on script:x): parse",
            "because: two halves",
            "[y]es",
        ] {
            assert!(team.contains(part), "{part}: {team}");
        }
        let plan = text(
            "plan_approval",
            &json!({"title": "Do it", "steps": ["one", "two"], "rationale": "so"}),
        );
        for part in [
            "for task_00000001 Parse it",
            "Do it",
            "1. one",
            "2. two",
            "because: so",
            "1 more question waits",
        ] {
            assert!(plan.contains(part), "{part}: {plan}");
        }
        let ask = text(
            "permission",
            &json!({"tool": "bash", "input": {"command": "rm -r x\u{1b}[8m\u{202e}"}, "diff": null,
                "because": "rm deletes", "always": "bash(rm *)", "dir": "/w"}),
        );
        for part in [
            "command: rm -r x␛<U+202E>",
            "in /w",
            "rm deletes",
            "rule bash(rm *)",
            "[A]llow always",
        ] {
            assert!(ask.contains(part), "{part}: {ask}");
        }
    }

    #[test]
    fn an_edit_is_asked_about_with_its_diff_in_colour() {
        let ask = json!({"tool": "edit_file", "input": {"path": "x"}, "diff": "@@ -1 +1 @@\n-one\n+two\n",
            "because": "so", "always": null, "dir": "/w"});
        let lines = lines(
            Style { color: true },
            &record("permission", &ask),
            None,
            0,
            Look::Plain,
        );
        for line in ["  \u{1b}[31m-one\u{1b}[0m", "  \u{1b}[32m+two\u{1b}[0m"] {
            assert!(
                lines.iter().any(|shown| shown == line),
                "{line:?}: {lines:?}"
            );
        }
    }

    #[test]
    fn a_frame_holds_whatever_is_asked_at_any_width() {
        let ask = json!({"tool": "bash", "input": {"command": format!("rm {} 漢字漢字漢字 e\u{301}\nrm b", "x".repeat(90))},
            "diff": null, "because": "rm deletes", "always": "bash(rm *)", "dir": "/a/long/way/to/where/it/runs"});
        for width in [12, 39, 79, 200] {
            let look = Look::Framed { width, keys: true };
            let style = Style::default();
            let rows = lines(
                style,
                &record("permission", &ask),
                Some("Clean up"),
                0,
                look,
            );
            let end = rows.iter().position(|row| row.starts_with("╰─")).unwrap();
            assert!(rows[0].starts_with("╭─ alice"), "{rows:#?}");
            let mut letters = String::new();
            for (nr, row) in rows.iter().enumerate() {
                assert!(wrap::columns::width(row) <= width, "{width}: {row:?}");
                if (1..end).contains(&nr) {
                    letters.extend(row.strip_prefix("│ ").unwrap().split(' '));
                }
            }
            for part in [
                "x".repeat(90).as_str(),
                "漢字漢字漢字",
                "rmb",
                "bash(rm*)",
                "/a/long/way/to/where/it/runs",
            ] {
                assert!(letters.contains(part), "{width}: {part} not in {letters}");
            }
        }
    }

    #[test]
    fn keys_that_allow_answer_at_once_and_only_where_they_are_offered() {
        let prompt_of = |kind: &str, payload: &serde_json::Value| prompt(&record(kind, payload));
        for (kind, payload, keys) in [
            ("team", json!({}), "y"),
            ("plan_approval", json!({}), "y"),
            ("permission", json!({"always": "bash(rm *)"}), "aA"),
            ("permission", json!({"always": null}), "a"),
        ] {
            assert_eq!(
                at_once(&prompt_of(kind, &payload)),
                keys,
                "{kind} {payload}"
            );
        }
        assert_eq!(at_once("lead> "), "");
    }

    #[test]
    fn what_is_too_long_is_counted_and_a_foreign_payload_is_shown_as_it_is() {
        let long = text(
            "plan_approval",
            &json!({"title": "x".repeat(7000), "steps": ["a"]}),
        );
        assert!(long.contains("1000 more characters"), "{long}");
        assert!(text("team", &json!({"odd": 1})).contains("{\"odd\":1}"));
    }
}
