//! Looking at the files: mailbox, board, requests, the lead. What is found is a hint; records decide.

use std::time::Duration;

use super::letters;
use super::machine::{Event, Found, Stop};
use super::mate::{Mate, Wait};
use crate::agent::{limits, prompt};
use crate::clock;
use crate::config::Settings;
use crate::ids::RequestId;
use crate::mailbox::{Intake, Kind, Message, inbox};
use crate::request::{Decision, Record, RequestKind, RequestStatus};
use crate::team::usage::{Meter, Spent};
use crate::team::{Session, lead_presence};

/// How often all open requests are looked through, for a wake-up that was lost; less than the watcher's 30 s.
const SLOW: Duration = Duration::from_secs(25);

impl Mate {
    /// Looks at everything that may have changed and tells the machine.
    pub(super) fn look(&mut self) -> anyhow::Result<()> {
        self.inlet.looking();
        self.look_for_lead();
        self.look_before_a_call()?;
        self.look_at_waits()?;
        let waiting = inbox::waiting(&self.workspace, &self.me)?;
        let talk = waiting.iter().any(Message::starts_round);
        let stop = self.stop_in(&waiting);
        // The request to stop is not news of its own.
        let heard = |message: &Message| stop.is_some() && message.kind == Kind::ShutdownRequest;
        let control = waiting
            .iter()
            .any(|message| message.kind.is_control() && !heard(message));
        let offered = self.machine.wants_task() && !self.offered(1)?.is_empty();
        let found = Found {
            mail: talk || control || self.decision_waits,
            talk,
            offered,
            stop,
        };
        self.queue.push_back(Event::Found(found));
        Ok(())
    }

    /// Takes the mail in, sorts it, and tells the machine.
    pub(super) fn take_mail(&mut self) -> anyhow::Result<()> {
        self.look_before_a_call()?;
        let taken = self.take_in()?;
        let stop = self.stop_in(&taken);
        self.look_at_waits()?;
        let talk = taken.iter().any(Message::starts_round);
        if taken
            .iter()
            .any(|message| message.kind == Kind::TaskNotification)
        {
            self.check_assignment()?;
        }
        self.log_without_effect(&taken);
        for message in taken {
            if message.kind == Kind::PlanRequest {
                self.plan_wanted(&message)?;
            }
            if !message.kind.is_control() {
                self.mail.push(message);
            }
        }
        let news = talk | std::mem::take(&mut self.decision_waits);
        if news {
            self.awaits_answer(false)?;
        }
        self.queue.push_back(Event::Taken { news, stop });
        Ok(())
    }

    /// What is left goes to the transcript; nobody reads it any more in this life.
    pub(super) fn take_in(&mut self) -> anyhow::Result<Vec<Message>> {
        let Intake { messages, damaged } = self.inbox.take_in(self.thinker.transcript())?;
        if !damaged.is_empty() {
            let text = format!(
                "in the mailbox of {} some lines could not be read and are kept in quarantine:\n{}",
                self.me,
                damaged.join("\n")
            );
            self.tell(&letters::error_report(&self.me, &text, None))?;
        }
        Ok(messages)
    }

    /// Says in the log why control mail changes nothing: what it names is no request, or not one that this teammate may or
    /// need follow.
    fn log_without_effect(&self, taken: &[Message]) {
        for message in taken.iter().filter(|message| message.kind.is_control()) {
            let id = message
                .meta("request_id")
                .and_then(|id| RequestId::parse(id).ok());
            let why = match id.map(|id| self.requests.get(&id)) {
                None => "it names no request".to_owned(),
                Some(Err(refusal)) => refusal.to_string(),
                Some(Ok(record)) if record.sender != self.me && record.target != self.me => {
                    format!(
                        "{} is a request of {} to {}",
                        record.request_id, record.sender, record.target
                    )
                }
                Some(Ok(record)) if record.is_final() => {
                    format!("{} is {}", record.request_id, record.status)
                }
                Some(Ok(_)) => continue,
            };
            let kind = format!("{:?}", message.kind);
            tracing::info!(
                from = message.from,
                kind,
                why,
                "control mail without effect"
            );
        }
    }

    /// Follows a wish for a plan by its record, once; what the message says counts for nothing.
    fn plan_wanted(&mut self, message: &Message) -> anyhow::Result<()> {
        let named = message.meta("request_id").map(RequestId::parse);
        let Some(Ok(id)) = named else {
            return Ok(());
        };
        let heard = Decision {
            kind: RequestKind::PlanWish,
            by: self.me.clone(),
            status: RequestStatus::Completed,
            feedback: None,
            scope: None,
        };
        let wish = match self.requests.decide(&id, &heard) {
            Ok(wish) => wish,
            Err(refusal) => {
                tracing::info!(%refusal, "a wish for a plan without effect");
                return Ok(());
            }
        };
        self.gate.wanted();
        self.gate_changed()?;
        let text = format!(
            "The lead wants a plan before you change anything; submit it with submit_plan: {}",
            wish.payload["task"].as_str().unwrap_or_default()
        );
        self.notices.push(prompt::notice(&text));
        Ok(())
    }

