//! `lead usage`.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::cli::exit::{Kind, Outcome};
use crate::cli::place::Place;
use crate::cli::shell;
use crate::cli::table::Table;
use crate::ids::AgentName;
use crate::team::usage::{Spent, spent};

/// Prints what the team has used over all sessions.
pub fn run(place: &Place, as_json: bool) -> Outcome {
    let agents = spent(&place.workspace, None)?;
    if as_json {
        shell::out_json(&json(&agents));
        return Ok(Kind::Completed);
    }
    let lines = lines(&agents);
    if lines.is_empty() {
        shell::out_line("nothing used yet");
    }
    for line in lines {
        shell::out_line(&line);
    }
    Ok(Kind::Completed)
}

/// The object of SPEC §14.
pub fn json(agents: &BTreeMap<AgentName, Spent>) -> Value {
    let each: Map<String, Value> = agents
        .iter()
        .map(|(name, spent)| (name.to_string(), entry(spent)))
        .collect();
    json!({ "total": entry(&total(agents)), "agents": each })
}

/// The table with its total; empty if nothing was used.
pub fn lines(agents: &BTreeMap<AgentName, Spent>) -> Vec<String> {
    let mut table = Table::new(&[
        "agent",
        "calls",
        "input",
        "output",
        "cache read",
        "cache write",
    ]);
    for (name, spent) in agents {
        table.row(&cells(name.as_str(), spent));
    }
    if !table.is_empty() {
        table.row(&cells("total", &total(agents)));
    }
    table.lines()
}

fn total(agents: &BTreeMap<AgentName, Spent>) -> Spent {
    let mut total = Spent::default();
    for spent in agents.values() {
        total.usage += spent.usage;
        total.calls += spent.calls;
    }
    total
}

/// One agent's entry of SPEC §14. There are no prices yet, so no cost is given rather than a wrong one.
fn entry(spent: &Spent) -> Value {
    let mut entry = json!(spent.usage);
    entry["calls"] = spent.calls.into();
    entry["cost"] = Value::Null;
    entry
}

fn cells(name: &str, spent: &Spent) -> [String; 6] {
    let usage = &spent.usage;
    [
        name.to_owned(),
        spent.calls.to_string(),
        usage.input.to_string(),
        usage.output.to_string(),
        usage.cache_read.to_string(),
        usage.cache_write.to_string(),
    ]
}
