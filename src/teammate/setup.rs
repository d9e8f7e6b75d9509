//! From options to a teammate that can begin: presence first, then everything that it works with.

use std::collections::{HashSet, VecDeque};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};

use anyhow::Context as _;
use serde_json::json;

use super::card::Card;
use super::channel::{self, Inbound, Inlet, LoopHost};
use super::denied::Denied;
use super::gate::{Gate, Work};
use super::ground::Ground;
use super::machine::{Config, Event, Machine, Start};
use super::mate::{LeadWatch, Mate};
use super::timers::Timers;
use super::words::{self, Words};
use super::{Options, letters, work};
use crate::agent::prompt::{self, SystemParts};
use crate::agent::{Thinker, ThinkerParts};
use crate::board::Task;
use crate::clock::Timestamp;
use crate::config::env;
use crate::config::settings::PlanReview;
use crate::conversation::{Record, Replay, Transcript};
use crate::ids::{AgentName, RequestId};
use crate::mailbox::{Inbox, Message, Post};
use crate::model::{self, Gate as RateGate, Model};
use crate::policy::Policy;
use crate::request::{RequestKind, RequestStatus, Requests};
use crate::store::Durability;
use crate::team::{Roster, Session, grants, lead_presence};
use crate::tool::{AgentContext, Desk, TeamDirectory, ToolBox, leases, open_board};

impl Ground {
    /// Everything else. The outer error is a crash, the inner one is final: a bad key or bad settings.
    pub(super) fn build(
        mut self,
        inlet: Inlet,
    ) -> anyhow::Result<Result<Mate, (Card, Inlet, String)>> {
        match self.final_parts() {
            Ok((model, policy)) => self.assemble(inlet, model, policy).map(Ok),
            Err(why) => Ok(Err((self.card, inlet, why))),
        }
    }

    fn final_parts(&mut self) -> Result<(Box<dyn Model>, Policy), String> {
        let options = &self.options;
        let spec = self.spec.clone()?;
        let model = model::open(
            &spec,
            &options.credentials,
            &options.workspace,
            options.name.as_str(),
        )
        .map_err(|error| error.to_string())?;
        let policy = self
            .settings
            .policy(&options.name)
            .map_err(|error| error.to_string())?;
        Ok((model, policy))
    }

    fn assemble(self, inlet: Inlet, model: Box<dyn Model>, policy: Policy) -> anyhow::Result<Mate> {
        let durability = self.settings.durability();
        let (mut transcript, replay) = self.open_transcript(durability)?;
        let workspace = self.options.workspace.clone();
        let me = self.options.name.clone();
        let inbox = Inbox::open(&workspace, &me, &mut transcript, &replay, durability)
            .context("cannot open the mailbox")?;
        let watcher = inlet.watcher(self.options.poll_only, &self.options.say);
        watcher.watch(&workspace.mailbox(&me));
        watcher.watch(&workspace.bell());
        let context = self.context(&inlet, policy, durability)?;
        let fresh = replay.messages.is_empty();
        let started = self.card.member().started_at;
        let rate_gate = RateGate::new(&workspace, model.name(), me.as_str());
        let mut mate = Mate {
            machine: Machine::new(Config {
                by_person: !self.options.started_by_lead,
                lead_grace: self.settings.lead_grace(),
                shutdown: self.settings.shutdown(),
                permission_wait: self.settings.permission_wait(),
                idle_hooks: !self.settings.hooks.teammate_idle.is_empty(),
            }),
            thinker: self.thinker(&inlet, transcript, replay.clone(), model, &context),
            requests: Requests::new(workspace.clone(), durability),
            gate: Gate::default(),
            denied: Denied::new(grants::of(&workspace, &me).denied),
            timers: Timers::default(),
            lead: LeadWatch::default(),
            prompt: self.options.prompt.clone().filter(|_| fresh),
            mail: Vec::new(),
            notices: Vec::new(),
            decision_waits: false,
            slow_look: None,
            wait: None,
            limited: false,
            rate_gate,
            held_back: false,
            meter: None,
            words: Words::of(&replay),
            last_work: None,
            began_at: fresh.then_some(started),
            noticed: HashSet::new(),
            queue: VecDeque::new(),
            ended: None,
            say: Arc::clone(&self.options.say),
            settings: self.settings,
            card: self.card,
            workspace,
            me,
            inlet,
            watcher,
            context,
            inbox,
        };
        mate.find_lead(self.session.as_ref());
        mate.resume(&replay, &self.options)?;
        Ok(mate)
    }

