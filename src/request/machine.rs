//! Which answers a request allows: the transition table, pure. `docs/protocol.md` shows the same table; a test compares.

use super::{Decision, Record, Refusal, RequestKind, RequestStatus};
use crate::clock::Timestamp;
use crate::ids::AgentName;
use RequestKind::{Permission, PlanApproval, PlanWish, Shutdown, Team};
use RequestStatus::{
    Accepted, Acknowledged, Allowed, Approved, Completed, Declined, Denied, Failed, Pending,
    Rejected, Stale, Withdrawn,
};

/// In which capacity somebody may take a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Party {
    /// The request's target; the person also for a request to the lead. The lead's process answers for the person by the
    /// rules that the person wrote, and then names the target, not itself.
    Target,
    /// Whoever keeps order: the process of the sender, of the target, or of the lead, or a verb of the person.
    Runtime,
}

impl Party {
    /// Whether `who` is this party to `record`.
    fn includes(self, record: &Record, who: &AgentName) -> bool {
        let person = *who == AgentName::user();
        match self {
            Self::Target => *who == record.target || (person && record.target.is_lead()),
            Self::Runtime => {
                *who == record.sender || *who == record.target || who.is_lead() || person
            }
        }
    }
}

/// A step that a request may take.
#[derive(Debug, Clone, Copy)]
pub struct Transition {
    /// The kind of request.
    pub kind: RequestKind,
    /// Where it stands.
    pub from: RequestStatus,
    /// Where it goes.
    pub to: RequestStatus,
    /// Who may take the step.
    pub by: Party,
    /// When it is taken.
    pub when: &'static str,
}

const fn step(
    kind: RequestKind,
    from: RequestStatus,
    to: RequestStatus,
    by: Party,
    when: &'static str,
) -> Transition {
    Transition {
        kind,
        from,
        to,
        by,
        when,
    }
}

/// All steps there are. What is not here does not happen.
pub const TRANSITIONS: &[Transition] = &[
    step(
        Shutdown,
        Pending,
        Acknowledged,
        Party::Target,
        "it heard the request and begins to wrap up",
    ),
    step(
        Shutdown,
        Pending,
        Completed,
        Party::Target,
        "it had nothing to wrap up and leaves",
    ),
    step(
        Shutdown,
        Acknowledged,
        Completed,
        Party::Target,
        "farewell sent, task given back: it leaves",
    ),
    step(
        Shutdown,
        Pending,
        Failed,
        Party::Runtime,
        "it could not end cleanly, or died, or was killed",
    ),
    step(
        Shutdown,
        Acknowledged,
        Failed,
        Party::Runtime,
        "the wrap-up failed, or it died, or was killed",
    ),
    step(
        PlanWish,
        Pending,
        Completed,
        Party::Target,
        "its gate is closed until a plan is approved",
    ),
    step(
        PlanWish,
        Pending,
        Withdrawn,
        Party::Runtime,
        "the teammate is gone, or was not told",
    ),
    step(PlanApproval, Pending, Approved, Party::Target, "go ahead"),
    step(
        PlanApproval,
        Pending,
        Rejected,
        Party::Target,
        "not so; the comment says why",
    ),
    step(
        PlanApproval,
        Pending,
        Stale,
        Party::Runtime,
        "its assignment was completed, released or claimed again",
    ),
    step(
        PlanApproval,
        Pending,
        Withdrawn,
        Party::Runtime,
        "the teammate stops, or nobody can answer in this run",
    ),
    step(
        Permission,
        Pending,
        Allowed,
        Party::Target,
        "the call may run",
    ),
    step(
        Permission,
        Pending,
        Denied,
        Party::Target,
        "the call may not run",
    ),
    step(
        Permission,
        Pending,
        Withdrawn,
        Party::Runtime,
        "the call was cut, or the process that asked is gone",
    ),
    step(
        Team,
        Pending,
        Accepted,
        Party::Target,
        "the proposed teammates may be started",
    ),
    step(
        Team,
        Pending,
        Declined,
        Party::Target,
        "they may not; the comment says why",
    ),
];

/// Whether a request of `kind` goes nowhere from `status`.
pub fn is_final(kind: RequestKind, status: RequestStatus) -> bool {
    !TRANSITIONS
        .iter()
        .any(|step| step.kind == kind && step.from == status)
}

/// Whether `decision` may be applied to `record` as it stands.
pub fn check(record: &Record, decision: &Decision) -> Result<(), Refusal> {
    if decision.kind != record.kind {
        return Err(Refusal::WrongKind {
            id: record.request_id.clone(),
            kind: record.kind,
            given: decision.kind,
        });
    }
    let mut leading = TRANSITIONS
        .iter()
        .filter(|step| step.kind == record.kind && step.to == decision.status)
        .peekable();
    let closed = || Refusal::Closed {
        id: record.request_id.clone(),
        status: record.status,
        given: decision.status,
    };
    if leading.peek().is_none() {
        return Err(closed());
    }
    let mut by_them = leading
        .filter(|step| step.by.includes(record, &decision.by))
        .peekable();
    if by_them.peek().is_none() {
        return Err(Refusal::WrongSender {
            id: record.request_id.clone(),
            target: record.target.clone(),
            given: decision.by.clone(),
        });
    }
    if by_them.any(|step| step.from == record.status) {
        Ok(())
    } else {
        Err(closed())
    }
}

/// The record after `decision`, if it is allowed.
pub fn apply(record: &Record, decision: &Decision, now: Timestamp) -> Result<Record, Refusal> {
    check(record, decision)?;
    let mut next = record.clone();
    next.status = decision.status;
    if is_final(record.kind, decision.status) {
        next.decided_at = Some(now);
        next.decided_by = Some(decision.by.clone());
    }
    if decision.feedback.is_some() {
        next.feedback.clone_from(&decision.feedback);
    }
    if decision.scope.is_some() {
        next.scope.clone_from(&decision.scope);
    }
    Ok(next)
}
