//! `lead log`: one timeline of the team (SPEC §14).

use std::sync::mpsc;

use super::follow::{self, Wake};
use crate::cli::exit::{Kind, Outcome};
use crate::cli::place::Place;
use crate::cli::safe::{safe, safe_line};
use crate::cli::shell::{self, Style};
use crate::timeline::{Event, Happened, History};
use crate::workspace::Workspace;

/// Longest text of a line, in characters.
const MAX_TEXT: usize = 300;

/// Runs the verb.
pub fn run(place: &Place, follow: bool, as_json: bool) -> Outcome {
    let mut history = History::new(&place.workspace, place.roster(), place.requests());
    let style = place.style;
    if follow {
        return go_on(&place.workspace, &mut history, |event| {
            shell::out_line_to_reader(&if as_json {
                shell::json_line(&event.json())
            } else {
                line(style, event)
            })
        });
    }
    if as_json {
        print_array(&mut history)?;
    } else {
        history.read_on(|event| shell::out_line_to_reader(&line(style, event)))?;
    }
    tell_skipped(&history);
    Ok(Kind::Completed)
}

/// An array of all events, one a line, as they are read.
fn print_array(history: &mut History) -> Result<(), crate::store::StoreError> {
    let mut before = "[";
    history.read_on(|event| {
        let open = shell::out_to_reader(&format!("{before}\n{}", shell::json_line(&event.json())));
        before = ",";
        open
    })?;
    shell::out_line(if before == "[" { "[]" } else { "\n]" });
    Ok(())
}

fn tell_skipped(history: &History) {
    match history.skipped() {
        0 => {}
        1 => shell::err_line("1 line could not be read; lead doctor tells which"),
        more => shell::err_line(&format!(
            "{more} lines could not be read; lead doctor tells which"
        )),
    }
}

/// Reads on whenever anything was written, until a signal comes or nobody reads any more.
fn go_on(
    workspace: &Workspace,
    history: &mut History,
    mut print: impl FnMut(&Event) -> bool,
) -> Outcome {
    let (wake, woken) = mpsc::channel();
    follow::signals_to(wake.clone());
    let _watcher = follow::files_to(workspace, wake);
    let mut open = true;
    loop {
        history.read_on(|event| {
            open = print(event);
            open
        })?;
        let kind = match follow::next(&woken) {
            Wake::Changed if open => continue,
            Wake::Changed => Kind::Completed,
            Wake::End(kind) => kind,
        };
        tell_skipped(history);
        return Ok(kind);
    }
}

/// One event on one line, safe for a terminal.
fn line(style: Style, event: &Event) -> String {
    format!(
        "{}  {}  {}",
        style.dim(&event.at.to_string()),
        style.name(&format!("{:<10}", safe_line(&event.agent, 64))),
        safe_line(&words(&event.what), MAX_TEXT)
    )
}

/// The same with the id under which [`whole`] is to be had.
pub fn short(style: Style, event: &Event) -> String {
    let id = match &event.what {
        Happened::ToolUse { id, .. } | Happened::ToolResult { id, .. } => id,
        Happened::Message(message) => &message.id,
        _ => return line(style, event),
    };
    let id = style.dim(&format!("  {}", safe_line(id, 100)));
    format!("{}{id}", line(style, event))
}

/// One event with all that was said.
pub fn whole(style: Style, event: &Event) -> Vec<String> {
    let text = safe(&words(&event.what));
    let mut lines = vec![format!(
        "{}  {}",
        style.dim(&event.at.to_string()),
        style.name(&safe_line(&event.agent, 64))
    )];
    lines.extend(text.lines().map(|line| format!("  {line}")));
    lines
}

/// What happened, in words that are not safe yet.
pub(super) fn words(what: &Happened) -> String {
    match what {
        Happened::Began { session: Some(id) } => format!("session {id}"),
        Happened::Began { session: None } => "conversation began".to_owned(),
        Happened::Text(text) => format!("says: {}", text.trim()),
        Happened::ToolUse { name, input, .. } => format!("calls {name} {input}"),
        Happened::ToolResult {
            ok: true, output, ..
        } => format!("got: {}", output.trim()),
        Happened::ToolResult { output, .. } => format!("got an error: {}", output.trim()),
        Happened::Interrupted(why) => format!("interrupted: {why}"),
        Happened::Message(message) => {
            let kind = serde_json::to_value(&message.kind).unwrap_or_default();
            let kind = kind.as_str().unwrap_or_default().to_owned();
            format!("→ {} {kind}: {}", message.to, message.content.trim())
        }
        Happened::Task { task, change } => task_words(task, change),
        Happened::Teammate(member) => format!("started as {} on {}", member.role, member.model),
        Happened::Request(record) => {
            let about = record.feedback.as_deref().unwrap_or_default();
            format!(
                "{} request {} {}: {about}",
                record.kind, record.request_id, record.status
            )
        }
        Happened::Usage(usage) => {
            let number = |key: &str| {
                usage
                    .get(key)
                    .and_then(serde_json::Value::as_u64)
                    .unwrap_or(0)
            };
            let (input, cached) = (number("input"), number("cacheRead") + number("cacheWrite"));
            format!(
                "used {input} + {cached} cached in, {} out",
                number("output")
            )
        }
        Happened::Log(text) => format!("log: {text}"),
    }
}

fn task_words(
    task: &serde_json::Map<String, serde_json::Value>,
    change: &serde_json::Value,
) -> String {
    let text = |key: &str| {
        task.get(key)
            .and_then(|value| value.as_str())
            .unwrap_or("-")
    };
    let changed: Vec<String> = change
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, pair)| format!("{key} {} → {}", plain(&pair["old"]), plain(&pair["new"])))
        .collect();
    format!("{} {}: {}", text("id"), text("subject"), changed.join(", "))
}

fn plain(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Null => "-".to_owned(),
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
