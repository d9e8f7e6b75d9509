//! `bash`: a shell command beneath a guard, told to the model in words.
//!
//! Whatever the command leaves running ends with the call; its output is bounded, the whole of it in a file of the agent's
//! temporary directory.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::place::Place;
use super::{AgentContext, confined};
use crate::cancel::Cancel;
use crate::process::guard::{End, ShellCall, ShellResult, run_shell};
use crate::worktree::{self, Unusable, view};

/// What the model is told of the tool.
pub(crate) const DESCRIPTION: &str = "Run a shell command (bash) in your working directory. It has no terminal and no \
    input, so nothing can be answered: use flags instead of questions. Standard output and error come back together, long \
    output with its middle left out and in full in a file that is named. The call ends when the command ends, and everything \
    it started in the background ends with it. Each call is a new shell: cd and variables do not last.";

/// Seconds, if the call names none.
const DEFAULT_TIMEOUT: u64 = 120;

/// Seconds.
const LONGEST_TIMEOUT: u64 = 600;

/// Characters of output; with what is said around it at most 50,000.
const KEEP: usize = 49_000;

/// What `bash` takes.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BashInput {
    /// The command.
    pub(crate) command: String,
    /// When to end it, in seconds: 120 if absent, at most 600.
    #[serde(default)]
    pub(crate) timeout_secs: Option<u64>,
}

/// Runs the command in `dir`, with the repository of the workspace writable if it `commits`. `Err` also for one that ran and did not succeed.
pub(crate) fn run(
    context: &AgentContext,
    dir: &Path,
    input: &BashInput,
    commits: bool,
    cancel: &Arc<Cancel>,
) -> Result<String, String> {
    if input.command.trim().is_empty() {
        return Err("command is empty; give a shell command".into());
    }
    let seconds = input.timeout_secs.unwrap_or(DEFAULT_TIMEOUT);
    if !(1..=LONGEST_TIMEOUT).contains(&seconds) {
        return Err(format!(
            "timeout_secs is {seconds}; it can be 1 to {LONGEST_TIMEOUT}; run what takes longer in parts"
        ));
    }
    let timeout = Duration::from_secs(seconds);
    let done = shell(context, dir, &input.command, timeout, commits, cancel)
        .map_err(|error| format!("the command did not run: {error}"))?;
    let also = astray(context).or_else(|| read_only(context, &done, commits));
    told(&done, seconds, also)
}

/// What the agent must know if the command wanted to write the repository of the workspace and could not.
fn read_only(context: &AgentContext, done: &ShellResult, commits: bool) -> Option<String> {
    let wanted = |line: &str| line.contains(".git/") && line.contains("Read-only file system");
    let held = context.desk.assignment();
    let in_worktree = held.is_some_and(|held| held.worktree.is_some());
    if in_worktree || done.end == End::Exited(0) || !done.output.lines().any(wanted) {
        return None;
    }
    let why = if commits {
        "hooks, configuration and worktrees of the repository stay read-only, whoever agrees"
    } else if context.agent.is_lead() {
        "in the workspace .git is read-only to commands; a call of nothing but plain git (add, commit, merge, … without other \
         programs, variables, `cd`, `-c`, or redirects into files) can write it once the person agrees"
    } else {
        "in the workspace .git is read-only to commands: who commits works in a worktree; the lead can make a task with one"
    };
    Some(why.to_owned())
}

/// What the agent must know if the command has left `HEAD` of its worktree elsewhere.
fn astray(context: &AgentContext) -> Option<String> {
    let name = context.desk.assignment()?.worktree?;
    match worktree::usable(&context.workspace, &name) {
        Err(Unusable::Astray(astray)) => Some(astray.note()),
        Ok(()) | Err(Unusable::Broken(_)) => None,
    }
}

