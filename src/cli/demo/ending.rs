//! How the demo came to its end, in words and as an exit code: pure.

use crate::board::{Entry, Status};
use crate::cli::exit::{Failure, Kind, Outcome};
use crate::lead::{EndStatus, NOBODY, SessionResult};
use crate::request::{Record, RequestKind, RequestStatus};

/// What to do to see all of it.
const AGAIN: &str = "`lead demo` shows it again, `lead demo --yes` answers by itself";

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ending {
    /// Every task is completed; how many.
    Done(usize),
    /// The person did not agree to the team.
    Declined,
    /// The person turned both plans down; how many tasks are open.
    TurnedDown(usize),
    /// The input ended before the questions did.
    NobodyAnswered,
    /// By a signal.
    Interrupted,
    /// Otherwise: why.
    Broken(String),
}

impl Ending {
    /// From what the session came to and the questions that were asked in it.
    pub(super) fn of(ended: &SessionResult, asked: &[Record]) -> Self {
        let count = |status: &RequestStatus| {
            let of_status = asked.iter().filter(|record| record.status == *status);
            of_status.count()
        };
        match ended.status {
            EndStatus::Completed => Self::Done(ended.tasks.len()),
            EndStatus::Interrupted => Self::Interrupted,
            EndStatus::Limit => Self::Broken("its time was up".to_owned()),
            EndStatus::Failed => Self::Broken(ended.failure.clone().unwrap_or_default()),
            EndStatus::Incomplete if asked.iter().any(unanswered) => Self::NobodyAnswered,
            EndStatus::Incomplete if count(&RequestStatus::Declined) > 0 => Self::Declined,
            EndStatus::Incomplete if count(&RequestStatus::Rejected) > 1 => {
                Self::TurnedDown(open(&ended.tasks))
            }
            EndStatus::Incomplete => {
                Self::Broken(format!("{} tasks are still open", open(&ended.tasks)))
            }
        }
    }

    /// Whether anybody worked, so that there is something to take over.
    pub(super) fn had_team(&self) -> bool {
        !matches!(self, Self::Declined | Self::NobodyAnswered)
    }

    /// One line for the person; an ending that is a failure says it as its error.
    pub(super) fn words(&self) -> Option<String> {
        match self {
            Self::Done(tasks) => Some(format!("That was it: all {tasks} tasks are completed.")),
            Self::Declined => Some(format!(
                "You did not agree to the team, so nobody was started and nothing was changed; {AGAIN}."
            )),
            Self::TurnedDown(open) => Some(format!(
                "You turned the plan down twice, so it was left at that with {open} tasks open; {AGAIN}."
            )),
            Self::Interrupted => Some(format!("It was interrupted; {AGAIN}.")),
            Self::NobodyAnswered | Self::Broken(_) => None,
        }
    }

    /// A person who said no has seen what there was to see.
    pub(super) fn outcome(self) -> Outcome {
        match self {
            Self::Done(_) | Self::Declined | Self::TurnedDown(_) => Ok(Kind::Completed),
            Self::Interrupted => Ok(Kind::Interrupted),
            Self::NobodyAnswered => Err(Failure::failed(
                "the demo was not shown to its end; standard input ended before its questions were answered; run it on a \
                 terminal, or with --yes, which answers by itself",
            )),
            Self::Broken(why) => Err(Failure::failed(format!(
                "the demo did not come to its end; {why}; try it again, and look into `lead log` of its directory if that does \
                 not help"
            ))),
        }
    }
}

fn unanswered(record: &Record) -> bool {
    let asks = matches!(record.kind, RequestKind::Team | RequestKind::PlanApproval);
    asks && record.feedback.as_deref() == Some(NOBODY)
}

fn open(tasks: &[Entry]) -> usize {
    let is_open = |entry: &&Entry| matches!(entry, Entry::Task(task) if matches!(task.status, Status::Pending | Status::InProgress));
    tasks.iter().filter(is_open).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_end_that_nobody_chose_is_a_failure() {
        for ending in [Ending::Done(6), Ending::Declined, Ending::TurnedDown(2)] {
            assert!(ending.words().is_some(), "{ending:?}");
            assert_eq!(ending.outcome().unwrap(), Kind::Completed);
        }
        assert_eq!(Ending::Interrupted.outcome().unwrap(), Kind::Interrupted);
        for ending in [Ending::NobodyAnswered, Ending::Broken("x".to_owned())] {
            assert_eq!(ending.words(), None, "told once, as the error");
            let failure = ending.outcome().unwrap_err();
            assert!(failure.text().matches("; ").count() >= 2, "{failure:?}");
        }
    }
}
