//! The answers to the person's `/` commands, as lines.

use super::keys::KEYS;
use crate::cli::safe::safe_line;
use crate::cli::shell::Style;
use crate::cli::table::Table;
use crate::cli::trust;
use crate::cli::verbs::{log, requests, task, team, usage, worktree};
use crate::lead::{COMMANDS, View};
use crate::worktree::snapshot::Differences;

/// How much of a diff is shown within a session.
const DIFF_LINES: usize = 400;

/// The lines of one view; on a screen as wide as that, if it is one.
pub fn lines(style: Style, view: &View, width: Option<usize>) -> Vec<String> {
    match view {
        View::Help => help(style),
        View::Team(members, open) => {
            let living: Vec<team::Living> = members
                .iter()
                .map(|seen| team::Living {
                    member: seen.member.clone(),
                    alive: seen.alive,
                    lost: seen.lost,
                    stalled: None,
                })
                .collect();
            let mut lines = or_none(team::lines(&living), "no teammates");
            lines.extend(requests::lines(open));
            lines
        }
        View::Requests(records) => or_none(requests::lines(records), "none"),
        View::Tasks(views) => or_none(task::view_lines(views), "no tasks"),
        View::Task(view) => task::view_text(view).lines().map(str::to_owned).collect(),
        View::Mail(boxes) => {
            let mut table = Table::new(&["mailbox", "from", "text"]);
            for (owner, messages) in boxes {
                for message in messages {
                    table.row(&[
                        owner.to_string(),
                        message.from.clone(),
                        message.content.clone(),
                    ]);
                }
            }
            or_none(table.lines(), "no mail waits")
        }
        View::Worktrees(all) => or_none(worktree::lines(all), "no worktrees"),
        View::Diff(changes) => diff(style, changes),
        View::Trust(content) => {
            let mut lines = trust::lines(style, content);
            lines.push(
                "/trust yes: it counts in full from now on. Without that it stays as it was."
                    .to_owned(),
            );
            lines
        }
        View::Usage(agents, prices) => or_none(usage::lines(agents, prices), "nothing used yet"),
        View::Limits(limits) => limits.clone(),
        View::Log(events) => {
            let mut page = log::Page::new(style, width);
            let lines = events.iter().flat_map(|event| page.with_id(event));
            or_none(lines.collect(), "nothing has happened yet")
        }
        View::Whole(events) => events
            .iter()
            .flat_map(|event| log::whole(style, event))
            .collect(),
        View::Models {
            speaks,
            teammates,
            known,
        } => models(style, speaks, teammates, known),
    }
}

fn diff(style: Style, changes: &Differences) -> Vec<String> {
    let mut lines = super::diff::lines(style, &changes.text);
    if lines.len() > DIFF_LINES {
        let left_out = lines.len() - DIFF_LINES;
        lines.truncate(DIFF_LINES);
        lines.push(format!(
            "… {left_out} more lines; `lead diff` shows them all"
        ));
    }
    let mut lines = or_none(lines, "nothing has changed");
    if let Some(besides) = &changes.besides {
        let besides = safe_line(&format!("not looked at: {besides}"), 400);
        lines.push(style.dim(&besides));
    }
    lines
}

fn models(style: Style, speaks: &str, teammates: &str, known: &[String]) -> Vec<String> {
    let mut lines = vec![
        format!("lead       {}", style.bold(&safe_line(speaks, 400))),
        format!("teammates  {}", safe_line(teammates, 400)),
        style.dim("/model NAME takes another for the lead, any PROVIDER:NAME; known here are"),
    ];
    let known = known.iter().map(|name| safe_line(name, 400));
    lines.extend(known.map(|name| format!("  {name}")));
    lines
}

fn help(style: Style) -> Vec<String> {
    let row = |call: &str, what: &str| format!("{} {what}", style.bold(&format!("{call:<22}")));
    let commands = COMMANDS.iter().map(|command| {
        let call = format!("{} {}", command.call, command.takes);
        let such_as = match command.example {
            "" => String::new(),
            example => style.dim(&format!(", such as {example}")),
        };
        row(call.trim_end(), &format!("{}{such_as}", command.what))
    });
    let keys = KEYS.iter().map(|(key, what)| row(key, what));
    commands.chain([String::new()]).chain(keys).collect()
}

fn or_none(lines: Vec<String>, none: &str) -> Vec<String> {
    if lines.is_empty() {
        vec![none.to_owned()]
    } else {
        lines
    }
}
