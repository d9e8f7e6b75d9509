//! Requests answered from several terminals at once: the record hears one.

use pitcrew::ids::AgentName;
use pitcrew::request::{NewRequest, Record, RequestKind, RequestStatus, Requests};
use pitcrew::store::Durability;
use pitcrew::workspace::Workspace;
use serde_json::json;

use crate::support::{Bed, DEADLINE, Done, Running};

fn requests(bed: &Bed) -> Requests {
    Requests::new(Workspace::at(bed.root()), Durability::Process)
}

/// A plan of a teammate that has gone meanwhile.
fn plan(bed: &Bed) -> Record {
    let request = NewRequest {
        kind: RequestKind::PlanApproval,
        sender: AgentName::parse("alice").unwrap(),
        target: AgentName::user(),
        payload: json!({"title": "Config", "steps": ["Read it", "Change it"], "rationale": null}),
        work_version: Some(1),
        task_id: None,
    };
    requests(bed).create(request).unwrap()
}

#[test]
fn of_many_terminals_one_is_heard_and_the_others_are_told() {
    let bed = Bed::new();
    let plan = plan(&bed);
    let id = plan.request_id.as_str();
    let terminals: Vec<Running> = (0..10)
        .map(|number| {
            let verb = if number % 2 == 0 { "approve" } else { "reject" };
            Running::start(&mut bed.lead_command(&["plan", verb, id]))
        })
        .collect();
    let done: Vec<Done> = terminals
        .into_iter()
        .map(|terminal| terminal.wait(DEADLINE))
        .collect();
    let kept = requests(&bed).get(&plan.request_id).unwrap();
    assert_eq!(kept.decided_by, Some(AgentName::user()));
    let heard: Vec<&Done> = done.iter().filter(|done| done.code == Some(0)).collect();
    assert_eq!(heard.len(), 1, "{done:?}");
    assert!(heard[0].stdout.contains(kept.status.as_str()), "{heard:?}");
    for late in done.iter().filter(|done| done.code != Some(0)) {
        assert_eq!(late.code, Some(1), "{late:?}");
        assert!(
            late.stderr.contains(&format!("is {} already", kept.status)),
            "{late:?}"
        );
    }
}

#[test]
fn an_answer_of_the_wrong_kind_or_to_nothing_changes_nothing() {
    let bed = Bed::new();
    let plan = plan(&bed);
    let before = bed.listing();
    let wrong = bed
        .lead(&["permission", "allow", plan.request_id.as_str()])
        .expect_code(1);
    assert!(
        wrong.stderr.contains("plan_approval request"),
        "{}",
        wrong.stderr
    );
    let nothing = bed
        .lead(&["plan", "approve", "req_00000000"])
        .expect_code(1);
    assert!(
        nothing.stderr.contains("there is no request req_00000000"),
        "{}",
        nothing.stderr
    );
    assert_eq!(bed.listing(), before);
    let kept = requests(&bed).get(&plan.request_id).unwrap();
    assert_eq!(kept.status, RequestStatus::Pending);
}
