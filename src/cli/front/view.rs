//! The answers to the person's `/` commands, as lines.

use crate::cli::safe::{safe, safe_line};
use crate::cli::shell::Style;
use crate::cli::table::Table;
use crate::cli::verbs::{requests, task, team, usage, worktree};
use crate::lead::View;

/// How much of a diff is shown within a session.
const DIFF_LINES: usize = 400;

/// The lines of one view.
pub fn lines(style: Style, view: &View) -> Vec<String> {
    match view {
        View::Help(commands) => help(style, commands),
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
        View::Diff(changes) => diff(changes),
        View::Usage(agents, prices) => or_none(usage::lines(agents, prices), "nothing used yet"),
        View::Limits(limits) => limits.clone(),
    }
}

fn diff(changes: &str) -> Vec<String> {
    let text = safe(changes);
    let count = text.lines().count();
    let mut lines: Vec<String> = text.lines().take(DIFF_LINES).map(str::to_owned).collect();
    if count > DIFF_LINES {
        let left_out = count - DIFF_LINES;
        lines.push(format!(
            "… {left_out} more lines; `lead diff` shows them all"
        ));
    }
    or_none(lines, "nothing has changed")
}

fn help(style: Style, commands: &[(&str, &str, &str)]) -> Vec<String> {
    commands
        .iter()
        .map(|(command, arguments, what)| {
            let call = safe_line(&format!("{command} {arguments}"), 80);
            format!("{} {what}", style.bold(&format!("{call:<28}")))
        })
        .collect()
}

fn or_none(lines: Vec<String>, none: &str) -> Vec<String> {
    if lines.is_empty() {
        vec![none.to_owned()]
    } else {
        lines
    }
}
