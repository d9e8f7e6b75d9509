//! Starting a teammate for the lead's model (SPEC §6.4): every step is undone if a later one fails.
//!
//! name → free → agreed → limit → record (`starting`) → staged tasks and claim under one board lock → process → its status.
//! The last step is waited for by the loop, not here; a crash in between is undone by the next start.

use std::path::PathBuf;
use std::sync::mpsc::Sender;

use super::agreed;
use super::deferred::Wanted;
use super::fleet::Unit;
use super::launch::Orders;
use super::session::Session;
use crate::board::{BoardError, Claimant, Released, Task};
use crate::clock::{self, Timestamp};
use crate::ids::AgentName;
use crate::model::ModelSpec;
use crate::store::fault::{self, Point};
use crate::store::{Durability, atomic};
use crate::team::{Member, MemberStatus, PlanGate};
use crate::tool::{Answer, SpawnOrder};

/// Longest first prompt, in bytes: it goes through the process's arguments.
const MAX_PROMPT: usize = 64 * 1024;

/// A start whose process has not written its status yet, with what is needed to undo it.
pub(super) struct Start {
    reply: Sender<Answer>,
    undo: Undo,
}

/// Why there is no start.
enum NoStart {
    /// Something is in the way that may go.
    Yet(String),
    /// It would not be right.
    AtAll(String),
}

impl From<String> for NoStart {
    fn from(why: String) -> Self {
        Self::AtAll(why)
    }
}

/// What was done for a start so far.
#[derive(Default)]
struct Undo {
    /// A record was written.
    recorded: bool,
    /// The record that the name had before; `None`: it had none.
    before: Option<Member>,
    /// Where the conversation of the name's earlier life was put.
    kept: Option<PathBuf>,
    /// The task claimed for it.
    claimed: Option<Task>,
}

impl Session {
    /// Begins a start; the answer comes when the teammate has written its status, or with the step that failed.
    pub(super) fn spawn(&mut self, order: SpawnOrder, reply: Sender<Answer>) {
        self.start_or_defer(Wanted::now(order, reply));
    }

    pub(super) fn start_or_defer(&mut self, wanted: Wanted) {
        let orders = match self.check_spawn(&wanted.order) {
            Ok(orders) => orders,
            Err(NoStart::Yet(_)) if self.may_wait(&wanted) => {
                return self.crew.deferred.push(wanted);
            }
            Err(NoStart::Yet(why) | NoStart::AtAll(why)) => {
                return drop(wanted.reply.send(Err(why)));
            }
        };
        let Wanted { order, reply, .. } = wanted;
        let name = orders.name.clone();
        let mut undo = Undo::default();
        match self.begin_spawn(&order, orders, &mut undo) {
            Ok(()) => {
                self.crew.starts.insert(name.clone(), Start { reply, undo });
                // The process may have written its status already.
                self.on_member_changed(&name);
            }
            Err(why) => {
                self.undo_spawn(&name, undo);
                drop(reply.send(Err(why)));
            }
        }
    }

    /// All that can be known before anything is done.
    fn check_spawn(&self, order: &SpawnOrder) -> Result<Orders, NoStart> {
        let orders = self.check_order(order)?;
        let limit = self.options.settings.max_teammates.unwrap_or(8);
        let there = self.fleet.there();
        if there.len() < limit {
            return Ok(orders);
        }
        let names: Vec<&str> = there.iter().map(AgentName::as_str).collect();
        Err(NoStart::Yet(format!(
            "{} teammates are alive, the most allowed (maxTeammates): {}; ask one that is done to stop first",
            there.len(),
            names.join(", ")
        )))
    }

