//! `lead usage`.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::cli::exit::{Kind, Outcome};
use crate::cli::place::Place;
use crate::cli::shell;
use crate::cli::table::Table;
use crate::ids::AgentName;
use crate::team::Prices;
use crate::team::usage::{Spent, spent};

/// Prints what the team has used over all sessions.
pub fn run(place: &Place, as_json: bool) -> Outcome {
    let agents = spent(&place.workspace, None)?;
    let prices = place.in_force()?.prices;
    if as_json {
        shell::out_json(&json(&agents, &prices));
        return Ok(Kind::Completed);
    }
    let lines = lines(&agents, &prices);
    if lines.is_empty() {
        shell::out_line("nothing used yet");
    }
    for line in lines {
        shell::out_line(&line);
    }
    Ok(Kind::Completed)
}

/// The object of SPEC §14.
pub fn json(agents: &BTreeMap<AgentName, Spent>, prices: &Prices) -> Value {
    let each: Map<String, Value> = agents
        .iter()
        .map(|(name, spent)| (name.to_string(), entry(spent, prices)))
        .collect();
    json!({ "total": entry(&total(agents), prices), "agents": each })
}

/// The table with its total; empty if nothing was used.
pub fn lines(agents: &BTreeMap<AgentName, Spent>, prices: &Prices) -> Vec<String> {
    let mut table = Table::new(&[
        "agent",
        "calls",
        "input",
        "output",
        "cache read",
        "cache write",
        "cost",
    ]);
    for (name, spent) in agents {
        table.row(&cells(name.as_str(), spent, prices));
    }
    if !table.is_empty() {
        table.row(&cells("total", &total(agents), prices));
    }
    table.lines()
}

fn total(agents: &BTreeMap<AgentName, Spent>) -> Spent {
    let mut total = Spent::default();
    for spent in agents.values() {
        total += spent;
    }
    total
}

/// One agent's entry of SPEC §14. Where a model has no price no cost is given rather than a wrong one.
fn entry(spent: &Spent, prices: &Prices) -> Value {
    let mut entry = json!(spent.usage);
    entry["calls"] = spent.calls.into();
    entry["cost"] = json!(prices.cost(spent));
    entry
}

fn cells(name: &str, spent: &Spent, prices: &Prices) -> [String; 7] {
    let usage = &spent.usage;
    let cost = prices.cost(spent);
    [
        name.to_owned(),
        spent.calls.to_string(),
        usage.input.to_string(),
        usage.output.to_string(),
        usage.cache_read.to_string(),
        usage.cache_write.to_string(),
        cost.map_or_else(|| "-".to_owned(), |cost| format!("{cost:.4}")),
    ]
}
