//! The overview and the last events in words, for [`super::layout`]. Pure; every text is made harmless here.

use std::collections::VecDeque;

use super::layout::{Keep, Line, Part, Picture, Span, Tone};
use super::overview::{Counts, Overview};
use crate::board::{Status, TaskView};
use crate::cli::safe::safe_line;
use crate::cli::verbs::team::Living;
use crate::cli::verbs::{happened, requests};
use crate::clock::Timestamp;
use crate::request::{Record, RequestKind};
use crate::team::MemberStatus;
use crate::timeline::Event;

/// Longest text of a span, in characters.
const MAX_TEXT: usize = 400;

/// All that the screen shows.
pub(super) fn picture(root: &str, overview: &Overview, events: &VecDeque<Event>) -> Picture {
    let (open, over): (Vec<&TaskView>, Vec<&TaskView>) =
        overview.tasks.iter().partition(|view| is_open(view));
    let mut open = open;
    open.sort_by_key(|view| rank(view));
    // What was done last is of interest first.
    let tasks = open.into_iter().chain(over.into_iter().rev());
    let damaged = overview.damaged.iter();
    let parts = [
        part(
            "damaged",
            damaged.map(|one| vec![span(Tone::Bad, &one.why)]),
        ),
        part("open questions", overview.requests.iter().map(question)),
        part("team", overview.team.iter().map(teammate)),
        part("tasks", tasks.map(task)),
        Part {
            keep: Keep::Last,
            ..part("last events", events.iter().map(event))
        },
    ];
    Picture {
        head: head(root, overview),
        parts: parts
            .into_iter()
            .filter(|part| !part.rows.is_empty())
            .collect(),
        foot: vec![span(Tone::Aside, "q leaves; times are UTC")],
    }
}

fn part(title: &str, rows: impl Iterator<Item = Line>) -> Part {
    Part {
        title: title.to_owned(),
        rows: rows.collect(),
        keep: Keep::First,
    }
}

fn counted(counts: &Counts) -> Line {
    let count = |n: usize, what: &str| span(Tone::Plain, &format!("{n} {what}"));
    let mut line = vec![
        count(counts.pending, "pending"),
        count(counts.ready, "ready"),
        count(counts.in_progress, "in progress"),
        count(counts.completed, "completed"),
        count(counts.cancelled, "cancelled"),
    ];
    if counts.damaged > 0 {
        line.push(span(Tone::Bad, &format!("{} damaged", counts.damaged)));
    }
    line
}

fn head(root: &str, overview: &Overview) -> Vec<Line> {
    let mut tasks = vec![span(Tone::Title, "tasks")];
    match &overview.counts {
        None => tasks.push(span(Tone::Bad, "cannot be read")),
        Some(counts) => tasks.extend(counted(counts)),
    }
    let mut head = vec![
        vec![span(Tone::Title, "workspace"), span(Tone::Plain, root)],
        lead(overview),
        tasks,
    ];
    let mail: Line = overview
        .waiting_mail()
        .map(|(agent, n)| span(Tone::Plain, &format!("{agent} {n}")))
        .collect();
    if !mail.is_empty() {
        head.push([vec![span(Tone::Title, "waiting mail")], mail].concat());
    }
    for (provider, held) in &overview.held {
        let until = time(held.until);
        let text = format!("all agents of {provider} wait until {until}: {}", held.why);
        head.push(vec![span(Tone::Warn, &text)]);
    }
    head
}

fn lead(overview: &Overview) -> Line {
    let title = span(Tone::Title, "lead");
    let Some(lead) = overview.lead.as_ref().filter(|lead| lead.alive) else {
        return vec![title, span(Tone::Plain, &overview.lead_text())];
    };
    vec![
        title,
        span(Tone::Good, &lead.session.status),
        span(Tone::Plain, &lead.session.model),
        span(Tone::Aside, &format!("pid {}", lead.pid)),
        span(
            Tone::Aside,
            &format!("since {}", time(lead.session.started_at)),
        ),
    ]
}

