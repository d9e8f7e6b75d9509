//! The command line of `lead` (SPEC §14).

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use super::shell::ColorChoice;
use super::verbs::{mail, permission, plan, task, team, worktree};
use crate::policy::{Mode, SandboxMode};

/// A team of coding agents that lives in plain files.
///
/// Without a verb: a session with the lead of this workspace.
#[derive(Debug, Parser)]
#[command(
    name = "lead",
    version,
    disable_help_subcommand = true,
    max_term_width = 100,
    after_help = "Examples:\n  lead\n  lead --model ollama:qwen3-coder\n  lead -p \"Make the test suite pass\" --yes --max-time 30m"
)]
pub struct Cli {
    /// What holds for every verb.
    #[command(flatten)]
    pub global: Global,
    /// What holds for a session.
    #[command(flatten)]
    pub session: SessionArgs,
    /// A verb; none is a session.
    #[command(subcommand)]
    pub verb: Option<Verb>,
}

/// Flags of every verb.
#[derive(Debug, Args)]
pub struct Global {
    /// The workspace, or where the demo makes its own; else the one around the current directory
    #[arg(long, global = true, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// When to colour
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub color: ColorChoice,
}

/// Flags of a session.
#[derive(Debug, Args, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "flags are flags")]
pub struct SessionArgs {
    /// One goal, no questions: works until nothing can move without a person, then prints the result; `-` reads the goal from standard input
    #[arg(short = 'p', long = "print", value_name = "GOAL")]
    pub goal: Option<String>,
    /// Accept team proposals and plans without asking
    #[arg(short, long)]
    pub yes: bool,
    /// What `-p` prints on standard output
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "FORMAT",
        requires = "goal"
    )]
    pub output_format: OutputFormat,
    /// The lead's model, PROVIDER:NAME with anthropic, openai, ollama, or script
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// The teammates' model; else the lead's
    #[arg(long, value_name = "MODEL")]
    pub teammate_model: Option<String>,
    /// How many teammates may be alive at once
    #[arg(long, value_name = "N")]
    pub max_teammates: Option<usize>,
    /// What becomes of permission questions
    #[arg(long, value_enum, value_name = "MODE")]
    pub permissions: Option<PermissionMode>,
    /// How firmly commands of models are held in
    #[arg(long, value_enum, value_name = "MODE")]
    pub sandbox: Option<Sandboxing>,
    /// End when the team has used so many tokens (input, output, cache writes)
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<u64>,
    /// End when the team has cost so much, by the prices in the settings
    #[arg(long, value_name = "COST", value_parser = amount)]
    pub max_cost: Option<f64>,
    /// End after so many model calls of the team
    #[arg(long, value_name = "N")]
    pub max_turns: Option<u64>,
    /// End after so long, such as 90, 90s, 15m, 2h
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub max_time: Option<u64>,
    /// Go on with the last conversation
    #[arg(long = "continue", conflicts_with = "resume")]
    pub continue_last: bool,
    /// Go on with that conversation
    #[arg(long, value_name = "ID")]
    pub resume: Option<String>,
    /// Let the workspace's own settings and roles count in full in this run
    #[arg(long)]
    pub trust: bool,
    /// Plain lines on a terminal: no line editor
    #[arg(long)]
    pub plain: bool,
    /// Show what the lead's tools answer
    #[arg(short, long)]
    pub verbose: bool,
}

/// What `-p` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum OutputFormat {
    /// The lead's last text.
    #[default]
    Text,
    /// One object at the end.
    Json,
    /// One event a line as it happens, the object last.
    StreamJson,
}

/// [`Mode`] as a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PermissionMode {
    /// What a rule says to ask is asked.
    Ask,
    /// Every edit and every command is asked about.
    Confirm,
    /// What would be asked is denied.
    Deny,
    /// What would be asked is allowed.
    Bypass,
}

impl From<PermissionMode> for Mode {
    fn from(mode: PermissionMode) -> Self {
        match mode {
            PermissionMode::Ask => Self::Ask,
            PermissionMode::Confirm => Self::Confirm,
            PermissionMode::Deny => Self::Deny,
            PermissionMode::Bypass => Self::Bypass,
        }
    }
}

