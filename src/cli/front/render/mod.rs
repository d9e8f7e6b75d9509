//! What a session shows, as lines for people. Everything that comes from a model, a file or a message is made safe here.

use std::collections::BTreeMap;

use super::{question, view};
use crate::board::Status;
use crate::cli::safe::{safe, safe_line};
use crate::cli::shell::Style;
use crate::conversation::ToolCall;
use crate::ids::AgentName;
use crate::lead::{Account, PromptFor, ShellEnd, Shown, TaskNews, TeammateNews};
use crate::mailbox::{Kind, Message};
use crate::process::guard::End;
use crate::request::{Record, RequestKind, RequestStatus};
use crate::team::MemberStatus;

/// Most lines of a message or a tool's answer that are shown.
const MAX_LINES: usize = 30;
/// What is said of a teammate that has stopped.
const STOPPED: &str = "has stopped";

/// Turns items into lines; remembers the part of a streamed line that has not ended yet.
#[derive(Debug)]
pub struct Renderer {
    style: Style,
    verbose: bool,
    partial: String,
    streamed: bool,
    /// What was last said of each teammate.
    said: BTreeMap<AgentName, &'static str>,
}

impl Renderer {
    /// Without anything streamed yet.
    pub fn new(style: Style, verbose: bool) -> Self {
        Self {
            style,
            verbose,
            partial: String::new(),
            streamed: false,
            said: BTreeMap::new(),
        }
    }

    /// The lines of one item; may be none.
    pub fn lines(&mut self, item: &Shown) -> Vec<String> {
        let style = self.style;
        match item {
            Shown::Delta(text) => self.delta(text),
            Shown::Text(text) => self.end_of_text(text),
            Shown::Started {
                session,
                model,
                resumed,
            } => {
                let how = if *resumed { "goes on" } else { "begins" };
                vec![style.dim(&safe_line(
                    &format!("session {session} {how}; the lead is {model}"),
                    400,
                ))]
            }
            Shown::Recovered(account) => recovered(style, account),
            Shown::ToolUse(call) => vec![style.dim(&format!("→ {}", tool_call(call)))],
            Shown::ToolResult { call, output, ok } => self.tool_result(call, output, *ok),
            Shown::Interrupted => self.void(style.warn("interrupted")),
            Shown::Retrying { why, wait } => {
                let line = format!(
                    "the model is asked again in {:.1} s: {why}",
                    wait.as_secs_f64()
                );
                self.void(style.warn(&safe_line(&line, 400)))
            }
            Shown::Mail(message) => mail(style, message),
            Shown::Task(news) => task(style, news),
            Shown::Teammate(news) => self.teammate(news),
            Shown::RequestOpened(record) => opened(style, record),
            Shown::RequestClosed(record) => vec![closed(style, record)],
            Shown::Notice(text) => safe(text).lines().map(|line| style.dim(line)).collect(),
            Shown::Error(text) => vec![style.bad(&format!("error: {}", safe_line(text, 4000)))],
            Shown::View(shown) => view::lines(style, shown),
            Shown::Shell { command, end } => shell(style, command, end),
            Shown::Leaving(names) => self.leaving(names),
            Shown::Prompt(PromptFor::Question(open)) => {
                question::lines(style, &open.record, open.behind, open.again.as_deref())
            }
            Shown::Working(_)
            | Shown::Mode(_)
            | Shown::Used(_)
            | Shown::LineTaken
            | Shown::Prompt(PromptFor::Message | PromptFor::Nothing) => Vec::new(),
        }
    }

    /// Whole lines of streamed text as they end.
    fn delta(&mut self, text: &str) -> Vec<String> {
        self.streamed = true;
        self.partial.push_str(text);
        let Some(end) = self.partial.rfind('\n') else {
            return Vec::new();
        };
        let rest = self.partial.split_off(end + 1);
        let whole = std::mem::replace(&mut self.partial, rest);
        safe(&whole).lines().map(str::to_owned).collect()
    }

    fn end_of_text(&mut self, text: &str) -> Vec<String> {
        let rest = std::mem::take(&mut self.partial);
        let left = if std::mem::take(&mut self.streamed) {
            rest
        } else {
            text.to_owned()
        };
        safe(&left).lines().map(str::to_owned).collect()
    }