    fn check_order(&self, order: &SpawnOrder) -> Result<Orders, NoStart> {
        AgentName::parse_teammate(order.name.as_str()).map_err(|error| error.to_string())?;
        let known = self.files.roster.get(&order.name).ok().flatten();
        // A name keeps the spelling it was made with.
        let name = &known.map_or_else(|| order.name.clone(), |member| member.name);
        if self.leaving.is_some() {
            let why = "the session is ending; nobody is started any more";
            return Err(NoStart::AtAll(why.to_owned()));
        }
        if self.fleet.get(name).is_some_and(Unit::is_there) || self.files.roster.is_alive(name) {
            return Err(NoStart::Yet(format!(
                "{name} is there already; send it a message, or choose another name"
            )));
        }
        if order.prompt.len() > MAX_PROMPT {
            return Err(NoStart::AtAll(format!(
                "the prompt has {} bytes, more than {MAX_PROMPT}; put the details into the task's description",
                order.prompt.len()
            )));
        }
        let model = self.model_for(name, order.model.as_deref());
        ModelSpec::parse(&model).map_err(|error| error.to_string())?;
        self.proposals.covers(name, &order.role, &model)?;
        let settings = &self.options.settings;
        if settings.limits.cost.is_some() && settings.prices.of(&model).is_none() {
            return Err(NoStart::AtAll(format!(
                "{model} has no price, and the team has a limit on cost; name a model that has one"
            )));
        }
        let member = settings.member(name);
        Ok(Orders {
            name: name.clone(),
            role: order.role.trim().to_owned(),
            prompt: order.prompt.trim().to_owned(),
            require_plan: order.require_plan
                || member.is_some_and(|member| member.require_plan == Some(true)),
            model,
        })
    }

    /// The model that a teammate gets.
    pub(super) fn model_for(&self, name: &AgentName, asked: Option<&str>) -> String {
        agreed::resolve(&self.options, name, asked)
    }

    fn begin_spawn(
        &mut self,
        order: &SpawnOrder,
        orders: Orders,
        undo: &mut Undo,
    ) -> Result<(), String> {
        let name = orders.name.clone();
        let step = |what: &str, error: &dyn std::fmt::Display| format!("{what}: {error}");
        undo.before = self
            .files
            .roster
            .get(&name)
            .map_err(|error| step("the member's record could not be read", &error))?;
        undo.recorded = true;
        self.files
            .roster
            .put(&first_record(order, &orders))
            .map_err(|error| step("the member's record could not be written", &error))?;
        fault::here(Point::MemberRecorded);
        undo.kept = self
            .put_conversation_aside(&name)
            .map_err(|error| step("the earlier conversation could not be kept", &error))?;
        undo.claimed = self
            .publish_and_claim(order, &orders)
            .map_err(|error| not_claimed(&error))?;
        fault::here(Point::SpawnClaimed);
        self.watcher.watch(&self.files.workspace.member(&name));
        let task = undo.claimed.as_ref().map(|task| &task.id);
        let launched = self
            .launcher
            .start(&orders, task)
            .map_err(|error| step("the process could not be started", &error))?;
        fault::here(Point::SpawnStarted);
        let unit = Unit::starting(clock::instant());
        let epoch = unit.epoch;
        self.fleet.insert(name.clone(), unit);
        self.crew.orders.insert(name.clone(), orders);
        self.track(&name, epoch, launched);
        Ok(())
    }

    /// A new start of a name is a new conversation: the old one becomes `<name>.<n>.jsonl`.
    fn put_conversation_aside(
        &self,
        name: &AgentName,
    ) -> Result<Option<PathBuf>, crate::store::StoreError> {
        let path = self.files.workspace.transcript(name);
        if !path.exists() {
            return Ok(None);
        }
        let dir = self.files.workspace.transcripts_dir();
        let free = (1..10_000_u32)
            .map(|n| dir.join(format!("{name}.{n}.jsonl")))
            .find(|kept| !kept.exists());
        if let Some(kept) = &free {
            atomic::rename(&path, kept, Durability::Process)?;
        }
        Ok(free)
    }

    /// One board lock: nobody else can take the first task between its making and its claim.
    fn publish_and_claim(
        &self,
        order: &SpawnOrder,
        orders: &Orders,
    ) -> Result<Option<Task>, BoardError> {
        if order.staged.is_empty() && order.task.is_none() {
            return Ok(None);
        }
        self.look_ahead(order);
        let mut board = self.files.board.lock(&AgentName::lead())?;
        if !order.staged.is_empty() {
            board.create(&order.staged)?;
            let published = |id| order.staged.iter().any(|task| task.id == id);
            let mut desk = self.mind.context.desk.state();
            desk.staged.retain(|task| !published(task.id.clone()));
        }
        let Some(task) = &order.task else {
            return Ok(None);
        };
        let claimant = Claimant {
            name: &orders.name,
            role: &orders.role,
        };
        board.claim(task, claimant).map(Some)
    }