/// Runs `command` in `dir` as the agent's bash would, whoever asks for it. What it did in a worktree's view of the
/// repository is taken over, or its output says why not.
pub(crate) fn shell(
    context: &AgentContext,
    dir: &Path,
    command: &str,
    timeout: Duration,
    commits: bool,
    cancel: &Arc<Cancel>,
) -> io::Result<ShellResult> {
    let place = Place::at(context, dir).map_err(io::Error::other)?;
    let sandbox = confined::sandbox(context, &place, commits).map_err(io::Error::other)?;
    let mut env = environment(context, &place.tmp_seen, commits);
    if commits {
        only_programs_of_others(&mut env, context, &place);
    }
    let call = ShellCall {
        command: command.into(),
        dir: dir.into(),
        env,
        timeout,
        spill: next_spill(&place.tmp)?,
        sandbox,
        keep: KEEP,
    };
    let mut done = run_shell(&call, cancel)?;
    if let Some(spilled) = &mut done.spilled {
        *spilled = place.as_seen(spilled);
    }
    if let Some(name) = confined::worktree(&place)
        && let Err(why) = view::settle(&context.workspace, &name)
    {
        // Writing to a string cannot fail.
        let _ = write!(done.output, "\n[{why}]\n");
    }
    Ok(done)
}

/// Settings of git for every command. A signature needs the person's key, which is hidden, or the person; what tidies up in
/// the background ends with the call, half done.
const SETTINGS: [(&str, &str); 4] = [
    ("commit.gpgsign", "false"),
    ("tag.gpgsign", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
];

/// Where the repository of the workspace is writable: nothing that an agent could have written is run there, and nothing is
/// written that stays read-only.
const COMMITTING: [(&str, &str); 3] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("branch.autoSetupMerge", "false"),
];

/// Nothing in it waits for a person, and what it starts knows whose it is.
fn environment(context: &AgentContext, tmp: &Path, commits: bool) -> Vec<(OsString, OsString)> {
    let mut whose = OsString::from(format!("{}@", context.agent));
    whose.push(context.workspace.root());
    let mut fixed: Vec<(OsString, OsString)> = [
        ("PAGER", "cat"),
        ("GIT_PAGER", "cat"),
        ("EDITOR", "false"),
        ("VISUAL", "false"),
        ("GIT_EDITOR", "false"),
        ("GIT_SEQUENCE_EDITOR", "false"),
        ("GIT_TERMINAL_PROMPT", "0"),
    ]
    .map(|(name, value)| (name.into(), value.into()))
    .into();
    fixed.push(("TMPDIR".into(), tmp.into()));
    fixed.push(("PITCREW_AGENT".into(), whose));
    let more = COMMITTING.iter().filter(|_| commits);
    let settings: Vec<_> = SETTINGS.iter().chain(more).collect();
    let count = settings.len().to_string();
    fixed.push(("GIT_CONFIG_COUNT".into(), count.into()));
    for (number, (key, value)) in settings.into_iter().enumerate() {
        fixed.push((format!("GIT_CONFIG_KEY_{number}").into(), key.into()));
        fixed.push((format!("GIT_CONFIG_VALUE_{number}").into(), value.into()));
    }
    let mut env = context.tool_env.clone();
    env.retain(|(name, _)| fixed.iter().all(|(ours, _)| name != ours));
    env.extend(fixed);
    env
}

/// Takes what an agent can write, and what depends on where it is, out of the search for programs.
fn only_programs_of_others(
    env: &mut [(OsString, OsString)],
    context: &AgentContext,
    place: &Place,
) {
    let own: Vec<&Path> = [&place.root, &place.tmp, &place.tmp_seen]
        .into_iter()
        .chain(&context.confinement.caches)
        .map(PathBuf::as_path)
        .collect();
    for (_, value) in env.iter_mut().filter(|(name, _)| name == "PATH") {
        let kept = std::env::split_paths(value).filter(|dir| {
            let real = dir.canonicalize().unwrap_or_else(|_| dir.clone());
            dir.is_absolute() && !own.iter().any(|own| real.starts_with(own))
        });
        // What was split can be joined.
        *value = std::env::join_paths(kept.collect::<Vec<_>>()).unwrap_or_default();
    }
}

