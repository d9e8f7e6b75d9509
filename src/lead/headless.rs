//! When a session without a person ends, and how it ended (SPEC §14): pure.
//!
//! The snapshot is taken in this order: the members' statuses, all mailboxes, the board. A teammate sets `working` before
//! it takes mail or a task, and sends its result before it sets `idle`; so what moves is seen in one of them.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use super::EndStatus;
use crate::ids::TaskId;
use crate::request::RequestKind;

/// What the team looks like while the lead is at rest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Snapshot {
    /// What moves by itself, if anything does.
    pub(super) moves: Option<Moves>,
    /// Pending or in progress, by id and subject.
    pub(super) open: Vec<(TaskId, String)>,
    /// Changes whenever the board does.
    pub(super) mark: u64,
}

/// Why a session goes on by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moves {
    /// Some teammate starts, works, waits, stops, or is to be started again.
    Teammate,
    /// Mail waits somewhere that will wake its owner.
    Mail,
    /// A task is offered to a living teammate.
    Offer,
    /// So is one, but its provider asked everybody to wait so long from now.
    Held(Duration),
    /// A branch is being merged into a task's worktree.
    Branch,
    /// Somebody waits for an answer that may still come.
    Question,
}

/// What follows from a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Something moves by itself.
    Moving,
    /// Nothing moves, and tasks are open: the lead gets one more round that lists them.
    AskLead,
    /// The session ends.
    Over,
}

/// How long an idle teammate may leave what should wake it: longer than everybody's slow check of 30 s.
const HOPE: Duration = Duration::from_secs(45);

/// Remembers the last time that the lead was asked, and since when only something that nobody takes up has moved.
#[derive(Debug, Default)]
pub(super) struct Standstill {
    asked_at: Option<u64>,
    hoping: Option<Hope>,
    /// When a held teammate may go on.
    held: Option<Instant>,
}

/// Something that should wake an idle receiver.
#[derive(Debug, Clone, Copy)]
struct Hope {
    moves: Moves,
    mark: u64,
    since: Instant,
    given_up: bool,
}

impl Standstill {
    /// Judges a snapshot. `can_think` is false when the lead's last call failed for good.
    pub(super) fn judge(&mut self, snapshot: &Snapshot, can_think: bool, now: Instant) -> Verdict {
        if let Some(moves) = snapshot.moves
            && !self.is_hopeless(moves, snapshot.mark, now)
        {
            return Verdict::Moving;
        }
        let mark = snapshot.mark;
        if snapshot.open.is_empty() || !can_think || self.asked_at == Some(mark) {
            return Verdict::Over;
        }
        self.asked_at = Some(mark);
        Verdict::AskLead
    }

    /// Mail or an offer that its idle receiver has left for too long: it has its reasons, and it is not waited for.
    fn is_hopeless(&mut self, moves: Moves, mark: u64, now: Instant) -> bool {
        self.held = match moves {
            Moves::Held(left) => Some(now + left),
            Moves::Teammate | Moves::Mail | Moves::Offer | Moves::Branch | Moves::Question => None,
        };
        if self.held.is_some() || matches!(moves, Moves::Teammate | Moves::Branch | Moves::Question)
        {
            self.hoping = None;
            return false;
        }
        let since = self
            .hoping
            .filter(|hope| (hope.moves, hope.mark) == (moves, mark))
            .map_or(now, |hope| hope.since);
        let given_up = now.saturating_duration_since(since) >= HOPE;
        self.hoping = Some(Hope {
            moves,
            mark,
            since,
            given_up,
        });
        given_up
    }

    /// Until when something else must have happened.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let hope = self.hoping.filter(|hope| !hope.given_up);
        hope.map(|hope| hope.since + HOPE).or(self.held)
    }

    /// Something moves: nothing is hoped for.
    pub(super) fn moving(&mut self) {
        self.hoping = None;
        self.held = None;
    }
}

/// What the lead's model is told at a standstill.
pub(super) fn standstill_text(open: &[(TaskId, String)]) -> String {
    let mut text = String::from(
        "[Team events]\nNobody is working, no mail is waiting, and nobody is there to answer. These tasks are still open:\n",
    );
    for (id, subject) in open {
        let _ = writeln!(text, "- {id} {subject}");
    }
    text.push_str("Do what is needed to get them done or cancel them. If nothing can be done, say so: the session ends then.");
    text
}

/// Why the session ends with tasks open, in one line for the person; `missed` is what nobody could agree to.
pub(super) fn incomplete_text(
    open: &[(TaskId, String)],
    missed: Option<RequestKind>,
) -> Option<String> {
    let (first, subject) = open.first()?;
    let open = match open.len() {
        1 => format!("1 task is still open: {first} {subject:?}"),
        count => format!("{count} tasks are still open: {first} {subject:?} and more"),
    };
    let why = match missed {
        Some(RequestKind::Team) => {
            "a team was proposed and nobody could agree; give --yes to accept teams and plans"
        }
        Some(RequestKind::PlanApproval) => {
            "a plan was submitted and nobody could agree; give --yes to accept teams and plans"
        }
        Some(RequestKind::Permission) => {
            "a call was denied since nobody could be asked; rules in the settings can allow it"
        }
        Some(RequestKind::Shutdown | RequestKind::PlanWish) | None => {
            "nobody works any more; `lead task list` says what is waited for"
        }
    };
    Some(format!("{open}; {why}"))
}

