//! The plan gate of one teammate (SPEC §8.3): pure. An approval holds for the task and work version it was asked for.

use crate::board::Released;
use crate::ids::{RequestId, TaskId};
use crate::request::{Record, RequestStatus};
use crate::team::PlanGate;
use crate::tool::Plan;

/// A task under the version it was claimed with.
pub(super) type Work = (TaskId, u64);

/// Why a task is not offered again where nobody can answer its plans.
const UNANSWERABLE: &str = "its plan was refused, and nobody can answer plans";

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Gate {
    /// Whether every assignment needs a plan.
    base: bool,
    state: PlanGate,
    open: Option<Submitted>,
    last: Option<RequestId>,
    /// Nobody can answer in this run: further plans for this assignment are refused.
    unanswerable: bool,
}

#[derive(Debug)]
struct Submitted {
    request: RequestId,
    work: Work,
    /// Unknown after a restart.
    plan: Option<Plan>,
}

/// What a submission leads to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Submission {
    /// Make a request, after withdrawing this one.
    Ask(Option<RequestId>),
    /// The same plan awaits its decision already: wait for that.
    Await(RequestId),
    /// Nothing to decide.
    Answer(String),
    /// Refused for good; the task is given back and not offered again.
    Hopeless(String),
}

/// A decision that has just become known.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decided {
    /// For the model.
    pub(super) text: String,
    /// Whether it is an approval or a rejection, not just an end.
    pub(super) is_answer: bool,
}

impl Gate {
    /// `base`: every assignment needs a plan. The rest as recorded by this teammate's predecessor for `work`, if it still
    /// holds that.
    pub(super) fn new(
        base: bool,
        state: PlanGate,
        request: Option<RequestId>,
        work: Option<Work>,
    ) -> Self {
        let mut gate = Self {
            base,
            last: request.clone(),
            ..Self::default()
        };
        match (state, request, work) {
            (PlanGate::Pending, Some(request), Some(work)) => {
                gate.state = state;
                gate.open = Some(Submitted {
                    request,
                    work,
                    plan: None,
                });
            }
            (PlanGate::Approved | PlanGate::Rejected | PlanGate::Required, _, Some(_)) => {
                gate.state = state;
            }
            _ => gate.state = gate.closed_state(),
        }
        gate
    }

    /// As recorded and as the tools see it.
    pub(super) fn state(&self) -> PlanGate {
        self.state
    }

    /// The open or last request.
    pub(super) fn request(&self) -> Option<&RequestId> {
        self.last.as_ref()
    }

    /// The request that awaits its decision.
    pub(super) fn pending(&self) -> Option<&RequestId> {
        self.open.as_ref().map(|open| &open.request)
    }

    /// A plan is submitted for the present assignment.
    pub(super) fn submit(&self, plan: &Plan) -> Submission {
        if self.unanswerable {
            return Submission::Hopeless(
                "plans cannot be answered in this run; the task goes back to the board; end your turn"
                    .to_owned(),
            );
        }
        if self.state == PlanGate::Approved {
            return Submission::Answer("your plan is already approved; go ahead".to_owned());
        }
        match &self.open {
            Some(open) if open.plan.as_ref() == Some(plan) => {
                Submission::Await(open.request.clone())
            }
            open => Submission::Ask(open.as_ref().map(|open| open.request.clone())),
        }
    }

    /// How the present assignment is given back: whose plans nobody can answer comes to no better end in this run.
    pub(super) fn verdict(
        &self,
        why: Released,
        note: Option<String>,
    ) -> (Released, Option<String>) {
        if self.unanswerable && why == Released::Failed {
            (Released::NotAgain, Some(UNANSWERABLE.to_owned()))
        } else {
            (why, note)
        }
    }

    /// A request was made for it.
    pub(super) fn asked(&mut self, request: RequestId, work: Work, plan: Plan) {
        self.state = PlanGate::Pending;
        self.last = Some(request.clone());
        self.open = Some(Submitted {
            request,
            work,
            plan: Some(plan),
        });
    }

