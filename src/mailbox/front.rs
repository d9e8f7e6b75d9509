//! Whether a mailbox begins with mail that its owner has recorded and not taken out yet.
//!
//! A crash leaves that; the owner, started again, knows it by its bytes ([`super::inbox`]). Until then they must stay as
//! they are.

use std::path::Path;

use super::file::LockedFile;
use crate::conversation::{MailRecord, Record};
use crate::store::jsonl::Line;
use crate::store::lines::Lines;
use crate::store::read::{ReadError, open_plain};
use crate::store::{StoreError, jsonl};

/// How every record of mail begins.
const MAIL: &[u8] = b"{\"type\":\"mail\"";

/// Runs `act` under the lock of `mailbox`; `None`, and nothing is run, if its front is recorded in one of `transcripts`.
pub fn unless_recorded<R>(
    mailbox: &Path,
    transcripts: &[&Path],
    act: impl FnOnce() -> R,
) -> Result<Option<R>, StoreError> {
    let locked = LockedFile::lock(mailbox, None)?;
    for transcript in transcripts {
        if let Some(last) = last_mail(transcript)?
            && last.bytes > 0
            && locked.hash(last.bytes)?.as_ref() == Some(&last.hash)
        {
            return Ok(None);
        }
    }
    let done = act();
    drop(locked);
    Ok(Some(done))
}

fn last_mail(transcript: &Path) -> Result<Option<MailRecord>, StoreError> {
    let file = match open_plain(transcript) {
        Ok(Some(file)) => file,
        Err(ReadError::Store(error)) => return Err(error),
        Ok(None) | Err(ReadError::NotPlain { .. } | ReadError::TooLarge { .. }) => return Ok(None),
    };
    let mut lines = Lines::new(file, 0, jsonl::LONGEST);
    let mut last = None;
    while let Some(line) = lines
        .next_line()
        .map_err(StoreError::of("read", transcript))?
    {
        if let Line::Whole { bytes, .. } = line
            && bytes.starts_with(MAIL)
            && let Ok(Record::Mail(record)) = serde_json::from_slice(&bytes)
        {
            last = Some(record);
        }
    }
    Ok(last)
}
