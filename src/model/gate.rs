//! `gate.json`: until when a provider asked everybody to wait (SPEC §9.5).
//!
//! One object, `{"<provider>": {"until", "by", "why"}}`. Whoever is told 429 or 529 writes it, and every agent looks at it
//! before each of its calls. It only ever delays: an entry that is past, unreadable or absurdly far away holds nobody back.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::clock::{self, Timestamp};
use crate::store::lock::{FileLock, LockError};
use crate::store::read::read_plain;
use crate::store::{Durability, StoreError, atomic};
use crate::workspace::Workspace;

/// Longest that a server may hold everybody back.
pub(super) const LONGEST: Duration = Duration::from_hours(24);
/// Largest file that is read, in bytes.
const MAX_FILE: u64 = 64 * 1024;
/// How long the file's lock is waited for: a cancelled call ends within a second.
const LOCK_WAIT: Duration = Duration::from_millis(500);

/// Why and until when a provider is not asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// When it may be asked again.
    pub until: Timestamp,
    /// Who was told.
    pub by: String,
    /// What the server said.
    pub why: String,
}

impl Held {
    /// How long from now; zero once it is past.
    pub fn left(&self) -> Duration {
        Duration::from_millis(self.until.as_ms().saturating_sub(clock::now_ms()))
    }

    fn holds(&self) -> bool {
        let left = self.left();
        !left.is_zero() && left <= LONGEST
    }
}

/// The gate of one provider, as one agent sees it.
#[derive(Debug, Clone)]
pub struct Gate {
    path: PathBuf,
    provider: String,
    agent: String,
}

impl Gate {
    /// For `model`, named `provider:name`, as asked by `agent`.
    pub fn new(workspace: &Workspace, model: &str, agent: &str) -> Self {
        let provider = model
            .split_once(':')
            .map_or(model, |(provider, _)| provider);
        Self {
            path: workspace.rate_gate(),
            provider: provider.to_owned(),
            agent: agent.to_owned(),
        }
    }

    /// The provider.
    pub fn provider(&self) -> &str {
        &self.provider
    }

    /// What holds the provider's agents back now, if anything does.
    pub fn closed(&self) -> Option<Held> {
        entry(&read(&self.path), &self.provider)
    }

    /// Holds all of the provider's agents back for `time` from now, or longer if somebody said so already.
    pub fn close(&self, time: Duration, why: &str) -> Result<(), StoreError> {
        let lock = FileLock::exclusive(&self.path, LOCK_WAIT).map_err(LockError::into_store)?;
        let mut all = read(&self.path);
        let ms = u64::try_from(time.min(LONGEST).as_millis()).unwrap_or(u64::MAX);
        let until = Timestamp::from_ms(clock::now_ms().saturating_add(ms));
        if entry(&all, &self.provider).is_some_and(|held| held.until >= until) {
            return Ok(());
        }
        let held = Held {
            until,
            by: self.agent.clone(),
            why: why.to_owned(),
        };
        let failed = |error: serde_json::Error| StoreError::new("write", &self.path, error.into());
        let value = serde_json::to_value(held).map_err(failed)?;
        all.insert(self.provider.clone(), value);
        let mut bytes = serde_json::to_vec_pretty(&all).map_err(failed)?;
        bytes.push(b'\n');
        atomic::replace(&self.path, &bytes, Durability::Process)?;
        drop(lock);
        Ok(())
    }
}

/// Every provider whose agents are held back now.
pub fn closed(workspace: &Workspace) -> Vec<(String, Held)> {
    let all = read(&workspace.rate_gate());
    all.keys()
        .filter_map(|provider| Some((provider.clone(), entry(&all, provider)?)))
        .collect()
}

fn entry(all: &Map<String, Value>, provider: &str) -> Option<Held> {
    let held: Held = serde_json::from_value(all.get(provider)?.clone()).ok()?;
    held.holds().then_some(held)
}

/// What cannot be read holds nobody back.
fn read(path: &std::path::Path) -> Map<String, Value> {
    let bytes = read_plain(path, MAX_FILE).ok().flatten();
    bytes
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene() -> (tempfile::TempDir, Workspace) {
        let scratch = tempfile::tempdir().unwrap();
        let workspace = Workspace::at(scratch.path().canonicalize().unwrap());
        atomic::ensure_dir(&workspace.state_dir()).unwrap();
        (scratch, workspace)
    }

    fn gate(workspace: &Workspace, model: &str) -> Gate {
        Gate::new(workspace, model, "alice")
    }

    #[test]
    fn one_agents_gate_holds_its_providers_others_until_the_later_time() {
        let (_scratch, workspace) = scene();
        let (mine, other) = (gate(&workspace, "openai:a"), gate(&workspace, "openai:b"));
        let minute = Duration::from_mins(1);
        assert_eq!(mine.closed(), None);
        mine.close(minute * 2, "429").unwrap();
        other.close(minute, "sooner").unwrap();
        let held = other.closed().unwrap();
        assert_eq!((held.by.as_str(), held.why.as_str()), ("alice", "429"));
        assert!(held.left() > minute && held.left() <= minute * 2);
        assert_eq!(gate(&workspace, "anthropic:a").closed(), None);
        gate(&workspace, "anthropic:a")
            .close(minute, "529")
            .unwrap();
        let providers: Vec<String> = closed(&workspace)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(providers, ["openai", "anthropic"]);
    }

    #[test]
    fn what_is_past_torn_or_absurd_holds_nobody_back_and_is_written_over() {
        let (_scratch, workspace) = scene();
        let gate = gate(&workspace, "openai:a");
        for text in [
            "",
            "{\"openai\": {\"until\"",
            "[]",
            "{\"openai\": 7}",
            r#"{"openai": {"until": "2001-01-01T00:00:00Z", "by": "x", "why": "y"}}"#,
            r#"{"openai": {"until": "2999-01-01T00:00:00Z", "by": "x", "why": "y"}}"#,
        ] {
            atomic::replace(&workspace.rate_gate(), text.as_bytes(), Durability::Process).unwrap();
            assert_eq!(gate.closed(), None, "{text}");
            gate.close(Duration::from_mins(1), "429").unwrap();
            assert!(gate.closed().is_some(), "{text}");
        }
    }
}
