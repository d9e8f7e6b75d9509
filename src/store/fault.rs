//! Named places at which a test kills its process: one at each step of what must survive a kill at any moment.
//!
//! Compiled in only for tests and with the feature `fault-points`; elsewhere [`here`] is nothing. The names of higher
//! layers stand here too, so that one loop over [`Point::ALL`] reaches every step of the program.

macro_rules! points {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// A step after which, or within which, a process may be killed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Point { $($(#[$doc])* $name,)* }

        impl Point {
            /// Every point.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Finds a point by its name.
            pub fn named(name: &str) -> Option<Self> {
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
}

#[cfg(any(test, feature = "fault-points"))]
mod armed {
    use std::sync::{Mutex, PoisonError};

    use super::Point;

    static ARMED: Mutex<Option<(Point, u32)>> = Mutex::new(None);

    /// Kills this process when `point` is passed for the `nth` time from now on, counted from 1.
    pub fn arm(point: Point, nth: u32) {
        *ARMED.lock().unwrap_or_else(PoisonError::into_inner) = Some((point, nth));
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
        let mut armed = ARMED.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *armed {
            Some((at, left)) if *at == point => {
                *left = left.saturating_sub(1);
                *left == 0
            }
            _ => false,
        }
    }

    fn die() -> ! {
        nix::sys::signal::raise(nix::sys::signal::Signal::SIGKILL).ok();
        std::process::abort();
    }
}

#[cfg(any(test, feature = "fault-points"))]
pub use armed::arm;
#[cfg(any(test, feature = "fault-points"))]
pub(crate) use armed::{here, within};

/// The place of `point`: nothing.
#[cfg(not(any(test, feature = "fault-points")))]
#[inline]
pub(crate) fn here(_point: Point) {}

/// The place of a point within an act: nothing.
#[cfg(not(any(test, feature = "fault-points")))]
#[inline]
pub(crate) fn within<T>(_point: Point, _half: impl FnOnce() -> T) {}