    /// Looks at the record of the pending request. `unattended`: nobody can answer plans in this run.
    pub(super) fn look(
        &mut self,
        record: &Record,
        work: Option<&Work>,
        unattended: bool,
    ) -> Option<Decided> {
        let open = self.open.as_ref()?;
        if open.request != record.request_id {
            return None;
        }
        let current = work == Some(&open.work);
        let id = &record.request_id;
        let comment = record
            .feedback
            .as_deref()
            .map(str::trim)
            .filter(|text| !text.is_empty())
            .map(|text| format!(": {text}"))
            .unwrap_or_default();
        let (state, text, is_answer) = match record.status {
            RequestStatus::Approved if current => (
                PlanGate::Approved,
                format!("your plan {id} was approved{comment}"),
                true,
            ),
            RequestStatus::Rejected if current && unattended => (
                PlanGate::Rejected,
                format!(
                    "your plan {id} was rejected{comment}; plans cannot be approved in this run, and further ones for this task will be refused"
                ),
                true,
            ),
            RequestStatus::Rejected if current => (
                PlanGate::Rejected,
                format!(
                    "your plan {id} was rejected{comment}; submit a better one with submit_plan"
                ),
                true,
            ),
            RequestStatus::Approved
            | RequestStatus::Rejected
            | RequestStatus::Stale
            | RequestStatus::Withdrawn => (
                PlanGate::Required,
                format!(
                    "your plan {id} no longer counts; it belonged to an earlier assignment or was withdrawn"
                ),
                false,
            ),
            RequestStatus::Pending
            | RequestStatus::Acknowledged
            | RequestStatus::Completed
            | RequestStatus::Failed
            | RequestStatus::Allowed
            | RequestStatus::Denied
            | RequestStatus::Accepted
            | RequestStatus::Declined => return None,
        };
        self.unanswerable = unattended && state == PlanGate::Rejected;
        self.state = state;
        self.open = None;
        Some(Decided { text, is_answer })
    }

    /// The pending request was withdrawn by this teammate.
    pub(super) fn withdrawn(&mut self) {
        if self.open.take().is_some() {
            self.state = PlanGate::Required;
        }
    }

    /// The lead wants a plan before anything is changed. A plan that awaits its decision is that plan.
    pub(super) fn wanted(&mut self) {
        if self.state != PlanGate::Pending {
            self.state = PlanGate::Required;
        }
    }

    /// A new assignment; a plan that was wanted for it before stays wanted.
    pub(super) fn opened(&mut self) {
        self.unanswerable = false;
        if self.state != PlanGate::Required {
            self.state = self.closed_state();
        }
    }

    /// The assignment is over. The answer is the request that is now void.
    pub(super) fn closed(&mut self) -> Option<RequestId> {
        self.state = self.closed_state();
        self.unanswerable = false;
        self.open.take().map(|open| open.request)
    }

