//! What a living lead looks at now and then: whether files are what they should be, and whether writers that are gone left any.
//!
//! A look costs a look at each file's stamp and the reading of those that are new or changed. What is wrong is moved to
//! quarantine after a second look, 5 s after the first, that found it unchanged; each file is told of once.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::Books;
use super::files;
use super::judge::Depth;
use super::mend::mend;
use super::survey::{Act, Remedy, of_file};
use crate::ids::AgentName;
use crate::store::StoreError;
use crate::store::watch::Stamp;

/// How often everything is looked at.
const EVERY: Duration = Duration::from_secs(30);
/// Between the two looks at what is to be moved.
pub const BETWEEN_LOOKS: Duration = Duration::from_secs(5);

/// What was seen so far.
#[derive(Debug)]
pub struct Eye {
    due: Instant,
    /// Files in which there was nothing wrong, or nothing more to be done.
    settled: HashMap<PathBuf, Stamp>,
    doubts: HashMap<PathBuf, Doubt>,
}

/// Something wrong that was seen once.
#[derive(Debug)]
struct Doubt {
    act: Act,
    since: Instant,
}

impl Eye {
    /// Looks for the first time a moment after `now`: a start has enough to do.
    pub fn new(now: Instant) -> Self {
        Self {
            due: now + BETWEEN_LOOKS,
            settled: HashMap::new(),
            doubts: HashMap::new(),
        }
    }

    /// When [`Self::look`] is to be called.
    pub fn deadline(&self) -> Instant {
        self.due
    }

    /// Looks, and moves what was wrong at the look before, too. Answers with one text for each file.
    pub fn look(&mut self, books: Books<'_>, now: Instant) -> Result<Vec<String>, StoreError> {
        self.due = now + EVERY;
        let mut before = std::mem::take(&mut self.settled);
        let mut doubts = std::mem::take(&mut self.doubts);
        let mut told = Vec::new();
        for kept in files::all(books.workspace)? {
            let stamp = Stamp::of(&kept.path);
            if before.remove(&kept.path).is_some_and(|was| was == stamp) {
                self.settled.insert(kept.path, stamp);
                continue;
            }
            let found = of_file(books, &kept, Depth::Names, true);
            let Some((detail, act)) = found.and_then(|found| match found.remedy {
                Remedy::Act(act) => Some((found.detail, act)),
                Remedy::None | Remedy::Person(_) | Remedy::Others(_) => None,
            }) else {
                self.settled.insert(kept.path, stamp);
                continue;
            };
            let since = match doubts.remove(&kept.path) {
                Some(doubt) if doubt.act == act => doubt.since,
                _ => now,
            };
            if now.saturating_duration_since(since) < BETWEEN_LOOKS {
                self.due = self.due.min(since + BETWEEN_LOOKS);
                self.doubts.insert(kept.path, Doubt { act, since });
                continue;
            }
            told.extend(done(books, &detail, &act));
            self.settled.insert(kept.path, stamp);
        }
        Ok(told)
    }
}

/// Temporary files are nobody's, so that nothing is said of them.
fn done(books: Books<'_>, detail: &str, act: &Act) -> Option<String> {
    match (mend(books, &AgentName::lead(), act), act) {
        (Ok(_), Act::Sweep(_)) => None,
        (Ok(done), _) => Some(format!("{detail}; {done}")),
        (Err(error), _) => Some(format!("{detail}; it stays there: {error:#}")),
    }
}
