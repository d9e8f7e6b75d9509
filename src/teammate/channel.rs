//! The one channel that a teammate's loop receives from, and the threads that only send into it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, PoisonError};

use crate::agent::Report;
use crate::cancel::Cancel;
use crate::process::signals::Signal;
use crate::store::watch::Watcher;
use crate::team::lead_presence;
use crate::tool::{Answer, Host, HostCall};
use crate::workspace::Workspace;

use super::Say;

/// What the loop hears.
#[derive(Debug)]
pub(super) enum Inbound {
    /// From the worker thread.
    Report(Report),
    /// A tool wants something of the loop.
    Host(HostCall, Sender<Answer>),
    /// Something that the person is to be told.
    Notice(String),
    /// A call was denied since nobody is asked: the person is to be told.
    Denied(String),
    /// Some watched file may have changed.
    Look,
    /// The watch of that number has seen that no lead is alive.
    LeadGone(u64),
    /// A signal.
    Signal(Signal),
}

/// The sending side. Cheap to clone.
#[derive(Clone)]
pub(super) struct Inlet {
    sender: Sender<Inbound>,
    /// Whether a look is on its way: many changes make one.
    look: Arc<AtomicBool>,
}

/// Makes the channel.
pub(super) fn channel() -> (Inlet, Receiver<Inbound>) {
    let (sender, receiver) = mpsc::channel();
    let look = Arc::default();
    (Inlet { sender, look }, receiver)
}

impl Inlet {
    /// After the loop has ended nobody listens, which is no failure.
    pub(super) fn send(&self, inbound: Inbound) {
        drop(self.sender.send(inbound));
    }

    fn look(&self) {
        if !self.look.swap(true, Ordering::AcqRel) {
            self.send(Inbound::Look);
        }
    }

    /// The loop is about to look: what changes from here on makes another look.
    pub(super) fn looking(&self) {
        self.look.store(false, Ordering::Release);
    }

    /// The process's one watcher, sending looks.
    pub(super) fn watcher(&self, poll_only: bool, say: &Say) -> Watcher {
        let (inlet, say) = (self.clone(), Arc::clone(say));
        Watcher::start(poll_only, move |_| inlet.look(), move |line| say(&line))
    }

    /// A thread that reports the death of the lead that lives now.
    pub(super) fn watch_lead(&self, workspace: &Workspace, number: u64) {
        let (inlet, workspace) = (self.clone(), workspace.clone());
        std::thread::spawn(move || {
            if let Err(error) = lead_presence::wait_for_death(&workspace) {
                tracing::warn!(%error, "the lead cannot be watched");
            }
            inlet.send(Inbound::LeadGone(number));
        });
    }
}

/// The loop as tools see it.
pub(super) struct LoopHost(pub(super) std::sync::Mutex<Inlet>);

impl Host for LoopHost {
    fn call(&self, call: HostCall, cancel: &Arc<Cancel>) -> Answer {
        let (reply, answer) = mpsc::channel();
        let cut = reply.clone();
        cancel.on_cancel(move || {
            drop(cut.send(Err("interrupted while waiting for an answer".to_owned())));
        });
        self.inlet().send(Inbound::Host(call, reply));
        answer
            .recv()
            .unwrap_or_else(|_| Err("the agent is ending".to_owned()))
    }

    fn notice(&self, text: String) {
        self.inlet().send(Inbound::Notice(text));
    }

    fn denied(&self, text: String) {
        self.inlet().send(Inbound::Denied(text));
    }
}

impl LoopHost {
    fn inlet(&self) -> Inlet {
        let inlet = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inlet.clone()
    }
}
