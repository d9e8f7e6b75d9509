//! Leases joined with who is alive and with the mail that follows from them (SPEC §10.3).
//!
//! An agent's loop calls [`begin`] when it starts and [`round_over`] when a round ends; a lead frees those of the dead. The
//! lock of the leases is never held while mail is sent.

use super::AgentContext;
use super::call::Call;
use super::errors::words;
use super::path::Target;
use crate::clock::Timestamp;
use crate::lease::{Book, Holder, Lease, LeaseError, Leases, Notice, Subject, Taken};
use crate::mailbox::{Kind, Message};
use crate::store::Durability;
use crate::team::{Roster, lead_presence};

/// Ends what a former process of this agent held. A lead ends those of all the dead, too, and forgets earlier conflicts.
pub fn begin(context: &AgentContext) {
    let me = &context.agent;
    changed(context, |book, now| {
        book.end(now, |lease| lease.holder.agent == *me);
        if me.is_lead() {
            book.end(now, |lease| !is_alive(context, lease));
            book.forget();
        }
    });
}

/// Ends this agent's leases and tells those who wait.
pub fn round_over(context: &AgentContext) {
    let me = &context.agent;
    changed(context, |book, now| {
        book.end(now, |lease| lease.holder.agent == *me);
    });
}

/// Ends the leases of agents whose process is gone, and tells those who wait.
pub fn free_the_dead(context: &AgentContext) {
    changed(context, |book, now| {
        book.end(now, |lease| !is_alive(context, lease));
    });
}

/// Takes the file of a call that edits it; whether it was free before. `Err` says who has it.
pub(crate) fn take(call: &Call<'_>, target: &Target) -> Result<bool, String> {
    if is_own(call, target) {
        return Ok(false);
    }
    let (path, asker) = (path_of(target), asker(call));
    let taken = asked(call, |book, now| {
        bury(call.context, book, &path, now);
        book.take(&path, &asker, now)
    })?;
    match taken {
        Taken::New => Ok(true),
        Taken::Again => Ok(false),
        Taken::Refused(lease) => Err(refusal(target, &lease)),
    }
}

/// Refuses a call whose file somebody else has, before anybody is asked about it. Takes nothing.
pub(crate) fn check(call: &Call<'_>, target: &Target) -> Result<(), String> {
    if is_own(call, target) {
        return Ok(());
    }
    let (path, asker) = (path_of(target), asker(call));
    let refused = asked(call, |book, now| {
        bury(call.context, book, &path, now);
        book.refuse(&path, &asker, now)
    })?;
    refused.map_or(Ok(()), |lease| Err(refusal(target, &lease)))
}

/// Gives a file back whose edit came to nothing.
pub(crate) fn take_back(call: &Call<'_>, target: &Target) {
    let path = path_of(target);
    changed(call.context, |book, now| {
        book.take_back(&path, &call.context.agent, now);
    });
}

/// An edit was refused since its file has changed: tells the lead if that was another agent.
pub(crate) fn found_changed(call: &Call<'_>, target: &Target) {
    let (path, asker) = (path_of(target), asker(call));
    changed(call.context, |book, now| {
        book.found_changed(&path, &asker, now);
    });
}

/// Whether only this agent can reach the file.
fn is_own(call: &Call<'_>, target: &Target) -> bool {
    let tmp = call.place.as_ref().map(|place| &place.tmp);
    tmp.is_some_and(|tmp| target.real.starts_with(tmp))
}

fn path_of(target: &Target) -> String {
    target.real.to_string_lossy().into_owned()
}

fn asker(call: &Call<'_>) -> Holder {
    let assignment = call.context.desk.assignment();
    Holder {
        agent: call.context.agent.clone(),
        task: assignment.map(|assignment| assignment.task),
    }
}

