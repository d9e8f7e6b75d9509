//! An open question in full, for the person who is to answer it.

use serde::de::DeserializeOwned;

use super::diff;
use crate::cli::safe::{safe, safe_line};
use crate::cli::shell::Style;
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

/// The question as lines, safe and styled, with how many wait behind it.
pub fn lines(style: Style, record: &Record, more: usize) -> Vec<String> {
    let body = match record.kind {
        RequestKind::Team => read(record).map(|proposal| team(style, &proposal)),
        RequestKind::PlanApproval => read(record).map(|plan| self::plan(&plan)),
        RequestKind::Permission => read(record).map(|ask| permission(style, &ask)),
        RequestKind::Shutdown | RequestKind::PlanWish => None,
    };
    let body = body.unwrap_or_else(|| shown(&record.payload.to_string()));
    let mut lines = vec![style.warn(&heading(record))];
    lines.extend(body.into_iter().map(|line| format!("  {line}")));
    lines.push(style.bold(choices(record)));
    lines.extend(behind(style, more));
    lines
}

/// What stands in the prompt while the question is open.
pub fn prompt(record: &Record) -> String {
    match record.kind {
        RequestKind::Team => "team? [y/n] ".to_owned(),
        RequestKind::PlanApproval => format!("plan of {}? [y/n] ", record.sender),
        RequestKind::Permission => format!("allow {}? [a/A/d/D] ", record.sender),
        RequestKind::Shutdown | RequestKind::PlanWish => "? ".to_owned(),
    }
}

fn heading(record: &Record) -> String {
    let who = &record.sender;
    let task = record
        .task_id
        .as_ref()
        .map_or_else(String::new, |task| format!(" for {task}"));
    let what = match record.kind {
        RequestKind::Team => format!("{who} proposes a team"),
        RequestKind::PlanApproval => format!("{who} submits a plan{task}"),
        RequestKind::Permission => format!("{who} asks for permission{task}"),
        RequestKind::Shutdown => format!("{who} asks {} to stop", record.target),
        RequestKind::PlanWish => format!("{who} wants a plan of {}", record.target),
    };
    format!("── {what} ({})", record.request_id)
}

fn choices(record: &Record) -> &'static str {
    match record.kind {
        RequestKind::Permission if record.payload["always"].is_string() => {
            "[a]llow once / [A]llow always / [d]eny / [D]eny always, then a comment if you like"
        }
        RequestKind::Permission => "[a]llow once / [d]eny, then a comment if you like",
        RequestKind::Team
        | RequestKind::PlanApproval
        | RequestKind::Shutdown
        | RequestKind::PlanWish => "[y]es / [n]o, then a comment if you like",
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
        lines.push(format!(
            "always means the rule {}",
            style.bold(&safe_line(rule, 400))
        ));
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
        lines(Style::default(), &record(kind, payload), 1).join("\n")
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
            "for task_00000001",
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
        let lines = lines(Style { color: true }, &record("permission", &ask), 0);
        for line in ["  \u{1b}[31m-one\u{1b}[0m", "  \u{1b}[32m+two\u{1b}[0m"] {
            assert!(
                lines.iter().any(|shown| shown == line),
                "{line:?}: {lines:?}"
            );
        }
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
