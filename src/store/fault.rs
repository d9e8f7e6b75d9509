//! Named places at which a test kills its process: one at each step of what must survive a kill at any moment.
//!
//! Compiled in only for the crate's own tests; elsewhere [`here`] is nothing. The names of higher layers stand here too, so
//! that one loop over [`Point::ALL`] reaches every step of the program (`src/killed/`).

macro_rules! points {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// A step after which, or within which, a process may be killed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Point { $($(#[$doc])* $name,)* }

        #[cfg(test)]
        impl Point {
            /// Every point.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Finds a point by its name.
            pub(crate) fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|point| format!("{point:?}") == name)
            }
        }
    };
}

points! {
    /// A temporary file was made, and nothing written to it.
    TempMade,
    /// A temporary file was written, and not synced.
    TempWritten,
    /// A temporary file was synced, and not renamed.
    TempSynced,
    /// A file stands under its name; its directory was not synced.
    Renamed,
    /// Half of a line was written.
    LineTorn,
    /// A line was written, and not synced.
    LineWritten,
    /// The board is locked, and nothing was written.
    BoardLocked,
    /// The board's change was marked, and nothing changed.
    BoardMarked,
    /// The task files are written, and the journal tells nothing of it.
    BoardWritten,
    /// The journal tells it; the bell was not rung.
    BoardTold,
    /// The bell was rung; the mark stands.
    BoardRung,
    /// All is done but the unlocking.
    BoardCleared,
    /// A message stands in the mailbox, unlocked; it was not synced.
    MailAppended,
    /// A mailbox was read by its owner, and nothing recorded.
    MailRead,
    /// The transcript holds the mail.
    MailRecorded,
    /// The archive holds it.
    MailArchived,
    /// The transcript says that the mailbox is being blanked.
    MailNoted,
    /// Half of the mailbox is blank.
    BlankTorn,
    /// All of it is blank, and the transcript does not say so.
    MailBlanked,
    /// The mailbox is emptied, and still locked.
    MailEmptied,
    /// An answer is allowed, and not written.
    AnswerAllowed,
    /// A request holds its answer; nobody was told.
    AnswerWritten,
    /// A reply is recorded, and none of its tools has run.
    ReplyRecorded,
    /// A tool has run; its result is not recorded.
    ToolRan,
    /// Its result is recorded.
    ResultRecorded,
    /// A conversation is recorded as made shorter.
    Shortened,
    /// The record of a teammate to be started is written.
    MemberRecorded,
    /// Its task is claimed.
    SpawnClaimed,
    /// Its process runs.
    SpawnStarted,
    /// git has made a worktree, and no task is bound to it.
    WorktreeMade,
    /// A merge is tried and its commit made, which no branch names.
    MergePrepared,
    /// The repository has the objects that an agent made in its view, and the branch has not moved.
    ViewReceived,
    /// The branch has moved, and that is not noted.
    ViewAdvanced,
    /// A worktree's files are gone, and git has it registered.
    WorktreeEmptied,
}

#[cfg(test)]
pub(crate) use armed::{begin, here, passed, within};

/// The place of `point`: nothing.
#[cfg(not(test))]
#[inline]
pub(crate) fn here(_point: Point) {}

/// The place of a point within an act: nothing.
#[cfg(not(test))]
#[inline]
pub(crate) fn within<T>(_point: Point, _half: impl FnOnce() -> T) {}

#[cfg(test)]
mod armed {
    use std::sync::{Mutex, PoisonError};

    use super::Point;

    /// `None`: not in a process that is to be killed.
    static STATE: Mutex<Option<State>> = Mutex::new(None);

    struct State {
        due: Option<(Point, usize)>,
        passed: Vec<Point>,
    }

    /// Forgets what was passed and, from now on, kills this process when `due`'s point is passed for the nth time, counted
    /// from 1.
    pub(crate) fn begin(due: Option<(Point, usize)>) {
        let passed = Vec::new();
        *STATE.lock().unwrap_or_else(PoisonError::into_inner) = Some(State { due, passed });
    }

    /// The points passed since [`begin`], in order.
    pub(crate) fn passed() -> Vec<Point> {
        let state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
        state
            .as_ref()
            .map_or_else(Vec::new, |state| state.passed.clone())
    }

    /// The place of `point`.
    pub(crate) fn here(point: Point) {
        if is_due(point) {
            die();
        }
    }

    /// The place of a point within an act: `half` does half of it.
    pub(crate) fn within<T>(point: Point, half: impl FnOnce() -> T) {
        if is_due(point) {
            drop(half());
            die();
        }
    }

    fn is_due(point: Point) -> bool {
        let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(state) = &mut *state else {
            return false;
        };
        state.passed.push(point);
        let times = state.passed.iter().filter(|passed| **passed == point);
        state.due == Some((point, times.count()))
    }

    fn die() -> ! {
        nix::sys::signal::raise(nix::sys::signal::Signal::SIGKILL).ok();
        std::process::abort();
    }
}