fn refusal(target: &Target, lease: &Lease) -> String {
    let task = lease.holder.task.as_ref();
    let task = task.map_or_else(|| "no task".to_owned(), ToString::to_string);
    format!(
        "{} is edited by {} since {} for {task}, so that you would write over each other's work; nothing was changed; go on \
         with something else: you get a message when it is free, then read it again",
        target.shown, lease.holder.agent, lease.since
    )
}

/// The leases of whoever has `path` are free if its process is gone.
fn bury(context: &AgentContext, book: &mut Book, path: &str, now: Timestamp) {
    let held = book.leases().iter().find(|lease| lease.path == path);
    let gone = held.filter(|lease| !is_alive(context, lease));
    if let Some(gone) = gone.map(|lease| lease.holder.agent.clone()) {
        book.end(now, |lease| lease.holder.agent == gone);
    }
}

fn is_alive(context: &AgentContext, lease: &Lease) -> bool {
    let agent = &lease.holder.agent;
    if *agent == context.agent {
        return true;
    }
    if agent.is_lead() {
        return lead_presence::is_there(&context.workspace);
    }
    Roster::new(context.workspace.clone(), Durability::Process).is_alive(agent)
}

fn asked<R>(call: &Call<'_>, ask: impl FnOnce(&mut Book, Timestamp) -> R) -> Result<R, String> {
    change(call.context, ask).map_err(|error| {
        let why = words(&error);
        format!("who edits which file now cannot be seen, so nothing was changed: {why}")
    })
}

/// A change that nobody waits for. One that fails leaves a lease too much, which the next end of a round ends.
fn changed(context: &AgentContext, act: impl FnOnce(&mut Book, Timestamp)) {
    let nothing_there = Leases::new(context.workspace.clone())
        .read()
        .is_ok_and(|read| read.is_ok_and(|book| book == Book::default()));
    if nothing_there {
        return;
    }
    if let Err(error) = change(context, act) {
        tracing::warn!(error = words(&error), "the leases were not changed");
    }
}

fn change<R>(
    context: &AgentContext,
    act: impl FnOnce(&mut Book, Timestamp) -> R,
) -> Result<R, LeaseError> {
    let leases = Leases::new(context.workspace.clone());
    let (done, owed) = leases.change(|book| {
        let done = act(book, Timestamp::now());
        (done, book.owed().to_vec())
    })?;
    let told: Vec<Notice> = owed
        .into_iter()
        .filter(|notice| tell(context, notice))
        .collect();
    if !told.is_empty()
        && let Err(error) = leases.change(|book| book.paid(&told))
    {
        tracing::warn!(
            error = words(&error),
            "told of a lease, and not crossed out"
        );
    }
    Ok(done)
}

/// Whether it was sent. A notice that was sent before has the same id and text, so that it is dropped.
fn tell(context: &AgentContext, notice: &Notice) -> bool {
    let (from, kind, text) = match &notice.subject {
        Subject::Free { by } => (
            &by.agent,
            Kind::StatusUpdate,
            format!(
                "{} no longer edits {}; you may, but read it first: it may have changed",
                by.agent, notice.path
            ),
        ),
        Subject::Conflict { refused, other } => (
            &refused.agent,
            Kind::ErrorReport,
            format!(
                "{} and {} work on the same file, {}: {} was there first and an edit by {} was refused; give one of them \
                 other work, or say who goes first",
                described(refused),
                described(other),
                notice.path,
                other.agent,
                refused.agent
            ),
        ),
    };
    let mut message = Message::new(from, &notice.to, kind, text).with("path", notice.path.as_str());
    message.id.clone_from(&notice.id);
    message.timestamp = notice.at.as_ms();
    match context.post.deliver(&message) {
        Ok(()) => true,
        Err(error) => {
            tracing::warn!(error = words(&error), to = %notice.to, "a notice of a lease was not sent");
            false
        }
    }
}

fn described(holder: &Holder) -> String {
    match &holder.task {
        Some(task) => format!("{} ({task})", holder.agent),
        None => format!("{} (no task)", holder.agent),
    }
}