fn teammate(living: &Living) -> Line {
    let member = &living.member;
    let tone = match member.status {
        _ if living.stalled.is_some() => Tone::Warn,
        MemberStatus::Failed => Tone::Bad,
        MemberStatus::Stopped => Tone::Aside,
        _ if !living.alive => Tone::Bad,
        MemberStatus::WaitingApproval => Tone::Warn,
        MemberStatus::Working => Tone::Good,
        MemberStatus::Starting | MemberStatus::Idle | MemberStatus::Stopping => Tone::Plain,
    };
    let mut line = vec![
        span(Tone::Name, &format!("{:<8}", member.name.as_str())),
        span(tone, &format!("  {:<8}", living.status_text())),
    ];
    if let Some(task) = &member.task {
        line.push(span(Tone::Plain, &format!("  {task}")));
    }
    line.push(span(
        Tone::Aside,
        &format!(
            "  {}  {} turns  {} tokens  {}",
            member.role, member.turns, member.tokens, member.model
        ),
    ));
    line
}

fn question(record: &Record) -> Line {
    let answer = match record.kind {
        RequestKind::PlanApproval => "lead plan approve|reject",
        RequestKind::Permission => "lead permission allow|deny",
        RequestKind::Team | RequestKind::Shutdown | RequestKind::PlanWish => "",
    };
    vec![
        span(Tone::Name, record.sender.as_str()),
        span(
            Tone::Warn,
            &format!("  {} {}", requests::word(record.kind), record.request_id),
        ),
        span(Tone::Plain, &format!("  {}", requests::about(record))),
        span(Tone::Aside, &format!("  {answer}")),
    ]
}

fn task(view: &TaskView) -> Line {
    let task = &view.task;
    let (tone, status) = match &task.status {
        Status::Pending if view.ready => (Tone::Plain, "ready"),
        Status::Pending if view.blocked_reason.is_some() => (Tone::Warn, "blocked"),
        Status::Pending => (Tone::Plain, "pending"),
        Status::InProgress => (Tone::Good, "in progress"),
        Status::Completed => (Tone::Aside, "completed"),
        Status::Cancelled => (Tone::Aside, "cancelled"),
        Status::Other(other) => (Tone::Warn, other.as_str()),
    };
    let mut line = vec![
        span(tone, &format!("{status:<11}")),
        span(Tone::Plain, &format!("  {}", task.subject)),
    ];
    if let Some(owner) = &task.owner {
        line.push(span(Tone::Name, &format!("  {owner}")));
    }
    line.push(span(Tone::Aside, &format!("  {}", task.id)));
    if let Some(why) = view.blocked_reason.as_ref().filter(|_| is_open(view)) {
        line.push(span(Tone::Warn, &format!("  {why}")));
    }
    line
}

fn is_open(view: &TaskView) -> bool {
    !matches!(view.task.status, Status::Completed | Status::Cancelled)
}

/// What is worked on first, then what may be begun.
fn rank(view: &TaskView) -> u8 {
    match view.task.status {
        Status::InProgress => 0,
        _ if view.ready => 1,
        _ => 2,
    }
}

fn event(event: &Event) -> Line {
    vec![
        span(Tone::Aside, &time(event.at)),
        span(Tone::Name, &format!("  {}", event.agent)),
        span(
            Tone::Plain,
            &format!(
                "  {}: {}",
                happened::kind(&event.what),
                happened::text(&event.what)
            ),
        ),
    ]
}

/// The time of day, as in `2026-11-30T17:00:00.000Z`.
fn time(at: Timestamp) -> String {
    let text = at.to_string();
    text.get(11..19).unwrap_or(&text).to_owned()
}

fn span(tone: Tone, text: &str) -> Span {
    Span::new(tone, safe_line(text, MAX_TEXT))
}
