//! Whom the person has agreed to: pure. What no accepted proposal covers is not started (SPEC §6.3).

use crate::ids::{AgentName, RequestId};
use crate::tool::TeamProposal;

/// A teammate as agreed to.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Agreed {
    name: AgentName,
    role: String,
    model: String,
}

/// All accepted proposals of this session.
#[derive(Debug, Default)]
pub(super) struct Proposals {
    agreed: Vec<Agreed>,
    requests: Vec<RequestId>,
}

impl Proposals {
    /// The person agreed to `proposal`; `resolve` names the model that a member gets if the proposal names none.
    pub(super) fn accept(
        &mut self,
        proposal: &TeamProposal,
        resolve: impl Fn(&AgentName, Option<&str>) -> String,
    ) {
        for member in &proposal.members {
            if let Ok(name) = AgentName::parse_teammate(&member.name) {
                let model = resolve(&name, member.model.as_deref());
                self.agree(name, &member.role, model);
            }
        }
    }

    /// Remembers the request of an accepted proposal; all of them so far.
    pub(super) fn remember(&mut self, id: RequestId) -> &[RequestId] {
        if !self.requests.contains(&id) {
            self.requests.push(id);
        }
        &self.requests
    }

    /// The person agreed to this one.
    fn agree(&mut self, name: AgentName, role: &str, model: String) {
        self.agreed.push(Agreed {
            name,
            role: role.trim().to_owned(),
            model,
        });
    }

    /// Whether a teammate of this name (whatever its case), role and model may be started; `Err` says what to do.
    pub(super) fn covers(&self, name: &AgentName, role: &str, model: &str) -> Result<(), String> {
        let same_name: Vec<&Agreed> = self.agreed.iter().filter(|one| one.name == *name).collect();
        let fits = |one: &&Agreed| one.role.eq_ignore_ascii_case(role.trim()) && one.model == model;
        if same_name.iter().any(fits) {
            return Ok(());
        }
        Err(match same_name.last() {
            None => format!(
                "the person has not agreed to {name}; nobody is started without that; call propose_team first"
            ),
            Some(one) => format!(
                "the person agreed to {name} as {} on {}, not as {} on {model}; start it as agreed, or propose it anew with propose_team",
                one.role,
                one.model,
                role.trim()
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::ProposedMember;

    fn name(text: &str) -> AgentName {
        AgentName::parse(text).unwrap()
    }

    #[test]
    fn only_the_agreed_name_role_and_model_may_start() {
        let mut proposals = Proposals::default();
        assert!(proposals.covers(&name("alice"), "coder", "m").is_err());
        let member = |name: &str, role: &str, model: Option<&str>| ProposedMember {
            name: name.into(),
            role: role.into(),
            model: model.map(Into::into),
            task: None,
        };
        let proposal = TeamProposal {
            members: vec![
                member("Alice", "coder ", None),
                member("bob", "tester", Some("x")),
                member("lead", "boss", None),
            ],
            rationale: "r".into(),
        };
        proposals.accept(&proposal, |_, model| model.unwrap_or("m").to_owned());
        for (who, role, model, may) in [
            ("alice", "Coder", "m", true),
            ("ALICE", " coder", "m", true),
            ("alice", "coder", "x", false),
            ("alice", "tester", "m", false),
            ("bob", "tester", "x", true),
            ("bob", "tester", "m", false),
            ("carol", "coder", "m", false),
            ("lead", "boss", "m", false),
        ] {
            assert_eq!(
                proposals.covers(&name(who), role, model).is_ok(),
                may,
                "{who} {role} {model}"
            );
        }
    }

    #[test]
    fn a_later_proposal_adds_and_takes_nothing_away() {
        let mut proposals = Proposals::default();
        proposals.agree(name("a"), "coder", "m".into());
        proposals.agree(name("a"), "tester", "m".into());
        assert!(proposals.covers(&name("a"), "coder", "m").is_ok());
        assert!(proposals.covers(&name("a"), "tester", "m").is_ok());
        let error = proposals.covers(&name("a"), "painter", "m").unwrap_err();
        assert!(error.contains("tester"), "{error}");
    }
}
