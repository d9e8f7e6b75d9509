//! What the person said before, for the arrow keys and Ctrl-R: kept in the person's own directory over all sessions.
//!
//! Answers to questions are not kept: they mean nothing at another prompt.

use std::io::ErrorKind;
use std::path::Path;

use reedline::{
    FileBackedHistory, History, HistoryItem, HistoryItemId, HistorySessionId, Result, SearchQuery,
};

use super::prompt::SharedPrompt;
use crate::store::Durability;
use crate::store::atomic::{create_new, ensure_dir};

/// Most lines kept.
const MOST: usize = 10_000;

/// The lines of the person, without answers.
pub struct Said {
    lines: FileBackedHistory,
    prompt: SharedPrompt,
}

impl Said {
    /// Kept in `dir/history` (0600); in memory only without a directory or if that is no file that can be used.
    pub fn open(dir: Option<&Path>, prompt: SharedPrompt) -> Self {
        let lines = dir.and_then(in_file).unwrap_or_default();
        Self { lines, prompt }
    }
}

fn in_file(dir: &Path) -> Option<FileBackedHistory> {
    let path = dir.join("history");
    ensure_dir(dir).ok()?;
    match create_new(&path, b"", Durability::Process) {
        Ok(()) => {}
        Err(error) if error.source.kind() == ErrorKind::AlreadyExists => {}
        Err(_) => return None,
    }
    // Anything else would be followed, or block.
    let is_file = std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
    is_file.then(|| FileBackedHistory::with_file(MOST, path).ok())?
}

impl History for Said {
    fn save(&mut self, item: HistoryItem) -> Result<HistoryItem> {
        if self.prompt.is_question() {
            return Ok(item);
        }
        let kept = self.lines.save(item)?;
        // At once, for a session may end by a kill; a full disk costs the line its place among them, nothing else.
        self.lines.sync().ok();
        Ok(kept)
    }

    fn load(&self, id: HistoryItemId) -> Result<HistoryItem> {
        self.lines.load(id)
    }

    fn count(&self, query: SearchQuery) -> Result<i64> {
        self.lines.count(query)
    }

    fn search(&self, query: SearchQuery) -> Result<Vec<HistoryItem>> {
        self.lines.search(query)
    }

    fn update(
        &mut self,
        id: HistoryItemId,
        updater: &dyn Fn(HistoryItem) -> HistoryItem,
    ) -> Result<()> {
        self.lines.update(id, updater)
    }

    fn clear(&mut self) -> Result<()> {
        self.lines.clear()
    }

    fn delete(&mut self, id: HistoryItemId) -> Result<()> {
        self.lines.delete(id)
    }

    fn sync(&mut self) -> std::io::Result<()> {
        self.lines.sync()
    }

    fn session(&self) -> Option<HistorySessionId> {
        self.lines.session()
    }
}