/// `--sandbox`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Sandboxing {
    /// Without a sandbox no command runs.
    Required,
    /// What of the sandbox holds here is used.
    Preferred,
    /// There is none.
    Off,
}

impl From<Sandboxing> for SandboxMode {
    fn from(mode: Sandboxing) -> Self {
        match mode {
            Sandboxing::Required => Self::Required,
            Sandboxing::Preferred => Self::Preferred,
            Sandboxing::Off => Self::Off,
        }
    }
}

/// Verbs: they work from another terminal while a lead runs, or with none.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// The whole machinery on a scratch repository: scripted model, real processes
    ///
    /// The repository is made where temporary files are, or in --root DIR; it stays, so that you can look at it.
    #[command(after_help = "Example:\n  lead demo --yes")]
    Demo {
        /// Let a scripted person answer the questions
        #[arg(short, long)]
        yes: bool,
    },
    /// Who is there, what is open, what waits for an answer
    #[command(after_help = "Examples:\n  lead status\n  lead status --watch")]
    Status {
        /// As a screen that is drawn again whenever a file changes, until q or Ctrl-C; without a terminal the text again each
        /// time that it differs
        #[arg(short, long)]
        watch: bool,
        /// As JSON, with --watch one object a line
        #[arg(long)]
        json: bool,
    },
    /// Look at the tasks and change them
    #[command(subcommand, after_help = "Example:\n  lead task list")]
    Task(task::TaskVerb),
    /// Look at waiting messages and send one
    #[command(subcommand, after_help = "Example:\n  lead mail list")]
    Mail(mail::MailVerb),
    /// Look at plans and decide on them
    #[command(subcommand, after_help = "Example:\n  lead plan list")]
    Plan(plan::PlanVerb),
    /// Look at permission questions, answer them, and try rules
    #[command(subcommand, after_help = "Example:\n  lead permission list")]
    Permission(permission::PermissionVerb),
    /// Look at the teammates, and end one
    #[command(subcommand, after_help = "Example:\n  lead team list")]
    Team(team::TeamVerb),
    /// What has changed in the workspace since the session's first change, untracked files included
    #[command(after_help = "Example:\n  lead diff --stat")]
    Diff {
        /// Files with counts of lines only
        #[arg(long)]
        stat: bool,
        /// Another session than the last
        #[arg(long, value_name = "ID")]
        session: Option<String>,
    },
    /// Put the workspace back as it was before the session's first change, after a question
    #[command(after_help = "Example:\n  lead undo")]
    Undo {
        /// Without the question
        #[arg(short, long)]
        yes: bool,
        /// Another session than the last
        #[arg(long, value_name = "ID")]
        session: Option<String>,
    },
    /// Look at worktrees, bring their work together, remove them
    #[command(subcommand, after_help = "Example:\n  lead worktree list")]
    Worktree(worktree::WorktreeVerb),
    /// The conversations of the lead, the last first: `lead --resume ID` goes on with one
    #[command(after_help = "Example:\n  lead sessions")]
    Sessions {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// What the team has used
    #[command(after_help = "Example:\n  lead usage --json")]
    Usage {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// What has happened, from everything that the team has written
    #[command(after_help = "Example:\n  lead log --follow")]
    Log {
        /// Go on with what happens now, until Ctrl-C
        #[arg(short, long)]
        follow: bool,
        /// Routine, too: tokens, answers of tools that worked, mail that moves a request, what processes note for themselves
        #[arg(short, long)]
        verbose: bool,
        /// As JSON, with routine: an array, with --follow one object a line
        #[arg(long)]
        json: bool,
    },
    /// What is not in order, and what would put it right
    #[command(after_help = "Examples:\n  lead doctor\n  lead doctor --repair")]
    Doctor {
        /// Put right what can be; nothing is deleted but temporary files of writers that are gone
        #[arg(long)]
        repair: bool,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// The settings in force, with where each came from
    #[command(after_help = "Examples:\n  lead config\n  lead config schema")]
    Config {
        /// As JSON
        #[arg(long)]
        json: bool,
        /// `schema` prints a JSON Schema of the settings file instead
        #[arg(value_enum)]
        what: Option<ConfigWhat>,
    },
    /// Write a .team/team.json to start from
    #[command(after_help = "Example:\n  lead init")]
    Init,
    /// Completions for a shell, to be loaded by it
    #[command(
        after_help = "Example:\n  lead completions bash > ~/.local/share/bash-completion/completions/lead"
    )]
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: Shell,
    },
    /// The manual page of `lead`, or of one of its verbs, as roff
    #[command(after_help = "Example:\n  lead man task add | man -l -")]
    Man {
        /// The verb, such as `task add`
        verb: Vec<String>,
    },
}

