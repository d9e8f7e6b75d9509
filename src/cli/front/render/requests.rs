//! Requests that open and close, as lines.

use crate::cli::safe::safe_line;
use crate::cli::shell::Style;
use crate::cli::verbs::requests::about;
use crate::request::{Record, RequestKind, RequestStatus};

/// Questions are shown when their turn comes; of the rest there is one line.
pub(super) fn opened(style: Style, record: &Record) -> Vec<String> {
    match record.kind {
        RequestKind::Shutdown => vec![style.dim(&format!("{} is asked to stop", record.target))],
        RequestKind::PlanWish => vec![style.dim(&format!("{} is asked for a plan", record.target))],
        RequestKind::Team | RequestKind::PlanApproval | RequestKind::Permission => Vec::new(),
    }
}

/// A question that waits for an answer from another terminal.
pub(super) fn elsewhere(record: &Record) -> String {
    format!(
        "── {} asks for permission: {}; answer with lead permission allow|deny {}",
        record.sender,
        safe_line(&about(record), 400),
        record.request_id
    )
}

/// How a request ended.
pub(super) fn closed(style: Style, record: &Record) -> String {
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
