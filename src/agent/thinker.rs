//! An agent's conversation in motion. The owner's loop drives it: it begins rounds, hands reports in, and decides at every
//! turn boundary what is put before the model next.
//!
//! The order that survives a kill at any point (DESIGN §4): inputs are recorded before the call that carries them; a reply
//! before its first tool runs; each result as it comes. After a [`StoreError`] the conversation in memory may be ahead of
//! its record: the owner gives the thinker up.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use super::history::History;
use super::turn::{Effect, Event, Room, State, Turn, Work};
use super::worker::{self, Job, Report};
use crate::cancel::Cancel;
use crate::clock::Timestamp;
use crate::conversation::{ModelNotes, Record, Replay, ToolCall, Transcript, Usage};
use crate::ids::AgentName;
use crate::model::{Model, ModelError};
use crate::store::StoreError;
use crate::store::fault::{self, Point};
use crate::tool::ToolBox;

/// What the runtime says to a model that answered tool results with nothing.
const NUDGE: &str = "Please continue; if everything is done, say what the outcome is.";

/// Text to be put before the model as (part of) a user message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Not blank.
    pub text: String,
    /// Ids of the mail it carries.
    pub mail: Vec<String>,
    /// Whose words they are, if they are those of the person.
    pub by: Option<AgentName>,
}

impl Input {
    /// Text of the runtime, without mail.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            mail: Vec::new(),
            by: None,
        }
    }

    /// What the person says to this agent.
    pub fn said(text: impl Into<String>) -> Self {
        Self {
            by: Some(AgentName::user()),
            ..Self::text(text)
        }
    }
}

/// What happened, for the owner to show, count and act on.
#[derive(Debug, Clone, PartialEq)]
pub enum Happening {
    /// Text as it streams.
    Delta(String),
    /// The whole text of a reply (after its deltas).
    Text(String),
    /// A call is tried again.
    Retrying {
        /// Why.
        why: String,
        /// The pause.
        wait: Duration,
    },
    /// The pause is over: the server is asked.
    Asking,
    /// A reply ended; its tokens.
    Called(Usage),
    /// The conversation was made shorter, to fit the model's window.
    Shortened,
    /// [`Thinker::shorten`] brought nothing.
    NotShortened(ModelError),
    /// A tool starts, its input resolved.
    ToolStarted(ToolCall),
    /// A tool ended.
    ToolEnded {
        /// The call.
        call: ToolCall,
        /// What the model is told.
        output: String,
        /// Whether it failed.
        is_error: bool,
    },
    /// All tools of the turn have run: call [`Thinker::next_turn`], [`Thinker::rest`] or leave it at rest.
    Boundary,
    /// The model answered without tools: the round is over, with the last text said in it (may be empty).
    RoundOver(String),
    /// No hook keeps the owner from becoming idle ([`Thinker::consult_idle`]).
    Unopposed,
    /// The model refused to answer, with its reason; the round is over. Asking again the same way brings the same.
    Declined(String),
    /// The call failed for good; the round is over.
    Failed(ModelError),
    /// The round was interrupted as asked; everything is recorded and the conversation is valid.
    Interrupted,
}

/// What a thinker is made of.
pub struct ThinkerParts {
    /// The open transcript.
    pub transcript: Transcript,
    /// What it held.
    pub replay: Replay,
    /// The model, not yet resumed.
    pub model: Box<dyn Model>,
    /// The tools.
    pub toolbox: Arc<ToolBox>,
    /// The system text: fixed parts first.
    pub system: Vec<String>,
    /// Where the worker thread's reports go: into the owner's channel.
    pub send: Box<dyn Fn(Report) + Send>,
}

/// See the module.
pub struct Thinker {
    transcript: Transcript,
    history: History,
    turn: Turn,
    system: Arc<Vec<String>>,
    /// The model that is asked, or was last.
    model: String,
    /// The model to be asked next, if that is another.
    other: Option<Box<dyn Model>>,
    /// What earlier replies left with their models.
    notes: ModelNotes,
    /// Tokens that the model's window has, as far as is known.
    window: u64,
    jobs: mpsc::Sender<Job>,
    /// Of the work under way.
    cancel: Arc<Cancel>,
}

