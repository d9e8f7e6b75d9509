//! `lead team stop|kill`: the person ends a teammate from another terminal, beside a living lead or without one.
//!
//! | step | what a crash after it leaves |
//! | --- | --- |
//! | the request, pending | the teammate finds it by its slow look, and stops |
//! | a living lead is told | it does not start the teammate again, however that ends |
//! | `stop`: the teammate is told; `kill`: its process is ended | one that ends; its lead puts the rest in order, or the next one |
//! | `kill` without a lead: record, task and questions are put in order, the request is closed | |

use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::json;

use crate::board::Released;
use crate::cli::exit::{Failure, Kind, Outcome};
use crate::cli::place::Place;
use crate::cli::shell;
use crate::clock;
use crate::ids::{AgentName, RequestId};
use crate::lead::KILLED;
use crate::mailbox::{self, Directory, Message, Recipient};
use crate::process::child;
use crate::request::{Decision, NewRequest, Record, Refusal, RequestKind, RequestStatus};
use crate::store::lock;
use crate::store::watch::Watcher;
use crate::team::MemberStatus;
use crate::tool::TeamDirectory;

/// From SIGTERM to SIGKILL, and how long a killed process may take to be gone.
const KILL_AFTER: Duration = Duration::from_secs(5);
/// How long a living lead may take to put in order what its killed teammate left.
const LEAD_WAIT: Duration = Duration::from_secs(10);
/// `lead team stop`: asks and returns.
pub(super) fn stop(place: &Place, name: &str, as_json: bool) -> Outcome {
    let name = living(place, name)?;
    let record = ask(place, &name, false)?;
    let message = letter(&name, &record, "please stop");
    place.post()?.deliver(&message)?;
    say(
        &record,
        as_json,
        &format!("{name} was asked to stop ({})", record.request_id),
    );
    Ok(Kind::Completed)
}

/// `lead team kill`: SIGTERM, SIGKILL after 5 s.
pub(super) fn kill(place: &Place, name: &str, as_json: bool) -> Outcome {
    let name = living(place, name)?;
    let record = ask(place, &name, true)?;
    end_process(place, &name)?;
    let record = settle(place, &name, &record.request_id)?;
    let text = if record.is_final() {
        format!("{name} was killed")
    } else {
        format!("{name} was killed; the lead has not taken notice of it yet")
    };
    say(&record, as_json, &text);
    Ok(Kind::Completed)
}

fn say(record: &Record, as_json: bool, text: &str) {
    if as_json {
        shell::out_json(&json!(record));
    } else {
        shell::out_line(text);
    }
}

/// The teammate of that name in its own spelling, if it lives.
fn living(place: &Place, name: &str) -> Result<AgentName, Failure> {
    let name = AgentName::parse_teammate(name).map_err(Failure::usage)?;
    let directory = TeamDirectory::new(place.workspace.clone(), place.roster());
    match directory.lookup(&name) {
        Recipient::Present(name) => Ok(name),
        Recipient::Absent { name, state } => Err(Failure::failed(format!(
            "{name} is not alive; it is {state}; `lead team list` shows who is"
        ))),
        Recipient::Unknown { nearest, .. } => {
            let near = nearest.map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
            Err(Failure::usage(format!(
                "there is no teammate {:?}; nothing was changed; `lead team list` shows who there is{near}",
                name.as_str()
            )))
        }
    }
}

/// The open request to stop, made if there is none; a living lead knows of it from here on, and whether its process is ended.
fn ask(place: &Place, name: &AgentName, kill: bool) -> Result<Record, Failure> {
    let record = place.requests().create(NewRequest {
        kind: RequestKind::Shutdown,
        sender: AgentName::user(),
        target: name.clone(),
        payload: json!({ "leaving": false }),
        work_version: None,
        task_id: None,
    })?;
    if place.has_lead() {
        let text = format!("the person ends {name}");
        let message = letter(&AgentName::lead(), &record, &text);
        let message = if kill {
            message.with("kill", true)
        } else {
            message
        };
        place.post()?.deliver(&message)?;
    }
    Ok(record)
}

