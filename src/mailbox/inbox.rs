//! Receiving (SPEC §4.4): one transcript record is delivery and cursor at once.
//!
//! The steps of a take-in, under the mailbox's lock: bad lines to quarantine; one [`Record::Mail`]; the archive; the mailbox
//! is emptied. A crash between them leaves lines in the mailbox that the record has already. [`Inbox::open`] knows them
//! by the record's length and hash, archives what is not archived, and empties.
//!
//! Lines that bring no id are the one case in which the same bytes may rightly come again, so that bytes and hash do not
//! tell whether the mailbox was emptied. They are blanked in place between two notes: after a crash, what the first one
//! names is blanked again, and what the second one names is dealt with. Nobody else moves what stands in front.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use super::batch::Batch;
use super::file::{self, LockedFile};
use super::message::MAX_MESSAGE;
use super::{Message, archive};
use crate::clock::{self, Timestamp};
use crate::conversation::{ContentHash, LastMail, Record, Replay, Transcript};
use crate::ids::AgentName;
use crate::store::fault::{self, Point};
use crate::store::lock::LockFile;
use crate::store::{Durability, StoreError, quarantine};
use crate::workspace::Workspace;

/// The transcript note that says how far the front of the mailbox is blank: the id of its record's first message, and
/// [`BLANKING`] or [`BLANK`]. Kept for records with lines that bring no id.
const FRONT: &str = "mailbox_front";
const BLANKING: &str = "blanking";
const BLANK: &str = "blank";

/// How much of a line that is too long to be read goes to quarantine, in bytes.
const HEAD: usize = 64 * 1024;

/// What one take-in brought.
#[derive(Debug, Default)]
pub struct Intake {
    /// New messages in order, recorded in the transcript.
    pub messages: Vec<Message>,
    /// Lines that could not be read and went to quarantine: one text each, for the lead to be told once.
    pub damaged: Vec<String>,
}

/// An agent's own mailbox. Only its owner empties it.
#[derive(Debug)]
pub struct Inbox {
    owner: AgentName,
    path: PathBuf,
    archive: PathBuf,
    quarantine: PathBuf,
    /// Ids of all mail ever taken in, with each content's hash.
    known: HashMap<String, ContentHash>,
    durability: Durability,
    /// What is recorded but perhaps not yet archived and out of the mailbox.
    unfinished: Option<Unfinished>,
    /// The mailbox, left open.
    kept: Option<Arc<LockFile>>,
}

/// A front of the mailbox that is recorded.
#[derive(Debug)]
struct Unfinished {
    /// Its record.
    from: LastMail,
    /// The JSON of the messages that were recorded from it.
    messages: Vec<Vec<u8>>,
    /// It may be half blank.
    blanking: bool,
}

impl Unfinished {
    /// The last record of a transcript. Where the disk was full its messages may be before the model already, and be
    /// neither in the archive nor out of the mailbox.
    fn of(replay: &Replay) -> Option<Self> {
        let from = replay.last_mail.clone()?;
        let says = |stage| replay.notes.get(FRONT) == Some(&json!([from.first, stage]));
        let (blanking, blank) = (says(BLANKING), says(BLANK));
        (!blank).then(|| Self {
            from,
            messages: replay
                .last_batch
                .iter()
                .map(|message| message.to_string().into_bytes())
                .collect(),
            blanking,
        })
    }
}

impl Inbox {
    /// Opens the mailbox of `owner` (made if missing, so that it can be watched) and finishes a take-in that a crash cut
    /// short; `replay` is what `transcript` held.
    pub fn open(
        workspace: &Workspace,
        owner: &AgentName,
        transcript: &mut Transcript,
        replay: &Replay,
        durability: Durability,
    ) -> Result<Self, StoreError> {
        let mut inbox = Self {
            owner: owner.clone(),
            path: workspace.mailbox(owner),
            archive: workspace.archive(owner),
            quarantine: workspace.quarantine_dir(),
            known: replay.known_mail.clone(),
            durability,
            unfinished: Unfinished::of(replay),
            kept: None,
        };
        file::make(workspace, &inbox.path, durability)?;
        let path = inbox.path.clone();
        inbox.finish(&LockedFile::lock(&path, None)?, transcript)?;
        Ok(inbox)
    }

    /// Takes all whole lines in: under the mailbox lock record, archive, empty. Known ids are dropped. Cheap when empty.
    ///
    /// An error before the record leaves everything in the mailbox. After the record the messages are delivered: what
    /// then fails is logged here, tried again first by the next call, and its error if it fails again.
    pub fn take_in(&mut self, transcript: &mut Transcript) -> Result<Intake, StoreError> {
        if file::is_empty(&self.path)? {
            return Ok(Intake::default());
        }
        let path = self.path.clone();
        let mailbox = LockedFile::lock(&path, self.kept.take())?;
        self.finish(&mailbox, transcript)?;
        let chunk = mailbox.read()?;
        // Blanked lines before a torn one stay: to overwrite them again would wake the owner for nothing, again and again.
        if chunk.lines.is_empty() && (chunk.end == 0 || chunk.torn > 0) {
            return Ok(Intake::default());
        }
        let mut batch = Batch::sort(chunk.lines, &self.known, &self.owner, clock::now_ms());
        self.quarantine(&mailbox, &batch)?;
        fault::here(Point::MailRead);
        self.record(&mailbox, chunk.end, &mut batch, transcript)?;
        if let Err(error) = self.clear(&mailbox, chunk.end, &batch, transcript) {
            tracing::warn!(%error, source = %error.source, "mail is taken in but still in the mailbox");
        }
        self.kept = Some(mailbox.leave());
        for note in &batch.notes {
            tracing::info!(owner = %self.owner, "{note}");
        }
        Ok(Intake {
            damaged: batch.damaged(&self.owner),
            messages: batch.messages,
        })
    }