impl Thinker {
    /// Starts the worker thread.
    pub fn start(parts: ThinkerParts) -> Self {
        let mut model = parts.model;
        let name = model.name().to_owned();
        let notes = parts.replay.model_notes;
        model.resume(&notes.of(&name));
        let history = History::new(parts.replay.messages);
        let has_stop_hooks = !parts.toolbox.context().hooks.stop.is_empty();
        Self {
            transcript: parts.transcript,
            turn: Turn::new(history.calls()).with_stop_hooks(has_stop_hooks),
            history,
            system: Arc::new(parts.system),
            model: name,
            other: None,
            notes,
            window: model.known_window(),
            jobs: worker::start(model, parts.toolbox, parts.send),
            cancel: Arc::default(),
        }
    }

    /// Whether a model call or a tool is under way, or a boundary waits for [`Self::next_turn`] or [`Self::rest`].
    pub fn is_busy(&self) -> bool {
        *self.turn.state() != State::Rest
    }

    /// Whether a tool is running now (not a model call).
    pub fn in_tool(&self) -> bool {
        matches!(
            self.turn.state(),
            State::Running { .. }
                | State::Cutting {
                    work: Work::Tool { .. },
                    ..
                }
        )
    }

    /// At rest: records `inputs` as one user message (after any closing tool results) and starts the model call. `inputs`
    /// may be empty only to go on with a conversation that already ends with a user message.
    pub fn begin_round(&mut self, inputs: Vec<Input>) -> Result<(), StoreError> {
        self.begin(inputs, Event::Begin)
    }

    /// The same for a round in which the model is not asked to sum up a conversation that fills its window: it fails
    /// with [`ModelError::TooLong`] then.
    pub fn begin_last_round(&mut self, inputs: Vec<Input>) -> Result<(), StoreError> {
        self.begin(inputs, Event::BeginLast)
    }

    fn begin(&mut self, inputs: Vec<Input>, event: Event) -> Result<(), StoreError> {
        debug_assert!(!self.is_busy(), "a round is under way already");
        self.put(inputs)?;
        if !self.history.ends_with_user() {
            self.put(vec![Input::text(NUDGE)])?;
        }
        self.step(event).map(drop)
    }

    /// At a boundary: the tool results are recorded already; records `inputs` after them and starts the next model call.
    pub fn next_turn(&mut self, inputs: Vec<Input>) -> Result<(), StoreError> {
        debug_assert!(
            *self.turn.state() == State::Boundary,
            "there is no boundary"
        );
        self.put(inputs)?;
        self.step(Event::Begin).map(drop)
    }

    /// At a boundary: ends the round here without another call.
    pub fn rest(&mut self) -> Result<(), StoreError> {
        self.step(Event::Rest).map(drop)
    }

    /// Takes a report of the worker thread in. Late reports of an interrupted call are ignored.
    pub fn handle(&mut self, report: Report) -> Result<Vec<Happening>, StoreError> {
        self.window = report.window.unwrap_or(self.window);
        if let Some(messages) = report.messages {
            self.history.give_back(messages);
        }
        self.step(report.event)
    }

    /// Cuts the running call or tool; [`Happening::Interrupted`] follows through a report once it has ended. `why` is what
    /// the model is told in the results of the cut calls. At rest or at a boundary nothing happens.
    pub fn interrupt(&mut self, why: &str) {
        if self.turn.on(Event::Interrupt(why.to_owned())) == [Effect::Cancel] {
            self.cancel.cancel();
        }
    }

    /// At rest: makes the conversation shorter. [`Happening::Shortened`], [`Happening::NotShortened`] or
    /// [`Happening::Interrupted`] follows, and rest again.
    pub fn shorten(&mut self) -> Result<(), StoreError> {
        self.step(Event::Shorten).map(drop)
    }

    /// At rest: asks the hooks for idleness. [`Happening::Unopposed`], [`Happening::Boundary`] or
    /// [`Happening::Interrupted`] follows.
    pub fn consult_idle(&mut self) -> Result<(), StoreError> {
        self.step(Event::ConsultIdle).map(drop)
    }

    /// The transcript, for taking mail in and for notes. Only between reports, from the owner's thread.
    pub fn transcript(&mut self) -> &mut Transcript {
        &mut self.transcript
    }

    /// Tokens that the model's window has, as far as is known.
    pub fn window(&self) -> u64 {
        self.window
    }

    /// From the next call on `model` is asked; what the conversation holds of the provider before stays with that one.
    pub fn speak_with(&mut self, model: Box<dyn Model>) {
        self.other = Some(model);
    }

    /// The model that is asked now, or was last; `provider:name`.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The last text the model said, if any.
    pub fn last_text(&self) -> Option<String> {
        self.history.last_text().map(str::to_owned)
    }

