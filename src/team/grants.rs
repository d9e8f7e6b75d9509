//! `grants.jsonl`: rules that the person has allowed "always" for one teammate (SPEC §8.4), kept across its restarts.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::ids::{AgentName, RequestId};
use crate::store::jsonl::{Appender, Line, read_lines};
use crate::store::read::open_plain;
use crate::store::{Durability, StoreError};
use crate::workspace::Workspace;

/// Longest line that is read, in bytes.
const MAX_LINE: usize = 64 * 1024;

#[derive(Debug, Serialize, Deserialize)]
struct Grant {
    agent: AgentName,
    rule: String,
    request: RequestId,
    at: Timestamp,
}

/// Keeps `rule` for `agent`, as the person allowed it in `request`.
pub fn keep(
    workspace: &Workspace,
    agent: &AgentName,
    rule: &str,
    request: &RequestId,
    durability: Durability,
) -> Result<(), StoreError> {
    let path = workspace.grants();
    let grant = Grant {
        agent: agent.clone(),
        rule: rule.to_owned(),
        request: request.clone(),
        at: Timestamp::now(),
    };
    let line = serde_json::to_vec(&grant)
        .map_err(|error| StoreError::new("write", &path, error.into()))?;
    Appender::open(&path, durability)?.append_shared(&line)
}

/// What is wrong with a line of the file.
pub fn line_fault(line: &[u8]) -> Option<String> {
    let read = serde_json::from_slice::<Grant>(line);
    read.err().map(|error| error.to_string())
}

/// The rules kept for `agent`. What cannot be read grants nothing.
pub fn of(workspace: &Workspace, agent: &AgentName) -> Vec<String> {
    let Ok(Some(file)) = open_plain(&workspace.grants()) else {
        return Vec::new();
    };
    let chunk = read_lines(&file, 0, MAX_LINE).unwrap_or_default();
    chunk
        .lines
        .iter()
        .filter_map(|line| match line {
            Line::Whole { bytes, .. } => serde_json::from_slice::<Grant>(bytes).ok(),
            Line::TooLong { .. } => None,
        })
        .filter(|grant| grant.agent == *agent)
        .map(|grant| grant.rule)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_are_kept_for_their_agent_alone() {
        let scratch = tempfile::tempdir().unwrap();
        let workspace = Workspace::at(scratch.path().to_path_buf());
        let alice = AgentName::parse("alice").unwrap();
        let bob = AgentName::parse("bob").unwrap();
        assert!(of(&workspace, &alice).is_empty());
        let request = RequestId::random();
        keep(
            &workspace,
            &alice,
            "bash(rm *)",
            &request,
            Durability::Process,
        )
        .unwrap();
        assert_eq!(of(&workspace, &alice), ["bash(rm *)"]);
        assert!(of(&workspace, &bob).is_empty());
    }
}