/// `out_<n>.txt` after the last one there is.
fn next_spill(tmp: &Path) -> io::Result<PathBuf> {
    let mut last = 0;
    for entry in std::fs::read_dir(tmp)? {
        let number = entry?.file_name().to_str().and_then(|name| {
            name.strip_prefix("out_")?
                .strip_suffix(".txt")?
                .parse()
                .ok()
        });
        last = last.max(number.unwrap_or(0_u64));
    }
    Ok(tmp.join(format!("out_{}.txt", last.saturating_add(1))))
}

fn told(done: &ShellResult, seconds: u64, also: Option<String>) -> Result<String, String> {
    let mut notes = Vec::new();
    match done.end {
        End::Exited(0) => {}
        End::Exited(code) => notes.push(format!("exit status {code}")),
        End::Signalled(number) => notes.push(format!("ended by signal {number}")),
        End::TimedOut => notes.push(format!(
            "timed out after {seconds} s and was ended; timeout_secs can be up to {LONGEST_TIMEOUT}"
        )),
        End::Cancelled => notes.push("interrupted; it may have had effects".into()),
    }
    if done.leftovers > 0 {
        notes.push(match done.leftovers {
            1 => "1 process that it left running was ended".into(),
            count => format!("{count} processes that it left running were ended"),
        });
    }
    if let Some(path) = &done.spilled {
        notes.push(format!("the whole output is in {}", path.display()));
    }
    notes.extend(also);
    let mut text = done.output.clone();
    if text.is_empty() {
        text.push_str("(no output)");
    }
    for note in notes {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.extend(["[", &note, "]"]);
    }
    if done.end == End::Exited(0) {
        Ok(text)
    } else {
        Err(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(end: End, output: &str, leftovers: usize, spilled: Option<&str>) -> ShellResult {
        ShellResult {
            end,
            output: output.into(),
            spilled: spilled.map(Into::into),
            leftovers,
        }
    }

    #[test]
    fn what_happened_is_told_after_the_output() {
        let table = [
            (done(End::Exited(0), "hi\n", 0, None), Ok("hi\n")),
            (done(End::Exited(0), "", 0, None), Ok("(no output)")),
            (
                done(End::Exited(2), "bad", 0, None),
                Err("bad\n[exit status 2]"),
            ),
            (
                done(End::Signalled(9), "", 1, None),
                Err("(no output)\n[ended by signal 9]\n[1 process that it left running was ended]"),
            ),
            (
                done(End::Exited(0), "x\n", 2, Some("/t/out_1.txt")),
                Ok(
                    "x\n[2 processes that it left running were ended]\n[the whole output is in /t/out_1.txt]",
                ),
            ),
            (
                done(End::TimedOut, "part", 0, None),
                Err("part\n[timed out after 7 s and was ended; timeout_secs can be up to 600]"),
            ),
            (
                done(End::Cancelled, "", 0, None),
                Err("(no output)\n[interrupted; it may have had effects]"),
            ),
        ];
        for (result, text) in table {
            let told = told(&result, 7, None);
            assert_eq!(told.as_deref().map_err(String::as_str), text);
        }
    }

    #[test]
    fn outputs_are_numbered_after_the_last() {
        let tmp = tempfile::tempdir().unwrap();
        assert_eq!(
            next_spill(tmp.path()).unwrap(),
            tmp.path().join("out_1.txt")
        );
        for name in ["out_2.txt", "out_11.txt", "out_x.txt", "out_99", "other"] {
            std::fs::File::create(tmp.path().join(name)).unwrap();
        }
        assert_eq!(
            next_spill(tmp.path()).unwrap(),
            tmp.path().join("out_12.txt")
        );
    }

    #[test]
    fn unknown_fields_are_refused_by_name() {
        let error = serde_json::from_str::<BashInput>(r#"{"command":"ls","timeout":3}"#);
        assert!(error.unwrap_err().to_string().contains("`timeout`"));
    }
}
