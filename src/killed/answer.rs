//! The person's answer to a permission request.

use std::path::Path;

use serde_json::json;

use super::steps::{Act, Check, Victim, anywhere};
use crate::ids::AgentName;
use crate::request::{Decision, NewRequest, RequestKind, RequestStatus, Requests};
use crate::store::Durability;
use crate::workspace::Workspace;

pub(super) fn acts() -> Vec<Act> {
    vec![Act {
        name: "answer",
        prepare,
        perform,
        covers: anywhere,
    }]
}

fn requests(root: &Path) -> Requests {
    Requests::new(Workspace::at(root.to_path_buf()), Durability::Power)
}

fn decision(status: RequestStatus) -> Decision {
    Decision {
        kind: RequestKind::Permission,
        by: AgentName::lead(),
        status,
        feedback: None,
        scope: None,
    }
}

fn perform(root: &Path, victim: &Victim) {
    let open = requests(root).open_ones(None).unwrap();
    victim.begin();
    let allowed = decision(RequestStatus::Allowed);
    requests(root)
        .decide(&open[0].request_id, &allowed)
        .unwrap();
    victim.say("allowed");
}

fn prepare(root: &Path) -> Check {
    let asked = requests(root)
        .create(NewRequest {
            kind: RequestKind::Permission,
            sender: AgentName::parse("alice").unwrap(),
            target: AgentName::lead(),
            payload: json!({"tool": "bash"}),
            work_version: None,
            task_id: None,
        })
        .unwrap();
    let root = root.to_path_buf();
    Box::new(move |said| {
        let requests = requests(&root);
        assert_eq!(requests.damaged().unwrap(), []);
        let found = requests.get(&asked.request_id).unwrap();
        // Whoever asks again gets through only if nobody did before.
        let denied = requests.decide(&asked.request_id, &decision(RequestStatus::Denied));
        match found.status {
            RequestStatus::Pending => {
                assert_eq!(said, [""; 0]);
                assert_eq!(denied.unwrap().status, RequestStatus::Denied);
            }
            status => {
                assert_eq!(status, RequestStatus::Allowed);
                denied.unwrap_err();
            }
        }
    })
}
