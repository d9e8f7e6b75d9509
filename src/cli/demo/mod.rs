//! `lead demo`: a scripted team on a scratch repository, with real processes, files and git.
//!
//! Only the model is scripted (`script.json`); tasks, mail, requests, worktree, edits and commands are those of any session.

mod ending;
mod person;
mod project;
mod report;

use std::io::IsTerminal;
use std::path::Path;
use std::time::Duration;

use super::exit::Outcome;
use super::place::Place;
use super::{shell, wrap};
use crate::config::{Settings, env};
use crate::ids::AgentName;
use crate::lead::{self, Resume, SessionOptions};
use crate::model::{Credentials, ModelSpec};
use crate::process::signals;
use crate::request::Requests;
use crate::store::Durability;
use crate::workspace::Workspace;
use ending::Ending;
use person::Person;
use project::Project;

/// A scripted person does not hesitate, so a demo that takes longer is stuck.
const LONGEST: Duration = Duration::from_mins(1);

/// Runs the demo, in a new directory in `dir` if that is given; with `yes` a scripted person answers the questions.
pub fn run(place: &Place, dir: Option<&Path>, yes: bool) -> Outcome {
    let (inlet, inbound) = lead::inlet();
    let to_signals = inlet.clone();
    signals::listen(move |signal| to_signals.signal(signal));
    let project = Project::make(&place.environment, dir)?;
    introduce(place, &project);
    let options = options(place, &project, yes);
    let style = place.style;
    let person = Person::new(style, inlet.clone(), yes);
    let ended = lead::run(options, Box::new(person), inlet, inbound)?;
    let workspace = Workspace::at(project.root().to_path_buf());
    let asked = Requests::new(workspace, Durability::Process).all()?;
    let ending = Ending::of(&ended, &asked);
    report::print(place, &project, &ended, &ending)?;
    ending.outcome()
}

/// Words to the person, in rows that end between words.
fn say(text: &str) {
    for row in wrap::lines(vec![text.to_owned()], shell::width()) {
        shell::out_line(&row);
    }
}

fn introduce(place: &Place, project: &Project) {
    let style = place.style;
    shell::out_line(&style.bold("A team at work on a scratch repository."));
    say(
        "The model is scripted: what the agents say and call is read from a file. Everything else is real: each teammate is a \
         process, tasks and mail are files, edits, commands, git and the questions are those of any session.",
    );
    shell::out_line(&format!(
        "{} {}\n",
        style.bold("directory"),
        project.root().display()
    ));
}

fn options(place: &Place, project: &Project, yes: bool) -> SessionOptions {
    let environment = &place.environment;
    let mut settings = Settings::default();
    if yes {
        settings.limits.seconds = Some(LONGEST.as_secs());
    }
    let model = ModelSpec::Script(project.script());
    settings.model = Some(model.to_string());
    settings.teammate_model = Some(model.to_string());
    SessionOptions {
        standing: None,
        workspace: Workspace::at(project.root().to_path_buf()),
        confinement: settings.confinement(environment),
        settings,
        credentials: Credentials::default(),
        teammate_model: model.clone(),
        model,
        yes: false,
        goal: None,
        terminal: !yes && std::io::stdin().is_terminal(),
        home: environment.home.clone(),
        tool_env: env::for_tools(environment, &[], &AgentName::lead(), project.root()),
        person_env: environment.all.clone(),
        teammate_env: env::for_teammates(environment),
        resume: Resume::New,
        warnings: Vec::new(),
        poll_only: false,
    }
}
