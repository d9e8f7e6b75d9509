//! Stopping teammates, and the end of the session (SPEC §6.6, §8.2): asked, then TERM, then KILL; nothing is left behind.

use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use serde_json::json;

use super::Shown;
use super::fleet::{Happened, Tie, Unit};
use super::inlet::Event;
use super::session::Session;
use crate::board::Released;
use crate::clock;
use crate::ids::{AgentName, RequestId};
use crate::mailbox::{Kind, Message};
use crate::process::child;
use crate::process::signals::Signal;
use crate::request::{NewRequest, RequestKind};

/// How long leaving waits for teammates before they are terminated.
const LEAVE_WAIT: Duration = Duration::from_secs(30);
/// How long a broken session waits for killed teammates.
const ABANDON_WAIT: Duration = Duration::from_secs(5);

/// The session is ending.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaving {
    pub(super) signal: Option<Signal>,
    /// By a signal or Ctrl-C, not by the person's word or because all is done.
    pub(super) interrupted: bool,
}

impl Session {
    /// Begins to leave; a second time ends everything at once, but for a hang-up: a terminal that is closed is heard of twice.
    pub(super) fn leave(&mut self, signal: Option<Signal>, interrupted: bool) {
        if let Some(leaving) = &mut self.leaving {
            if interrupted {
                leaving.interrupted = true;
                leaving.signal = leaving.signal.or(signal);
                if signal != Some(Signal::HangUp) {
                    self.end_all_now();
                }
            }
            return;
        }
        self.leaving = Some(Leaving {
            signal,
            interrupted,
        });
        self.set_status("leaving");
        // Teammates withdraw their own when they are asked to stop.
        self.withdraw_questions_of(&AgentName::lead(), "the session is ending");
        self.cut("the session is ending");
        if let Some(shell) = &self.person.shell {
            shell.cancel();
        }
        self.drop_submissions();
        for line in std::mem::take(&mut self.mind.said) {
            self.not_said(&line);
        }
        self.stop_ours();
        if self.fleet.iter().next().is_some() {
            self.show_leaving();
        }
    }

    /// A line that the lead's model will not read in this session.
    pub(super) fn not_said(&mut self, line: &str) {
        self.say(format!("not said any more: {line}"));
    }

    /// Time, unlike tokens and calls, goes on while a call or a tool runs: what runs is ended.
    pub(super) fn end_at_time_limit(&mut self) {
        self.time_ended = true;
        self.over_limit();
        // Where nobody answers the session leaves, which does the same.
        if !self.nobody_answers() {
            self.cut("the limit on time is reached");
            self.stop_ours();
        }
    }

    /// Asks every teammate of this session to stop; one that has not in time is terminated.
    fn stop_ours(&mut self) {
        let until = clock::instant() + LEAVE_WAIT;
        for name in self.ours() {
            if self.request_stop(&name, until, true).is_err() {
                self.happen(&name, Happened::Asked { until, hard: true });
            }
        }
    }

    fn end_all_now(&mut self) {
        for name in self.ours() {
            self.happen(&name, Happened::KillNow);
        }
    }

