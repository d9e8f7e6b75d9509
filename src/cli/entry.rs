//! Which program this process is, by the name it was started under.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;

use super::args::{Cli, Verb};
use super::exit::{self, Failure, Outcome};
use super::place::Place;
use super::shell::{self, Style};
use super::verbs::{
    config, doctor, init, mail, manual, permission, plan, sessions, status, task, team, usage,
    way_back, worktree,
};
use super::{demo, session, teammate, usage_error, verbs};
use crate::config::Environment;
use crate::process::{guard, harden};

/// The name under which a lead starts its own binary as a teammate: `argv[0]`.
const TEAMMATE_NAME: &str = "teammate";

/// `main` of the binary `lead`, which is also the teammate and the guard if it is started under their names.
pub fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    if is_named(&args, guard::GUARD_NAME) {
        return guard(&args);
    }
    if is_named(&args, TEAMMATE_NAME) {
        return exit::finish(teammate::main(&args));
    }
    exit::finish(lead(&args))
}

/// `main` of the binary `teammate`, which is also the guard of its own commands.
pub fn teammate_main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    if is_named(&args, guard::GUARD_NAME) {
        return guard(&args);
    }
    exit::finish(teammate::main(&args))
}

fn is_named(args: &[OsString], program: &str) -> bool {
    let name = args.first().map(Path::new).and_then(Path::file_name);
    name.is_some_and(|name| name == program)
}

fn guard(args: &[OsString]) -> ExitCode {
    let code = guard::guard_main(args.get(1..).unwrap_or_default());
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

/// A lead, or one of its verbs, with these arguments.
pub(crate) fn lead(args: &[OsString]) -> Outcome {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => return usage_error::report("lead", &error),
    };
    harden::harden();
    let environment = Environment::read();
    let style = Style::choose(
        cli.global.color,
        environment.no_color,
        environment.term.as_deref(),
        shell::stdout_is_terminal(),
    );
    let place = Place::find(cli.global.root.as_deref(), environment, style)?;
    // The doctor tells of them among all else.
    if !matches!(cli.verb, Some(Verb::Doctor { repair: false, .. })) {
        place.refuse_links()?;
    }
    let Some(verb) = cli.verb else {
        place.refuse_agents("lead")?;
        return session::run(&place, &cli.session);
    };
    if cli.session != super::args::SessionArgs::default() {
        return Err(Failure::usage(
            "flags of a session were given with a verb; nothing was done; leave out one of them",
        ));
    }
    if !verb.only_reads() {
        place.refuse_agents("lead")?;
    }
    run_verb(&place, cli.global.root.as_deref(), &verb)
}

fn run_verb(place: &Place, root: Option<&Path>, verb: &Verb) -> Outcome {
    match verb {
        Verb::Demo { yes } => demo::run(place, root, *yes),
        Verb::Status { watch: true, json } => status::watch(place, *json),
        Verb::Status { watch: false, json } => status::run(place, *json),
        Verb::Task(verb) => task::run(place, verb),
        Verb::Mail(verb) => mail::run(place, verb),
        Verb::Plan(verb) => plan::run(place, verb),
        Verb::Permission(verb) => permission::run(place, verb),
        Verb::Team(verb) => team::run(place, verb),
        Verb::Diff { stat, session } => way_back::diff(place, *stat, session.as_deref()),
        Verb::Undo { yes, session } => way_back::undo(place, *yes, session.as_deref()),
        Verb::Worktree(verb) => worktree::run(place, verb),
        Verb::Sessions { json } => sessions::run(place, *json),
        Verb::Usage { json } => usage::run(place, *json),
        Verb::Log {
            follow,
            verbose,
            json,
        } => verbs::log::run(place, *follow, *verbose, *json),
        Verb::Doctor { repair, json } => doctor::run(place, *repair, *json),
        Verb::Config { json, what } => config::run(place, *what, *json),
        Verb::Init => init::run(place),
        Verb::Completions { shell } => manual::completions(*shell),
        Verb::Man { verb } => manual::page(verb),
    }
}
