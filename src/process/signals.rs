//! Signals as events.
//!
//! Taken by handlers, never by blocking them: a blocked signal stays blocked in every child, which then could not be asked to
//! end, while a handler is gone after exec.

use std::io::{self, PipeWriter};

use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

/// A signal that asks this process to do something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGHUP: the terminal is gone.
    HangUp,
}

/// Calls `on_signal` from a thread of its own for each such signal from now on; before it returns they no longer end this
/// process. SIGPIPE stays ignored, and so do SIGINT and SIGHUP where whoever started us ignores them (`nohup`, a script's
/// background job).
pub fn listen(on_signal: impl Fn(Signal) + Send + 'static) {
    let ignored = ignored_signals();
    let wanted = [SIGINT, SIGTERM, SIGHUP]
        .into_iter()
        .filter(|number| *number == SIGTERM || !is_in(ignored, *number));
    let taken = Signals::new(wanted).and_then(|mut signals| {
        std::thread::Builder::new()
            .name("signals".into())
            .spawn(move || {
                for number in signals.forever() {
                    on_signal(match number {
                        SIGINT => Signal::Interrupt,
                        SIGHUP => Signal::HangUp,
                        _ => Signal::Terminate,
                    });
                }
            })
    });
    if let Err(error) = taken {
        tracing::error!(%error, "cannot listen for signals; they end this process at once");
    }
}

/// Has a write beyond the limit on file sizes (`ulimit -f`) fail as one to a full disk does, instead of ending this process.
pub(super) fn survive_file_limit() {
    let unused = std::sync::Arc::default();
    if let Err(error) = signal_hook::flag::register(SIGXFSZ, unused) {
        tracing::warn!(%error, "a write beyond the limit on file sizes ends this process");
    }
}

/// Undoes an inherited "ignore SIGCHLD", with which the kernel reaps children itself and their statuses are lost.
pub(super) fn make_children_waitable() {
    if is_in(ignored_signals(), SIGCHLD) {
        let unused = std::sync::Arc::default();
        if let Err(error) = signal_hook::flag::register(SIGCHLD, unused) {
            tracing::error!(%error, "SIGCHLD stays ignored; how children end cannot be told");
        }
    }
}

/// Writes a byte into `pipe` at each SIGCHLD; a full pipe has been rung already.
pub(super) fn ring_at_child_exit(pipe: PipeWriter) -> io::Result<()> {
    signal_hook::low_level::pipe::register(SIGCHLD, pipe)?;
    Ok(())
}

/// One bit a signal, lowest first. Linux only; elsewhere none.
fn ignored_signals() -> u64 {
    #[expect(clippy::disallowed_methods, reason = "the kernel makes this file")]
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    mask_in_status(&status)
}

fn mask_in_status(status: &str) -> u64 {
    status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

fn is_in(mask: u64, signal: i32) -> bool {
    mask >> (signal - 1) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_the_status_text() {
        let mask =
            mask_in_status("Name:\tx\nSigBlk:\t0000000000000001\nSigIgn:\t0000000000011001\n");
        assert!(is_in(mask, SIGHUP));
        assert!(is_in(mask, SIGCHLD));
        assert!(!is_in(mask, SIGINT));
        assert_eq!(mask_in_status("SigIgn:\tnone"), 0);
        assert_eq!(mask_in_status(""), 0);
    }
}