    /// What was streamed does not count: it stays visible, marked.
    fn void(&mut self, line: String) -> Vec<String> {
        self.streamed = false;
        let rest = std::mem::take(&mut self.partial);
        let mut lines: Vec<String> = safe(&rest).lines().map(str::to_owned).collect();
        lines.push(line);
        lines
    }

    /// A status is said once; what is known besides of one that stopped as asked is nothing new.
    fn teammate(&mut self, news: &TeammateNews) -> Vec<String> {
        let member = &news.member;
        let status = status_of(news);
        let mut lines = Vec::new();
        let before = self.said.insert(member.name.clone(), status);
        if before != Some(status) {
            lines.push(format!(
                "● {} {status}",
                self.style.name(member.name.as_str())
            ));
        }
        if let Some(note) = &news.note
            && member.status != MemberStatus::Stopped
        {
            lines.extend(indented(note).iter().map(|line| self.style.dim(line)));
        }
        lines
    }

    /// Whose stop was shown is not waited for any more, though its process may take a moment longer.
    fn leaving(&self, names: &[AgentName]) -> Vec<String> {
        let waits = |name: &&AgentName| self.said.get(*name) != Some(&STOPPED);
        let waiting: Vec<&str> = names.iter().filter(waits).map(AgentName::as_str).collect();
        if names.is_empty() {
            vec![self.style.dim("the team has stopped")]
        } else if waiting.is_empty() {
            Vec::new()
        } else {
            let line = format!("waiting for {} to stop", waiting.join(", "));
            vec![self.style.dim(&line)]
        }
    }

    fn tool_result(&self, call: &ToolCall, output: &str, ok: bool) -> Vec<String> {
        let style = self.style;
        let name = safe_line(&call.name, 80);
        match (ok, self.verbose) {
            (true, false) => Vec::new(),
            (true, true) => indented(output)
                .iter()
                .map(|line| style.dim(line))
                .collect(),
            (false, _) => {
                let mut lines = vec![style.bad(&format!("✗ {name}"))];
                lines.extend(indented(output).iter().map(|line| style.dim(line)));
                lines
            }
        }
    }
}

/// A call on one line: its name and the value that says most.
pub fn tool_call(call: &ToolCall) -> String {
    let says_most = [
        "command", "path", "subject", "to", "name", "teammate", "task_id", "title", "pattern",
    ];
    let value = says_most.iter().find_map(|key| call.input[*key].as_str());
    let value = value.map_or_else(String::new, |value| format!(" {value}"));
    safe_line(&format!("{}{value}", call.name), 160)
}

/// Lines of somebody's text, indented, the middle left out if there are many.
pub fn indented(text: &str) -> Vec<String> {
    let text = safe(text);
    let all: Vec<&str> = text.trim_end().lines().collect();
    let mut lines: Vec<String> = all
        .iter()
        .take(MAX_LINES)
        .map(|line| format!("  {line}"))
        .collect();
    if all.len() > MAX_LINES {
        lines.push(format!("  … ({} more lines)", all.len() - MAX_LINES));
    }
    lines
}

/// A message in full. What the board and the teammates' states show already is left out.
fn mail(style: Style, message: &Message) -> Vec<String> {
    match &message.kind {
        Kind::IdleNotification if !message.starts_round() => return Vec::new(),
        Kind::TaskNotification if !message.starts_round() => {
            let besides = indented(&message.content);
            return besides.iter().skip(1).map(|line| style.dim(line)).collect();
        }
        _ => {}
    }
    let kind = serde_json::to_value(&message.kind).unwrap_or_default();
    let kind = kind.as_str().unwrap_or_default().replace('_', " ");
    let summary = message
        .summary
        .as_deref()
        .filter(|summary| !message.content.starts_with(*summary));
    let about = summary.map_or_else(String::new, |about| format!(" ({about})"));
    let head = safe_line(&format!("{} → {}", message.from, message.to), 160);
    let what = style.dim(&safe_line(&format!("{kind}{about}"), 200));
    let mut lines = vec![format!("{} {what}", style.name(&head))];
    lines.extend(indented(&message.content));
    lines
}

