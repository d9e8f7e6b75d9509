//! What a teammate writes to the lead: pure.

use std::fmt::Write as _;

use super::gate::Work;
use super::machine::Announcement;
use crate::board::Task;
use crate::ids::{AgentName, RequestId};
use crate::mailbox::{Kind, Message};
use crate::request::Record;
use crate::tool::{PermissionAsk, Plan};

/// Longest text that is sent whole, in bytes; well below what a mailbox takes.
const MAX_TEXT: usize = 512 * 1024;
/// Longest summary, in characters.
const MAX_SUMMARY: usize = 120;

/// The summary by which a farewell is known.
pub(super) const FAREWELL: &str = "farewell";

fn to_lead(me: &AgentName, kind: Kind, text: &str) -> Message {
    Message::new(me, &AgentName::lead(), kind, fit(text))
}

fn fit(text: &str) -> String {
    if text.len() <= MAX_TEXT {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(MAX_TEXT);
    format!("{}\n[{} bytes left out]", &text[..end], text.len() - end)
}

fn about(message: Message, work: Option<&Work>) -> Message {
    match work {
        Some((task, version)) => message
            .with("task_id", task.as_str())
            .with("work_version", *version),
        None => message,
    }
}

/// Something for the person that begins no round.
pub(super) fn status_update(me: &AgentName, text: &str) -> Message {
    to_lead(me, Kind::StatusUpdate, text)
}

/// A call was denied since nobody is asked in this session.
pub(super) fn denied(me: &AgentName, text: &str) -> Message {
    status_update(me, text).with("denied", true)
}

/// The final text of a round.
pub(super) fn result(me: &AgentName, text: &str, work: Option<&Work>) -> Message {
    let text = text.trim();
    let text = if text.is_empty() { "(no words)" } else { text };
    let mut message = about(to_lead(me, Kind::Result, text), work);
    message.summary = text
        .lines()
        .next()
        .map(|line| line.trim().chars().take(MAX_SUMMARY).collect());
    message
}

/// The last words of a teammate that stops.
pub(super) fn farewell(me: &AgentName, text: &str, open: Option<&Task>) -> Message {
    let mut text = text.trim().to_owned();
    if let Some(task) = open {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        let _ = write!(text, "still open: {} {}", task.id, task.subject);
    }
    if text.is_empty() {
        "nothing is open".clone_into(&mut text);
    }
    let work = open.map(|task| (task.id.clone(), task.work_version));
    let mut message = about(to_lead(me, Kind::Result, &text), work.as_ref());
    message.summary = Some(FAREWELL.to_owned());
    message
}

/// The one notice that it waits for work.
pub(super) fn idle(me: &AgentName, said: Announcement, work: Option<&Work>) -> Message {
    let (reason, outcome) = (said.reason.as_str(), said.outcome.as_str());
    let text = match work {
        Some((task, _)) => format!("{me} is idle: {reason}; {task}: {outcome}"),
        None => format!("{me} is idle: {reason}"),
    };
    about(to_lead(me, Kind::IdleNotification, &text), work)
        .with("reason", reason)
        .with("outcome", outcome)
}

/// A person has started it: the lead learns at once whom to look after.
pub(super) fn joined(me: &AgentName) -> Message {
    to_lead(
        me,
        Kind::StatusUpdate,
        &format!("{me} has joined the team; a person started it"),
    )
}

/// A failure, in words.
pub(super) fn error_report(me: &AgentName, text: &str, work: Option<&Work>) -> Message {
    about(to_lead(me, Kind::ErrorReport, text), work)
}

/// A task went back to the board. `exhausted`: it will not be offered again by itself.
pub(super) fn released(me: &AgentName, task: &Task, exhausted: bool) -> Message {
    let change = if exhausted { "exhausted" } else { "released" };
    let mut text = format!("{me} has given back {}: {}", task.id, task.subject);
    if exhausted {
        let _ = write!(
            text,
            "; after {} attempts it is not offered again until the person releases it (lead task release {})",
            task.attempts, task.id
        );
    }
    if let Some(why) = &task.not_offered {
        let _ = write!(
            text,
            "; it is not offered again in this run: {why} (lead task release {} offers it again)",
            task.id
        );
    }
    to_lead(me, Kind::TaskNotification, &text)
        .with("task_id", task.id.as_str())
        .with("work_version", task.work_version)
        .with("change", change)
        .with("unblocked", Vec::<String>::new())
}

/// The person allowed an edit inside of what `to` was given to edit.
pub(super) fn trespass(me: &AgentName, to: &AgentName, path: &str) -> Message {
    let text = format!("{me} was allowed to edit {path}, which is among your paths");
    Message::new(me, to, Kind::StatusUpdate, text)
}

/// The answer to a request to stop.
pub(super) fn stopped(me: &AgentName, request: &RequestId, clean: bool) -> Message {
    let text = if clean {
        format!("{me} has stopped")
    } else {
        format!("{me} has stopped without a farewell of its model")
    };
    to_lead(me, Kind::ShutdownResponse, &text)
        .with("request_id", request.as_str())
        .with("approve", true)
}

/// A plan awaits its decision.
pub(super) fn plan(me: &AgentName, record: &Record, plan: &Plan, work: &Work) -> Message {
    let mut text = plan.title.clone();
    for (number, step) in plan.steps.iter().enumerate() {
        let _ = write!(text, "\n{}. {step}", number + 1);
    }
    if let Some(why) = &plan.rationale {
        let _ = write!(text, "\nwhy: {why}");
    }
    about(to_lead(me, Kind::PlanApprovalRequest, &text), Some(work))
        .with("request_id", record.request_id.as_str())
}

/// A tool call awaits the person's permission.
pub(super) fn permission(
    me: &AgentName,
    record: &Record,
    ask: &PermissionAsk,
    work: Option<&Work>,
) -> Message {
    let text = format!("{me} asks whether it may use {}: {}", ask.tool, ask.because);
    about(to_lead(me, Kind::PermissionRequest, &text), work)
        .with("request_id", record.request_id.as_str())
}

#[cfg(test)]
mod tests {
    use super::super::machine::{Outcome, Reason};
    use super::*;

    fn me() -> AgentName {
        AgentName::parse("alice").unwrap()
    }

    #[test]
    fn a_result_is_summed_up_by_its_first_line() {
        let message = result(&me(), "\nfirst line\nmore", None);
        assert_eq!(message.summary.as_deref(), Some("first line"));
        assert_eq!(message.content, "first line\nmore");
        assert_eq!(result(&me(), " \n", None).content, "(no words)");
    }

    #[test]
    fn long_texts_are_cut_between_characters_and_say_so() {
        let message = result(&me(), &"é".repeat(MAX_TEXT), None);
        assert!(message.content.ends_with("bytes left out]"));
        assert!(message.content.len() < MAX_TEXT + 64);
    }

    #[test]
    fn only_trouble_starts_a_round_of_the_lead() {
        let said = |reason| Announcement {
            reason,
            outcome: Outcome::None,
        };
        for (reason, starts) in [
            (Reason::Done, false),
            (Reason::Waiting, false),
            (Reason::Blocked, true),
            (Reason::Error, true),
        ] {
            assert_eq!(
                idle(&me(), said(reason), None).starts_round(),
                starts,
                "{reason:?}"
            );
        }
    }
}
