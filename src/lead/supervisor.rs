//! Carries out what the fleet's machines decide: starts, restarts, ends, and what is told about them.

use std::collections::{HashMap, HashSet};
use std::process::ExitStatus;
use std::time::Duration;

use super::deferred::Wanted;
use super::ends::KILLED;
use super::fleet::{Effect, Ending, Happened, Phase, Tie, Unit, ending};
use super::inlet::Event;
use super::launch::{Launched, Orders};
use super::owed::Owed;
use super::session::Session;
use super::spawn::Start;
use super::{Shown, TeammateNews};

use crate::clock;
use crate::ids::{AgentName, RequestId, TaskId};
use crate::process::child;
use crate::store::lock;
use crate::team::{Member, MemberStatus, PlanGate};
use crate::tool::leases;

/// The exit code of a teammate that was refused: wrong arguments, or somebody is that teammate already.
const REFUSED: i32 = 2;

/// How long until a watch that failed (no file descriptors left) is tried again.
const WATCH_AGAIN: Duration = Duration::from_millis(500);

/// What carrying out effects needs to know of each teammate.
#[derive(Default)]
pub(super) struct Crew {
    /// How to start each again.
    pub(super) orders: HashMap<AgentName, Orders>,
    /// Processes started by this lead, the last of each name.
    pub(super) launched: HashMap<AgentName, Launched>,
    /// How long each one's log was before its present process, or before it was taken over.
    log_from: HashMap<AgentName, u64>,
    /// First starts whose status is awaited.
    pub(super) starts: HashMap<AgentName, Start>,
    /// What could not be written yet.
    pub(super) owed: Owed,
    /// The task that each gave back by dying.
    pub(super) dropped: HashMap<AgentName, TaskId>,
    /// Those whose present process has said farewell.
    pub(super) farewells: HashSet<AgentName>,
    /// Starts that wait until one of those has ended.
    pub(super) deferred: Vec<Wanted>,
    /// The open request of each to stop.
    pub(super) stops: HashMap<AgentName, RequestId>,
    /// Whose process the person ends.
    pub(super) killed: HashSet<AgentName>,
    /// How the last process of each ended, in words.
    pub(super) ends: HashMap<AgentName, String>,
    /// What was shown of each last.
    shown: HashMap<AgentName, (MemberStatus, Option<TaskId>, PlanGate)>,
}

impl Session {
    /// A member's record has changed: by its living process, or by us.
    pub(super) fn on_member_changed(&mut self, name: &AgentName) {
        let Ok(Some(member)) = self.files.roster.get(name) else {
            return;
        };
        let ours = self.crew.launched.get(name).map(|one| one.child.pid);
        let adopted = self
            .fleet
            .get(name)
            .is_some_and(|unit| unit.tie != Tie::Child);
        if adopted || (ours.is_some() && ours == member.pid) {
            let what = Happened::Reported(member.status);
            self.happen(name, what);
        }
        let now = clock::instant();
        self.stalls
            .observe(&member.name, member.status, member.turns, now);
        self.show_member(member, None);
    }

    /// Feeds a unit's machine and carries out what follows.
    pub(super) fn happen(&mut self, name: &AgentName, what: Happened) {
        for effect in self.fleet.on(name, what, clock::instant()) {
            self.carry_out(name, effect);
        }
    }

    pub(super) fn carry_out(&mut self, name: &AgentName, effect: Effect) {
        match effect {
            Effect::Ready => self.spawn_ready(name),
            Effect::StartFailed { late } => self.spawn_failed(name, late),
            Effect::Back => self.show_note(name, "running again"),
            Effect::Release(why) => self.release_task_of(name, why),
            Effect::Crashed { again_in } => self.crashed(name, again_in),
            Effect::Launch { epoch } => self.launch_again(name, epoch),
            Effect::Terminate => self.signal(name, child::ask_to_end),
            Effect::Kill => self.signal(name, child::kill),
            Effect::Late => self.say(format!(
                "{name} has not stopped in time; it may hang; /team kill {name} ends it"
            )),
            Effect::Over { failed } => self.over(name, failed),
        }
    }

    /// A child has ended. Its farewell is in the mailbox already.
    pub(super) fn on_exit(&mut self, name: &AgentName, epoch: u64, status: ExitStatus) {
        if self.fleet.get(name).is_none_or(|unit| unit.epoch != epoch) {
            return;
        }
        if status.code() == Some(REFUSED) && self.is_somebody_else(name) {
            return self.adopt(name);
        }
        self.ended(name, epoch, status.code(), &status.to_string());
    }

    /// Whether a process that was to go on as `name` was refused because another one is that already: an earlier lead had
    /// started it again, and it came up late.
    fn is_somebody_else(&self, name: &AgentName) -> bool {
        let again = |unit: &Unit| matches!(unit.phase, Phase::Starting { again: true, .. });
        self.fleet.get(name).is_some_and(again) && self.files.roster.is_alive(name)
    }

