//! From the command line to a running session, and from its result to the exit code.

use std::path::Path;

use super::args::{OutputFormat, SessionArgs};
use super::exit::{Failure, Kind, Outcome};
use super::place::Place;
use super::{choice, front, goal, log, shell, trust};
use crate::clock;
use crate::config::{Settings, Sources, Standing, env};
use crate::ids::{AgentName, SessionId};
use crate::lead::{self, EndStatus, Resume, RunError, SessionOptions, SessionResult};
use crate::policy::{Confinement, SandboxMode};
use crate::process::signals::{self, Signal};
use crate::tool::missing_walls;

/// Runs a session of the kind that the arguments and the terminal ask for.
pub fn run(place: &Place, args: &SessionArgs) -> Outcome {
    let options = options(place, args)?;
    let kind = FrontKind::of(args, place);
    log::to_file(&place.workspace, &AgentName::lead());
    let began = clock::instant();
    let (inlet, inbound) = lead::inlet();
    let to_signals = inlet.clone();
    signals::listen(move |signal| to_signals.signal(signal));
    let mut front = front::open(kind, place, args.verbose, inlet.clone());
    let ended = lead::run(options, front.ui(), inlet, inbound);
    front.close();
    let result = ended.map_err(|error| match error {
        RunError::Usage(text) => Failure::usage(text),
        RunError::Broken(error) => {
            let failure = Failure::from(error);
            front::print_broken(kind, place, failure.text(), began.elapsed());
            failure
        }
    })?;
    front::print_result(kind, place, &result);
    Ok(exit_kind(kind, &result))
}

/// How a person or program takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrontKind {
    /// A line editor on a terminal.
    Editor,
    /// A terminal, line by line.
    PlainTerminal,
    /// Lines from a file or pipe, read when they are asked for.
    Piped,
    /// `-p`: nobody is asked.
    Headless(OutputFormat),
}

impl FrontKind {
    /// A terminal that can do nothing but print gets plain lines.
    fn of(args: &SessionArgs, place: &Place) -> Self {
        let plain = args.plain || place.environment.term.as_deref() == Some("dumb");
        match (&args.goal, shell::is_interactive()) {
            (Some(_), _) => Self::Headless(args.output_format),
            (None, true) if plain => Self::PlainTerminal,
            (None, true) => Self::Editor,
            (None, false) => Self::Piped,
        }
    }

    /// Whether a person sits there.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Editor | Self::PlainTerminal)
    }
}

/// Everything the session needs; nothing has been made on disk when this fails.
fn options(place: &Place, args: &SessionArgs) -> Result<SessionOptions, Failure> {
    let goal = goal::read(args.goal.as_deref())?;
    let resume = resume(args)?;
    let kind = FrontKind::of(args, place);
    let trusted = args.trust || (kind.is_terminal() && trust::ask(place)?);
    let sources = Sources {
        workspace: &place.workspace,
        environment: &place.environment,
        flags: &flags(args),
        trust: trusted,
    };
    let (standing, mut loaded) = Standing::load(sources, args.trust).map_err(Failure::usage)?;
    let credentials = place.environment.credentials.clone();
    let model = choice::lead_model(&loaded.settings, &credentials)?;
    let teammate_model = choice::teammate_model(&loaded.settings, &model)?;
    if let Err(unpriced) = choice::refuse_unpriced(&loaded.settings, &model, &teammate_model) {
        if !loaded.forgo_foreign_cost(&place.workspace) {
            return Err(unpriced);
        }
        choice::refuse_unpriced(&loaded.settings, &model, &teammate_model)?;
    }
    let mut settings = loaded.settings;
    settings.model = Some(model.to_string());
    settings.teammate_model = Some(teammate_model.to_string());
    let root: &Path = place.workspace.root();
    let confinement = settings.confinement(&place.environment);
    let mut warnings = loaded.warnings;
    warnings.extend(place.environment.homeless());
    warnings.extend(place.surprises());
    warnings.extend(goal::unread(args.goal.as_deref()));
    warnings.extend(without_a_wall(&confinement));
    Ok(SessionOptions {
        workspace: place.workspace.clone(),
        standing: Some(standing),
        credentials,
        model,
        teammate_model,
        yes: args.yes,
        goal,
        terminal: kind.is_terminal(),
        home: place.environment.home.clone(),
        tool_env: env::for_tools(
            &place.environment,
            &settings.env.pass,
            &AgentName::lead(),
            root,
        ),
        confinement,
        person_env: place.environment.all.clone(),
        teammate_env: env::for_teammates(&place.environment),
        resume,
        warnings,
        poll_only: false,
        settings,
    })
}

fn flags(args: &SessionArgs) -> Settings {
    let mut settings = Settings {
        model: args.model.clone(),
        teammate_model: args.teammate_model.clone(),
        max_teammates: args.max_teammates,
        ..Settings::default()
    };
    settings.permissions.mode = args.permissions.map(Into::into);
    settings.sandbox = args.sandbox.map(Into::into);
    settings.limits.tokens = args.max_tokens;
    settings.limits.cost = args.max_cost;
    settings.limits.turns = args.max_turns;
    settings.limits.seconds = args.max_time;
    settings
}

/// What is said at the start where the sandbox does not hold.
fn without_a_wall(confinement: &Confinement) -> Option<String> {
    let missing = missing_walls(confinement);
    let (what, then) = match confinement.mode {
        _ if missing.is_empty() => return None,
        SandboxMode::Off => return None,
        SandboxMode::Preferred => ("is not whole", "commands run in what of it does"),
        SandboxMode::Required => (
            "does not hold here",
            "no command will run; --sandbox preferred goes on without",
        ),
    };
    Some(format!(
        "the sandbox {what}: {}; {then}",
        missing.join("; ")
    ))
}

fn resume(args: &SessionArgs) -> Result<Resume, Failure> {
    if args.continue_last {
        return Ok(Resume::Last);
    }
    let Some(text) = &args.resume else {
        return Ok(Resume::New);
    };
    let id = SessionId::parse(text).map_err(|error| {
        Failure::usage(format!(
            "{error}; nothing was started; --continue takes the last session"
        ))
    })?;
    Ok(Resume::Id(id))
}

/// A person who leaves with tasks open has not failed; everybody else is told by the code.
fn exit_kind(kind: FrontKind, result: &SessionResult) -> Kind {
    match (result.status, result.signal) {
        (EndStatus::Completed, _) => Kind::Completed,
        (EndStatus::Incomplete, _) if kind.is_terminal() => Kind::Completed,
        (EndStatus::Incomplete | EndStatus::Failed, _) => Kind::Failed,
        (EndStatus::Limit, _) => Kind::Limit,
        (EndStatus::Interrupted, Some(Signal::Terminate)) => Kind::Terminated,
        (EndStatus::Interrupted, Some(Signal::HangUp)) => Kind::HungUp,
        (EndStatus::Interrupted, Some(Signal::Interrupt) | None) => Kind::Interrupted,
    }
}
