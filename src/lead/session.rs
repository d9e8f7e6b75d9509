//! The session from start to end: its state, and the one loop that owns it.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Instant;

use anyhow::Context;

use super::branches::Bringing;
use super::fleet::Fleet;
use super::headless::Standstill;
use super::history::JournalReader;
use super::inlet::Event;
use super::launch::Launcher;
use super::leaving::Leaving;
use super::mind::Mind;
use super::person::Person;
use super::proposals::Proposals;
use super::questions::Questions;
use super::stall::Stalls;
use super::start;
use super::supervisor::Crew;
use super::unanswered::OwnWait;
use super::{Inbound, Inlet, RunError, SessionOptions, SessionResult, Shown, Ui};
use crate::board::Board;
use crate::cancel::Cancel;
use crate::clock;
use crate::findings::{Books, Eye};
use crate::ids::RequestId;
use crate::mailbox::Post;
use crate::process::signals::Signal;
use crate::request::Requests;
use crate::store::watch::Watcher;
use crate::team::usage::Meter;
use crate::team::{LeadPresence, Roster};
use crate::tool::{TeamDirectory, tidy_after_commands};
use crate::workspace::Workspace;

/// How many waiting events are dealt with before what follows from them.
const AT_ONCE: usize = 64;

/// The files of the workspace, each behind its owner's module.
pub(super) struct Files {
    pub(super) workspace: Workspace,
    pub(super) board: Arc<Board>,
    pub(super) roster: Roster,
    pub(super) requests: Requests,
    pub(super) post: Post,
    pub(super) directory: Arc<TeamDirectory>,
}

impl Files {
    /// What there is to be found fault with.
    pub(super) fn books(&self) -> Books<'_> {
        Books {
            workspace: &self.workspace,
            board: &self.board,
            roster: &self.roster,
            requests: &self.requests,
        }
    }
}

/// Everything a running session holds. Only its own loop touches it.
pub(super) struct Session {
    pub(super) options: SessionOptions,
    pub(super) ui: Box<dyn Ui>,
    pub(super) inlet: Inlet,
    pub(super) files: Files,
    pub(super) watcher: Watcher,
    /// `session.json` as last written.
    pub(super) record: crate::team::Session,
    pub(super) started: Instant,
    /// Messages between agents that only talk, not delivered yet.
    pub(super) held: Vec<crate::mailbox::Message>,
    /// The lead's own conversation.
    pub(super) mind: Mind,
    /// The machines of the teammates' processes.
    pub(super) fleet: Fleet,
    /// What carrying out their effects needs.
    pub(super) crew: Crew,
    pub(super) launcher: Launcher,
    pub(super) questions: Questions,
    /// Tools of the lead that wait for a question's answer.
    pub(super) replies: HashMap<RequestId, OwnWait>,
    pub(super) proposals: Proposals,
    /// Team requests that the lead's own start asked: names to start again when accepted.
    pub(super) revivals: HashMap<RequestId, Vec<crate::ids::AgentName>>,
    pub(super) standstill: Standstill,
    pub(super) stalls: Stalls,
    pub(super) bringing: Bringing,
    /// What is looked after among the files.
    pub(super) eye: Eye,
    pub(super) journal: JournalReader,
    pub(super) person: Person,
    pub(super) leaving: Option<Leaving>,
    /// Ends the commands that tell of questions.
    pub(super) notifying: Arc<Cancel>,
    /// What the team has spent in this session.
    pub(super) meter: Meter,
    /// Which limit was reached, in words.
    pub(super) limit: Option<String>,
    /// The limit on time has passed, and what ran then was ended.
    pub(super) time_ended: bool,
    /// Held until the last moment: teammates take its end for the lead's.
    pub(super) presence: LeadPresence,
}

/// Runs a session to its end: one thread, this one, owns all of its state. No process of the team is left afterwards,
/// except teammates that a person started.
///
/// The caller has hardened the process and listens for signals ([`Inlet::signal`]) already.
pub fn run(
    options: SessionOptions,
    ui: Box<dyn Ui>,
    inlet: Inlet,
    inbound: Inbound,
) -> Result<SessionResult, RunError> {
    let Inbound(events) = inbound;
    let mut session = start::open(options, ui, inlet)?;
    let ran = session.run_loop(&events);
    session.notifying.cancel();
    if ran.is_err() {
        session.abandon(&events);
    }
    let result = ran.and_then(|()| session.result());
    tidy_after_commands(&session.files.workspace);
    session.presence.give_up();
    Ok(result?)
}

impl Session {
    fn run_loop(&mut self, events: &Receiver<Event>) -> anyhow::Result<()> {
        loop {
            self.settle()?;
            if self.has_left() {
                return self.farewells();
            }
            let Some(event) = self.next_event(events)? else {
                continue;
            };
            self.handle(event)?;
            // Not all there is: what settles must not starve while events keep coming.
            for event in events.try_iter().take(AT_ONCE) {
                self.handle(event)?;
            }
        }
    }

