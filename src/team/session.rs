//! `session.json`: which session runs, its generation, and the settings in force for the team.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clock::Timestamp;
use crate::ids::{AgentName, SessionId};
use crate::store::read::read_plain;
use crate::store::{Durability, StoreError, atomic};
use crate::workspace::Workspace;

/// Largest `session.json` that is read, in bytes.
const MAX_SESSION: u64 = 4 * 1024 * 1024;

/// The session as written by its lead.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// Raised by every start of a lead.
    pub generation: u64,
    /// The lead's process.
    pub pid: u32,
    /// The lead's model, `provider:name`.
    pub model: String,
    /// When this lead started.
    pub started_at: Timestamp,
    /// Whether nobody can answer questions in this run (headless without `--yes`).
    #[serde(default)]
    pub unattended: bool,
    /// What the lead does: `idle`, `working`, `leaving`.
    #[serde(default)]
    pub status: String,
    /// When the person last said or decided something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person_at: Option<Timestamp>,
    /// Teammates that work without a sign, and since when (SPEC §6.5).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stalled: BTreeMap<AgentName, Timestamp>,
    /// Effective settings, flags included: what `config::Settings` serialises to.
    pub settings: Value,
}

impl Session {
    /// The session in `workspace`, if a valid one is recorded.
    pub fn load(workspace: &Workspace) -> Option<Self> {
        let bytes = read_plain(&workspace.session(), MAX_SESSION).ok()??;
        serde_json::from_slice(&bytes).ok()
    }

    /// What is wrong with what is recorded, if anything is.
    pub fn fault(workspace: &Workspace) -> Option<String> {
        let bytes = match read_plain(&workspace.session(), MAX_SESSION) {
            Ok(bytes) => bytes?,
            Err(error) => return Some(error.why()),
        };
        let read = serde_json::from_slice::<Self>(&bytes);
        read.err().map(|error| error.to_string())
    }

    /// Writes it.
    pub fn save(&self, workspace: &Workspace, durability: Durability) -> Result<(), StoreError> {
        let path = workspace.session();
        let mut bytes = serde_json::to_vec_pretty(self)
            .map_err(|error| StoreError::new("write", &path, error.into()))?;
        bytes.push(b'\n');
        atomic::replace(&path, &bytes, durability)
    }
}
