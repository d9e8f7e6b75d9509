//! The machine against the contract: every kind, every status, every answer, whoever gives it.

use serde_json::json;

use crate::clock::Timestamp;
use crate::ids::{AgentName, RequestId};
use crate::request::machine::{TRANSITIONS, apply, check, is_final};
use crate::request::{Decision, Record, Refusal, RequestKind, RequestStatus};

fn name(text: &str) -> AgentName {
    AgentName::parse(text).unwrap()
}

pub(super) fn record(
    kind: RequestKind,
    status: RequestStatus,
    sender: &str,
    target: &str,
) -> Record {
    serde_json::from_value(json!({
        "request_id": "req_0a1b2c3d", "type": kind, "sender": sender, "target": target, "status": status,
        "created_at": "2026-11-30T17:00:00.000Z",
    }))
    .unwrap()
}

pub(super) fn decision(kind: RequestKind, by: &str, status: RequestStatus) -> Decision {
    Decision {
        kind,
        by: name(by),
        status,
        feedback: None,
        scope: None,
    }
}

/// The contract in other words: what may follow, by whom, for a request of alice to the person (shutdown and wish: of
/// the lead to alice). `r` stands for the runtime: alice's process, the lead's, the person's verbs.
fn contract(kind: RequestKind, from: RequestStatus, to: RequestStatus) -> &'static [&'static str] {
    use RequestKind::{Permission, PlanApproval, PlanWish, Shutdown, Team};
    use RequestStatus as S;
    match (kind, from, to) {
        (Shutdown, S::Pending, S::Acknowledged | S::Completed)
        | (Shutdown, S::Acknowledged, S::Completed)
        | (PlanWish, S::Pending, S::Completed) => &["alice"],
        (Shutdown, S::Pending | S::Acknowledged, S::Failed)
        | (PlanApproval, S::Pending, S::Stale | S::Withdrawn)
        | (PlanWish | Permission, S::Pending, S::Withdrawn) => &["alice", "lead", "user"],
        (PlanApproval, S::Pending, S::Approved | S::Rejected)
        | (Permission, S::Pending, S::Allowed | S::Denied)
        | (Team, S::Pending, S::Accepted | S::Declined) => &["user"],
        _ => &[],
    }
}

