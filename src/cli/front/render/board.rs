//! What became of tasks and teammates, as lines.

use crate::board::Status;
use crate::cli::safe::safe_line;
use crate::cli::shell::Style;
use crate::lead::{TaskNews, TeammateNews};
use crate::team::MemberStatus;

/// What is said of a teammate that has stopped.
pub(super) const STOPPED: &str = "has stopped";

/// A change of a task.
pub(super) fn task(style: Style, news: &TaskNews) -> Vec<String> {
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

/// What a teammate does, as the end of a sentence.
pub(super) fn status_of(news: &TeammateNews) -> &'static str {
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
