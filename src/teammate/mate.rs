//! A teammate's state and its loop: one receive, one machine, effects in order.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::Say;
use super::card::Card;
use super::channel::{Inbound, Inlet};
use super::denied::Denied;
use super::gate::{Gate, Work};
use super::letters;
use super::machine::{Event, Final, Machine, RoundEnd};
use super::timers::Timers;
use super::words::Words;
use crate::agent::{Happening, Input, Report, Thinker};
use crate::clock::{self, Timestamp};
use crate::config::Settings;
use crate::conversation::{Record, ToolCall, Usage};
use crate::ids::{AgentName, RequestId};
use crate::mailbox::{Inbox, Message};
use crate::model::ModelError;
use crate::request::Requests;
use crate::store::watch::Watcher;
use crate::team::Session;
use crate::team::usage::{self, Meter};
use crate::tool::{AgentContext, Answer, Assignment, PermissionAsk, leases};
use crate::workspace::Workspace;

/// Everything that one teammate is; owned by one thread.
pub(super) struct Mate {
    pub(super) workspace: Workspace,
    pub(super) me: AgentName,
    pub(super) settings: Settings,
    pub(super) say: Say,
    pub(super) inlet: Inlet,
    pub(super) watcher: Watcher,
    pub(super) context: Arc<AgentContext>,
    pub(super) thinker: Thinker,
    pub(super) inbox: Inbox,
    pub(super) requests: Requests,
    pub(super) card: Card,
    pub(super) gate: Gate,
    pub(super) denied: Denied,
    pub(super) machine: Machine,
    pub(super) timers: Timers,
    pub(super) lead: LeadWatch,
    /// What it was started to do.
    pub(super) prompt: Option<String>,
    /// Taken in and not yet put before the model.
    pub(super) mail: Vec<Message>,
    pub(super) notices: Vec<Input>,
    /// Among the notices is a decision: it starts a round.
    pub(super) decision_waits: bool,
    /// When all open requests are looked through again.
    pub(super) slow_look: Option<Instant>,
    /// What a tool waits for.
    pub(super) wait: Option<Wait>,
    /// Whether a limit of the team is reached, as the machine was told.
    pub(super) limited: bool,
    /// Who else met a limit of the provider holds this one back too.
    pub(super) rate_gate: crate::model::Gate,
    /// Whether it does, as the machine was told.
    pub(super) held_back: bool,
    /// What the session of that id has used.
    pub(super) meter: Option<(String, Meter)>,
    /// Where its conversation stands.
    pub(super) words: Words,
    /// The task of the last round, for the idle notice.
    pub(super) last_work: Option<Work>,
    /// Tells mail that is older than the conversation; `None` once some was taken in.
    pub(super) began_at: Option<Timestamp>,
    /// What the lead was told to show.
    pub(super) noticed: HashSet<String>,
    pub(super) queue: VecDeque<Event>,
    pub(super) ended: Option<Final>,
}

/// What is known of the lead.
#[derive(Debug, Default)]
pub(super) struct LeadWatch {
    /// Whether one lives, as the machine was told.
    pub(super) present: bool,
    /// The number of the thread that watches it; reports of others are late.
    pub(super) number: u64,
    /// Of the last lead seen alive.
    pub(super) generation: Option<u64>,
    /// For usage records.
    pub(super) session: String,
}

/// A tool that waits for a decision.
pub(super) enum Wait {
    /// On a plan.
    Plan(RequestId, std::sync::mpsc::Sender<Answer>),
    /// On a permission question.
    Permission(
        RequestId,
        Box<PermissionAsk>,
        std::sync::mpsc::Sender<Answer>,
    ),
}

impl Mate {
    /// Runs until the machine has ended.
    pub(super) fn run(&mut self, inbound: &Receiver<Inbound>) -> anyhow::Result<Final> {
        loop {
            while let Some(event) = self.queue.pop_front() {
                tracing::debug!(?event);
                for effect in self.machine.on(event) {
                    self.carry_out(effect)?;
                }
            }
            if let Some(end) = self.ended.take() {
                return Ok(end);
            }
            if let Some(timer) = self.timers.take_due(clock::instant()) {
                self.queue.push_back(Event::TimedOut(timer));
                continue;
            }
            let heard = match self.timers.wait(clock::instant()) {
                Some(wait) => match inbound.recv_timeout(wait) {
                    Ok(heard) => Some(heard),
                    Err(RecvTimeoutError::Timeout) => None,
                    Err(RecvTimeoutError::Disconnected) => {
                        anyhow::bail!("nothing can be heard any more")
                    }
                },
                None => Some(inbound.recv()?),
            };
            if let Some(heard) = heard {
                self.hear(heard)?;
            }
        }
    }

