//! The one channel into the session's loop: everybody else only sends.

use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::View;
use super::branches::Brought;
use super::submit::Words;
use crate::agent::Report;
use crate::cancel::{self, Cancel};
use crate::clock;
use crate::ids::{AgentName, RequestId};
use crate::process::guard::ShellResult;
use crate::process::signals::Signal;
use crate::tool::{Answer, HostCall};

/// Whatever the loop wakes up for.
#[derive(Debug)]
pub(super) enum Event {
    /// The person entered a line; when it was read.
    Line(String, Instant),
    /// The person entered a line at the prompt for messages.
    Words(String),
    /// The person entered a line at the prompt of this question.
    Reply(RequestId, String),
    /// The person's input has ended.
    EndOfInput,
    /// Ctrl-C: cut the running turn; twice within 2 s: leave.
    Interrupt,
    /// Esc: cut the running turn.
    Cut,
    /// Shift+Tab: the next permission mode.
    NextMode,
    /// A signal to this process.
    Signal(Signal),
    /// A watched file may have changed.
    Changed(PathBuf),
    /// Something to show from a thread of the runtime.
    Notice(String),
    /// A call of the lead's model was denied since nobody is asked.
    Denied(String),
    /// A teammate's process, started for the `epoch`th time, has ended.
    Exited {
        /// Whose.
        name: AgentName,
        /// Which start of it.
        epoch: u64,
        /// How.
        status: ExitStatus,
    },
    /// The lock of an adopted teammate has become free.
    LockFree(AgentName),
    /// From the worker thread of the lead's model.
    Report(Report),
    /// A tool of the lead wants something of the loop.
    Host(HostCall, Sender<Answer>),
    /// The answer to a command of the person that took a while, or why there is none.
    Answered(Result<View, String>),
    /// What came of bringing branches into worktrees.
    Brought(Vec<Brought>),
    /// The hooks for the person's words have ended; `Err`: one refuses them.
    Judged(Words, Result<(), String>),
    /// The person's own command has ended.
    Shell {
        /// As typed.
        command: String,
        /// How it went.
        outcome: std::io::Result<ShellResult>,
    },
}

/// The way into the session, for whoever reads the person's input and signals. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Inlet {
    events: Sender<Event>,
    /// Cuts what the loop waits for instead of its channel; `None` while it listens.
    waits: Arc<Mutex<Option<Arc<Cancel>>>>,
}

/// The session's end of the channel, handed to [`super::run`].
#[derive(Debug)]
pub struct Inbound(pub(super) Receiver<Event>);

/// A new channel into a session.
pub fn inlet() -> (Inlet, Inbound) {
    let (send, receive) = channel();
    let inlet = Inlet {
        events: send,
        waits: Arc::default(),
    };
    (inlet, Inbound(receive))
}

impl Inlet {
    /// A line was read just now. It answers an open question only if that was open before this call.
    pub fn line(&self, text: impl Into<String>) {
        self.put(Event::Line(text.into(), clock::instant()));
    }

    /// A line was entered where a message was asked for: it answers no question, even if one has opened meanwhile.
    pub fn words(&self, text: impl Into<String>) {
        self.put(Event::Words(text.into()));
    }

    /// A line was entered at the prompt of this question: it answers no other.
    pub fn reply(&self, question: RequestId, text: impl Into<String>) {
        self.put(Event::Reply(question, text.into()));
    }

    /// There will be no more lines: every question is answered no, and the session ends as `-p` does (or leaves, on a
    /// terminal).
    pub fn end_of_input(&self) {
        self.put(Event::EndOfInput);
    }

    /// Ctrl-C with no text typed: cuts the running turn; again within 2 s begins to leave; while leaving, ends all at once.
    pub fn interrupt(&self) {
        self.cut_wait();
        self.put(Event::Interrupt);
    }

    /// Esc: cuts the running turn.
    pub fn cut(&self) {
        self.cut_wait();
        self.put(Event::Cut);
    }

    /// Shift+Tab: the next permission mode is in force.
    pub fn next_mode(&self) {
        self.put(Event::NextMode);
    }

    /// A signal to this process. On a terminal without `-p`, [`Signal::Interrupt`] is the same as [`Self::interrupt`].
    pub fn signal(&self, signal: Signal) {
        self.cut_wait();
        self.put(Event::Signal(signal));
    }

    /// Does in the loop what keeps it from hearing anything: commands that are waited for meanwhile end at the next interrupt or
    /// signal.
    pub(super) fn while_deaf<T>(&self, what: impl FnOnce() -> T) -> T {
        let cancel = Arc::new(Cancel::new());
        *self.waits() = Some(Arc::clone(&cancel));
        let done = cancel::during(&cancel, what);
        *self.waits() = None;
        done
    }

    fn cut_wait(&self) {
        let waits = self.waits().take();
        if let Some(cancel) = waits {
            cancel.cancel();
        }
    }

    fn waits(&self) -> MutexGuard<'_, Option<Arc<Cancel>>> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A session that has ended hears nothing more.
    pub(super) fn put(&self, event: Event) {
        drop(self.events.send(event));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_keeps_the_loop_from_hearing_is_cut_by_whoever_wants_to_be_heard() {
        type Wants = fn(&Inlet);
        let wants: [Wants; 3] = [Inlet::interrupt, Inlet::cut, |inlet| {
            inlet.signal(Signal::Terminate);
        }];
        for wants in wants {
            let (inlet, inbound) = inlet();
            let other = inlet.clone();
            let cut = inlet.while_deaf(|| {
                std::thread::spawn(move || wants(&other));
                cancel::current().unwrap().sleep(Duration::from_mins(1))
            });
            assert!(cut);
            assert!(inbound.0.recv().is_ok());
            // Nothing is left that a later one could cut.
            wants(&inlet);
            assert!(inlet.while_deaf(|| !cancel::current().unwrap().is_cancelled()));
        }
    }
}