/// How many calls were denied in a run without a person, in one line for whoever reads it afterwards.
pub(super) fn denied_text(count: usize) -> Option<String> {
    let calls = match count {
        0 => return None,
        1 => "1 call was denied".to_owned(),
        count => format!("{count} calls were denied"),
    };
    Some(format!(
        "{calls}, since nobody is asked in this run (told of above); allow what may run by rules in the settings, or start \
         `lead` on a terminal and answer"
    ))
}

/// How a session ended: the gravest of all that happened.
pub(super) fn status(happened: impl IntoIterator<Item = EndStatus>) -> EndStatus {
    happened.into_iter().max().unwrap_or(EndStatus::Completed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    fn still(mark: u64, open: usize) -> Snapshot {
        Snapshot {
            open: (0..open)
                .map(|n| (TaskId::random(), n.to_string()))
                .collect(),
            mark,
            ..Snapshot::default()
        }
    }

    #[test]
    fn denied_calls_are_counted() {
        assert_eq!(denied_text(0), None);
        assert!(denied_text(1).unwrap().starts_with("1 call was denied, "));
        assert!(denied_text(2).unwrap().starts_with("2 calls were denied, "));
    }

    #[test]
    fn anything_that_moves_keeps_the_session_going() {
        let base = || still(1, 1);
        let (mut standstill, now) = (Standstill::default(), clock::instant());
        for moves in [Moves::Teammate, Moves::Mail, Moves::Offer, Moves::Question] {
            let snapshot = Snapshot {
                moves: Some(moves),
                ..base()
            };
            assert_eq!(standstill.judge(&snapshot, true, now), Verdict::Moving);
        }
        assert_eq!(standstill.judge(&base(), true, now), Verdict::AskLead);
    }

    #[test]
    fn the_lead_is_asked_again_only_after_something_changed() {
        let (mut standstill, now) = (Standstill::default(), clock::instant());
        for (mark, open, can_think, wanted) in [
            (1, 0, true, Verdict::Over),
            (1, 2, false, Verdict::Over),
            (1, 2, true, Verdict::AskLead),
            (1, 2, true, Verdict::Over),
            (2, 2, true, Verdict::AskLead),
            (2, 2, true, Verdict::Over),
        ] {
            let snapshot = still(mark, open);
            assert_eq!(
                standstill.judge(&snapshot, can_think, now),
                wanted,
                "{mark} {open}"
            );
        }
    }

    #[test]
    fn an_offer_that_nobody_takes_is_not_waited_for_without_end() {
        let (mut standstill, now) = (Standstill::default(), clock::instant());
        let offered = |mark| Snapshot {
            moves: Some(Moves::Offer),
            ..still(mark, 1)
        };
        let second = Duration::from_secs(1);
        for (mark, at, wanted) in [
            (1, now, Verdict::Moving),
            (1, now + second, Verdict::Moving),
            (2, now + HOPE, Verdict::Moving),
            (2, now + HOPE + second, Verdict::Moving),
            (2, now + HOPE + HOPE, Verdict::AskLead),
        ] {
            assert_eq!(standstill.judge(&offered(mark), true, at), wanted);
            let waits = standstill.deadline().is_some_and(|until| until > at);
            assert_eq!(waits, wanted == Verdict::Moving);
        }
        standstill.moving();
        assert_eq!(standstill.deadline(), None);
    }

    #[test]
    fn who_is_held_back_is_waited_for_until_it_may_go_on() {
        let (mut standstill, now) = (Standstill::default(), clock::instant());
        let left = Duration::from_hours(1);
        let snapshot = Snapshot {
            moves: Some(Moves::Held(left)),
            ..still(1, 1)
        };
        for at in [now, now + HOPE * 2] {
            assert_eq!(standstill.judge(&snapshot, true, at), Verdict::Moving);
            assert_eq!(standstill.deadline(), Some(at + left));
        }
        standstill.moving();
        assert_eq!(standstill.deadline(), None);
    }

    #[test]
    fn the_standstill_lists_every_open_task() {
        let open = still(0, 3).open;
        let text = standstill_text(&open);
        assert!(text.starts_with("[Team events]"));
        assert!(open.iter().all(|(id, _)| text.contains(id.as_str())));
    }

    #[test]
    fn the_gravest_reason_names_the_end() {
        use EndStatus as E;
        for (happened, wanted) in [
            (vec![], E::Completed),
            (vec![E::Incomplete, E::Failed], E::Failed),
            (vec![E::Limit, E::Failed, E::Incomplete], E::Limit),
            (vec![E::Failed, E::Interrupted, E::Limit], E::Interrupted),
        ] {
            assert_eq!(status(happened), wanted);
        }
    }

    #[test]
    fn what_is_open_at_the_end_is_said_with_what_could_help() {
        let task = |subject: &str| (TaskId::random(), subject.to_owned());
        assert_eq!(incomplete_text(&[], Some(RequestKind::Team)), None);
        for (open, missed, count, help) in [
            (vec![task("a")], None, "1 task is", "lead task list"),
            (
                vec![task("a"); 2],
                Some(RequestKind::Team),
                "2 tasks are",
                "give --yes",
            ),
            (
                vec![task("a")],
                Some(RequestKind::PlanApproval),
                "1 task is",
                "give --yes",
            ),
            (
                vec![task("a")],
                Some(RequestKind::Permission),
                "1 task is",
                "rules in the settings",
            ),
        ] {
            let text = incomplete_text(&open, missed).unwrap();
            assert!(text.starts_with(count) && text.contains(help), "{text}");
            assert!(!text.contains('\n'), "{text}");
        }
    }
}
