//! `lead status` once, as text or JSON.

use super::overview::Overview;
use crate::cli::exit::{Kind, Outcome};
use crate::cli::place::Place;
use crate::cli::safe::safe_line;
use crate::cli::shell::{self, Style};
use crate::cli::verbs::{requests, team};

/// Prints who is there, what is open, and what waits for an answer.
pub fn run(place: &Place, as_json: bool) -> Outcome {
    let overview = Overview::read(place);
    if as_json {
        shell::out_json(&overview.json());
    } else {
        shell::out(&text(place, &overview));
    }
    // A board that cannot be read is never taken for an empty one.
    Ok(match overview.counts {
        Some(_) => Kind::Completed,
        None => Kind::Failed,
    })
}

fn tasks(style: Style, overview: &Overview) -> String {
    let Some(counts) = &overview.counts else {
        return style.bad("cannot be read");
    };
    let damaged = match counts.damaged {
        0 => String::new(),
        n => format!(", {}", style.bad(&format!("{n} damaged"))),
    };
    format!(
        "{} pending ({} ready), {} in progress, {} completed, {} cancelled{damaged}",
        counts.pending, counts.ready, counts.in_progress, counts.completed, counts.cancelled,
    )
}

/// The overview as lines, safe for a terminal.
pub(super) fn text(place: &Place, overview: &Overview) -> String {
    let style = place.style;
    let root = place.workspace.root().display().to_string();
    let mut lines = vec![
        format!("{} {}", style.bold("workspace"), safe_line(&root, 1000)),
        format!("{} {}", style.bold("lead"), overview.lead_text()),
        format!("{} {}", style.bold("tasks"), tasks(style, overview)),
    ];
    for (provider, held) in &overview.held {
        let why = safe_line(&held.why, 200);
        lines.push(style.warn(&format!(
            "all agents of {provider} wait until {}: {why}",
            held.until
        )));
    }
    lines.extend(team::lines(&overview.team));
    lines.extend(requests::lines(&overview.requests));
    let waiting: Vec<String> = overview
        .waiting_mail()
        .map(|(agent, n)| format!("{agent} {n}"))
        .collect();
    if !waiting.is_empty() {
        lines.push(format!(
            "{} {}",
            style.bold("waiting mail"),
            waiting.join(", ")
        ));
    }
    for damaged in &overview.damaged {
        lines.push(format!(
            "{} {}",
            style.bad("damaged"),
            safe_line(&damaged.why, 500)
        ));
    }
    lines.join("\n") + "\n"
}
