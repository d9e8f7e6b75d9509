//! The steps of the machine.

use std::collections::VecDeque;

use super::record::{interrupted, recorded, refused, told};
use super::streak::Streak;
use super::{Answered, Effect, Event, Room, Shorter, State, Work, reply};
use crate::agent::Happening;
use crate::conversation::ToolCall;
use crate::model::{ModelError, Progress, Reply, Stop};
use crate::tool::Outcome;

/// How often in a row a server may ask for the same conversation again before the round counts as over.
const MAX_PAUSES: u32 = 8;

/// See the module.
#[derive(Debug)]
pub struct Turn {
    pub(super) state: State,
    pub(super) epoch: u64,
    held: Vec<Answered>,
    streak: Streak,
    pub(super) round: Round,
    pub(super) stop_hooks: bool,
    /// The conversation was made shorter since the last reply.
    shortened: bool,
    /// Since the last reply that was demanded, by the server or by the owner.
    demanded: bool,
}

/// What counts within one round.
#[derive(Debug, Default)]
pub(super) struct Round {
    text: String,
    /// The same, kept beyond its end.
    pub(super) last_text: String,
    /// How often it went on because a hook wanted it to.
    pub(super) went_on: u32,
    after_results: bool,
    nudged: bool,
    pauses: u32,
    /// The last reply ended since the window is full: the next call makes room.
    full: bool,
    pub(super) kind: Kind,
}

/// What a round is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Kind {
    #[default]
    Work,
    /// See [`Event::BeginLast`].
    Last,
    /// It makes the conversation shorter, and nothing else.
    Shortening,
}

/// How a model's call that has ended was regarded.
enum Called {
    /// Its reply counts.
    Wanted,
    /// It was told to stop; why, for the model.
    Cut(String),
}

impl Turn {
    /// At rest; `history` are the calls of the conversation so far, for the count of identical ones.
    pub fn new(history: impl IntoIterator<Item = ToolCall>) -> Self {
        let mut streak = Streak::default();
        for call in history {
            streak.count(&call);
        }
        Self {
            state: State::Rest,
            epoch: 0,
            held: Vec::new(),
            streak,
            round: Round::default(),
            stop_hooks: false,
            shortened: false,
            demanded: false,
        }
    }

