//! The lead's conversation on disk: its transcript and mailbox, and mail that an earlier session left half-way.

use anyhow::Context;

use super::SessionOptions;
use super::session::Files;
use super::start::durability;
use crate::clock::Timestamp;
use crate::conversation::{MailRecord, Record, Replay, Transcript};
use crate::ids::{AgentName, SessionId};
use crate::mailbox::Inbox;
use crate::store::Durability;
use crate::workspace::Workspace;

/// The lead's transcript and mailbox, with the mail that waits to be put before the model.
pub(super) struct Talk {
    pub(super) transcript: Transcript,
    pub(super) replay: Replay,
    pub(super) inbox: Inbox,
}

/// Opens both for the session `id`; `last` is the session before.
pub(super) fn open(
    options: &mut SessionOptions,
    files: &Files,
    last: Option<&crate::team::Session>,
    id: &SessionId,
) -> anyhow::Result<Talk> {
    let durability = durability(&options.settings);
    let (mut transcript, mut replay) = open_transcript(&files.workspace, id, durability)?;
    if let Some(last) = last.filter(|last| last.id != *id) {
        let there = files.workspace.lead_transcript(&last.id).exists();
        let before = there.then(|| open_transcript(&files.workspace, &last.id, durability));
        match before.transpose() {
            Ok(None) => {}
            Ok(Some(before)) => carry_mail_over(
                &files.workspace,
                before,
                durability,
                &mut transcript,
                &mut replay,
            )?,
            Err(error) => options.warnings.push(format!(
                "mail that the session before had taken in and not read stays there; {error:#}"
            )),
        }
    }
    let lead = AgentName::lead();
    let inbox = Inbox::open(
        &files.workspace,
        &lead,
        &mut transcript,
        &replay,
        durability,
    )
    .context("the lead's mailbox cannot be opened")?;
    Ok(Talk {
        transcript,
        replay,
        inbox,
    })
}

fn open_transcript(
    workspace: &Workspace,
    id: &SessionId,
    durability: Durability,
) -> anyhow::Result<(Transcript, Replay)> {
    let start = Record::Start {
        agent: AgentName::lead().to_string(),
        session: Some(id.to_string()),
        at: Timestamp::now(),
    };
    Transcript::open(&workspace.lead_transcript(id), &start, durability)
        .with_context(|| format!("the conversation of {id} cannot be opened"))
}

/// Mail that an earlier session took in and never put before its model belongs to this one. It is recorded here before
/// `session.json` names this session, and done with there after: a crash in between delivers it to the next.
fn carry_mail_over(
    workspace: &Workspace,
    (mut old, left): (Transcript, Replay),
    durability: Durability,
    transcript: &mut Transcript,
    replay: &mut Replay,
) -> anyhow::Result<()> {
    // Finishes a take-in that a crash cut short.
    drop(Inbox::open(
        workspace,
        &AgentName::lead(),
        &mut old,
        &left,
        durability,
    )?);
    replay.known_mail.extend(left.known_mail);
    if left.pending_mail.is_empty() {
        return Ok(());
    }
    let ids = left
        .pending_mail
        .iter()
        .filter_map(|message| message.get("id")?.as_str().map(str::to_owned))
        .collect();
    transcript.append(&Record::Mail(MailRecord {
        messages: left.pending_mail.clone(),
        bytes: 0,
        hash: String::new(),
        at: Timestamp::now(),
    }))?;
    replay.pending_mail.extend(left.pending_mail);
    Ok(old.append(&Record::User {
        text: String::new(),
        mail: ids,
        by: None,
        at: Timestamp::now(),
    })?)
}
