//! The person's open questions, one shown at a time: pure.
//!
//! A question is its request's record; the queue decides nothing, it only remembers what is to be shown and since when.
//! The same call asked twice by the same agent for the same task is one question with one answer.

use std::collections::{HashSet, VecDeque};
use std::time::Instant;

use crate::ids::{AgentName, RequestId};
use crate::request::{Record, RequestKind};

/// An open question.
#[derive(Debug, Clone)]
pub(super) struct Question {
    /// Its request as last read.
    pub(super) record: Record,
    /// Requests that ask the same.
    pub(super) same: Vec<Record>,
    /// Since when it has been the one that is shown. A line read before does not answer it.
    pub(super) shown_at: Option<Instant>,
}

/// All of them, the first one shown.
#[derive(Debug, Default)]
pub(super) struct Questions {
    queue: VecDeque<Question>,
    denied: HashSet<String>,
}

impl Questions {
    /// Puts a question at the end; one that is known by its id or asks the same as another adds nothing to show.
    pub(super) fn push(&mut self, record: Record) {
        if self.ids().any(|id| *id == record.request_id) {
            return;
        }
        match self
            .queue
            .iter_mut()
            .find(|open| asks_same(&open.record, &record))
        {
            Some(open) => open.same.push(record),
            None => self.queue.push_back(Question {
                record,
                same: Vec::new(),
                shown_at: None,
            }),
        }
    }

    /// The question to show, from `now` on if it was not shown yet.
    pub(super) fn front(&mut self, now: Instant) -> Option<&Question> {
        let front = self.queue.front_mut()?;
        front.shown_at.get_or_insert(now);
        Some(front)
    }

    /// Whether a line that was read `at` answers the question that is shown.
    pub(super) fn is_for(&self, at: Instant) -> bool {
        self.queue
            .front()
            .and_then(|open| open.shown_at)
            .is_some_and(|shown| shown <= at)
    }

    /// Whether `id` is the question that is shown.
    pub(super) fn is_shown(&self, id: &RequestId) -> bool {
        self.queue
            .front()
            .is_some_and(|open| open.record.request_id == *id && open.shown_at.is_some())
    }

