//! Whole exchanges against the machine: late, repeated, forged and reordered answers, whatever comes in whatever order.

use proptest::prelude::*;

use super::machine::{decision, record};
use crate::clock::Timestamp;
use crate::request::RequestKind::{Permission, PlanApproval, Shutdown, Team};
use crate::request::machine::{apply, is_final};
use crate::request::{Record, RequestKind, RequestStatus, RequestStatus as S};

const NOW: fn() -> Timestamp = || Timestamp::from_ms(1_764_522_000_000);

fn asked(kind: RequestKind) -> Record {
    let (sender, target) = match kind {
        RequestKind::Shutdown | RequestKind::PlanWish => ("lead", "alice"),
        RequestKind::Team => ("lead", "user"),
        RequestKind::PlanApproval | RequestKind::Permission => ("alice", "user"),
    };
    record(kind, S::Pending, sender, target)
}

/// What is answered, by whom; and where the request stands then.
type Step = (&'static str, RequestStatus, RequestStatus);

const STORIES: [(RequestKind, &[Step]); 9] = [
    // In order; then everything once more, late.
    (
        Shutdown,
        &[
            ("alice", S::Acknowledged, S::Acknowledged),
            ("alice", S::Acknowledged, S::Acknowledged),
            ("alice", S::Completed, S::Completed),
            ("alice", S::Completed, S::Completed),
            ("alice", S::Acknowledged, S::Completed),
            ("lead", S::Failed, S::Completed),
        ],
    ),
    // The farewell before the acknowledgement.
    (
        Shutdown,
        &[
            ("alice", S::Completed, S::Completed),
            ("alice", S::Acknowledged, S::Completed),
        ],
    ),
    // Others cannot stop it, and not say that it has; that it died the lead may say.
    (
        Shutdown,
        &[
            ("bob", S::Acknowledged, S::Pending),
            ("lead", S::Completed, S::Pending),
            ("user", S::Completed, S::Pending),
            ("lead", S::Failed, S::Failed),
            ("alice", S::Completed, S::Failed),
        ],
    ),
    (
        PlanApproval,
        &[
            ("alice", S::Approved, S::Pending),
            ("bob", S::Approved, S::Pending),
            ("lead", S::Approved, S::Pending),
            ("user", S::Allowed, S::Pending),
            ("user", S::Rejected, S::Rejected),
            ("user", S::Approved, S::Rejected),
        ],
    ),
    (
        PlanApproval,
        &[
            ("alice", S::Stale, S::Stale),
            ("user", S::Approved, S::Stale),
            ("user", S::Rejected, S::Stale),
        ],
    ),
    (
        PlanApproval,
        &[
            ("user", S::Approved, S::Approved),
            ("alice", S::Withdrawn, S::Approved),
            ("user", S::Approved, S::Approved),
        ],
    ),
    (
        Permission,
        &[
            ("alice", S::Allowed, S::Pending),
            ("lead", S::Allowed, S::Pending),
            ("user", S::Approved, S::Pending),
            ("user", S::Allowed, S::Allowed),
            ("user", S::Denied, S::Allowed),
            ("lead", S::Withdrawn, S::Allowed),
        ],
    ),
    (
        Permission,
        &[
            ("lead", S::Withdrawn, S::Withdrawn),
            ("user", S::Allowed, S::Withdrawn),
        ],
    ),
    (
        Team,
        &[
            ("lead", S::Accepted, S::Pending),
            ("alice", S::Accepted, S::Pending),
            ("user", S::Declined, S::Declined),
            ("user", S::Accepted, S::Declined),
        ],
    ),
];

#[test]
fn each_protocol_by_its_stories() {
    for (kind, steps) in STORIES {
        let mut now = asked(kind);
        for (number, (by, to, stands)) in steps.iter().enumerate() {
            match apply(&now, &decision(kind, by, *to), NOW()) {
                Ok(next) => now = next,
                Err(refusal) => assert!(!refusal.to_string().is_empty()),
            }
            assert_eq!(now.status, *stands, "{kind}, step {number}: {to} by {by}");
        }
    }
}

proptest! {
    /// Whatever is answered by whomever in whatever order: a refusal changes nothing, a step forward is one of the table, and
    /// the first end is the last word.
    #[test]
    fn the_first_end_is_the_last_word(
        kind in proptest::sample::select(RequestKind::ALL.to_vec()),
        answers in proptest::collection::vec(
            (
                proptest::sample::select(RequestKind::ALL.to_vec()),
                proptest::sample::select(S::ALL.to_vec()),
                proptest::sample::select(vec!["alice", "bob", "lead", "user"]),
            ),
            0..40,
        ),
    ) {
        let mut now = asked(kind);
        let mut ended: Option<Record> = None;
        for (answered, to, by) in answers {
            match apply(&now, &decision(answered, by, to), NOW()) {
                Err(_) => {}
                Ok(next) => {
                    prop_assert!(ended.is_none(), "{kind}: {:?} after {:?}", next.status, now.status);
                    prop_assert_eq!(answered, kind);
                    prop_assert_eq!(next.status, to);
                    prop_assert_ne!(by, "bob");
                    if is_final(kind, next.status) {
                        prop_assert_eq!(next.decided_by.as_ref().map(ToString::to_string), Some(by.to_owned()));
                        ended = Some(next.clone());
                    }
                    now = next;
                }
            }
        }
        if let Some(ended) = ended {
            prop_assert_eq!(now, ended);
        }
    }
}