    fn open_transcript(&self, durability: Durability) -> anyhow::Result<(Transcript, Replay)> {
        let options = &self.options;
        let start = Record::Start {
            agent: options.name.to_string(),
            session: self.session.as_ref().map(|session| session.id.to_string()),
            at: Timestamp::now(),
        };
        let path = options.workspace.transcript(&options.name);
        Transcript::open(&path, &start, durability).context("cannot open the transcript")
    }

    fn context(
        &self,
        inlet: &Inlet,
        policy: Policy,
        durability: Durability,
    ) -> anyhow::Result<Arc<AgentContext>> {
        let options = &self.options;
        let workspace = options.workspace.clone();
        let board = open_board(&workspace, durability, self.settings.max_attempts())
            .context("cannot open the board")?;
        let roster = Roster::new(workspace.clone(), Durability::Process);
        Ok(Arc::new(AgentContext {
            agent: options.name.clone(),
            role: self.role.clone(),
            board: Arc::new(board),
            post: Post::new(workspace.clone(), durability),
            directory: Arc::new(TeamDirectory::new(workspace.clone(), roster)),
            policy: policy.into(),
            grants: Mutex::new(grants::of(&workspace, &options.name).allowed),
            desk: Desk::default(),
            host: Box::new(LoopHost(Mutex::new(inlet.clone()))),
            home: options.environment.home.clone(),
            tool_env: env::for_tools(
                &options.environment,
                &self.settings.env.pass,
                &options.name,
                workspace.root(),
            ),
            confinement: self.settings.confinement(&options.environment),
            verify: self.settings.verify.clone(),
            hooks: self.settings.hooks.clone(),
            lead_reviews_plans: self.settings.plan_review() == PlanReview::Lead,
            lead_merges: false,
            workspace,
        }))
    }

    fn thinker(
        &self,
        inlet: &Inlet,
        transcript: Transcript,
        replay: Replay,
        model: Box<dyn Model>,
        context: &Arc<AgentContext>,
    ) -> Thinker {
        let to_loop = inlet.clone();
        let options = &self.options;
        Thinker::start(ThinkerParts {
            transcript,
            replay,
            model,
            toolbox: Arc::new(ToolBox::new(Arc::clone(context))),
            system: prompt::system(&SystemParts {
                agent: &options.name,
                role: &self.role,
                roster: &others(&options.workspace, &options.name),
                workspace: &options.workspace,
                plan_gate: options.require_plan,
            }),
            send: Box::new(move |report| to_loop.send(Inbound::Report(report))),
        })
    }
}

impl Mate {
    /// Whether a lead lives now; without one its return is watched for.
    fn find_lead(&mut self, session: Option<&Session>) {
        let lives = lead_presence::is_there(&self.workspace);
        if let Some(session) = session {
            self.lead.session = session.id.to_string();
            if lives {
                return self.lead_seen(session);
            }
            self.lead.generation = Some(session.generation);
        }
        self.watcher.watch(&self.workspace.session());
        // First watched, then looked at: one may have come meanwhile.
        self.look_for_lead();
    }

