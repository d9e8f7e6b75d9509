//! The lead's own conversation: when a round begins, what is put before the model, and what comes of it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Shown;
use super::session::Session;
use crate::agent::{Happening, Input, Report, Thinker, limits, prompt};
use crate::clock;
use crate::ids::AgentName;
use crate::mailbox::{Inbox, Message};
use crate::model::ModelError;
use crate::store::Durability;
use crate::team::usage::{self, Spent};
use crate::tool::{AgentContext, leases};

/// The lead's conversation and what waits to enter it.
pub(super) struct Mind {
    pub(super) thinker: Thinker,
    pub(super) context: Arc<AgentContext>,
    pub(super) inbox: Inbox,
    /// Messages taken in and not yet put before the model.
    pub(super) waiting: Vec<Message>,
    /// Lines of the person that wait for the next turn.
    pub(super) said: VecDeque<String>,
    /// The account of what the start found; goes with the first round.
    pub(super) account: Option<String>,
    /// What the runtime wants to say; begins a round.
    pub(super) nudge: Option<String>,
    /// Tokens of the conversation at the last call, reply included.
    pub(super) size: Option<u64>,
    /// Why the last call brought nothing.
    pub(super) failure: Option<String>,
}

impl Session {
    /// Begins a round if the lead is at rest and something asks for one.
    pub(super) fn think(&mut self) -> anyhow::Result<()> {
        if self.mind.thinker.is_busy() || !self.wants_round() || self.over_limit() {
            return Ok(());
        }
        let inputs = self.inputs();
        self.set_status("working");
        Ok(self.mind.thinker.begin_round(inputs)?)
    }

    /// `/compact`
    pub(super) fn shorten(&mut self) {
        if self.mind.thinker.is_busy() {
            return self.say(
                "the lead is at work; its conversation is made shorter at rest; try again then",
            );
        }
        if self.over_limit() {
            return self
                .say("a limit is reached; making it shorter takes a model call; see /limits");
        }
        self.set_status("working");
        if let Err(error) = self.mind.thinker.shorten() {
            self.complain("the conversation was not made shorter", &error);
        }
    }

    /// Whether something waits that begins a round.
    pub(super) fn wants_round(&self) -> bool {
        !self.mind.said.is_empty()
            || self.mind.nudge.is_some()
            || self.mind.waiting.iter().any(Message::starts_round)
    }

    /// Everything that waits, as it is put before the model: the person's words last.
    fn inputs(&mut self) -> Vec<Input> {
        let account = self.mind.account.take().map(|text| prompt::notice(&text));
        let mail = prompt::render_mail(&std::mem::take(&mut self.mind.waiting), true);
        let nudge = self.mind.nudge.take().map(Input::text);
        let said = self.mind.said.drain(..).map(Input::said);
        account
            .into_iter()
            .chain(mail)
            .chain(nudge)
            .chain(said)
            .collect()
    }

    /// A report of the worker thread.
    pub(super) fn on_report(&mut self, report: Report) -> anyhow::Result<()> {
        for happening in self.mind.thinker.handle(report)? {
            self.on_happening(happening)?;
        }
        Ok(())
    }

    fn on_happening(&mut self, happening: Happening) -> anyhow::Result<()> {
        match happening {
            Happening::Delta(text) => self.ui.show(Shown::Delta(text)),
            Happening::Text(text) => self.ui.show(Shown::Text(text)),
            Happening::Asking => {}
            Happening::Retrying { why, wait } => self.ui.show(Shown::Retrying { why, wait }),
            Happening::Called(tokens) => {
                self.mind.failure = None;
                self.mind.size =
                    Some(tokens.input + tokens.cache_read + tokens.cache_write + tokens.output);
                self.count(tokens);
                self.show_used();
            }
            Happening::Shortened => {
                self.say("the conversation was made shorter, to fit the model's window");
                if !self.mind.thinker.is_busy() {
                    self.at_rest();
                }
            }
            Happening::NotShortened(error) => {
                self.at_rest();
                let why = refusal(&error);
                self.ui
                    .show(Shown::Error(format!("it was not made shorter: {why}")));
            }
            Happening::ToolStarted(call) => self.ui.show(Shown::ToolUse(call)),
            Happening::ToolEnded {
                call,
                output,
                is_error,
            } => self.ui.show(Shown::ToolResult {
                call,
                output,
                ok: !is_error,
            }),
            Happening::Boundary => self.at_boundary()?,
            Happening::RoundOver(_) | Happening::Unopposed => self.at_rest(),
            Happening::Declined(why) => {
                self.at_rest();
                self.failed(format!("the model declined to answer; {why}"));
            }
            Happening::Failed(error) => {
                self.at_rest();
                self.failed(refusal(&error));
            }
            Happening::Interrupted => {
                self.at_rest();
                self.withdraw_questions_of(&AgentName::lead(), "the call was interrupted");
                self.crew.deferred.clear();
                self.ui.show(Shown::Interrupted);
            }
        }
        Ok(())
    }