    fn hear(&mut self, heard: Inbound) -> anyhow::Result<()> {
        match heard {
            Inbound::Report(report) => self.on_report(report),
            Inbound::Host(call, reply) => self.on_host_call(call, reply),
            Inbound::Notice(text) => self.notice(letters::status_update(&self.me, &text)),
            Inbound::Denied(text) => self.notice(letters::denied(&self.me, &text)),
            Inbound::Look => self.look(),
            Inbound::LeadGone(number) => {
                self.lead_gone(number);
                Ok(())
            }
            Inbound::Signal(signal) => {
                self.queue.push_back(Event::Signal(signal));
                Ok(())
            }
        }
    }

    fn on_report(&mut self, report: Report) -> anyhow::Result<()> {
        for happening in self.thinker.handle(report)? {
            self.on_happening(happening)?;
        }
        Ok(())
    }

    fn on_happening(&mut self, happening: Happening) -> anyhow::Result<()> {
        match happening {
            Happening::Delta(_)
            | Happening::Text(_)
            | Happening::ToolStarted(_)
            | Happening::Shortened
            | Happening::NotShortened(_) => {}
            Happening::Asking => {
                self.queue.push_back(Event::PutOff(Duration::ZERO));
            }
            Happening::Retrying { why, wait } => {
                self.queue.push_back(Event::PutOff(wait));
                let text = format!("retrying in {} s: {why}", wait.as_secs());
                self.card.change(|member| member.last_error = Some(text))?;
            }
            Happening::Called(usage) => self.called(usage)?,
            Happening::ToolEnded { call, is_error, .. } => {
                if !is_error && asks_somebody(&call) {
                    self.awaits_answer(true)?;
                    self.queue.push_back(Event::Asked);
                }
            }
            Happening::Boundary => {
                // One that is not to stop looks when it takes its mail.
                if self.machine.stop().is_some() {
                    self.look_before_a_call()?;
                }
                self.queue.push_back(Event::Boundary);
            }
            Happening::Unopposed => self.queue.push_back(Event::Unopposed),
            Happening::RoundOver(text) => self.round_over(RoundEnd::Done(text)),
            Happening::Declined(why) => {
                self.round_over(RoundEnd::Declined(format!("the model refused: {why}")));
            }
            Happening::Failed(error) => self.round_over(failure(error)),
            Happening::Interrupted => self.round_over(RoundEnd::Interrupted),
        }
        Ok(())
    }

    /// The lead shows it to the person; each text once.
    fn notice(&mut self, letter: Message) -> anyhow::Result<()> {
        (self.say)(&letter.content);
        if self.noticed.contains(&letter.content) {
            return Ok(());
        }
        self.tell(&letter)?;
        self.noticed.insert(letter.content);
        Ok(())
    }

    fn round_over(&mut self, end: RoundEnd) {
        leases::round_over(&self.context);
        self.last_work = self.work();
        self.queue.push_back(Event::RoundOver(end));
    }

    fn called(&mut self, tokens: Usage) -> anyhow::Result<()> {
        self.words.replied();
        let model = self.card.member().model.clone();
        usage::record(
            &self.workspace,
            &self.me,
            &model,
            &self.lead.session,
            tokens,
        )?;
        self.card.change(|member| {
            member.turns += 1;
            member.tokens += tokens.input + tokens.output + tokens.cache_write;
            member.last_error = None;
            member.prompt = None;
        })?;
        Ok(())
    }

    /// A line for whoever looks at this teammate's transcript, and for its own restart.
    pub(super) fn note(&mut self, key: &str, value: serde_json::Value) -> anyhow::Result<()> {
        self.thinker.transcript().append(&Record::Note {
            key: key.to_owned(),
            value,
            at: Timestamp::now(),
        })?;
        Ok(())
    }

    pub(super) fn assignment(&self) -> Option<Assignment> {
        self.context.desk.assignment()
    }

    /// The assignment under its version, also one that is over.
    pub(super) fn work(&self) -> Option<Work> {
        let held = self.assignment()?;
        Some((held.task, held.version))
    }

    /// The assignment that is still this teammate's.
    pub(super) fn open_work(&self) -> Option<Work> {
        let held = self.assignment().filter(|held| !held.over)?;
        Some((held.task, held.version))
    }

    /// Whether nobody can answer questions in this run.
    pub(super) fn unattended(&self) -> bool {
        Session::load(&self.workspace).is_some_and(|session| session.unattended)
    }
}

fn asks_somebody(call: &ToolCall) -> bool {
    call.name == "send_message"
        && call.input.get("type").and_then(|kind| kind.as_str()) == Some("question")
}

/// Grouped by whether the same would fail again.
fn failure(error: ModelError) -> RoundEnd {
    match error {
        ModelError::Refused(why) => RoundEnd::Hopeless(why),
        ModelError::TooLong(why) => RoundEnd::Full(why),
        error @ (ModelError::Retry { .. } | ModelError::Limit | ModelError::Cancelled) => {
            RoundEnd::Unreachable(format!("the model could not be reached: {error}"))
        }
    }
}