    /// A request to stop, by its record, among `mail`'s or, now and then, all open ones.
    fn stop_in(&mut self, mail: &[Message]) -> Option<Stop> {
        let named = mail
            .iter()
            .filter(|message| message.kind == Kind::ShutdownRequest)
            .filter_map(|message| RequestId::parse(message.meta("request_id")?).ok())
            .find_map(|id| self.stop_by(self.requests.get(&id).ok()?));
        if named.is_some() {
            return named;
        }
        if self.slow_look_due() {
            let open = self.requests.open_ones(Some(RequestKind::Shutdown));
            return open
                .unwrap_or_default()
                .into_iter()
                .find_map(|record| self.stop_by(record));
        }
        None
    }

    fn stop_by(&self, record: Record) -> Option<Stop> {
        let open = matches!(
            record.status,
            RequestStatus::Pending | RequestStatus::Acknowledged
        );
        let valid = record.kind == RequestKind::Shutdown && record.target == self.me && open;
        valid.then(|| Stop {
            leaving: record
                .payload
                .get("leaving")
                .and_then(serde_json::Value::as_bool)
                == Some(true),
            request: record.request_id,
        })
    }

    /// Looks at the records of what is waited for, and of a plan whose decision comes later.
    pub(super) fn look_at_waits(&mut self) -> anyhow::Result<()> {
        if let Some(Wait::Permission(id, ..)) = &self.wait
            && let Ok(record) = self.requests.get(id)
        {
            self.permission_looked_at(&record)?;
        }
        if let Some(id) = self.gate.pending()
            && let Ok(record) = self.requests.get(id)
        {
            self.plan_looked_at(&record)?;
        }
        Ok(())
    }

    /// Looks at what may forbid or delay a model call, and tells the machine.
    pub(super) fn look_before_a_call(&mut self) -> anyhow::Result<()> {
        self.look_at_limits()?;
        self.look_at_gate();
        Ok(())
    }

    /// What the whole team may use and has used in this session; told before a call could follow.
    fn look_at_limits(&mut self) -> anyhow::Result<()> {
        let Some(session) = Session::load(&self.workspace) else {
            return Ok(());
        };
        if let Ok(settings) = serde_json::from_value::<Settings>(session.settings) {
            self.take_settings(&settings);
        }
        let (limits, prices) = (self.settings.limits, self.settings.prices.clone());
        let none = Spent::default();
        let spent = if limits::counts(&limits) {
            let id = session.id.to_string();
            let meter = match &mut self.meter {
                Some((of, meter)) if *of == id => meter,
                other => {
                    &mut other
                        .insert((id.clone(), Meter::new(&self.workspace, Some(&id))))
                        .1
                }
            };
            meter.look()?
        } else {
            &none
        };
        let reached =
            limits::reached(&limits, &prices, spent, session.started_at.elapsed()).is_some();
        if reached != self.limited {
            self.limited = reached;
            self.watch_session();
            self.queue.push_back(Event::Limit(reached));
        }
        Ok(())
    }

    /// What of the session's settings can change while this process runs. Rules that cannot be read change nothing.
    fn take_settings(&mut self, fresh: &Settings) {
        let before = self.settings.clone();
        self.settings.take_over(&before, fresh);
        if self.settings == before {
            return;
        }
        match self.settings.policy(&self.me) {
            Ok(policy) => self.context.judge_by(policy),
            Err(error) => {
                tracing::warn!(%error, "changed settings are not taken over");
                self.settings = before;
            }
        }
    }

    /// Whether the model's provider asked everybody to wait; told before a call could follow.
    fn look_at_gate(&mut self) {
        let left = self
            .rate_gate
            .closed()
            .map_or(Duration::ZERO, |held| held.left());
        if self.held_back || !left.is_zero() {
            self.held_back = !left.is_zero();
            self.queue.push_back(Event::HeldBack(left));
        }
    }

    /// A lead that comes and a limit that is raised both show in the session's file; its other changes concern nobody here.
    fn watch_session(&self) {
        let path = self.workspace.session();
        if self.limited || !self.lead.present {
            self.watcher.watch(&path);
        } else {
            self.watcher.unwatch(&path);
        }
    }

    fn slow_look_due(&mut self) -> bool {
        let now = clock::instant();
        let due = self.slow_look.is_none_or(|at| at <= now);
        if due {
            self.slow_look = Some(now + SLOW);
        }
        due
    }

    /// A lead that came back is known by its lock and the new generation of its session.
    pub(super) fn look_for_lead(&mut self) {
        if self.lead.present || !lead_presence::is_there(&self.workspace) {
            return;
        }
        let Some(session) = Session::load(&self.workspace) else {
            return;
        };
        if self.lead.generation == Some(session.generation) {
            return;
        }
        self.lead_seen(&session);
        self.watch_session();
        self.queue.push_back(Event::LeadCame);
    }

    /// From here on its death is watched.
    pub(super) fn lead_seen(&mut self, session: &Session) {
        self.lead.present = true;
        self.lead.generation = Some(session.generation);
        self.lead.session = session.id.to_string();
        self.lead.number += 1;
        self.inlet.watch_lead(&self.workspace, self.lead.number);
    }

    /// A report of a watch that is not the present one is late.
    pub(super) fn lead_gone(&mut self, number: u64) {
        if number != self.lead.number || !self.lead.present {
            return;
        }
        self.lead.present = false;
        self.queue.push_back(Event::LeadGone);
        // First watched, then looked at: a lead may be there again already.
        self.watch_session();
        self.look_for_lead();
    }
}
