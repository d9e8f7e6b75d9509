//! What `lead log --follow` and `lead status --watch` wait for: a change of any file of the team, or a signal.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use crate::cli::exit::Kind;
use crate::cli::safe::safe_line;
use crate::cli::shell;
use crate::clock;
use crate::process::signals::{self, Signal};
use crate::store::watch::Watcher;
use crate::workspace::Workspace;

/// Longest note of the watcher, in characters.
const MAX_NOTE: usize = 300;

/// Why it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wake {
    /// A file may have changed.
    Changed,
    /// The verb ends so.
    End(Kind),
}

/// From now on each signal that ends a verb is sent to `wake`.
pub(super) fn signals_to(wake: Sender<Wake>) {
    signals::listen(move |signal| {
        let kind = match signal {
            Signal::Interrupt => Kind::Interrupted,
            Signal::Terminate => Kind::Terminated,
            Signal::HangUp => Kind::HungUp,
        };
        wake.send(Wake::End(kind)).ok();
    });
}

/// From now on each change of a file that the team writes is sent to `wake`. Makes nothing.
pub(super) fn files_to(workspace: &Workspace, wake: Sender<Wake>) -> Watcher {
    let watcher = Watcher::start(
        false,
        move |_| {
            wake.send(Wake::Changed).ok();
        },
        |why| shell::err_line(&safe_line(&why, MAX_NOTE)),
    );
    for dir in dirs(workspace) {
        watcher.watch(&dir);
    }
    watcher
}

fn dirs(workspace: &Workspace) -> [PathBuf; 8] {
    [
        workspace.tasks_dir(),
        workspace.mailboxes_dir(),
        workspace.members_dir(),
        workspace.requests_dir(),
        workspace.transcripts_dir(),
        workspace.archive_dir(),
        workspace.logs_dir(),
        workspace.state_dir(),
    ]
}

/// Blocks until something happens; many changes are one, and an end among them comes first. An end if nobody can send any
/// more.
pub(super) fn next(woken: &Receiver<Wake>) -> Wake {
    let Ok(first) = woken.recv() else {
        return Wake::End(Kind::Completed);
    };
    std::iter::once(first)
        .chain(woken.try_iter())
        .find(|wake| *wake != Wake::Changed)
        .unwrap_or(Wake::Changed)
}

/// The same, but changes are taken in for at least `pause` after the first: for who reads much at each.
pub(super) fn next_after(woken: &Receiver<Wake>, pause: Duration) -> Wake {
    let first = next(woken);
    let until = clock::instant() + pause;
    let mut last = first;
    while last == Wake::Changed {
        let left = until.saturating_duration_since(clock::instant());
        match woken.recv_timeout(left) {
            Ok(wake) => last = wake,
            Err(_) => return last,
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn many_changes_are_one_and_an_end_is_not_kept_waiting_by_them() {
        let (wake, woken) = mpsc::channel();
        for sent in [
            Wake::Changed,
            Wake::Changed,
            Wake::End(Kind::Interrupted),
            Wake::Changed,
        ] {
            wake.send(sent).unwrap();
        }
        assert_eq!(next(&woken), Wake::End(Kind::Interrupted));
        wake.send(Wake::Changed).unwrap();
        wake.send(Wake::Changed).unwrap();
        assert_eq!(next(&woken), Wake::Changed);
        for _ in 0..3 {
            wake.send(Wake::Changed).unwrap();
        }
        assert_eq!(next_after(&woken, Duration::from_millis(1)), Wake::Changed);
        assert!(woken.try_recv().is_err(), "all three were one");
        drop(wake);
        assert_eq!(next(&woken), Wake::End(Kind::Completed));
    }
}