fn task(style: Style, news: &TaskNews) -> Vec<String> {
    let task = &news.task;
    let status = match (&task.status, &task.owner) {
        (Status::Pending, _)
            if news
                .change
                .get("status")
                .is_some_and(|status| status["old"].is_null()) =>
        {
            "new".to_owned()
        }
        (Status::Pending, _) if news.change.get("owner").is_some() => "given back".to_owned(),
        (Status::Pending, _) => "changed".to_owned(),
        (Status::InProgress, _) if news.change.get("owner").is_none() => {
            match news.change.pointer("/verified/new") {
                Some(passed) if passed == true => "verified",
                Some(passed) if passed == false => "not verified",
                _ => "changed",
            }
            .to_owned()
        }
        (Status::InProgress, Some(owner)) => format!("claimed by {owner}"),
        (Status::InProgress, None) => "in progress".to_owned(),
        (Status::Completed, _) => style.good("completed"),
        (Status::Cancelled, _) => "cancelled".to_owned(),
        (Status::Other(other), _) => safe_line(other, 40),
    };
    let place = task
        .worktree
        .as_ref()
        .map_or_else(String::new, |name| format!(" in worktree {name}"));
    let subject = safe_line(&task.subject, 120);
    vec![format!(
        "▪ {} {status}: {subject}{place}",
        style.dim(task.id.as_str())
    )]
}

fn status_of(news: &TeammateNews) -> &'static str {
    match news.member.status {
        MemberStatus::Stopped => STOPPED,
        MemberStatus::Failed => "has failed",
        MemberStatus::Starting => "starts",
        MemberStatus::Working
        | MemberStatus::Idle
        | MemberStatus::WaitingApproval
        | MemberStatus::Stopping
            if !news.alive =>
        {
            "is gone"
        }
        MemberStatus::Working => "works",
        MemberStatus::Idle => "is idle",
        MemberStatus::WaitingApproval => "waits for approval of a plan",
        MemberStatus::Stopping => "is about to stop",
    }
}

/// Questions are shown when their turn comes; of the rest there is one line.
fn opened(style: Style, record: &Record) -> Vec<String> {
    match record.kind {
        RequestKind::Shutdown => vec![style.dim(&format!("{} is asked to stop", record.target))],
        RequestKind::PlanWish => vec![style.dim(&format!("{} is asked for a plan", record.target))],
        RequestKind::Team | RequestKind::PlanApproval | RequestKind::Permission => Vec::new(),
    }
}

fn closed(style: Style, record: &Record) -> String {
    let what = match record.kind {
        RequestKind::Shutdown => format!("stop of {}", record.target),
        RequestKind::PlanWish => format!("wish for a plan of {}", record.target),
        RequestKind::PlanApproval => format!("plan of {}", record.sender),
        RequestKind::Permission => format!("permission for {}", record.sender),
        RequestKind::Team => "team".to_owned(),
    };
    let status = match record.status {
        RequestStatus::Approved | RequestStatus::Accepted | RequestStatus::Allowed => {
            style.good(status_word(record.status))
        }
        RequestStatus::Rejected
        | RequestStatus::Declined
        | RequestStatus::Denied
        | RequestStatus::Failed => style.warn(status_word(record.status)),
        RequestStatus::Pending
        | RequestStatus::Acknowledged
        | RequestStatus::Completed
        | RequestStatus::Stale
        | RequestStatus::Withdrawn => status_word(record.status).to_owned(),
    };
    let by = record
        .decided_by
        .as_ref()
        .map_or_else(String::new, |by| format!(" by {by}"));
    let why = record
        .feedback
        .as_ref()
        .map_or_else(String::new, |why| format!(": {}", safe_line(why, 400)));
    format!("── {what} {status}{by}{why}")
}

fn status_word(status: RequestStatus) -> &'static str {
    match status {
        RequestStatus::Pending => "pending",
        RequestStatus::Acknowledged => "acknowledged",
        RequestStatus::Completed => "completed",
        RequestStatus::Failed => "failed",
        RequestStatus::Approved => "approved",
        RequestStatus::Rejected => "rejected",
        RequestStatus::Stale => "stale",
        RequestStatus::Withdrawn => "withdrawn",
        RequestStatus::Allowed => "allowed",
        RequestStatus::Denied => "denied",
        RequestStatus::Accepted => "accepted",
        RequestStatus::Declined => "declined",
    }
}

fn shell(style: Style, command: &str, end: &ShellEnd) -> Vec<String> {
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

fn recovered(style: Style, account: &Account) -> Vec<String> {
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
    if account.more_open > 0 {
        lines.push(format!("  and {} more open tasks", account.more_open));
    }
    if account.mail > 0 {
        lines.push(format!(
            "  {} messages that were taken in but not read",
            account.mail
        ));
    }
    lines
}

#[cfg(test)]
mod tests;