    /// Between two turns: new mail and lines go before the model with the results.
    fn at_boundary(&mut self) -> anyhow::Result<()> {
        if self.leaving.is_some() || self.over_limit() {
            self.at_rest();
            return Ok(self.mind.thinker.rest()?);
        }
        self.take_mail()?;
        let inputs = self.inputs();
        Ok(self.mind.thinker.next_turn(inputs)?)
    }

    fn at_rest(&mut self) {
        leases::round_over(&self.mind.context);
        if self.leaving.is_none() {
            self.set_status("idle");
        }
    }

    pub(super) fn failed(&mut self, why: String) {
        self.ui.show(Shown::Error(why.clone()));
        self.mind.failure = Some(why);
    }

    fn count(&mut self, tokens: crate::conversation::Usage) {
        let counted = usage::record(
            &self.files.workspace,
            &AgentName::lead(),
            self.mind.thinker.model(),
            self.record.id.as_str(),
            tokens,
        );
        if let Err(error) = counted {
            self.complain("the call's tokens were not recorded", &error);
        }
    }

    /// Whether a limit of the team is reached; says so the first time.
    pub(super) fn over_limit(&mut self) -> bool {
        if self.limit.is_some() {
            return true;
        }
        let limits = self.options.settings.limits;
        let none = Spent::default();
        let spent = match limits::counts(&limits)
            .then(|| self.meter.look())
            .transpose()
        {
            Ok(spent) => spent.unwrap_or(&none),
            Err(error) => {
                self.complain("what the team has spent was not read", &error);
                return false;
            }
        };
        let prices = &self.options.settings.prices;
        self.limit = limits::reached(&limits, prices, spent, self.started.elapsed());
        if let Some(limit) = &self.limit {
            let text = format!(
                "the limit of {limit} is reached; no agent calls its model again; the tasks stay on the board"
            );
            self.say(text);
        }
        self.limit.is_some()
    }

    /// When the limit on time will be reached, if that changes anything.
    pub(super) fn time_limit(&self) -> Option<Instant> {
        let waits = self.leaving.is_none() && (!self.time_ended || self.nobody_answers());
        self.time_runs_out().filter(|_| waits)
    }

    /// Whether the limit on time is reached.
    pub(super) fn time_is_up(&self) -> bool {
        self.time_runs_out()
            .is_some_and(|at| at <= clock::instant())
    }

    fn time_runs_out(&self) -> Option<Instant> {
        let seconds = self.options.settings.limits.seconds?;
        self.started.checked_add(Duration::from_secs(seconds))
    }

    /// Cuts the running call or tool.
    pub(super) fn cut(&mut self, why: &str) {
        self.mind.thinker.interrupt(why);
    }

    /// Says in `session.json` what the lead does; for whoever looks, so it need not survive a power cut.
    pub(super) fn set_status(&mut self, status: &str) {
        if self.record.status == status {
            return;
        }
        status.clone_into(&mut self.record.status);
        let saved = self.record.save(&self.files.workspace, Durability::Process);
        if let Err(error) = saved {
            self.complain("the lead's status was not recorded", &error);
        }
    }

    /// Puts something that happened to `name` before the model with the next round, which it begins if `kind` does.
    pub(super) fn tell_model(
        &mut self,
        name: &AgentName,
        kind: crate::mailbox::Kind,
        text: String,
    ) {
        let message = Message::new(name, &AgentName::lead(), kind, text);
        self.mind.waiting.push(message);
    }
}

fn refusal(error: &ModelError) -> String {
    match error {
        ModelError::Retry { why, .. } => format!("the model's server does not answer; {why}"),
        ModelError::Refused(why) | ModelError::TooLong(why) => why.clone(),
        ModelError::Limit => error.to_string(),
        ModelError::Cancelled => "the model call was cancelled".to_owned(),
    }
}
