//! What `lead plan` and `lead permission` share: listing records, deciding on one, waking those who wait.

use crate::agent::answering::Desk;
use crate::cli::exit::{Failure, Kind, Outcome};
use crate::cli::place::Place;
use crate::cli::safe::safe_line;
use crate::cli::shell;
use crate::cli::table::Table;
use crate::ids::{AgentName, RequestId};
use crate::mailbox::{self, Message};
use crate::request::{Decision, Record, Refusal, RequestKind, RequestStatus};

/// Lists all requests of `kind` that are kept.
pub fn list(place: &Place, kind: RequestKind, as_json: bool) -> Outcome {
    let mut records = place.requests().all()?;
    records.retain(|record| record.kind == kind);
    if as_json {
        shell::out_json(&serde_json::to_value(&records)?);
    } else if records.is_empty() {
        shell::out_line("none");
    } else {
        print(&records);
    }
    Ok(Kind::Completed)
}

/// Prints the table; nothing without records.
pub fn print(records: &[Record]) {
    for line in lines(records) {
        shell::out_line(&line);
    }
}

/// The table; empty without records.
pub fn lines(records: &[Record]) -> Vec<String> {
    let mut table = Table::new(&["request", "type", "from", "status", "task", "about"]);
    for record in records {
        table.row(&[
            record.request_id.to_string(),
            word(record.kind),
            record.sender.to_string(),
            word(record.status),
            record
                .task_id
                .as_ref()
                .map_or_else(|| "-".to_owned(), ToString::to_string),
            about(record),
        ]);
    }
    table.lines()
}

/// The person's answer to a request. Whoever waits for it is woken; the record decides.
pub struct PersonsAnswer<'a> {
    /// The request's id as typed.
    pub id: &'a str,
    /// What kind the verb is for.
    pub kind: RequestKind,
    /// The decision.
    pub status: RequestStatus,
    /// The comment.
    pub comment: Option<&'a str>,
    /// Permission: `once` or `always`.
    pub scope: Option<&'a str>,
}

/// Decides and wakes.
pub fn decide(place: &Place, answer: &PersonsAnswer<'_>) -> Outcome {
    let id = RequestId::parse(answer.id)
        .map_err(|error| Failure::usage(format!("{error}; `lead status` lists open requests")))?;
    if answer.scope == Some("always") {
        refuse_without_rule(&place.requests().get(&id).map_err(refused)?)?;
    }
    let decision = Decision {
        kind: answer.kind,
        by: AgentName::user(),
        status: answer.status,
        feedback: answer.comment.map(str::to_owned),
        scope: answer.scope.map(str::to_owned),
    };
    let desk = Desk {
        requests: &place.requests(),
        board: &place.board()?,
        roster: &place.roster(),
    };
    let record = desk.decide(&id, &decision).map_err(refused)?;
    wake(place, &record)?;
    shell::out_line(&format!("{id} {}", word(record.status)));
    Ok(Kind::Completed)
}

fn refused(refusal: Refusal) -> Failure {
    match refusal {
        Refusal::Lock(_) | Refusal::Store(_) => Failure::from(refusal),
        other => Failure::failed(format!(
            "{other}; nothing was changed; `lead status` lists open requests"
        )),
    }
}

fn refuse_without_rule(record: &Record) -> Result<(), Failure> {
    if record.kind == RequestKind::Permission && !record.payload["always"].is_string() {
        return Err(Failure::usage(format!(
            "{} offers no rule that could be kept; nothing was changed; answer without --always",
            record.request_id
        )));
    }
    Ok(())
}

/// Tells a teammate that its request has an answer; a lead sees it by the record itself.
fn wake(place: &Place, record: &Record) -> Result<(), Failure> {
    let kind = match record.kind {
        RequestKind::PlanApproval => mailbox::Kind::PlanApprovalResponse,
        RequestKind::Permission => mailbox::Kind::PermissionResponse,
        RequestKind::Team | RequestKind::Shutdown | RequestKind::PlanWish => return Ok(()),
    };
    if record.sender.is_lead() {
        return Ok(());
    }
    let approve = matches!(
        record.status,
        RequestStatus::Approved | RequestStatus::Allowed
    );
    let text = record
        .feedback
        .clone()
        .unwrap_or_else(|| word(record.status));
    let message = Message::new(&AgentName::user(), &record.sender, kind, text)
        .with("request_id", record.request_id.as_str())
        .with("approve", approve);
    Ok(place.post()?.deliver(&message)?)
}

/// One line about what is asked.
pub(in crate::cli) fn about(record: &Record) -> String {
    let payload = &record.payload;
    let text = |key: &str| payload[key].as_str().unwrap_or_default();
    match record.kind {
        RequestKind::PlanApproval => text("title").to_owned(),
        RequestKind::Permission => {
            let input = &payload["input"];
            let what = ["command", "path"]
                .iter()
                .find_map(|key| input[*key].as_str());
            format!(
                "{}: {}",
                text("tool"),
                what.map_or_else(|| input.to_string(), str::to_owned)
            )
        }
        RequestKind::Team => text("rationale").to_owned(),
        RequestKind::Shutdown => format!("asks {} to stop", record.target),
        RequestKind::PlanWish => format!("wants a plan of {}", record.target),
    }
}

/// A kind or status as it stands in the file.
pub(super) fn word(value: impl serde::Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|value| value.as_str().map(|text| safe_line(text, 40)))
        .unwrap_or_default()
}
