//! Files that are not what they should be are moved out of the way while a lead lives (SPEC §2), and told of once.

use std::path::{Path, PathBuf};

use super::session::Session;
use crate::clock;
use crate::findings::eye::BETWEEN_LOOKS;
use crate::ids::AgentName;
use crate::mailbox::Kind;
use crate::store::{StoreError, quarantine, read};

impl Session {
    /// Looks if it is time to.
    pub(super) fn look_after_files(&mut self) {
        let now = clock::instant();
        if now < self.eye.deadline() {
            return;
        }
        match self.eye.look(self.files.books(), now) {
            Ok(told) => {
                for text in told {
                    self.say(text.clone());
                    self.tell_model(&AgentName::lead(), Kind::StatusUpdate, text);
                }
            }
            Err(error) => self.complain("the files were not looked after", &error),
        }
    }
}

/// Moves what is no file out of the places that the lead's own files need, after two looks; answers with what was moved.
pub(super) fn clear_the_way(
    paths: &[PathBuf],
    quarantine_dir: &Path,
) -> anyhow::Result<Vec<String>> {
    let look = || -> Result<Vec<(&PathBuf, &'static str)>, StoreError> {
        let mut found = Vec::new();
        for path in paths {
            // What has another name is a file, and somebody may have it locked.
            let what = read::other_than_plain(path)?.filter(|what| !what.contains("hard link"));
            found.extend(what.map(|what| (path, what)));
        }
        Ok(found)
    };
    let first = look()?;
    if first.is_empty() {
        return Ok(Vec::new());
    }
    std::thread::sleep(BETWEEN_LOOKS);
    let again = look()?;
    let mut moved = Vec::new();
    for (path, what) in again.into_iter().filter(|seen| first.contains(seen)) {
        let why = format!("it is {what}, not a plain file");
        let kept = quarantine::move_file(quarantine_dir, path, &why)?;
        moved.push(format!(
            "{}: {why}; moved to {}",
            path.display(),
            kept.display()
        ));
    }
    Ok(moved)
}
