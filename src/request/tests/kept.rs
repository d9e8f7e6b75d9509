//! Records on real files: who comes first, what is damaged, what is forgotten.

use std::fs;
use std::os::unix::fs::symlink;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::clock::{self, Timestamp};
use crate::ids::{AgentName, RequestId};
use crate::request::{Decision, NewRequest, Record, Refusal, RequestKind, RequestStatus, Requests};
use crate::store::Durability;
use crate::workspace::Workspace;

fn name(text: &str) -> AgentName {
    AgentName::parse(text).unwrap()
}

fn scratch() -> (tempfile::TempDir, Workspace, Requests) {
    let scratch = tempfile::tempdir().unwrap();
    let workspace = Workspace::at(scratch.path().canonicalize().unwrap());
    let requests = Requests::new(workspace.clone(), Durability::Process);
    (scratch, workspace, requests)
}

fn asked(kind: RequestKind, sender: &str, target: &str) -> NewRequest {
    NewRequest {
        kind,
        sender: name(sender),
        target: name(target),
        payload: json!({"title": "t", "steps": ["s"]}),
        work_version: Some(3),
        task_id: None,
    }
}

fn answer(kind: RequestKind, by: &str, status: RequestStatus) -> Decision {
    Decision {
        kind,
        by: name(by),
        status,
        feedback: Some(status.to_string()),
        scope: None,
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests play people who edit files"
)]
fn put(path: &std::path::Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap();
}

/// Rewrites a record as a person would.
fn edit(workspace: &Workspace, record: &Record, change: impl FnOnce(&mut Value)) {
    let mut value = serde_json::to_value(record).unwrap();
    change(&mut value);
    put(
        &workspace.request(&record.request_id),
        value.to_string().as_bytes(),
    );
}

#[test]
fn an_invented_id_makes_nothing() {
    let (_scratch, workspace, requests) = scratch();
    let id = RequestId::random();
    assert!(matches!(requests.get(&id), Err(Refusal::Unknown(_))));
    let forged = answer(RequestKind::Shutdown, "alice", RequestStatus::Acknowledged);
    assert!(matches!(
        requests.decide(&id, &forged),
        Err(Refusal::Unknown(_))
    ));
    assert!(requests.all().unwrap().is_empty());
    assert_eq!(requests.forget_old().unwrap(), 0);
    assert_eq!(fs::read_dir(workspace.root()).unwrap().count(), 0);
}

#[test]
fn a_record_is_kept_for_people_and_for_the_next_process() {
    let (_scratch, workspace, requests) = scratch();
    let made = requests
        .create(asked(RequestKind::PlanApproval, "alice", "user"))
        .unwrap();
    let text = fs::read_to_string(workspace.request(&made.request_id)).unwrap();
    assert!(
        text.starts_with("{\n  \"request_id\": \"req_") && text.ends_with("}\n"),
        "{text}"
    );
    assert!(
        text.contains("\"type\": \"plan_approval\"") && text.contains("\"work_version\": 3"),
        "{text}"
    );
    let again = Requests::new(workspace, Durability::Process);
    assert_eq!(again.get(&made.request_id).unwrap(), made);
    assert_eq!(again.open_ones(Some(RequestKind::Team)).unwrap(), []);
    assert_eq!(again.open_ones(None).unwrap(), [made]);
}

#[test]
fn of_all_who_answer_at_once_one_is_heard() {
    let (_scratch, _workspace, requests) = scratch();
    let made = requests
        .create(asked(RequestKind::PlanApproval, "alice", "user"))
        .unwrap();
    let heard: Vec<RequestStatus> = thread::scope(|scope| {
        let answers: Vec<_> = (0..16)
            .map(|number| {
                let (requests, id) = (requests.clone(), &made.request_id);
                let status = [
                    RequestStatus::Approved,
                    RequestStatus::Rejected,
                    RequestStatus::Stale,
                ][number % 3];
                scope.spawn(move || {
                    let given = answer(RequestKind::PlanApproval, "user", status);
                    match requests.decide(id, &given) {
                        Ok(record) => Some(record.status),
                        Err(Refusal::Closed { .. }) => None,
                        Err(other) => panic!("{other}"),
                    }
                })
            })
            .collect();
        answers
            .into_iter()
            .filter_map(|answer| answer.join().unwrap())
            .collect()
    });
    assert_eq!(heard.len(), 1);
    let kept = requests.get(&made.request_id).unwrap();
    assert_eq!(kept.status, heard[0]);
    assert_eq!(kept.feedback, Some(heard[0].to_string()));
    assert!(kept.decided_at.is_some());
}