#[test]
fn every_answer_in_every_state_by_everybody() {
    for kind in RequestKind::ALL {
        let (sender, target) = match kind {
            RequestKind::Shutdown | RequestKind::PlanWish => ("lead", "alice"),
            RequestKind::Team => ("lead", "user"),
            RequestKind::PlanApproval | RequestKind::Permission => ("alice", "user"),
        };
        for from in RequestStatus::ALL {
            for to in RequestStatus::ALL {
                let may = contract(kind, from, to);
                for by in ["alice", "lead", "user", "bob"] {
                    let given = check(&record(kind, from, sender, target), &decision(kind, by, to));
                    assert_eq!(
                        given.is_ok(),
                        may.contains(&by),
                        "{kind} {from} → {to} by {by}: {given:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn an_answer_to_another_kind_changes_nothing() {
    for kind in RequestKind::ALL {
        for other in RequestKind::ALL.into_iter().filter(|other| *other != kind) {
            for to in RequestStatus::ALL {
                let refusal = check(
                    &record(kind, RequestStatus::Pending, "alice", "user"),
                    &decision(other, "user", to),
                );
                assert!(
                    matches!(refusal, Err(Refusal::WrongKind { .. })),
                    "{kind} {other} {to}"
                );
            }
        }
    }
}

#[test]
fn the_person_stands_above_the_lead_and_the_lead_not_above_the_person() {
    let plan = |target| {
        record(
            RequestKind::PlanApproval,
            RequestStatus::Pending,
            "alice",
            target,
        )
    };
    let approve = |by| decision(RequestKind::PlanApproval, by, RequestStatus::Approved);
    for (target, by, fits) in [
        ("lead", "lead", true),
        ("lead", "user", true),
        ("user", "user", true),
        ("user", "lead", false),
        ("user", "alice", false),
        ("lead", "alice", false),
    ] {
        assert_eq!(
            check(&plan(target), &approve(by)).is_ok(),
            fits,
            "{target} {by}"
        );
    }
}

#[test]
fn names_are_the_same_in_any_case() {
    let asked = record(
        RequestKind::Shutdown,
        RequestStatus::Pending,
        "lead",
        "Alice",
    );
    assert!(
        check(
            &asked,
            &decision(RequestKind::Shutdown, "aLICE", RequestStatus::Acknowledged)
        )
        .is_ok()
    );
}

#[test]
fn a_late_answer_is_told_why() {
    let told = |status| {
        let late = decision(RequestKind::PlanApproval, "user", RequestStatus::Approved);
        check(
            &record(RequestKind::PlanApproval, status, "alice", "user"),
            &late,
        )
        .unwrap_err()
        .to_string()
    };
    assert_eq!(
        told(RequestStatus::Rejected),
        "req_0a1b2c3d is rejected already and cannot become approved"
    );
    assert!(told(RequestStatus::Stale).contains("earlier assignment"));
    assert!(told(RequestStatus::Withdrawn).contains("nobody waits"));
}

#[test]
fn only_a_last_answer_is_signed() {
    let now = Timestamp::from_ms(1_764_522_000_123);
    let asked = record(
        RequestKind::Shutdown,
        RequestStatus::Pending,
        "lead",
        "alice",
    );
    let heard = apply(
        &asked,
        &decision(RequestKind::Shutdown, "alice", RequestStatus::Acknowledged),
        now,
    )
    .unwrap();
    assert_eq!(
        (heard.status, heard.decided_at, heard.decided_by.clone()),
        (RequestStatus::Acknowledged, None, None)
    );
    let mut last = decision(RequestKind::Shutdown, "alice", RequestStatus::Completed);
    last.feedback = Some("bye".to_owned());
    let done = apply(&heard, &last, now).unwrap();
    assert_eq!(
        (done.decided_at, done.decided_by.clone()),
        (Some(now), Some(name("alice")))
    );
    assert_eq!(done.feedback.as_deref(), Some("bye"));
    assert!(done.is_final());
}

#[test]
fn every_request_can_end_and_no_end_has_a_way_out() {
    for kind in RequestKind::ALL {
        assert!(!is_final(kind, RequestStatus::Pending));
        let mut reached = vec![RequestStatus::Pending];
        for at in 0.. {
            let Some(status) = reached.get(at).copied() else {
                break;
            };
            for step in TRANSITIONS
                .iter()
                .filter(|step| step.kind == kind && step.from == status)
            {
                if !reached.contains(&step.to) {
                    reached.push(step.to);
                }
            }
        }
        assert!(reached.iter().any(|status| is_final(kind, *status)));
        let leads_out = TRANSITIONS
            .iter()
            .filter(|step| step.kind == kind)
            .all(|step| reached.contains(&step.from));
        assert!(leads_out, "{kind} has a step from where it never is");
    }
}

#[test]
fn statuses_and_kinds_are_written_as_they_are_shown() {
    for status in RequestStatus::ALL {
        assert_eq!(serde_json::to_value(status).unwrap(), status.as_str());
    }
    for kind in RequestKind::ALL {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
    }
}

#[test]
fn unknown_keys_of_a_record_survive() {
    let mut value = serde_json::to_value(record(
        RequestKind::Team,
        RequestStatus::Pending,
        "lead",
        "user",
    ))
    .unwrap();
    value["colour"] = json!("blue");
    let read: Record = serde_json::from_value(value).unwrap();
    let decided = apply(
        &read,
        &decision(RequestKind::Team, "user", RequestStatus::Accepted),
        Timestamp::from_ms(0),
    )
    .unwrap();
    assert_eq!(serde_json::to_value(decided).unwrap()["colour"], "blue");
    assert_eq!(read.request_id, RequestId::parse("req_0a1b2c3d").unwrap());
}