    /// The process of an adopted teammate has ended.
    pub(super) fn on_lock_free(&mut self, name: &AgentName) {
        let watched = |unit: &Unit| unit.tie != Tie::Child && unit.is_there();
        if !self.fleet.get(name).is_some_and(watched) {
            return;
        }
        if self.files.roster.is_alive(name) {
            return self.watch_lock(name);
        }
        self.ended(name, 0, None, "its process is gone");
    }

    fn ended(&mut self, name: &AgentName, epoch: u64, code: Option<i32>, how: &str) {
        let end = self.end_in_words(name, how);
        leases::free_the_dead(&self.mind.context);
        if let Err(error) = self.take_mail() {
            self.complain("mail was not taken in", &*error);
        }
        let by_person = self.crew.killed.remove(name);
        let end = if by_person { KILLED.to_owned() } else { end };
        let status = self.files.roster.get(name).ok().flatten();
        let how = ending(code, status.map(|member| member.status));
        if how == Ending::Crashed {
            // What its tools had started is an orphan now, and the guards may be gone too.
            child::kill_strays();
        }
        if how != Ending::Stopped {
            tracing::warn!(%name, end, "a teammate's process ended");
        }
        self.crew.ends.insert(name.clone(), end);
        let now = clock::instant();
        self.stalls.observe(name, MemberStatus::Stopped, 0, now);
        self.happen(name, Happened::Ended { epoch, how });
    }

    /// How it ended and what its log says of that.
    fn end_in_words(&self, name: &AgentName, how: &str) -> String {
        let from = self.crew.log_from.get(name).copied().unwrap_or_default();
        let log = self.launcher.log_end(name, from);
        if log.is_empty() {
            return how.to_owned();
        }
        format!("{how}; the end of its log:\n{log}")
    }

    pub(super) fn signal(&mut self, name: &AgentName, send: impl Fn(u32)) {
        let launched = self.crew.launched.get(name).map(|one| one.child.pid);
        let pid = launched.or_else(|| {
            let member = self.files.roster.get(name).ok().flatten()?;
            // The lock proves that the recorded process is the one that lives.
            member.pid.filter(|_| self.files.roster.is_alive(name))
        });
        if let Some(pid) = pid {
            send(pid);
        }
    }

    /// Has the end of a started process reported.
    pub(super) fn track(&mut self, name: &AgentName, epoch: u64, launched: Launched) {
        let (inlet, who) = (self.inlet.clone(), name.clone());
        launched.child.on_exit(move |status| {
            inlet.put(Event::Exited {
                name: who,
                epoch,
                status,
            });
        });
        self.crew.farewells.remove(name);
        self.crew.log_from.insert(name.clone(), launched.log_from);
        self.crew.launched.insert(name.clone(), launched);
    }

    /// Takes over a teammate that lives already.
    pub(super) fn adopt(&mut self, name: &AgentName) {
        if !self.files.roster.is_alive(name) {
            return;
        }
        // First watched, then looked at: it goes on meanwhile.
        let record = self.files.workspace.member(name);
        self.watcher.watch(&record);
        let Ok(Some(member)) = self.files.roster.get(name) else {
            self.watcher.unwatch(&record);
            return;
        };
        self.launcher.way_back.keep();
        let by_person = member.started_by.as_ref() == Some(&AgentName::user());
        let tie = if by_person { Tie::Person } else { Tie::Adopted };
        self.fleet
            .insert(member.name.clone(), Unit::living(tie, member.status));
        let log_from = self.launcher.log_length(name);
        self.crew.log_from.insert(name.clone(), log_from);
        self.watch_lock(name);
        self.show_member(member, None);
    }

    /// Waits on a thread of its own for an adopted teammate's lock to become free.
    fn watch_lock(&self, name: &AgentName) {
        let (inlet, name) = (self.inlet.clone(), name.clone());
        let path = self.files.workspace.member_lock(&name);
        std::thread::spawn(move || {
            while let Err(error) = lock::wait_until_free(&path) {
                tracing::warn!(%error, %name, "a teammate's end cannot be watched yet");
                std::thread::sleep(WATCH_AGAIN);
            }
            inlet.put(Event::LockFree(name));
        });
    }

    /// Changes the record of a member whose process does not live.
    pub(super) fn write_member(&mut self, name: &AgentName, change: impl FnOnce(&mut Member)) {
        if let Err(error) = self.files.roster.change(name, change) {
            self.complain(&format!("the record of {name} was not written"), &error);
        }
    }

    pub(super) fn show_note(&mut self, name: &AgentName, note: &str) {
        if let Ok(Some(member)) = self.files.roster.get(name) {
            self.show_member(member, Some(note.to_owned()));
        }
    }

    /// Shows a member if something that people look at has changed, or there is a note.
    pub(super) fn show_member(&mut self, member: Member, note: Option<String>) {
        let now = (member.status, member.task.clone(), member.plan_gate);
        if note.is_none() && self.crew.shown.get(&member.name) == Some(&now) {
            return;
        }
        let alive = self.files.roster.is_alive(&member.name);
        self.crew.shown.insert(member.name.clone(), now);
        self.ui.show(Shown::Teammate(TeammateNews {
            member: Box::new(member),
            alive,
            note,
        }));
        self.show_used();
    }
}
