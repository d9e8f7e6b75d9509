//! `grants.jsonl`: rules that the person has allowed or denied "always" for one teammate (SPEC §8.4), kept across its
//! restarts.

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
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    denied: bool,
    request: RequestId,
    at: Timestamp,
}

/// What is kept for one teammate.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Rules that allow.
    pub allowed: Vec<String>,
    /// Rules whose questions are answered no.
    pub denied: Vec<String>,
}

/// Keeps `rule` for `agent`, as the person allowed or denied it in `request`.
pub fn keep(
    workspace: &Workspace,
    agent: &AgentName,
    (rule, denied): (&str, bool),
    request: &RequestId,
    durability: Durability,
) -> Result<(), StoreError> {
    let path = workspace.grants();
    let grant = Grant {
        agent: agent.clone(),
        rule: rule.to_owned(),
        denied,
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

/// The rules kept for `agent`, the last word on each. What cannot be read grants nothing.
pub fn of(workspace: &Workspace, agent: &AgentName) -> Kept {
    let mut kept = Kept::default();
    let Ok(Some(file)) = open_plain(&workspace.grants()) else {
        return kept;
    };
    let chunk = read_lines(&file, 0, MAX_LINE).unwrap_or_default();
    let grants = chunk.lines.iter().filter_map(|line| match line {
        Line::Whole { bytes, .. } => serde_json::from_slice::<Grant>(bytes).ok(),
        Line::TooLong { .. } => None,
    });
    for grant in grants.filter(|grant| grant.agent == *agent) {
        kept.allowed.retain(|rule| *rule != grant.rule);
        kept.denied.retain(|rule| *rule != grant.rule);
        if grant.denied {
            kept.denied.push(grant.rule);
        } else {
            kept.allowed.push(grant.rule);
        }
    }
    kept
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
        assert_eq!(of(&workspace, &alice), Kept::default());
        let request = RequestId::random();
        let keep = |rule: &str, denied: bool| {
            let kept = (rule, denied);
            super::keep(&workspace, &alice, kept, &request, Durability::Process).unwrap();
        };
        keep("bash(rm *)", false);
        keep("bash(mv *)", true);
        let two = of(&workspace, &alice);
        assert_eq!(
            (two.allowed, two.denied),
            (vec!["bash(rm *)".to_owned()], vec!["bash(mv *)".to_owned()])
        );
        assert_eq!(of(&workspace, &bob), Kept::default());
        keep("bash(rm *)", true);
        let none = of(&workspace, &alice);
        assert_eq!(none.allowed.len(), 0, "the last word counts");
        assert_eq!(none.denied.len(), 2);
    }
}
