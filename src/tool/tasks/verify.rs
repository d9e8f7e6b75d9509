//! Proof before "completed": a task's verify command, else the team's, run where the task was done (SPEC §3.2).

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use crate::board::{Task, VerifyRun};
use crate::clock::Timestamp;
use crate::process::guard::End;
use crate::tool::bash;
use crate::tool::call::Call;

/// How long it may take.
const TIME: Duration = Duration::from_mins(10);
/// How much of its output the model is shown, in characters.
const SHOWN: usize = 8_000;
/// How much of its output the task keeps, in characters.
const KEPT: usize = 2_000;

/// A run that ended by itself or at the time limit, with what the model is shown of its output.
pub(crate) struct Ran {
    /// As the task keeps it.
    pub(crate) kept: VerifyRun,
    shown: String,
}

impl Ran {
    /// What the model is told of a run that failed.
    pub(crate) fn refusal(&self, task: &Task) -> String {
        format!(
            "{} is not completed: verify {} ({}); it stays in progress. Its output:\n{}",
            task.id, self.kept.how, self.kept.command, self.shown
        )
    }
}

/// Runs the verify command beneath the guard of the agent's bash; `None` if there is none. `Err` if it did not come to an
/// end: then nothing is known.
pub(crate) fn run(call: &Call<'_>, task: &Task, dir: &Path) -> Result<Option<Ran>, String> {
    let team = call.context.verify.as_deref();
    let command = task.verify.as_deref().or(team).map(str::trim);
    let Some(command) = command.filter(|command| !command.is_empty()) else {
        return Ok(None);
    };
    let ran = bash::shell(call.context, dir, command, TIME, false, call.cancel)
        .map_err(|error| format!("verify could not be run ({command}): {error}"))?;
    let how = match ran.end {
        End::Exited(0) => "succeeded".to_owned(),
        End::Exited(code) => format!("ended with status {code}"),
        End::Signalled(signal) => format!("was ended by signal {signal}"),
        End::TimedOut => format!("took more than {} s and was ended", TIME.as_secs()),
        End::Cancelled => {
            return Err(format!(
                "{} is not completed: verify was interrupted ({command}); it stays in progress",
                task.id
            ));
        }
    };
    let passed = ran.end == End::Exited(0);
    let output = ran.output.trim_end();
    let kept = if passed { "" } else { tail(output, KEPT) };
    Ok(Some(Ran {
        kept: VerifyRun {
            command: command.to_owned(),
            passed,
            how,
            output: kept.to_owned(),
            at: Timestamp::now(),
        },
        shown: tail(output, SHOWN).to_owned(),
    }))
}

/// A run in words, for whoever looks at the task.
pub(crate) fn told(run: &VerifyRun) -> String {
    let mut text = format!("verify {} at {} ({})", run.how, run.at, run.command);
    if !run.output.is_empty() {
        let _ = write!(text, ":\n{}", run.output);
    }
    text
}

/// The last `most` characters.
fn tail(output: &str, most: usize) -> &str {
    match output.char_indices().rev().nth(most - 1) {
        Some((start, _)) => &output[start..],
        None => output,
    }
}