    /// How many wait behind the first.
    pub(super) fn behind(&self) -> usize {
        self.queue.len().saturating_sub(1)
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Ids of all open requests.
    pub(super) fn ids(&self) -> impl Iterator<Item = &RequestId> {
        self.queue.iter().flat_map(|open| {
            std::iter::once(&open.record)
                .chain(&open.same)
                .map(|record| &record.request_id)
        })
    }

    /// Takes the request `id` out; of several that ask the same the others stay.
    pub(super) fn remove(&mut self, id: &RequestId) -> Option<Record> {
        let place = self.queue.iter().position(|open| {
            open.record.request_id == *id || open.same.iter().any(|same| same.request_id == *id)
        })?;
        let open = &mut self.queue[place];
        if open.record.request_id != *id {
            let same = open.same.iter().position(|same| same.request_id == *id)?;
            return Some(open.same.remove(same));
        }
        if open.same.is_empty() {
            return self.queue.remove(place).map(|open| open.record);
        }
        let next = open.same.remove(0);
        Some(std::mem::replace(&mut open.record, next))
    }

    /// Ids of the requests of `sender`, of one kind if given.
    pub(super) fn of(&self, sender: &AgentName, kind: Option<RequestKind>) -> Vec<RequestId> {
        self.queue
            .iter()
            .flat_map(|open| std::iter::once(&open.record).chain(&open.same))
            .filter(|record| {
                record.sender == *sender && kind.is_none_or(|kind| record.kind == kind)
            })
            .map(|record| record.request_id.clone())
            .collect()
    }

    /// Remembers that the person denied this call, so that it is not asked again.
    pub(super) fn remember_denial(&mut self, record: &Record) {
        if record.kind == RequestKind::Permission {
            self.denied.insert(call_of(record));
        }
    }

    /// Whether the person denied this call to this agent in this task.
    pub(super) fn was_denied(&self, record: &Record) -> bool {
        record.kind == RequestKind::Permission && self.denied.contains(&call_of(record))
    }
}

fn asks_same(left: &Record, right: &Record) -> bool {
    left.kind == RequestKind::Permission
        && right.kind == RequestKind::Permission
        && call_of(left) == call_of(right)
}

/// The call with its asker and task; the agent's name in lower case, since names differ by more than case.
fn call_of(record: &Record) -> String {
    let part = |key: &str| record.payload.get(key).map(ToString::to_string);
    format!(
        "{:?}",
        (
            record.sender.as_str().to_ascii_lowercase(),
            &record.task_id,
            part("tool"),
            part("input"),
            part("dir"),
        )
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::clock::{self, Timestamp};
    use crate::request::RequestStatus;

    fn ask(kind: RequestKind, sender: &str, command: &str) -> Record {
        Record {
            request_id: RequestId::random(),
            kind,
            sender: AgentName::parse(sender).unwrap(),
            target: AgentName::user(),
            status: RequestStatus::Pending,
            payload: json!({"tool": "bash", "input": {"command": command}, "dir": "/w"}),
            work_version: None,
            task_id: None,
            created_at: Timestamp::from_ms(1),
            decided_at: None,
            decided_by: None,
            feedback: None,
            scope: None,
            extra: serde_json::Map::default(),
        }
    }

    #[test]
    fn one_is_shown_at_a_time_in_the_order_they_came() {
        let now = clock::instant();
        let mut questions = Questions::default();
        let (first, second) = (
            ask(RequestKind::Team, "lead", "x"),
            ask(RequestKind::Permission, "bob", "rm a"),
        );
        questions.push(first.clone());
        questions.push(second.clone());
        questions.push(first.clone());
        assert_eq!(questions.behind(), 1);
        assert!(!questions.is_for(now), "not shown yet");
        assert_eq!(questions.front(now).unwrap().record, first);
        assert!(questions.is_for(now));
        assert_eq!(questions.remove(&first.request_id), Some(first));
        assert!(!questions.is_for(now + std::time::Duration::from_secs(1)));
        assert_eq!(questions.front(now).unwrap().record, second);
    }

    #[test]
    fn the_same_call_asked_twice_is_one_question() {
        let mut questions = Questions::default();
        let (one, two) = (
            ask(RequestKind::Permission, "bob", "rm a"),
            ask(RequestKind::Permission, "Bob", "rm a"),
        );
        let other = ask(RequestKind::Permission, "alice", "rm a");
        for record in [&one, &two, &other] {
            questions.push(record.clone());
        }
        assert_eq!(questions.behind(), 1);
        assert_eq!(questions.of(&one.sender, None).len(), 2);
        assert_eq!(questions.remove(&one.request_id), Some(one));
        assert_eq!(questions.behind(), 1, "the second asker still waits");
        assert_eq!(questions.remove(&two.request_id), Some(two.clone()));
        assert_eq!(questions.remove(&two.request_id), None);
        let (plan, again) = (
            ask(RequestKind::PlanApproval, "bob", "p"),
            ask(RequestKind::PlanApproval, "bob", "p"),
        );
        questions.push(plan);
        questions.push(again);
        assert_eq!(questions.behind(), 2, "plans are never merged");
    }

    #[test]
    fn a_denied_call_is_remembered_for_its_asker_and_task() {
        let mut questions = Questions::default();
        let denied = ask(RequestKind::Permission, "bob", "rm a");
        questions.remember_denial(&denied);
        assert!(questions.was_denied(&ask(RequestKind::Permission, "BOB", "rm a")));
        assert!(!questions.was_denied(&ask(RequestKind::Permission, "bob", "rm b")));
        assert!(!questions.was_denied(&ask(RequestKind::Permission, "alice", "rm a")));
        let mut other_task = denied;
        other_task.task_id = Some(crate::ids::TaskId::random());
        assert!(!questions.was_denied(&other_task));
    }
}