fn letter(to: &AgentName, record: &Record, text: &str) -> Message {
    let kind = mailbox::Kind::ShutdownRequest;
    Message::new(&AgentName::user(), to, kind, text).with("request_id", record.request_id.as_str())
}

fn end_process(place: &Place, name: &AgentName) -> Result<(), Failure> {
    let path = place.workspace.member_lock(name);
    let signals: [fn(u32); 2] = [child::ask_to_end, child::kill];
    for send in signals {
        // Asked anew each time: the lock proves whose the pid is.
        let Some(pid) = lock::holder_pid(&path).filter(|_| place.roster().is_alive(name)) else {
            break;
        };
        send(pid);
        if gone_within(place, name, KILL_AFTER) {
            return Ok(());
        }
    }
    if place.roster().is_alive(name) {
        return Err(Failure::failed(format!(
            "{name} still lives; its process cannot be found or signalled from here; end it where it was started"
        )));
    }
    Ok(())
}

fn gone_within(place: &Place, name: &AgentName, bound: Duration) -> bool {
    let (gone, wait) = channel();
    let path = place.workspace.member_lock(name);
    std::thread::spawn(move || gone.send(lock::wait_until_free(&path).is_ok()));
    wait.recv_timeout(bound) == Ok(true)
}

/// A living lead puts in order what was left; without one it is done here. The request to stop as it stands then.
fn settle(place: &Place, name: &AgentName, stop: &RequestId) -> Result<Record, Failure> {
    let (look, looks) = channel();
    let watcher = Watcher::start(
        false,
        move |_| {
            look.send(()).ok();
        },
        |_| {},
    );
    watcher.watch(&place.workspace.request(stop));
    let until = clock::instant() + LEAD_WAIT;
    loop {
        let record = place.requests().get(stop)?;
        if record.is_final() {
            return Ok(record);
        }
        if !place.has_lead() {
            return put_in_order(place, name, &record);
        }
        let left = until.saturating_duration_since(clock::instant());
        if left.is_zero() {
            return Ok(record);
        }
        // Its end takes the same time as no change of the file.
        looks.recv_timeout(left).ok();
    }
}

/// What a lead does when a teammate has ended. Each step is one that the next lead finds done or does itself.
fn put_in_order(place: &Place, name: &AgentName, stop: &Record) -> Result<Record, Failure> {
    place.roster().change(name, |member| {
        member.pid = None;
        member.task = None;
        if member.status != MemberStatus::Stopped {
            member.status = MemberStatus::Failed;
            member.last_error = Some(KILLED.to_owned());
        }
    })?;
    let board = place.board_to_change()?;
    // Locked first: it may have been killed between its claim and the journal's line.
    let mut locked = board.lock(&AgentName::user())?;
    if let Some(task) = board.owned_by(name)? {
        let holder = Some((name, task.work_version));
        drop(locked.release(&task.id, holder, Released::Orderly, None)?);
    }
    drop(locked);
    for record in place.requests().open_ones(None)? {
        let over = match record.kind {
            RequestKind::Permission if record.sender == *name => RequestStatus::Withdrawn,
            RequestKind::PlanApproval if record.sender == *name => RequestStatus::Stale,
            RequestKind::PlanWish if record.target == *name => RequestStatus::Withdrawn,
            RequestKind::Permission
            | RequestKind::PlanApproval
            | RequestKind::PlanWish
            | RequestKind::Team
            | RequestKind::Shutdown => continue,
        };
        close(place, &record, over)?;
    }
    close(place, stop, RequestStatus::Failed)?;
    Ok(place.requests().get(&stop.request_id)?)
}

/// One that somebody has closed meanwhile is closed.
fn close(place: &Place, record: &Record, status: RequestStatus) -> Result<(), Failure> {
    let decision = Decision {
        kind: record.kind,
        by: AgentName::user(),
        status,
        feedback: Some(KILLED.to_owned()),
        scope: None,
    };
    match place.requests().decide(&record.request_id, &decision) {
        Ok(_) | Err(Refusal::Closed { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