    fn look_ahead(&self, order: &SpawnOrder) {
        let Some(id) = &order.task else { return };
        let board = &self.files.board;
        if let Some(new) = order.staged.iter().find(|new| new.id == *id) {
            board.look_ahead(new.worktree.as_ref(), &new.blocked_by);
        } else if let Ok(task) = board.get(id) {
            board.look_ahead(task.worktree.as_ref(), &task.blocked_by);
        }
    }

    /// The teammate has written its status.
    pub(super) fn spawn_ready(&mut self, name: &AgentName) {
        let Some(start) = self.crew.starts.remove(name) else {
            return;
        };
        let text = match start.undo.claimed {
            Some(task) => format!("{name} is started and works on {}", task.id),
            None => format!("{name} is started"),
        };
        drop(start.reply.send(Ok(text)));
    }

    /// The process ended before it wrote its status, or was ended because it did not.
    pub(super) fn spawn_failed(&mut self, name: &AgentName, late: bool) {
        let end = self.crew.ends.get(name).cloned().unwrap_or_default();
        let what = if late {
            "its process wrote no status in time"
        } else {
            "its process ended at once"
        };
        self.fleet.remove(name);
        if let Some(id) = self.crew.stops.remove(name) {
            self.close_stop(&id);
        }
        if let Some(start) = self.crew.starts.remove(name) {
            self.undo_spawn(name, start.undo);
            let why = format!("{name} was not started: {what}; everything is undone; {end}");
            drop(start.reply.send(Err(why)));
        }
        self.show_leaving();
    }

    fn undo_spawn(&mut self, name: &AgentName, undo: Undo) {
        if let Some(task) = undo.claimed
            && let Err(error) = self.give_back(name, &task)
        {
            self.complain(&format!("{} was not given back", task.id), &error);
        }
        if let Some(kept) = undo.kept {
            let path = self.files.workspace.transcript(name);
            if let Err(error) = atomic::rename(&kept, &path, Durability::Process) {
                self.complain("the earlier conversation was not put back", &error);
            }
        }
        let restored = match undo.before {
            Some(member) => self.files.roster.put(&member),
            None if undo.recorded => self.files.roster.remove(name),
            None => Ok(()),
        };
        if let Err(error) = restored {
            self.complain(&format!("the record of {name} was not undone"), &error);
        }
        self.crew.launched.remove(name);
        self.crew.orders.remove(name);
    }

    fn give_back(&self, name: &AgentName, task: &Task) -> Result<(), BoardError> {
        let mut board = self.files.board.lock(&AgentName::lead())?;
        let holder = Some((name, task.work_version));
        board
            .release(&task.id, holder, Released::Orderly, None)
            .map(drop)
    }
}

/// A task made in an earlier turn may have been taken meanwhile: the model is told that it can start somebody all the same.
fn not_claimed(error: &BoardError) -> String {
    let hint = match error {
        BoardError::Owned { .. } => {
            "; nobody was started; spawn without task_id to start a teammate that takes what is offered, or name another task"
        }
        _ => "",
    };
    format!("the task was not claimed: {error}{hint}")
}

/// The record of a teammate that is being started.
fn first_record(order: &SpawnOrder, orders: &Orders) -> Member {
    Member {
        name: orders.name.clone(),
        role: orders.role.clone(),
        model: orders.model.clone(),
        status: MemberStatus::Starting,
        pid: None,
        started_at: Timestamp::now(),
        task: order.task.clone(),
        plan_gate: if orders.require_plan {
            PlanGate::Required
        } else {
            PlanGate::NotRequired
        },
        plan_request: None,
        turns: 0,
        tokens: 0,
        restarts: 0,
        last_error: None,
        started_by: Some(AgentName::lead()),
        prompt: (!orders.prompt.is_empty()).then(|| orders.prompt.clone()),
        require_plan: orders.require_plan,
        extra: serde_json::Map::default(),
    }
}
