//! The worker thread of one agent: model calls, tools and turns' ends, one after another. It owns the model, decides
//! nothing, and ends each job with exactly one final report, whatever happens inside.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};

use super::budget;
use super::shortening::Shortening;
use super::turn::{Event, Room};
use crate::cancel::Cancel;
use crate::conversation::{Estimate, Message, ToolCall, ToolSpec, compaction};
use crate::model::{Gate, Model, ModelError, Progress, Request, retry};
use crate::policy::HookEvent;
use crate::tool::hooks::{self, Occasion};
use crate::tool::{Outcome, ToolBox};

/// What the worker is to do, each under an epoch of the turn machine.
pub(super) enum Job {
    /// Call the model.
    Call {
        epoch: u64,
        /// Takes the place of the one asked so far.
        other: Option<Box<dyn Model>>,
        /// Whether it may be made shorter first; then that is all that is done.
        room: Room,
        system: Arc<Vec<String>>,
        /// Lent; they come back with the final report.
        messages: Vec<Message>,
        cancel: Arc<Cancel>,
    },
    /// Run a tool.
    Run {
        epoch: u64,
        call: ToolCall,
        cancel: Arc<Cancel>,
    },
    /// Run the hooks of `event`.
    Consult {
        epoch: u64,
        event: HookEvent,
        /// The round's last.
        text: String,
        cancel: Arc<Cancel>,
    },
    /// End the turn.
    EndTurn { epoch: u64 },
}

/// What the worker thread says; opaque to the owner, who only hands it to [`super::Thinker::handle`].
#[derive(Debug)]
pub struct Report {
    pub(super) event: Event,
    /// The conversation that was lent to a call.
    pub(super) messages: Option<Vec<Message>>,
    /// The model's window, of a call.
    pub(super) window: Option<u64>,
}

impl Report {
    fn of(event: Event) -> Self {
        Self {
            event,
            messages: None,
            window: None,
        }
    }
}

/// Starts the thread; it ends when the sender is dropped and its last job is done.
pub(super) fn start(
    model: Box<dyn Model>,
    toolbox: Arc<ToolBox>,
    send: Box<dyn Fn(Report) + Send>,
) -> mpsc::Sender<Job> {
    let (jobs, inbox) = mpsc::channel();
    std::thread::spawn(move || {
        let specs = toolbox.specs();
        let context = toolbox.context();
        let gate = Gate::new(&context.workspace, model.name(), context.agent.as_str());
        let mut worker = Worker {
            model,
            gate,
            estimate: Estimate::default(),
            specs_bytes: serde_json::to_string(&specs).map_or(0, |json| json.len()),
            toolbox,
            specs,
            send,
        };
        while let Ok(job) = inbox.recv() {
            worker.work(job);
        }
    });
    jobs
}

struct Worker {
    model: Box<dyn Model>,
    gate: Gate,
    estimate: Estimate,
    toolbox: Arc<ToolBox>,
    /// Asked for once: what is offered must not change within a conversation.
    specs: Vec<ToolSpec>,
    specs_bytes: usize,
    send: Box<dyn Fn(Report) + Send>,
}

impl Worker {
    fn work(&mut self, job: Job) {
        match job {
            Job::Call {
                epoch,
                other,
                room,
                system,
                mut messages,
                cancel,
            } => {
                if let Some(model) = other {
                    self.speak_with(model);
                }
                let event = self
                    .make_room(epoch, room, &system, &mut messages, &cancel)
                    .unwrap_or_else(|| self.call(epoch, &system, &messages, &cancel));
                (self.send)(Report {
                    event,
                    messages: Some(messages),
                    window: Some(self.model.known_window()),
                });
            }
            Job::Run {
                epoch,
                call,
                cancel,
            } => {
                let outcome = self.run(epoch, call, &cancel);
                (self.send)(Report::of(Event::Ran(epoch, outcome)));
            }
            Job::Consult {
                epoch,
                event,
                text,
                cancel,
            } => {
                let occasion = Occasion {
                    text: Some(&text),
                    ..Occasion::of(event)
                };
                let context = self.toolbox.context();
                let asked = guarded(|| hooks::run(context, &occasion, &cancel));
                let blocked = asked.ok().and_then(Result::err);
                (self.send)(Report::of(Event::Consulted(epoch, blocked)));
            }
            Job::EndTurn { epoch } => {
                let toolbox = &self.toolbox;
                let ended = guarded(|| toolbox.end_turn()).unwrap_or_else(Err);
                (self.send)(Report::of(Event::Ended(epoch, ended)));
            }
        }
    }

