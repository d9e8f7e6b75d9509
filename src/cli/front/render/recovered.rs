//! What a start found and put in order, as lines.

use crate::cli::safe::safe_line;
use crate::cli::shell::Style;
use crate::ids::AgentName;
use crate::lead::Account;

/// The account of a start.
pub(super) fn recovered(style: Style, account: &Account) -> Vec<String> {
    let mut lines = vec![style.bold("found at the start:")];
    let mut names = |what: &str, all: Vec<String>| {
        if !all.is_empty() {
            lines.push(safe_line(&format!("  {what}: {}", all.join(", ")), 2000));
        }
    };
    let text = |names: &[AgentName]| names.iter().map(ToString::to_string).collect();
    names("teammates that live, taken over", text(&account.adopted));
    names(
        "teammates that are gone",
        account
            .lost
            .iter()
            .map(|lost| format!("{} ({})", lost.name, lost.why))
            .collect(),
    );
    names("starts that were cut short, undone", text(&account.undone));
    names(
        "tasks given back",
        account
            .released
            .iter()
            .map(|(id, subject, owner)| format!("{id} {subject} (had {owner})"))
            .collect(),
    );
    names(
        "questions withdrawn",
        account
            .withdrawn
            .iter()
            .map(|record| record.request_id.to_string())
            .collect(),
    );
    names(
        "questions still open",
        account
            .questions
            .iter()
            .map(|record| record.request_id.to_string())
            .collect(),
    );
    if account.leftovers > 0 {
        names(
            "processes that commands of an earlier run had left, ended",
            vec![account.leftovers.to_string()],
        );
    }
    names("worktrees", account.worktrees.clone());
    names("damaged files", account.damaged.clone());
    names(
        "open tasks",
        account
            .open
            .iter()
            .map(|(id, subject)| format!("{id} {subject}"))
            .collect(),
    );
    match account.more_open {
        0 => {}
        1 => lines.push("  and another open task".to_owned()),
        more => lines.push(format!("  and {more} more open tasks")),
    }
    match account.mail {
        0 => {}
        1 => lines.push("  a message that was taken in but not read".to_owned()),
        more => lines.push(format!("  {more} messages that were taken in but not read")),
    }
    lines
}