/// What `lead config` prints besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ConfigWhat {
    /// The JSON Schema.
    Schema,
}

impl Verb {
    /// Whether it changes nothing, so that an agent's tool may use it too (SPEC §5.5).
    pub fn only_reads(&self) -> bool {
        match self {
            Self::Status { .. }
            | Self::Diff { .. }
            | Self::Usage { .. }
            | Self::Sessions { .. }
            | Self::Config { .. }
            | Self::Log { .. }
            | Self::Completions { .. }
            | Self::Man { .. } => true,
            Self::Demo { .. } | Self::Undo { .. } | Self::Init => false,
            Self::Doctor { repair, .. } => !repair,
            Self::Team(verb) => verb.only_reads(),
            Self::Task(verb) => verb.only_reads(),
            Self::Mail(verb) => verb.only_reads(),
            Self::Plan(verb) => verb.only_reads(),
            Self::Permission(verb) => verb.only_reads(),
            Self::Worktree(verb) => verb.only_reads(),
        }
    }
}

/// A cost: a number that is not negative.
fn amount(text: &str) -> Result<f64, String> {
    let amount = text.parse::<f64>().ok();
    amount
        .filter(|amount| amount.is_finite() && *amount >= 0.0)
        .ok_or_else(|| "a cost is a number such as 5 or 2.50".to_owned())
}

/// A length of time in seconds: a number with `s`, `m`, `h`, or nothing for seconds.
fn seconds(text: &str) -> Result<u64, String> {
    let (number, unit) = match text.char_indices().last() {
        Some((at, 's')) => (&text[..at], 1),
        Some((at, 'm')) => (&text[..at], 60),
        Some((at, 'h')) => (&text[..at], 3600),
        _ => (text, 1),
    };
    number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(unit))
        .ok_or_else(|| "a time is a whole number with s, m, or h, such as 15m".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};

    use super::*;

    #[test]
    fn the_definition_holds_together() {
        Cli::command().debug_assert();
    }

    /// The examples in a command's help.
    fn examples(command: &Command) -> Vec<String> {
        let help = command.get_after_help().map(ToString::to_string);
        let help = help.unwrap_or_default();
        let lines = help.lines().filter_map(|line| line.strip_prefix("  "));
        lines.map(str::to_owned).collect()
    }

    /// Words as a shell reads them, up to a pipe or a redirection.
    fn words(example: &str) -> Vec<&str> {
        let call = example.split(['|', '>']).next().unwrap();
        let quoted = call.split('"').enumerate();
        quoted
            .flat_map(|(nr, part)| match nr % 2 {
                0 => part.split_whitespace().collect(),
                _ => vec![part],
            })
            .collect()
    }

    fn check_help(command: &Command, path: &[&str]) {
        let name = path.join(" ");
        assert!(command.get_about().is_some(), "{name} has no description");
        for arg in command.get_arguments() {
            assert!(arg.get_help().is_some(), "{name}: {}", arg.get_id());
        }
        let examples = examples(command);
        assert!(!examples.is_empty(), "{name} has no example");
        for example in examples {
            let words = words(&example);
            assert!(words.starts_with(path), "{name}: {example}");
            if let Err(error) = Cli::try_parse_from(&words) {
                panic!("{example}: {error}");
            }
        }
        for below in command.get_subcommands() {
            check_help(below, &[path, &[below.get_name()]].concat());
        }
    }

    #[test]
    fn every_verb_is_described_and_has_an_example_that_is_understood() {
        check_help(&Cli::command(), &["lead"]);
    }

    #[test]
    fn times_have_units() {
        assert_eq!(seconds("90"), Ok(90));
        assert_eq!(seconds("15m"), Ok(900));
        assert_eq!(seconds("2h"), Ok(7200));
        for bad in ["", "m", "-1", "1.5h", "1d", "99999999999999999h", "1ü"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }
}
