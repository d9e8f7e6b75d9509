//! Which proposals were accepted in this session, kept across a restart of the lead: the transcript notes their requests,
//! the requests' records decide.

use serde_json::{Value, json};

use super::SessionOptions;
use super::proposals::Proposals;
use super::session::Session;
use crate::clock::Timestamp;
use crate::conversation::{Record, Replay};
use crate::ids::{AgentName, RequestId};
use crate::request::{RequestStatus, Requests};
use crate::tool::TeamProposal;

/// The transcript's note with the ids of this session's accepted team requests.
const NOTE: &str = "proposals";

/// Brings back what was agreed to before the session went on.
pub(super) fn restore(
    proposals: &mut Proposals,
    replay: &Replay,
    requests: &Requests,
    options: &SessionOptions,
) {
    let noted = replay.notes.get(NOTE).and_then(Value::as_array);
    for id in noted.into_iter().flatten().filter_map(Value::as_str) {
        let Some(record) = RequestId::parse(id)
            .ok()
            .and_then(|id| requests.get(&id).ok())
        else {
            continue;
        };
        if record.status != RequestStatus::Accepted {
            continue;
        }
        if let Ok(proposal) = serde_json::from_value::<TeamProposal>(record.payload) {
            proposals.accept(&proposal, |name, model| resolve(options, name, model));
        }
        proposals.remember(record.request_id);
    }
}

/// The model that a teammate gets: the one asked for, else its own in the settings, else the team's.
pub(super) fn resolve(options: &SessionOptions, name: &AgentName, asked: Option<&str>) -> String {
    let member = options.settings.member(name);
    let member = member.and_then(|member| member.model.clone());
    asked
        .map(str::to_owned)
        .or(member)
        .unwrap_or_else(|| options.teammate_model.to_string())
}

impl Session {
    /// Notes an accepted team request in the transcript.
    pub(super) fn note_proposal(&mut self, id: &RequestId) {
        let ids = self.proposals.remember(id.clone());
        let note = Record::Note {
            key: NOTE.to_owned(),
            value: json!(ids),
            at: Timestamp::now(),
        };
        if let Err(error) = self.mind.thinker.transcript().append(&note) {
            self.complain("the agreement was not recorded", &error);
        }
    }
}