#[test]
fn a_shutdown_asked_again_is_the_same_until_it_has_ended() {
    let (_scratch, _workspace, requests) = scratch();
    let ask = || {
        requests
            .create(asked(RequestKind::Shutdown, "lead", "alice"))
            .unwrap()
    };
    let first = ask();
    assert_eq!(ask(), first);
    let other = requests
        .create(asked(RequestKind::Shutdown, "lead", "bob"))
        .unwrap();
    assert_ne!(other.request_id, first.request_id);
    let decide = |status| {
        requests
            .decide(
                &first.request_id,
                &answer(RequestKind::Shutdown, "alice", status),
            )
            .unwrap()
    };
    decide(RequestStatus::Acknowledged);
    assert_eq!(ask().request_id, first.request_id);
    decide(RequestStatus::Completed);
    assert_ne!(ask().request_id, first.request_id);
}

#[test]
fn a_damaged_record_decides_nothing_and_stays_as_it_is() {
    let (_scratch, workspace, requests) = scratch();
    let good = requests
        .create(asked(RequestKind::Team, "lead", "user"))
        .unwrap();
    let torn = requests
        .create(asked(RequestKind::Team, "lead", "user"))
        .unwrap();
    put(&workspace.request(&torn.request_id), b"{\"request_id\":");
    let other = requests
        .create(asked(RequestKind::Team, "lead", "user"))
        .unwrap();
    edit(&workspace, &other, |value| {
        value["request_id"] = json!(good.request_id);
    });
    let link = RequestId::random();
    symlink(
        workspace.request(&good.request_id),
        workspace.request(&link),
    )
    .unwrap();
    for id in [&torn.request_id, &other.request_id, &link] {
        let before = fs::read(workspace.request(id)).unwrap();
        let given = requests.decide(
            id,
            &answer(RequestKind::Team, "user", RequestStatus::Accepted),
        );
        assert!(matches!(given, Err(Refusal::Damaged { .. })), "{given:?}");
        assert_eq!(fs::read(workspace.request(id)).unwrap(), before);
    }
    assert_eq!(requests.all().unwrap(), [good]);
    assert_eq!(requests.damaged().unwrap().len(), 3);
}

#[test]
fn what_a_person_added_survives_the_answer() {
    let (_scratch, workspace, requests) = scratch();
    let made = requests
        .create(asked(RequestKind::Team, "lead", "user"))
        .unwrap();
    edit(&workspace, &made, |value| value["note"] = json!("mine"));
    let accept = answer(RequestKind::Team, "user", RequestStatus::Accepted);
    requests.decide(&made.request_id, &accept).unwrap();
    assert_eq!(
        requests.get(&made.request_id).unwrap().extra["note"],
        "mine"
    );
}

#[test]
fn answered_ones_are_forgotten_after_a_week_and_open_ones_never() {
    let (_scratch, workspace, requests) = scratch();
    let hours = |hours| {
        let ago = u64::try_from(Duration::from_hours(hours).as_millis()).unwrap();
        json!(Timestamp::from_ms(clock::now_ms() - ago))
    };
    let mut kept = Vec::new();
    for (decided, status, stays) in [
        (24 * 7 + 1, RequestStatus::Accepted, false),
        (24 * 7 - 1, RequestStatus::Declined, true),
        (24 * 90, RequestStatus::Pending, true),
    ] {
        let made = requests
            .create(asked(RequestKind::Team, "lead", "user"))
            .unwrap();
        edit(&workspace, &made, |value| {
            value["status"] = json!(status);
            value["created_at"] = hours(24 * 100);
            if status != RequestStatus::Pending {
                value["decided_at"] = hours(decided);
            }
        });
        if stays {
            kept.push(made.request_id);
        }
    }
    assert_eq!(requests.forget_old().unwrap(), 1);
    let mut left: Vec<RequestId> = requests
        .all()
        .unwrap()
        .into_iter()
        .map(|record| record.request_id)
        .collect();
    left.sort();
    kept.sort();
    assert_eq!(left, kept);
}
