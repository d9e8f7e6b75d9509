//! Leases of agents whose process is gone (SPEC §10.3). They keep nobody from a file, but who was refused one waits for word.

use std::collections::BTreeMap;

use super::survey::{Act, Finding, Remedy, finding};
use super::{Books, Ground};
use crate::clock::Timestamp;
use crate::ids::AgentName;
use crate::lease::{LeaseError, Leases};
use crate::team::lead_presence;

/// How many files of each agent are named.
const NAMED: usize = 5;

/// One for each agent. A book that cannot be read is told of as a file.
pub(super) fn of_the_dead(books: Books<'_>, ground: &Ground) -> Vec<Finding> {
    let Ok(Ok(book)) = Leases::new(books.workspace.clone()).read() else {
        return Vec::new();
    };
    let mut files: BTreeMap<&AgentName, Vec<&str>> = BTreeMap::new();
    for lease in book.leases() {
        let agent = &lease.holder.agent;
        if files.contains_key(agent) || !is_alive(books, agent) {
            files.entry(agent).or_default().push(&lease.path);
        }
    }
    files
        .into_iter()
        .map(|(agent, paths)| {
            let named = paths[..paths.len().min(NAMED)].join(", ");
            let more = match paths.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(", and {more} more"),
            };
            let detail = format!("{agent}, who is gone, is noted as editing {named}{more}");
            let remedy = if ground.lead {
                Remedy::Others("by the lead that runs".to_owned())
            } else {
                Remedy::Act(Act::EndLeases(agent.clone()))
            };
            finding("leases", detail, remedy)
        })
        .collect()
}

/// Ends those of `agent`, if it is still gone. Whoever waits is told by the next process that changes a lease.
pub(super) fn end(books: Books<'_>, agent: &AgentName) -> Result<(), LeaseError> {
    Leases::new(books.workspace.clone()).change(|book| {
        if !is_alive(books, agent) {
            book.end(Timestamp::now(), |lease| lease.holder.agent == *agent);
        }
    })
}

fn is_alive(books: Books<'_>, agent: &AgentName) -> bool {
    if agent.is_lead() {
        return lead_presence::is_there(books.workspace);
    }
    books.roster.is_alive(agent)
}
