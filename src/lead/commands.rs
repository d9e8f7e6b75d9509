//! Carries out the person's commands.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::fleet::Happened;
use super::inlet::Event;
use super::session::Session;
use super::slash::{Command, TeamCommand};
use super::{Seen, Shown, View};
use crate::ids::{AgentName, TaskId};
use crate::mailbox::inbox;
use crate::process::child;
use crate::request::RequestKind;
use crate::team::usage;
use crate::tool;
use crate::worktree::snapshot::{self, Form};

impl Session {
    pub(super) fn on_command(&mut self, command: Command) {
        match command {
            Command::Help => self.ui.show(Shown::View(View::Help)),
            Command::Team(command) => self.on_team_command(command),
            Command::Tasks(id) => self.show_tasks(id.as_deref()),
            Command::Mail => self.show_mail(),
            Command::Worktrees => self.show_worktrees(),
            Command::Diff => self.show_diff(),
            Command::Usage => self.show_usage(),
            Command::Limits(None) => self.show_limits(),
            Command::Limits(Some(limit)) => self.set_limit(limit),
            Command::Log(part) => self.show_log(part),
            Command::Model(None) => self.show_models(),
            Command::Model(Some(name)) => self.set_model(&name),
            Command::Trust(agrees) => self.trust(agrees),
            Command::Compact => self.shorten(),
            Command::Exit => self.leave(None, false),
        }
    }

    fn on_team_command(&mut self, command: TeamCommand) {
        match command {
            TeamCommand::List => self.show_team(),
            TeamCommand::Permissions => self.show_requests(Some(RequestKind::Permission)),
            TeamCommand::Plans => self.show_requests(Some(RequestKind::PlanApproval)),
            TeamCommand::Stop(name) => match self.ask_to_stop(&name) {
                Ok(id) => self.say(format!("{name} was asked to stop ({id})")),
                Err(why) => self.ui.show(Shown::Error(why)),
            },
            TeamCommand::Shutdown(name) => self.show_last_stop(&name),
            TeamCommand::Interrupt(name) => self.interrupt_teammate(&name),
            TeamCommand::Kill(name) => match self.living(&name) {
                Ok(name) => {
                    self.crew.killed.insert(name.clone());
                    self.happen(&name, Happened::Kill);
                }
                Err(why) => self.ui.show(Shown::Error(why)),
            },
        }
    }

    fn interrupt_teammate(&mut self, name: &AgentName) {
        match self.living(name) {
            Ok(name) => self.signal(&name, child::interrupt),
            Err(why) => self.ui.show(Shown::Error(why)),
        }
    }

    fn show_team(&mut self) {
        let members = match self.files.roster.list() {
            Ok(members) => members,
            Err(error) => return self.complain("the members' records were not read", &error),
        };
        let members = members
            .into_iter()
            .map(|member| Seen {
                alive: self.files.roster.is_alive(&member.name),
                lost: self.files.roster.lost_since(&member),
                member,
            })
            .collect();
        match self.files.requests.open_ones(None) {
            Ok(open) => self.ui.show(Shown::View(View::Team(members, open))),
            Err(error) => self.complain("the requests were not read", &error),
        }
    }

    fn show_requests(&mut self, kind: Option<RequestKind>) {
        match self.files.requests.open_ones(kind) {
            Ok(open) => self.ui.show(Shown::View(View::Requests(open))),
            Err(error) => self.complain("the requests were not read", &error),
        }
    }

    fn show_last_stop(&mut self, name: &AgentName) {
        match self.files.requests.all() {
            Ok(all) => {
                let last = all
                    .into_iter()
                    .rev()
                    .find(|record| record.kind == RequestKind::Shutdown && record.target == *name);
                match last {
                    Some(record) => self.ui.show(Shown::View(View::Requests(vec![record]))),
                    None => self.say(format!("{name} was not asked to stop")),
                }
            }
            Err(error) => self.complain("the requests were not read", &error),
        }
    }

    fn show_tasks(&mut self, id: Option<&str>) {
        let view = match id.map(TaskId::parse) {
            Some(Err(error)) => {
                let text = format!("{error}; nothing is shown; /tasks lists ids");
                return self.ui.show(Shown::Error(text));
            }
            Some(Ok(id)) => self
                .files
                .board
                .view(&id)
                .map(|task| View::Task(Box::new(task))),
            None => self.files.board.views().map(View::Tasks),
        };
        match view {
            Ok(view) => self.ui.show(Shown::View(view)),
            Err(error) => self.complain("the board was not read", &error),
        }
    }

    fn show_mail(&mut self) {
        let mut waiting = BTreeMap::new();
        for name in std::iter::once(AgentName::lead()).chain(self.fleet.there()) {
            match inbox::waiting(&self.files.workspace, &name) {
                Ok(messages) => {
                    waiting.insert(name, messages);
                }
                Err(error) => self.complain("a mailbox was not read", &error),
            }
        }
        self.ui.show(Shown::View(View::Mail(waiting)));
    }

    fn show_diff(&mut self) {
        let (workspace, session) = (self.files.workspace.clone(), self.record.id.clone());
        self.look(move || {
            let changes = snapshot::diff(&workspace, &session, Form::Patch);
            changes.map(View::Diff).map_err(|error| error.to_string())
        });
    }

    fn show_worktrees(&mut self) {
        let (workspace, roster) = (self.files.workspace.clone(), self.files.roster.clone());
        let board = Arc::clone(&self.files.board);
        self.look(move || {
            let all = tool::worktrees(&workspace, &board, &roster);
            all.map(View::Worktrees).map_err(|error| error.to_string())
        });
    }

    /// On a thread of its own: git reads every changed file, a server may take its time.
    pub(super) fn look(&mut self, answer: impl FnOnce() -> Result<View, String> + Send + 'static) {
        self.person.looking += 1;
        let inlet = self.inlet.clone();
        std::thread::spawn(move || inlet.put(Event::Answered(answer())));
    }

    pub(super) fn on_answer(&mut self, answer: Result<View, String>) {
        self.person.looking = self.person.looking.saturating_sub(1);
        self.ui.show(match answer {
            Ok(view) => Shown::View(view),
            Err(why) => Shown::Error(why),
        });
    }

    fn show_usage(&mut self) {
        match usage::spent(&self.files.workspace, Some(self.record.id.as_str())) {
            Ok(spent) => {
                let prices = self.options.settings.prices.clone();
                self.ui.show(Shown::View(View::Usage(spent, prices)));
            }
            Err(error) => self.complain("the usage was not read", &error),
        }
    }
}
