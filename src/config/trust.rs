//! Whether the person has agreed to what a workspace brings along (SPEC §13.1).
//!
//! Agreement is to exactly one content: `trust.json` keeps, for each workspace, the SHA-256 of its settings and role files.

use std::collections::BTreeMap;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::env::Environment;
use super::layers::{SettingsError, foreign_file, own_file};
use crate::store::{Durability, StoreError, atomic};
use crate::workspace::Workspace;

/// What a workspace brings along.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Content {
    /// The text of `team.json`.
    pub settings: Option<String>,
    /// Role files by their path below the root.
    pub roles: BTreeMap<PathBuf, String>,
}

impl Content {
    /// Whether there is nothing to agree to.
    pub fn is_empty(&self) -> bool {
        self.settings.is_none() && self.roles.is_empty()
    }

    /// SHA-256 over all names and texts, hex.
    fn hash(&self) -> String {
        let mut hasher = Sha256::new();
        let mut part = |name: &[u8], text: &str| {
            for bytes in [name, text.as_bytes()] {
                hasher.update(bytes.len().to_le_bytes());
                hasher.update(bytes);
            }
        };
        if let Some(text) = &self.settings {
            part(b"team.json", text);
        }
        for (path, text) in &self.roles {
            part(path.as_os_str().as_encoded_bytes(), text);
        }
        format!("{:x}", hasher.finalize())
    }
}

/// Reads settings and role files of `workspace`. A role file that is not a plain text file counts as missing.
pub fn content(workspace: &Workspace) -> Result<Content, SettingsError> {
    let mut content = Content {
        settings: foreign_file(&workspace.team_settings())?,
        roles: BTreeMap::new(),
    };
    for dir in [
        workspace.roles_dir(),
        workspace.root().join(".claude").join("agents"),
    ] {
        let Ok(entries) = std::fs::read_dir(&dir) else {
            continue;
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.extension().is_none_or(|ext| ext != "md") {
                continue;
            }
            if let (Ok(Some(text)), Ok(name)) =
                (foreign_file(&path), path.strip_prefix(workspace.root()))
            {
                content.roles.insert(name.to_path_buf(), text);
            }
        }
    }
    Ok(content)
}

/// Whether the person has agreed to exactly this content of this workspace.
pub fn is_agreed(
    environment: &Environment,
    workspace: &Workspace,
    content: &Content,
) -> Result<bool, SettingsError> {
    if content.is_empty() {
        return Ok(true);
    }
    let Some(path) = record(environment) else {
        return Ok(false);
    };
    let agreed = read(&path)?;
    let root = workspace.root().to_string_lossy();
    Ok(agreed.get(root.as_ref()) == Some(&content.hash()))
}

/// Records that the person has agreed. Without a home directory nothing is kept.
pub fn agree(
    environment: &Environment,
    workspace: &Workspace,
    content: &Content,
) -> Result<(), SettingsError> {
    let (Some(dir), Some(path)) = (environment.settings_dir(), record(environment)) else {
        return Ok(());
    };
    let failed = |error: StoreError| {
        SettingsError(format!(
            "cannot keep your answer in {}; {}; the workspace stays untrusted",
            path.display(),
            error.source
        ))
    };
    let mut agreed = read(&path)?;
    let root = workspace.root().to_string_lossy().into_owned();
    agreed.insert(root, content.hash());
    atomic::ensure_dir(&dir).map_err(failed)?;
    let text = serde_json::to_vec_pretty(&agreed).unwrap_or_default();
    atomic::replace(&path, &text, Durability::Power).map_err(failed)
}

pub(super) fn record(environment: &Environment) -> Option<PathBuf> {
    environment.settings_dir().map(|dir| dir.join("trust.json"))
}

fn read(path: &std::path::Path) -> Result<BTreeMap<String, String>, SettingsError> {
    let Some(text) = own_file(path)? else {
        return Ok(BTreeMap::new());
    };
    serde_json::from_str(&text).map_err(|error| {
        SettingsError(format!(
            "cannot read {}; {error}; correct it or move it away to be asked again",
            path.display()
        ))
    })
}