    fn closed_state(&self) -> PlanGate {
        if self.base {
            PlanGate::Required
        } else {
            PlanGate::NotRequired
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::clock::Timestamp;
    use crate::ids::AgentName;
    use crate::request::RequestKind;

    fn plan(title: &str) -> Plan {
        Plan {
            title: title.into(),
            steps: vec!["do it".into()],
            rationale: None,
        }
    }

    fn id(text: &str) -> RequestId {
        RequestId::parse(text).unwrap()
    }

    fn work(version: u64) -> Work {
        (TaskId::parse("task_00000001").unwrap(), version)
    }

    fn record(status: RequestStatus) -> Record {
        serde_json::from_value(json!({
            "request_id": "req_00000001", "type": RequestKind::PlanApproval,
            "sender": AgentName::parse("alice").unwrap(), "target": AgentName::user(),
            "status": status, "payload": {}, "work_version": 1, "task_id": "task_00000001",
            "created_at": Timestamp::from_ms(0), "decided_at": null, "decided_by": null,
            "feedback": "use B", "scope": null
        }))
        .unwrap()
    }

    fn pending() -> Gate {
        let mut gate = Gate::new(true, PlanGate::NotRequired, None, None);
        assert_eq!(gate.state(), PlanGate::Required);
        assert_eq!(gate.submit(&plan("a")), Submission::Ask(None));
        gate.asked(id("req_00000001"), work(1), plan("a"));
        gate
    }

    #[test]
    fn each_decision_sets_the_gate_for_its_own_work_only() {
        use RequestStatus::{Approved, Denied, Pending, Rejected, Stale, Withdrawn};
        for (status, version, state, is_answer) in [
            (Approved, 1, PlanGate::Approved, Some(true)),
            (Rejected, 1, PlanGate::Rejected, Some(true)),
            (Approved, 2, PlanGate::Required, Some(false)),
            (Rejected, 2, PlanGate::Required, Some(false)),
            (Stale, 1, PlanGate::Required, Some(false)),
            (Withdrawn, 1, PlanGate::Required, Some(false)),
            (Pending, 1, PlanGate::Pending, None),
            (Denied, 1, PlanGate::Pending, None),
        ] {
            let mut gate = pending();
            let decided = gate.look(&record(status), Some(&work(version)), false);
            assert_eq!(
                decided.as_ref().map(|decided| decided.is_answer),
                is_answer,
                "{status:?}"
            );
            assert_eq!(gate.state(), state, "{status:?}");
            if is_answer == Some(true) {
                assert!(decided.unwrap().text.contains(": use B"));
                assert_eq!(gate.look(&record(status), Some(&work(1)), false), None);
            }
        }
    }

    #[test]
    fn a_plan_that_waits_is_waited_for_and_another_replaces_it() {
        let gate = pending();
        assert_eq!(
            gate.submit(&plan("a")),
            Submission::Await(id("req_00000001"))
        );
        assert_eq!(
            gate.submit(&plan("b")),
            Submission::Ask(Some(id("req_00000001")))
        );
    }

    #[test]
    fn an_approved_plan_is_approved_once_and_ends_with_its_assignment() {
        let mut gate = pending();
        gate.look(&record(RequestStatus::Approved), Some(&work(1)), false);
        assert!(matches!(gate.submit(&plan("c")), Submission::Answer(_)));
        assert_eq!(gate.closed(), None);
        assert_eq!(gate.state(), PlanGate::Required);
        assert_eq!(pending().closed(), Some(id("req_00000001")));
    }

    #[test]
    fn where_nobody_can_answer_one_refusal_is_the_last() {
        let mut gate = pending();
        gate.look(&record(RequestStatus::Rejected), Some(&work(1)), true);
        assert!(matches!(gate.submit(&plan("d")), Submission::Hopeless(_)));
        let mine = Some("mine".to_owned());
        assert_eq!(
            gate.verdict(Released::Failed, mine.clone()),
            (Released::NotAgain, Some(UNANSWERABLE.to_owned()))
        );
        assert_eq!(
            gate.verdict(Released::Orderly, mine.clone()),
            (Released::Orderly, mine.clone())
        );
        gate.closed();
        gate.opened();
        assert_eq!(
            gate.verdict(Released::Failed, mine.clone()),
            (Released::Failed, mine)
        );
        assert_eq!(gate.submit(&plan("d")), Submission::Ask(None));
    }

    #[test]
    fn a_restart_keeps_what_still_belongs_to_its_work() {
        let request = || Some(id("req_00000001"));
        let gate = Gate::new(false, PlanGate::Pending, request(), Some(work(1)));
        assert_eq!(gate.pending(), request().as_ref());
        let gate = Gate::new(false, PlanGate::Approved, request(), Some(work(1)));
        assert_eq!(gate.state(), PlanGate::Approved);
        for state in [PlanGate::Pending, PlanGate::Approved, PlanGate::Rejected] {
            let gate = Gate::new(false, state, request(), None);
            assert_eq!(gate.state(), PlanGate::NotRequired);
            assert_eq!(gate.pending(), None);
        }
    }

    #[test]
    fn a_wanted_plan_is_wanted_for_the_assignment_to_come() {
        let mut gate = Gate::new(false, PlanGate::NotRequired, None, None);
        gate.wanted();
        gate.opened();
        assert_eq!(gate.state(), PlanGate::Required);
        gate.closed();
        gate.opened();
        assert_eq!(gate.state(), PlanGate::NotRequired);
        let mut gate = pending();
        gate.wanted();
        assert_eq!(gate.state(), PlanGate::Pending);
    }
}