    /// Keeps the bad lines of a batch in one file, each with its reason.
    fn quarantine(&self, mailbox: &LockedFile<'_>, batch: &Batch) -> Result<(), StoreError> {
        if batch.bad.is_empty() {
            return Ok(());
        }
        let (mut bytes, mut reasons) = (Vec::new(), Vec::new());
        for line in &batch.bad {
            let (kept, cut) = match &line.bytes {
                Some(kept) => (kept.clone(), String::new()),
                None => (
                    mailbox.head(line.offset, HEAD)?,
                    format!("; its first {HEAD} bytes are kept"),
                ),
            };
            bytes.extend_from_slice(&kept);
            bytes.push(b'\n');
            reasons.push(format!(
                "the line at byte {}: {}{cut}",
                line.offset, line.why
            ));
        }
        let name = format!("{}.mail.jsonl", self.owner);
        quarantine::keep(&self.quarantine, &name, &bytes, &reasons.join("\n"))?;
        Ok(())
    }

    /// The step that makes the messages delivered; `end` is how much of the mailbox they come from.
    fn record(
        &mut self,
        mailbox: &LockedFile<'_>,
        end: u64,
        batch: &mut Batch,
        transcript: &mut Transcript,
    ) -> Result<(), StoreError> {
        let Some(first) = batch.messages.first() else {
            return Ok(());
        };
        let hash = mailbox.hash(end)?.ok_or_else(|| {
            StoreError::new("read", &self.path, std::io::ErrorKind::UnexpectedEof.into())
        })?;
        transcript.append_mail(&batch.lines, end, &hash)?;
        fault::here(Point::MailRecorded);
        self.unfinished = Some(Unfinished {
            from: LastMail {
                bytes: end,
                hash,
                first: first.id.clone(),
            },
            messages: std::mem::take(&mut batch.lines),
            blanking: false,
        });
        self.known.extend(batch.ids.drain());
        Ok(())
    }

    /// What follows the record.
    fn clear(
        &mut self,
        mailbox: &LockedFile<'_>,
        end: u64,
        batch: &Batch,
        transcript: &mut Transcript,
    ) -> Result<(), StoreError> {
        let recorded = self.unfinished.iter().flat_map(|taken| &taken.messages);
        let recorded = recorded.map(Vec::as_slice);
        archive::append(&self.archive, recorded, Timestamp::now())?;
        fault::here(Point::MailArchived);
        if batch.anonymous {
            self.blank(mailbox, transcript)?;
        }
        mailbox.empty(end)?;
        fault::here(Point::MailEmptied);
        self.unfinished = None;
        Ok(())
    }

    /// Archives and empties what was recorded, if it still stands at the front of the mailbox.
    fn finish(
        &mut self,
        mailbox: &LockedFile<'_>,
        transcript: &mut Transcript,
    ) -> Result<(), StoreError> {
        if let Some(Unfinished {
            from,
            messages,
            blanking,
        }) = &self.unfinished
            && (*blanking || mailbox.hash(from.bytes)?.as_ref() == Some(&from.hash))
        {
            let end = from.bytes;
            archive::append_missing(&self.archive, messages, &self.owner)?;
            self.blank(mailbox, transcript)?;
            mailbox.empty(end)?;
        }
        self.unfinished = None;
        Ok(())
    }

    /// Makes the front blank that is recorded, between its notes.
    fn blank(
        &mut self,
        mailbox: &LockedFile<'_>,
        transcript: &mut Transcript,
    ) -> Result<(), StoreError> {
        let Some(taken) = &mut self.unfinished else {
            return Ok(());
        };
        let mut note = |stage| {
            transcript.append(&Record::Note {
                key: FRONT.to_owned(),
                value: json!([taken.from.first, stage]),
                at: Timestamp::now(),
            })
        };
        note(BLANKING)?;
        taken.blanking = true;
        fault::here(Point::MailNoted);
        mailbox.blank(taken.from.bytes, self.durability)?;
        fault::here(Point::MailBlanked);
        note(BLANK)
    }
}

/// Messages that wait in `agent`'s mailbox, without taking them in; unreadable lines are skipped.
pub fn waiting(workspace: &Workspace, agent: &AgentName) -> Result<Vec<Message>, StoreError> {
    let chunk = file::read_unlocked(&workspace.mailbox(agent), MAX_MESSAGE)?;
    Ok(Batch::sort(chunk.lines, &HashMap::new(), agent, clock::now_ms()).messages)
}

/// Messages that `agent` has taken in, from its archive, oldest first.
pub fn archived(workspace: &Workspace, agent: &AgentName) -> Result<Vec<Message>, StoreError> {
    archive::read(&workspace.archive(agent), agent)
}