    fn put(&mut self, inputs: Vec<Input>) -> Result<(), StoreError> {
        for input in inputs {
            self.transcript.append(&Record::User {
                text: input.text.clone(),
                mail: input.mail,
                by: input.by,
                at: Timestamp::now(),
            })?;
            self.history.add_text(&input.text);
        }
        Ok(())
    }

    fn step(&mut self, event: Event) -> Result<Vec<Happening>, StoreError> {
        let mut happenings = Vec::new();
        for effect in self.turn.on(event) {
            self.carry_out(effect, &mut happenings)?;
        }
        Ok(happenings)
    }

    fn carry_out(
        &mut self,
        effect: Effect,
        happenings: &mut Vec<Happening>,
    ) -> Result<(), StoreError> {
        match effect {
            Effect::RecordReply {
                content,
                usage,
                note,
            } => {
                self.notes.add(note.clone());
                self.transcript.append(&Record::Assistant {
                    content: content.clone(),
                    usage,
                    note,
                    at: Timestamp::now(),
                })?;
                fault::here(Point::ReplyRecorded);
                self.history.add_reply(content);
            }
            Effect::RecordResult(answered) => {
                fault::here(Point::ToolRan);
                self.transcript.append(&Record::Result {
                    tool_use_id: answered.call.id.clone(),
                    content: answered.content.clone(),
                    is_error: answered.is_error,
                    at: Timestamp::now(),
                })?;
                fault::here(Point::ResultRecorded);
                self.history
                    .add_result(&answered.call, answered.content, answered.is_error);
            }
            Effect::RecordInterrupted(why) => {
                self.history.add_interruption(&why);
                let at = Timestamp::now();
                self.transcript.append(&Record::Interrupted { why, at })?;
            }
            Effect::RecordShorter(shorter) => {
                let (usage, note) = shorter.spent.unwrap_or_default();
                self.notes.add(note.clone());
                self.transcript.append(&Record::Compacted {
                    cut: shorter.cut,
                    text: shorter.text,
                    usage,
                    note,
                    at: Timestamp::now(),
                })?;
                fault::here(Point::Shortened);
            }
            Effect::RecordNudge => self.put(vec![Input::text(NUDGE)])?,
            Effect::RecordTold(text) => self.put(vec![Input::text(text)])?,
            Effect::Consult(event, text) => {
                let (epoch, cancel) = self.fresh();
                self.order(Job::Consult {
                    epoch,
                    event,
                    text,
                    cancel,
                });
            }
            Effect::Call(room) => self.call(room)?,
            Effect::Run(call) => {
                let (epoch, cancel) = self.fresh();
                self.order(Job::Run {
                    epoch,
                    call,
                    cancel,
                });
            }
            Effect::EndTurn => self.order(Job::EndTurn {
                epoch: self.turn.epoch(),
            }),
            Effect::Cancel => self.cancel.cancel(),
            Effect::Tell(happening) => happenings.push(happening),
        }
        Ok(())
    }

    fn call(&mut self, room: Room) -> Result<(), StoreError> {
        // What a server wants to go on with is for that server.
        let mut other = self.other.take_if(|_| self.history.ends_with_user());
        self.go_over(other.as_deref())?;
        if let Some(model) = &mut other {
            model.resume(&self.notes.of(&self.model));
        }
        let (epoch, cancel) = self.fresh();
        let (system, messages) = (Arc::clone(&self.system), self.history.lend());
        self.order(Job::Call {
            epoch,
            other,
            room,
            system,
            messages,
            cancel,
        });
        Ok(())
    }

    /// Records that the conversation goes over to `other`, or has come to the model of this start.
    fn go_over(&mut self, other: Option<&dyn Model>) -> Result<(), StoreError> {
        let before = self.notes.speaks().unwrap_or(&self.model).to_owned();
        if let Some(model) = other {
            model.name().clone_into(&mut self.model);
            self.window = model.known_window();
        }
        if before == self.model {
            return Ok(());
        }
        let record = ModelNotes::going_over(&before, &self.model);
        self.transcript.append(&record)?;
        self.notes.take(&record);
        Ok(())
    }

    fn fresh(&mut self) -> (u64, Arc<Cancel>) {
        self.cancel = Arc::default();
        (self.turn.epoch(), Arc::clone(&self.cancel))
    }

    /// The worker outlives every job, panics included, so the channel is open as long as `self` lives.
    fn order(&self, job: Job) {
        drop(self.jobs.send(job));
    }
}

impl Drop for Thinker {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}