    /// What is under way.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The epoch of the work under way.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// One step. What does not fit the state, or belongs to another epoch, changes nothing.
    pub fn on(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Begin => self.begin(Kind::Work),
            Event::BeginLast => self.begin(Kind::Last),
            Event::Rest => self.rest(),
            Event::Interrupt(why) => self.interrupt(why),
            Event::Shorten => self.shorten(),
            Event::ConsultIdle => self.consult_idle(),
            Event::Progressed(epoch, progress) if epoch == self.epoch => self.progressed(progress),
            Event::Replied(epoch, reply) if epoch == self.epoch => self.replied(&reply),
            Event::CallFailed(epoch, error) if epoch == self.epoch => self.call_failed(error),
            Event::Shortened(epoch, shorter) if epoch == self.epoch => self.made_shorter(shorter),
            Event::Started(epoch, call) if epoch == self.epoch => self.started(call),
            Event::Ran(epoch, outcome) if epoch == self.epoch => self.ran(outcome),
            Event::Ended(epoch, result) if epoch == self.epoch => self.ended(&result),
            Event::Consulted(epoch, why) if epoch == self.epoch => self.consulted(why),
            Event::Progressed(..)
            | Event::Replied(..)
            | Event::CallFailed(..)
            | Event::Shortened(..)
            | Event::Started(..)
            | Event::Ran(..)
            | Event::Ended(..)
            | Event::Consulted(..) => Vec::new(),
        }
    }

    fn begin(&mut self, kind: Kind) -> Vec<Effect> {
        match self.state {
            State::Rest => {
                self.round = Round {
                    kind,
                    ..Round::default()
                };
                self.demanded = false;
            }
            State::Boundary if kind == Kind::Work => self.round.after_results = true,
            State::Boundary
            | State::Calling
            | State::Running { .. }
            | State::Ending
            | State::Consulting(_)
            | State::Cutting { .. } => return Vec::new(),
        }
        vec![if std::mem::take(&mut self.round.full) {
            self.make_room()
        } else {
            self.call()
        }]
    }

    fn rest(&mut self) -> Vec<Effect> {
        match self.state {
            State::Boundary => self.state = State::Rest,
            State::Rest
            | State::Calling
            | State::Running { .. }
            | State::Ending
            | State::Consulting(_)
            | State::Cutting { .. } => {}
        }
        Vec::new()
    }

    fn interrupt(&mut self, why: String) -> Vec<Effect> {
        let work = match std::mem::replace(&mut self.state, State::Rest) {
            State::Calling => Work::Call,
            State::Running { current, waiting } => Work::Tool { current, waiting },
            State::Ending => Work::End,
            State::Consulting(_) => Work::Consult,
            unmoved @ (State::Rest | State::Boundary | State::Cutting { .. }) => {
                self.state = unmoved;
                return Vec::new();
            }
        };
        self.state = State::Cutting { why, work };
        vec![Effect::Cancel]
    }

    fn progressed(&self, progress: Progress) -> Vec<Effect> {
        match self.state {
            State::Calling => vec![Effect::Tell(match progress {
                Progress::Text(text) => Happening::Delta(text),
                Progress::Retrying { why, wait } => Happening::Retrying { why, wait },
                Progress::Asking => Happening::Asking,
            })],
            State::Rest
            | State::Running { .. }
            | State::Ending
            | State::Consulting(_)
            | State::Boundary
            | State::Cutting { .. } => Vec::new(),
        }
    }

    /// The model's call has ended: the state is [`State::Rest`] now. `None`, and nothing is changed, if none was under way.
    fn call_over(&mut self) -> Option<Called> {
        let (called, state) = match std::mem::replace(&mut self.state, State::Rest) {
            State::Calling => (Some(Called::Wanted), State::Rest),
            State::Cutting {
                why,
                work: Work::Call,
            } => (Some(Called::Cut(why)), State::Rest),
            unmoved @ (State::Rest
            | State::Running { .. }
            | State::Ending
            | State::Consulting(_)
            | State::Boundary
            | State::Cutting {
                work: Work::Tool { .. } | Work::End | Work::Consult,
                ..
            }) => (None, unmoved),
        };
        self.state = state;
        called
    }

    fn replied(&mut self, reply: &Reply) -> Vec<Effect> {
        match self.call_over() {
            Some(Called::Wanted) => self.take_reply(reply),
            Some(Called::Cut(why)) => {
                let mut effects = recorded(Vec::new(), reply);
                effects.extend(interrupted(why));
                effects
            }
            None => Vec::new(),
        }
    }

    /// At rest the state is [`State::Calling`] for this call too, and rest again after it.
    fn shorten(&mut self) -> Vec<Effect> {
        match self.state {
            State::Rest => {
                self.round = Round {
                    kind: Kind::Shortening,
                    ..Round::default()
                };
                self.demanded = false;
                vec![self.make_room()]
            }
            State::Calling
            | State::Running { .. }
            | State::Ending
            | State::Consulting(_)
            | State::Boundary
            | State::Cutting { .. } => Vec::new(),
        }
    }

    fn may_make_room(&self) -> bool {
        !self.demanded && self.round.kind != Kind::Last
    }

    fn make_room(&mut self) -> Effect {
        self.demanded = true;
        self.epoch += 1;
        self.state = State::Calling;
        Effect::Call(Room::Make)
    }

    /// A call follows, before which the owner looks at limits, stops and mail.
    fn at_boundary(&mut self) -> Effect {
        self.state = State::Boundary;
        Effect::Tell(Happening::Boundary)
    }

    /// A turn of its own.
    fn made_shorter(&mut self, shorter: Shorter) -> Vec<Effect> {
        let after = match self.call_over() {
            Some(Called::Wanted) if self.round.kind == Kind::Shortening => Vec::new(),
            Some(Called::Wanted) => vec![self.at_boundary()],
            Some(Called::Cut(why)) => interrupted(why),
            None => return Vec::new(),
        };
        self.shortened = true;
        let usage = shorter.spent.as_ref().map(|(usage, _)| *usage);
        let mut effects = vec![Effect::RecordShorter(shorter)];
        effects.extend(usage.map(|usage| Effect::Tell(Happening::Called(usage))));
        effects.push(Effect::Tell(Happening::Shortened));
        effects.extend(after);
        effects
    }

    /// The state is [`State::Rest`] already; a reply that goes on sets another.
    fn take_reply(&mut self, reply: &Reply) -> Vec<Effect> {
        let full = matches!(reply.stop, Stop::ContextFull) && self.may_make_room();
        self.shortened = false;
        self.demanded &= full;
        let next = reply::judge(reply, self.round.after_results && !self.round.nudged);
        if let reply::Next::Declined(why) = next {
            let mut effects = recorded(Vec::new(), reply);
            effects.push(Effect::Tell(Happening::Declined(why)));
            return effects;
        }
        let content = reply::closed(reply.content.clone(), &reply.stop);
        let calls: VecDeque<ToolCall> = reply::calls(&content).collect();
        let text = reply::text(&content);
        let mut effects = recorded(content, reply);
        if let Some(text) = text {
            self.round.text.clone_from(&text);
            effects.push(Effect::Tell(Happening::Text(text)));
        }
        match next {
            reply::Next::Run => self.advance(calls, &mut effects),
            reply::Next::Nudge => {
                self.round.nudged = true;
                effects.push(Effect::RecordNudge);
                effects.push(self.at_boundary());
            }
            reply::Next::Again if self.round.pauses < MAX_PAUSES => {
                self.round.pauses += 1;
                effects.push(self.at_boundary());
            }
            reply::Next::Full(_) if full => {
                self.round.full = true;
                effects.push(self.at_boundary());
            }
            reply::Next::Full(why) => {
                effects.push(Effect::Tell(Happening::Failed(ModelError::TooLong(why))));
            }
            reply::Next::Again | reply::Next::Over | reply::Next::Declined(_) => {
                let text = std::mem::take(&mut self.round.text);
                self.round.last_text.clone_from(&text);
                effects.push(self.over(text));
            }
        }
        effects
    }

    fn call_failed(&mut self, error: ModelError) -> Vec<Effect> {
        match self.call_over() {
            Some(Called::Wanted)
                if matches!(error, ModelError::TooLong(_)) && self.may_make_room() =>
            {
                vec![self.make_room()]
            }
            Some(Called::Wanted) if self.round.kind == Kind::Shortening => {
                vec![Effect::Tell(Happening::NotShortened(error))]
            }
            // As if the call had not begun: the owner looks at the limits itself.
            Some(Called::Wanted) if error == ModelError::Limit => vec![self.at_boundary()],
            Some(Called::Wanted) => vec![Effect::Tell(Happening::Failed(error))],
            Some(Called::Cut(why)) => interrupted(why),
            None => Vec::new(),
        }
    }

    fn started(&mut self, call: ToolCall) -> Vec<Effect> {
        match &mut self.state {
            State::Running { current, .. }
            | State::Cutting {
                work: Work::Tool { current, .. },
                ..
            } => {
                current.clone_from(&call);
                vec![Effect::Tell(Happening::ToolStarted(call))]
            }
            State::Rest
            | State::Calling
            | State::Ending
            | State::Consulting(_)
            | State::Boundary
            | State::Cutting {
                work: Work::Call | Work::End | Work::Consult,
                ..
            } => Vec::new(),
        }
    }

    fn ran(&mut self, outcome: Outcome) -> Vec<Effect> {
        let mut effects = Vec::new();
        match std::mem::replace(&mut self.state, State::Rest) {
            State::Running { current, waiting } => {
                self.answer(current, outcome, &mut effects);
                self.advance(waiting, &mut effects);
            }
            State::Cutting {
                why,
                work: Work::Tool { current, waiting },
            } => {
                self.answer(current, reply::cut_short(&why, outcome), &mut effects);
                for call in waiting {
                    effects.extend(refused(call, format!("not run: {why}")));
                }
                effects.push(self.end_turn());
                self.state = State::Cutting {
                    why,
                    work: Work::End,
                };
            }
            unmoved @ (State::Rest
            | State::Calling
            | State::Ending
            | State::Consulting(_)
            | State::Boundary
            | State::Cutting {
                work: Work::Call | Work::End | Work::Consult,
                ..
            }) => self.state = unmoved,
        }
        effects
    }

    fn ended(&mut self, result: &Result<(), String>) -> Vec<Effect> {
        match std::mem::replace(&mut self.state, State::Rest) {
            State::Ending => {
                let mut effects = self.confirm(result);
                effects.push(match self.streak.gives_up() {
                    Some(why) => Effect::Tell(Happening::Failed(ModelError::Refused(why))),
                    None => self.at_boundary(),
                });
                effects
            }
            State::Cutting {
                why,
                work: Work::End,
            } => {
                let mut effects = self.confirm(result);
                effects.extend(interrupted(why));
                effects
            }
            unmoved @ (State::Rest
            | State::Calling
            | State::Running { .. }
            | State::Consulting(_)
            | State::Boundary
            | State::Cutting {
                work: Work::Call | Work::Tool { .. } | Work::Consult,
                ..
            }) => {
                self.state = unmoved;
                Vec::new()
            }
        }
    }

    /// Answers calls that must not run, up to the first that may; after the last the turn ends.
    fn advance(&mut self, mut waiting: VecDeque<ToolCall>, effects: &mut Vec<Effect>) {
        while let Some(call) = waiting.pop_front() {
            let warning = self.streak.count(&call);
            if let Some(why) = call.cut.clone().or(warning) {
                effects.extend(refused(call, why));
                continue;
            }
            self.epoch += 1;
            effects.push(Effect::Run(call.clone()));
            self.state = State::Running {
                current: call,
                waiting,
            };
            return;
        }
        effects.push(self.end_turn());
    }

    fn answer(&mut self, call: ToolCall, outcome: Outcome, effects: &mut Vec<Effect>) {
        let answered = Answered {
            call,
            content: outcome.content,
            is_error: outcome.is_error,
        };
        if outcome.held {
            self.held.push(answered);
        } else {
            effects.extend(told(answered));
        }
    }

    fn confirm(&mut self, result: &Result<(), String>) -> Vec<Effect> {
        std::mem::take(&mut self.held)
            .into_iter()
            .flat_map(|mut answered| {
                if let Err(why) = result {
                    answered.content.clone_from(why);
                    answered.is_error = true;
                }
                told(answered)
            })
            .collect()
    }

    fn call(&mut self) -> Effect {
        self.epoch += 1;
        self.state = State::Calling;
        Effect::Call(match self.round.kind {
            _ if self.shortened => Room::Enough,
            Kind::Last => Room::Alone,
            Kind::Work | Kind::Shortening => Room::Look,
        })
    }

    fn end_turn(&mut self) -> Effect {
        self.epoch += 1;
        self.state = State::Ending;
        Effect::EndTurn
    }
}
