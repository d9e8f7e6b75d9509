//! The command line of `teammate` (SPEC §5.1).

use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Parser;
use clap::error::ErrorKind;

use super::exit::{Failure, Kind, Outcome};
use super::place::Place;
use super::safe::safe_line;
use super::shell::{self, Style};
use super::{choice, log, usage_error};
use crate::config::Environment;
use crate::ids::{AgentName, TaskId};
use crate::model::Credentials;
use crate::process::harden;
use crate::process::signals::Signal;
use crate::teammate::{self, End, Options, RunError};

/// Most bytes that the lead hands over on standard input.
const MAX_KEYS: u64 = 64 * 1024;

/// One worker of a team. `lead` starts its teammates itself, once you have agreed to them; one that you start in another
/// terminal joins the team of that workspace.
#[derive(Debug, Parser)]
#[command(
    name = "teammate",
    version,
    max_term_width = 100,
    after_help = "Example:\n  teammate --name dora --role tester --model ollama:qwen3-coder"
)]
struct Args {
    /// Its name
    #[arg(long)]
    name: String,
    /// The workspace; else the one around the current directory
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// What it is: free text, or the name of a role definition
    #[arg(long)]
    role: Option<String>,
    /// What it is told first
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// Its first task
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// It changes nothing before a plan of its was approved
    #[arg(long)]
    require_plan: bool,
    /// Its model, PROVIDER:NAME
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Credentials come as one JSON object on standard input, then its end: only for the lead
    #[arg(long, hide = true)]
    keys_on_stdin: bool,
}

/// Runs a teammate from its arguments to its exit code.
pub fn main(args: &[OsString]) -> Outcome {
    let args = match Args::try_parse_from(args) {
        Ok(args) => args,
        Err(error) if error.kind() == ErrorKind::MissingRequiredArgument => {
            return Err(Failure::usage(
                "a teammate needs a name; it is one worker of a team, and `lead` starts those by itself; start `lead`, or add \
                 one by hand with `teammate --name NAME`",
            ));
        }
        Err(error) => return usage_error::report("teammate", &error),
    };
    harden::harden();
    let place = Place::find(args.root.as_deref(), Environment::read(), Style::default())?;
    place.refuse_links()?;
    place.refuse_agents("teammate")?;
    let options = options(place, args)?;
    harden::set_process_name(options.name.as_str());
    if options.started_by_lead {
        log::to_stderr();
    } else {
        log::to_file(&options.workspace, &options.name);
    }
    match teammate::run(options) {
        Ok(End::Stopped | End::LeadLost) => Ok(Kind::Completed),
        Ok(End::Failed(why)) => Err(Failure::failed(why)),
        Ok(End::Signalled(Signal::HangUp)) => Ok(Kind::HungUp),
        Ok(End::Signalled(Signal::Interrupt)) => Ok(Kind::Interrupted),
        Ok(End::Signalled(Signal::Terminate)) => Ok(Kind::Terminated),
        Err(RunError::Usage(why)) => Err(Failure::usage(why)),
        Err(RunError::Broken(error)) => Err(Failure::crashed(&error)),
    }
}

fn options(place: Place, args: Args) -> Result<Options, Failure> {
    let name = AgentName::parse_teammate(&args.name).map_err(Failure::usage)?;
    let task = args
        .task
        .as_deref()
        .map(TaskId::parse)
        .transpose()
        .map_err(Failure::usage)?;
    let model = args.model.as_deref().map(choice::parse).transpose()?;
    let settings = place.settings()?.settings;
    let credentials = if args.keys_on_stdin {
        keys_from_stdin()?
    } else {
        place.environment.credentials.clone()
    };
    // A teammate that the lead starts is told its model, by flag or by the session.
    let fallback_model = if args.keys_on_stdin || model.is_some() {
        None
    } else {
        choice::lead_model(&settings, &credentials).ok()
    };
    Ok(Options {
        workspace: place.workspace,
        name,
        role: args.role,
        prompt: args.prompt,
        task,
        require_plan: args.require_plan,
        model,
        fallback_model,
        settings,
        credentials,
        started_by_lead: args.keys_on_stdin,
        environment: place.environment,
        say: Arc::new(|line| shell::err_line(&safe_line(line, 4000))),
        poll_only: false,
    })
}

fn keys_from_stdin() -> Result<Credentials, Failure> {
    let mut text = String::new();
    std::io::stdin()
        .lock()
        .take(MAX_KEYS)
        .read_to_string(&mut text)
        .context("the credentials on standard input cannot be read")?;
    // serde's own message could quote what it read.
    serde_json::from_str(&text).map_err(|_| {
        Failure::usage(
            "no credentials on standard input; the lead hands them over; leave out --keys-on-stdin",
        )
    })
}
