//! `usage.jsonl`: one line for each model call of the team (SPEC §9.5).
//!
//! Every agent looks at the sum before each of its calls, so a [`Meter`] reads only what was appended since it looked last.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::conversation::Usage;
use crate::ids::AgentName;
use crate::store::jsonl::{self, Appender, Line};
use crate::store::read::{ReadError, open_plain};
use crate::store::{Durability, StoreError};
use crate::workspace::Workspace;

/// Longest line that is read, in bytes.
const MAX_LINE: usize = 64 * 1024;

/// Calls and tokens of one agent, or of all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spent {
    /// Tokens.
    pub usage: Usage,
    /// Model calls.
    pub calls: u64,
    /// The tokens by model, `provider:name`.
    pub models: BTreeMap<String, Usage>,
}

impl Spent {
    /// Adds one call of `model`.
    fn call(&mut self, model: &str, usage: Usage) {
        self.usage += usage;
        self.calls += 1;
        match self.models.get_mut(model) {
            Some(of_model) => *of_model += usage,
            None => drop(self.models.insert(model.to_owned(), usage)),
        }
    }
}

impl std::ops::AddAssign<&Self> for Spent {
    fn add_assign(&mut self, other: &Self) {
        self.usage += other.usage;
        self.calls += other.calls;
        for (model, usage) in &other.models {
            *self.models.entry(model.clone()).or_default() += *usage;
        }
    }
}

/// One call as written; the tokens stand beside the rest, which is quicker to read than nested. Texts are borrowed from the line where they stand in it as they are.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Call<'a> {
    #[serde(borrow)]
    at: Cow<'a, str>,
    agent: AgentName,
    #[serde(borrow)]
    model: Cow<'a, str>,
    #[serde(borrow)]
    session: Cow<'a, str>,
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
}

/// Appends one call.
pub fn record(
    workspace: &Workspace,
    agent: &AgentName,
    model: &str,
    session: &str,
    usage: Usage,
) -> Result<(), StoreError> {
    let path = workspace.usage();
    let line = serde_json::to_vec(&Call {
        at: Timestamp::now().to_string().into(),
        agent: agent.clone(),
        model: model.into(),
        session: session.into(),
        input: usage.input,
        output: usage.output,
        cache_read: usage.cache_read,
        cache_write: usage.cache_write,
    })
    .map_err(|error| StoreError::new("write", &path, error.into()))?;
    Appender::open(&path, Durability::Process)?.append_shared(&line)
}

/// What is wrong with a line of the file.
pub fn line_fault(line: &[u8]) -> Option<String> {
    let read = serde_json::from_slice::<Call<'_>>(line);
    read.err().map(|error| error.to_string())
}

/// What was spent, by agent; with `session` only in that one. Reads the whole file: who looks often keeps a [`Meter`].
pub fn spent(
    workspace: &Workspace,
    session: Option<&str>,
) -> Result<BTreeMap<AgentName, Spent>, StoreError> {
    let mut meter = Meter::new(workspace, session);
    meter.look()?;
    Ok(meter.agents)
}

/// A running sum. Looking costs what was appended since the last look.
#[derive(Debug)]
pub struct Meter {
    path: PathBuf,
    session: Option<String>,
    /// Up to where the file is counted, and which file it was.
    counted: u64,
    inode: u64,
    agents: BTreeMap<AgentName, Spent>,
    total: Spent,
}

impl Meter {
    /// Counts from the file's beginning; with `session` only the calls of that one.
    pub fn new(workspace: &Workspace, session: Option<&str>) -> Self {
        Self {
            path: workspace.usage(),
            session: session.map(str::to_owned),
            counted: 0,
            inode: 0,
            agents: BTreeMap::new(),
            total: Spent::default(),
        }
    }

    /// Counts what is new and answers with the sum of all agents.
    pub fn look(&mut self) -> Result<&Spent, StoreError> {
        let file = match open_plain(&self.path) {
            Ok(Some(file)) => file,
            Ok(None) => return Ok(&self.total),
            Err(ReadError::Store(error)) => return Err(error),
            Err(error @ (ReadError::NotPlain { .. } | ReadError::TooLarge { .. })) => {
                let error = std::io::Error::other(error.to_string());
                return Err(StoreError::new("read", &self.path, error));
            }
        };
        let found = file
            .metadata()
            .map_err(StoreError::of("look at", &self.path))?;
        if found.ino() != self.inode || found.len() < self.counted {
            self.start_over(found.ino());
        }
        if found.len() > self.counted {
            let chunk = jsonl::read_lines(&file, self.counted, MAX_LINE)
                .map_err(StoreError::of("read", &self.path))?;
            self.counted = chunk.end;
            chunk.lines.iter().for_each(|line| self.count(line));
        }
        Ok(&self.total)
    }

    /// The sums of the last look, by agent.
    pub fn agents(&self) -> &BTreeMap<AgentName, Spent> {
        &self.agents
    }

    fn start_over(&mut self, inode: u64) {
        self.counted = 0;
        self.inode = inode;
        self.agents.clear();
        self.total = Spent::default();
    }

    /// A line that cannot be read counts for nothing.
    fn count(&mut self, line: &Line) {
        let Line::Whole { bytes, .. } = line else {
            return;
        };
        let Ok(call) = serde_json::from_slice::<Call<'_>>(bytes) else {
            return;
        };
        if self
            .session
            .as_deref()
            .is_some_and(|session| session != call.session)
        {
            return;
        }
        let usage = Usage {
            input: call.input,
            output: call.output,
            cache_read: call.cache_read,
            cache_write: call.cache_write,
        };
        for spent in [self.agents.entry(call.agent).or_default(), &mut self.total] {
            spent.call(&call.model, usage);
        }
    }
}