    /// Blocks until something comes in or a deadline has passed.
    fn next_event(&self, events: &Receiver<Event>) -> anyhow::Result<Option<Event>> {
        let closed = "the session's own channel is closed";
        let Some(at) = self.deadline() else {
            return events.recv().map(Some).context(closed);
        };
        let left = at.saturating_duration_since(clock::instant());
        match events.recv_timeout(left) {
            Ok(event) => Ok(Some(event)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(anyhow::anyhow!(closed)),
        }
    }

    fn deadline(&self) -> Option<Instant> {
        [
            self.fleet.deadline(),
            self.time_limit(),
            self.standstill.deadline(),
            self.bringing.deadline(),
            self.stalls.deadline(self.stall_limit()),
            Some(self.eye.deadline()),
            self.crew.owed.deadline(),
            self.deferred_until(),
            self.unanswered_at(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    pub(super) fn handle(&mut self, event: Event) -> anyhow::Result<()> {
        match event {
            Event::Line(text, at) => self.on_line(&text, at),
            Event::Words(text) => self.on_message_line(&text),
            Event::Reply(question, text) => self.on_reply(&question, &text),
            Event::EndOfInput => self.on_end_of_input(),
            Event::Interrupt => self.on_interrupt(),
            Event::Cut => self.cut("the person interrupted you"),
            Event::NextMode => self.next_mode(),
            Event::Signal(signal) => self.on_signal(signal),
            Event::Changed(path) => self.on_changed(&path)?,
            Event::Notice(text) => self.ui.show(Shown::Notice(text)),
            Event::Denied(text) => self.denied(text),
            Event::Exited {
                name,
                epoch,
                status,
            } => self.on_exit(&name, epoch, status),
            Event::LockFree(name) => self.on_lock_free(&name),
            Event::Report(report) => self.on_report(report)?,
            Event::Host(call, reply) => self.on_host_call(call, reply),
            Event::Answered(answer) => self.on_answer(answer),
            Event::Brought(all) => self.on_brought(all),
            Event::Judged(words, judged) => self.on_judged(words, judged),
            Event::Shell { command, outcome } => self.on_shell_end(command, outcome),
        }
        Ok(())
    }

    /// Does whatever is due now that nothing more waits in the channel.
    fn settle(&mut self) -> anyhow::Result<()> {
        if !self.presence.is_in_place(&self.files.workspace) {
            anyhow::bail!(
                "{} was moved, or its .team/state removed, while the lead ran; it holds the workspace no longer and ends its \
                 team, since another lead could start; start lead again where the files are now",
                self.files.workspace.root().display()
            );
        }
        // This process may have been stopped for a while: what has happened meanwhile comes before what is overdue.
        for name in self.fleet.due(clock::instant()) {
            self.on_member_changed(&name);
        }
        for (name, effect) in self.fleet.tick(clock::instant()) {
            self.carry_out(&name, effect);
        }
        self.judge_deferred();
        self.end_unanswered();
        if self.time_limit().is_some_and(|at| at <= clock::instant()) {
            self.end_at_time_limit();
        }
        self.pay_what_is_owed();
        self.report_stalls();
        self.bring_branches();
        self.look_after_files();
        if self.leaving.is_none() {
            self.think()?;
            self.end_if_still()?;
        }
        self.update_prompt();
        Ok(())
    }

    fn on_signal(&mut self, signal: Signal) {
        let key = signal == Signal::Interrupt && self.options.terminal;
        if key && self.options.goal.is_none() {
            self.on_interrupt();
        } else {
            self.leave(Some(signal), true);
        }
    }

    /// A watched file may have changed: look at it.
    fn on_changed(&mut self, path: &std::path::Path) -> anyhow::Result<()> {
        let workspace = &self.files.workspace;
        if *path == workspace.mailbox(&crate::ids::AgentName::lead()) {
            return self.take_mail();
        }
        if *path == workspace.journal() {
            self.show_board_news();
            return Ok(());
        }
        if *path == workspace.rate_gate() {
            self.show_held();
            return Ok(());
        }
        let settings = self.options.standing.as_ref();
        if settings.is_some_and(|standing| standing.files().iter().any(|file| file == path)) {
            self.look_at_settings();
            return Ok(());
        }
        let name = path.file_stem().and_then(|stem| stem.to_str());
        let Some(name) = name.map(str::to_owned) else {
            return Ok(());
        };
        if path.parent() == Some(&workspace.members_dir()) {
            if let Ok(name) = crate::ids::AgentName::parse_teammate(&name) {
                self.on_member_changed(&name);
            }
        } else if let Ok(id) = RequestId::parse(&name) {
            self.on_request_changed(&id);
        }
        Ok(())
    }

    /// Shows an error that the session survives.
    pub(super) fn complain(&mut self, doing: &str, error: &dyn std::error::Error) {
        let mut text = format!("{doing}: {error}");
        let mut source = error.source();
        while let Some(cause) = source {
            text.push_str(": ");
            text.push_str(&cause.to_string());
            source = cause.source();
        }
        tracing::error!("{text}");
        if !text.contains('`') {
            text.push_str("; `lead doctor` says what is not in order");
        }
        self.ui.show(Shown::Error(text));
    }

    /// A call of the lead's model was denied since nobody is asked: told once, counted for the end.
    fn denied(&mut self, text: String) {
        if self.person.denied.insert(text.clone()) {
            self.say(text);
        }
    }

    /// Shows one line.
    pub(super) fn say(&mut self, text: impl Into<String>) {
        self.ui.show(Shown::Notice(text.into()));
    }
}