    /// Teammates that this session stops: all but those that a person started.
    fn ours(&self) -> Vec<AgentName> {
        self.fleet
            .iter()
            .filter(|(_, unit)| unit.is_there() && unit.tie != Tie::Person)
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// Shows for whom the lead waits.
    pub(super) fn show_leaving(&mut self) {
        if self.leaving.is_some() {
            let waiting = self.ours();
            self.ui.show(Shown::Leaving(waiting));
        }
    }

    /// Whether everything has ended.
    pub(super) fn has_left(&self) -> bool {
        let rests = !self.mind.thinker.is_busy() && !self.bringing.under_way;
        self.leaving.is_some() && self.ours().is_empty() && rests
    }

    /// The lead's own task goes back; what came in last is recorded and shown; no process of ours is left.
    pub(super) fn farewells(&mut self) -> anyhow::Result<()> {
        self.release_task_of(&AgentName::lead(), Released::Orderly);
        self.take_mail()?;
        self.show_board_news();
        child::kill_strays();
        // Its own and empty of value; that it stays is no failure.
        std::fs::remove_dir_all(self.files.workspace.agent_tmp(&AgentName::lead())).ok();
        Ok(())
    }

    /// Sends a request to stop, or the open one again. `hard`: terminated at `until`, else the person is told then.
    pub(super) fn request_stop(
        &mut self,
        name: &AgentName,
        until: Instant,
        hard: bool,
    ) -> Result<RequestId, String> {
        let name = self.living(name)?;
        let id = match self.open_stop(&name) {
            Some(id) if !hard => return Ok(id),
            Some(id) => id,
            None => {
                let record = self.files.requests.create(NewRequest {
                    kind: RequestKind::Shutdown,
                    sender: AgentName::lead(),
                    target: name.clone(),
                    payload: json!({ "leaving": hard }),
                    work_version: None,
                    task_id: None,
                });
                let record = record.map_err(|error| error.to_string())?;
                self.ui.show(Shown::RequestOpened(record.clone()));
                record.request_id
            }
        };
        self.crew.stops.insert(name.clone(), id.clone());
        let text = if hard {
            "the session is ending"
        } else {
            "please stop"
        };
        let message = Message::new(&AgentName::lead(), &name, Kind::ShutdownRequest, text)
            .with("request_id", id.as_str())
            .with("leaving", hard);
        let sent = self.files.post.deliver(&message);
        self.happen(&name, Happened::Asked { until, hard });
        sent.map(|()| id).map_err(|error| error.to_string())
    }

    /// The person may have asked a teammate to stop from another terminal: its record decides. From here on its end,
    /// whichever way it comes, is the end that was asked for. With `kill` whoever asked ends its process, too.
    pub(super) fn asked_elsewhere_to_stop(&mut self, id: &RequestId, kill: bool) {
        let record = match self.files.requests.get(id) {
            Ok(record) if record.kind == RequestKind::Shutdown && !record.is_final() => record,
            Ok(record) => {
                tracing::info!(%id, status = %record.status, "no request to stop is open there");
                return;
            }
            Err(error) => {
                tracing::info!(%error, "a message about a request without effect");
                return;
            }
        };
        let name = record.target.clone();
        if !self.is_there(&name) {
            self.adopt(&name);
        }
        if !self.is_there(&name) {
            return self.close_stop(id);
        }
        if kill {
            self.crew.killed.insert(name.clone());
        }
        self.crew.stops.insert(name.clone(), id.clone());
        self.ui.show(Shown::RequestOpened(record));
        let until = clock::instant() + self.shutdown_wait();
        self.happen(&name, Happened::Asked { until, hard: false });
    }

    /// The request to stop that `name` has not answered yet.
    pub(super) fn open_stop(&self, name: &AgentName) -> Option<RequestId> {
        let open = self.files.requests.open_ones(Some(RequestKind::Shutdown));
        let open = open.ok()?;
        let record = open.into_iter().find(|record| record.target == *name)?;
        Some(record.request_id)
    }

    /// The session is broken: everything that it started is killed, and nothing more is recorded.
    pub(super) fn abandon(&mut self, events: &Receiver<Event>) {
        self.leave(None, false);
        self.end_all_now();
        let until = clock::instant() + ABANDON_WAIT;
        while self.fleet.iter().any(|(_, unit)| ends_soon(unit)) {
            let left = until.saturating_duration_since(clock::instant());
            let Ok(event) = events.recv_timeout(left) else {
                break;
            };
            if let Err(error) = self.handle(event) {
                tracing::error!(%error, "while abandoning the session");
            }
        }
        child::kill_strays();
    }
}

fn ends_soon(unit: &Unit) -> bool {
    unit.is_there() && unit.tie == Tie::Child
}