    fn speak_with(&mut self, model: Box<dyn Model>) {
        let context = self.toolbox.context();
        self.gate = Gate::new(&context.workspace, model.name(), context.agent.as_str());
        self.estimate = Estimate::default();
        self.model = model;
    }

    /// `None`: there is room enough.
    fn make_room(
        &mut self,
        epoch: u64,
        room: Room,
        system: &[String],
        messages: &mut Vec<Message>,
        cancel: &Arc<Cancel>,
    ) -> Option<Event> {
        let fixed = self.fixed(system);
        let window = self.estimate.bytes(self.model.window());
        let task = self.task();
        let shortening = Shortening {
            model: &mut *self.model,
            gate: &self.gate,
            context: self.toolbox.context(),
            system,
            tools: &self.specs,
            task: task.as_deref(),
            window: window.saturating_sub(fixed),
        };
        let send = &self.send;
        let made = guarded(|| {
            shortening.make(room, messages, cancel, &mut |progress| {
                send(Report::of(Event::Progressed(epoch, progress)));
            })
        });
        Some(match made {
            Ok(made) => match made? {
                Ok(shorter) => Event::Shortened(epoch, shorter),
                Err(error) => Event::CallFailed(epoch, error),
            },
            Err(why) => broken(epoch, why),
        })
    }

    fn call(
        &mut self,
        epoch: u64,
        system: &[String],
        messages: &[Message],
        cancel: &Arc<Cancel>,
    ) -> Event {
        let task = self.task();
        let request = Request {
            system,
            messages,
            tools: &self.specs,
            task: task.as_deref(),
        };
        let (model, gate, send) = (&mut *self.model, &self.gate, &self.send);
        let limited = || budget::reached(&self.toolbox.context().workspace);
        let mut on = |progress: Progress| send(Report::of(Event::Progressed(epoch, progress)));
        match guarded(|| retry::call(model, &request, gate, &limited, cancel, &mut on)) {
            Ok(Ok(reply)) => {
                let bytes = self.fixed(system) + compaction::weight(messages);
                self.estimate.counted(bytes, reply.usage);
                Event::Replied(epoch, reply)
            }
            Ok(Err(error)) => Event::CallFailed(epoch, error),
            Err(why) => broken(epoch, why),
        }
    }

    /// Bytes of what is sent besides the messages.
    fn fixed(&self, system: &[String]) -> usize {
        self.specs_bytes + system.iter().map(String::len).sum::<usize>()
    }

    fn run(&mut self, epoch: u64, mut call: ToolCall, cancel: &Arc<Cancel>) -> Outcome {
        let resolved = self.model.resolve(&call, self.task().as_deref());
        if let Ok(input) = &resolved {
            call.input.clone_from(input);
        }
        (self.send)(Report::of(Event::Started(epoch, call.clone())));
        let outcome = match resolved {
            Err(why) => failed(why),
            Ok(_) if cancel.is_cancelled() => failed(String::new()),
            Ok(input) => {
                let toolbox = &self.toolbox;
                guarded(|| toolbox.run(&call.name, &input, cancel)).unwrap_or_else(failed)
            }
        };
        self.model.observe(&call, &outcome.content);
        outcome
    }

    fn task(&self) -> Option<String> {
        let assignment = self.toolbox.context().desk.assignment()?;
        Some(assignment.task.to_string())
    }
}

fn broken(epoch: u64, why: String) -> Event {
    Event::CallFailed(
        epoch,
        ModelError::Retry {
            why,
            status: None,
            after: None,
        },
    )
}

fn failed(why: String) -> Outcome {
    Outcome {
        content: why,
        is_error: true,
        held: false,
    }
}

/// A panic inside costs this job only; its text becomes an error.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_default();
        format!("internal error: {text}")
    })
}
