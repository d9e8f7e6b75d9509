//! Running the person's hooks: beneath the guard, outside of the agent's sandbox, with the environment that tools get.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use super::AgentContext;
use crate::cancel::Cancel;
use crate::ids::{AgentName, TaskId};
use crate::policy::hooks::{HookEvent, HookVerdict, ignored, judge};
use crate::process::guard::{ShellCall, ShellResult, run_shell};
use crate::store::{Durability, atomic};

/// How long each may take.
const TIME: Duration = Duration::from_mins(1);
/// How much of what one says is kept, in characters.
const KEEP: usize = 8_000;
/// The variable that names the file with the input; gone before the command begins.
const INPUT: &str = "PITCREW_HOOK_INPUT";

/// What has happened; what does not apply is absent.
#[derive(Debug, Clone, Copy)]
pub struct Occasion<'a> {
    /// What of it.
    pub event: HookEvent,
    /// Whom the person speaks to, if it is not the agent itself.
    pub to: Option<&'a AgentName>,
    /// The tool.
    pub tool: Option<&'a str>,
    /// What it was given.
    pub input: Option<&'a Value>,
    /// What it answered.
    pub output: Option<&'a str>,
    /// The person's line, the round's last text, or the task's result.
    pub text: Option<&'a str>,
}

impl Occasion<'_> {
    /// Nothing but the event.
    pub fn of(event: HookEvent) -> Self {
        Self {
            event,
            to: None,
            tool: None,
            input: None,
            output: None,
            text: None,
        }
    }
}

/// As a hook reads it on standard input.
#[derive(Serialize)]
struct Told<'a> {
    event: HookEvent,
    agent: &'a AgentName,
    task_id: Option<&'a TaskId>,
    cwd: &'a Path,
    tool: Option<&'a str>,
    input: Option<&'a Value>,
    output: Option<&'a str>,
    text: Option<&'a str>,
}

/// Runs the hooks of the event one after another. `Err` if one blocks: what it says. What else went wrong is told to the
/// person. Blocks until done or cancelled; no lock may be held.
pub fn run(
    context: &AgentContext,
    occasion: &Occasion<'_>,
    cancel: &Arc<Cancel>,
) -> Result<(), String> {
    let commands = context.hooks.of(occasion.event);
    if commands.is_empty() {
        return Ok(());
    }
    // A line for another agent says nothing of what this one holds.
    let held = context.desk.assignment().filter(|_| occasion.to.is_none());
    let dir = held.as_ref().map(|held| held.dir.as_path());
    let dir = dir
        .filter(|dir| dir.is_dir())
        .unwrap_or_else(|| context.workspace.root());
    let told = Told {
        event: occasion.event,
        agent: occasion.to.unwrap_or(&context.agent),
        task_id: held.as_ref().map(|held| &held.task),
        cwd: dir,
        tool: occasion.tool,
        input: occasion.input,
        output: occasion.output,
        text: occasion.text,
    };
    for command in commands {
        let verdict = match start(context, dir, command, &told, cancel) {
            Ok(done) => judge(
                occasion.event,
                command,
                &done.end,
                &done.output,
                TIME.as_secs(),
            ),
            Err(error) => HookVerdict::Ignored(ignored(
                occasion.event,
                command,
                "could not be run",
                &error.to_string(),
            )),
        };
        match verdict {
            HookVerdict::GoOn => {}
            HookVerdict::Block(why) => return Err(why),
            HookVerdict::Ignored(text) => context.host.notice(text),
        }
    }
    Ok(())
}

/// The input lies where no agent's sandbox can write while the hook reads it. Standard output counts for nothing.
fn start(
    context: &AgentContext,
    dir: &Path,
    command: &str,
    told: &Told<'_>,
    cancel: &Arc<Cancel>,
) -> io::Result<ShellResult> {
    let files = context.workspace.hooks_dir();
    atomic::ensure_dir(&files).map_err(io::Error::other)?;
    let name = format!("{}.{}", context.agent, told.event.as_str());
    let (input, spill) = (
        files.join(format!("{name}.json")),
        files.join(format!("{name}.err")),
    );
    let json = serde_json::to_vec(told)?;
    atomic::replace(&input, &json, Durability::Process).map_err(io::Error::other)?;
    let mut env = context.tool_env.clone();
    env.push((INPUT.into(), input.clone().into()));
    let call = ShellCall {
        command: format!("exec <\"${INPUT}\" >/dev/null; unset {INPUT}\n{command}"),
        dir: dir.to_owned(),
        env,
        timeout: TIME,
        spill: spill.clone(),
        sandbox: None,
        keep: KEEP,
    };
    let done = run_shell(&call, cancel);
    for file in [input, spill] {
        std::fs::remove_file(file).ok();
    }
    done
}
