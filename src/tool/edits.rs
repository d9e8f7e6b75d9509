//! What `write_file` and `edit_file` share: the refusals and the replacing.

use std::io;

use super::call::Call;
use super::path::{Opened, Target};
use super::seen::hash;
use crate::store::{Durability, atomic};

/// The refusal of an edit of something that the agent does not know as it is.
pub(crate) fn changed(target: &Target) -> String {
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