    /// Picks up what the board, the requests and the transcript say of this teammate.
    fn resume(&mut self, replay: &Replay, options: &Options) -> anyhow::Result<()> {
        leases::begin(&self.context);
        if !options.started_by_lead && self.lead.present {
            self.tell(&letters::joined(&self.me))?;
        }
        let noted = replay.notes.get(work::ASSIGNMENT).cloned();
        let owned = self.context.board.owned_by(&self.me)?;
        self.end_old_questions();
        let recorded = (
            self.card.member().plan_gate,
            self.card.member().plan_request.clone(),
        );
        let held = owned
            .as_ref()
            .map(|task| (task.id.clone(), task.work_version))
            .filter(|held| self.is_planned(recorded.1.as_ref(), held));
        self.gate = Gate::new(options.require_plan, recorded.0, recorded.1, held);
        let kept = (self.gate.state(), self.gate.pending().is_some());
        let mut holds = match owned {
            Some(task) => self.adopt(task)?,
            None => false,
        };
        if !holds && self.lead.present {
            let wanted = options.task.clone().or_else(|| {
                let (task, _) = work::noted(noted.as_ref()?)?;
                Some(task)
            });
            if let Some(id) = wanted {
                holds = self.claim_one(&id)?;
            }
        }
        self.gate_changed()?;
        if let Some(task) = noted.as_ref().and_then(|noted| noted["task"].as_str())
            && self.work().is_none_or(|(held, _)| held.as_str() != task)
        {
            self.notices.push(prompt::lost_assignment(task));
        }
        tracing::info!(?kept, holds, "resumed");
        self.mail = pending_mail(replay);
        self.look_at_waits()?;
        let told = self.work().is_some_and(|(task, version)| {
            noted == Some(json!({ "task": task, "version": version }))
        });
        let talk = self.mail.iter().any(Message::starts_round);
        let news = talk || self.decision_waits;
        let left = words::left(replay);
        self.last_work = noted.as_ref().and_then(work::noted);
        self.queue.push_front(Event::Started(Start {
            lead: self.lead.present,
            prompt: self.prompt.is_some(),
            task: holds,
            told,
            unfinished: !replay.at_rest && !replay.messages.is_empty(),
            news,
            plan_pending: self.gate.pending().is_some(),
            asked: left.asked && !news,
            last_words: left.last_words,
            reminded: left.reminded,
        }));
        Ok(())
    }

    /// Permission questions end with the process that asked them.
    fn end_old_questions(&self) {
        let open = self.requests.open_ones(Some(RequestKind::Permission));
        for record in open.unwrap_or_default() {
            if record.sender == self.me {
                self.end_request(
                    RequestKind::Permission,
                    &record.request_id,
                    RequestStatus::Withdrawn,
                );
            }
        }
    }

    /// Whether the recorded plan, if there is one, is for the task under the version that is held now. One of another
    /// assignment is void.
    fn is_planned(&self, request: Option<&RequestId>, held: &Work) -> bool {
        let Some(record) = request.and_then(|id| self.requests.get(id).ok()) else {
            return true;
        };
        let fits = record.task_id.as_ref() == Some(&held.0) && record.work_version == Some(held.1);
        if !fits {
            self.end_plan(&record.request_id, RequestStatus::Stale);
        }
        fits
    }

    /// The board says that this teammate owns `task`: claimed for it by the lead, or by its predecessor.
    fn adopt(&mut self, task: Task) -> anyhow::Result<bool> {
        match crate::tool::assignment_again(&self.workspace, task.clone()) {
            Ok(assignment) => {
                self.context.desk.state().assignment = Some(assignment);
                self.card.change(|member| member.task = Some(task.id))?;
                Ok(true)
            }
            Err(_) => self.take_on(task),
        }
    }
}

/// Who else is there now, for the system text.
fn others(workspace: &crate::workspace::Workspace, me: &AgentName) -> Vec<String> {
    let roster = Roster::new(workspace.clone(), Durability::Process);
    let members = roster.list().unwrap_or_default();
    std::iter::once("lead".to_owned())
        .chain(
            members
                .iter()
                .filter(|member| member.name != *me && roster.is_alive(&member.name))
                .map(|member| match member.role.trim() {
                    "" => member.name.to_string(),
                    role => format!("{} ({role})", member.name),
                }),
        )
        .collect()
}

/// Mail that was taken in and never put before the model; control messages have served their purpose.
fn pending_mail(replay: &Replay) -> Vec<Message> {
    replay
        .pending_mail
        .iter()
        .filter_map(|value| serde_json::from_value::<Message>(value.clone()).ok())
        .filter(|message| !message.kind.is_control())
        .collect()
}

/// The channel and, from here on, signals as events.
pub(super) fn listen() -> (Inlet, Receiver<Inbound>) {
    let (inlet, inbound) = channel::channel();
    let to_loop = Mutex::new(inlet.clone());
    crate::process::signals::listen(move |signal| {
        to_loop
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .send(Inbound::Signal(signal));
    });
    (inlet, inbound)
}
