//! What `write_file` and `edit_file` share: the refusals and the replacing.

use std::io;

use super::call::{Call, Said};
use super::leases;
use super::path::{Opened, Target};
use super::seen::hash;
use crate::store::{Durability, atomic};

/// Runs `edit` under this agent's lease of the file, which lasts until its round ends if the edit succeeds.
pub(crate) fn under_lease(
    call: &Call<'_>,
    target: &Target,
    edit: impl FnOnce() -> Result<Said, String>,
) -> Result<Said, String> {
    let is_new = leases::take(call, target)?;
    let done = edit();
    if is_new && done.is_err() {
        leases::take_back(call, target);
    }
    done
}

/// The refusal of an edit of something that the agent does not know as it is.
pub(crate) fn changed(call: &Call<'_>, target: &Target) -> String {
    leases::found_changed(call, target);
    format!(
        "{} has changed since you last read it; read it again, then edit what is there now",
        target.shown
    )
}

/// Notes that the person is shown a change of `old`.
pub(crate) fn show(call: &Call<'_>, old: &[u8]) {
    call.agreed.set(Some(hash(old)));
}

/// Refuses an edit of other content than the person was shown, if a question stood before it.
pub(crate) fn check_agreed(call: &Call<'_>, target: &Target, old: &[u8]) -> Result<(), String> {
    match call.agreed.get() {
        Some(shown) if shown != hash(old) => Err(format!(
            "{} has changed while the question was open; read it again",
            target.shown
        )),
        Some(_) | None => Ok(()),
    }
}

/// A failed file operation, in words.
pub(crate) fn cannot(act: &str, target: &Target, error: &io::Error) -> String {
    format!("cannot {act} {}: {error}", target.shown)
}

/// Puts `content` in the file's place and notes it as known. `mode` are the old file's permission bits.
pub(crate) fn replace(
    call: &Call<'_>,
    target: &Target,
    parent: &Opened,
    content: &[u8],
    mode: Option<u32>,
) -> Result<(), String> {
    let mode = match mode {
        Some(mode) => mode,
        None => parent
            .mode_of_new()
            .map_err(|error| cannot("write", target, &error))?,
    };
    atomic::replace_with_mode(&parent.path(), content, mode, Durability::Power)
        .map_err(|error| cannot("write", target, &error.source))?;
    call.seen.note(&target.real, content);
    Ok(())
}
