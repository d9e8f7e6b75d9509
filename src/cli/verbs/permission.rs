//! `lead permission list|allow|deny|test`.

use clap::Subcommand;
use serde_json::json;

use super::requests::{self, PersonsAnswer};
use crate::cli::exit::{Failure, Kind, Outcome};
use crate::cli::place::Place;
use crate::cli::safe::safe_line;
use crate::cli::shell;
use crate::cli::table::Table;
use crate::ids::AgentName;
use crate::policy::builtin::{COMMAND_RULES, Effect, PATH_RULES};
use crate::policy::{Rule, SandboxMode, Scope, Verdict, is_plain_git};
use crate::request::{RequestKind, RequestStatus};
use crate::worktree::committing;

/// What is done with permission questions and rules.
#[derive(Debug, Subcommand)]
pub enum PermissionVerb {
    /// All questions that are kept
    #[command(after_help = "Example:\n  lead permission list --json")]
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Let a call run
    #[command(after_help = "Example:\n  lead permission allow req_0a1b2c3e --always")]
    Allow {
        /// The request's id
        #[arg(value_name = "REQ")]
        id: String,
        /// Keep the rule that the question shows, for this teammate
        #[arg(long)]
        always: bool,
        /// What the teammate is told with it
        #[arg(long, value_name = "T")]
        reason: Option<String>,
    },
    /// Do not let a call run
    #[command(
        after_help = "Example:\n  lead permission deny req_0a1b2c3e --reason \"Keep the old files.\""
    )]
    Deny {
        /// The request's id
        #[arg(value_name = "REQ")]
        id: String,
        /// Keep that for this teammate and rule
        #[arg(long)]
        always: bool,
        /// What the teammate is told
        #[arg(long, value_name = "T")]
        reason: Option<String>,
    },
    /// What the rules in force say to a call; nothing is run
    #[command(
        after_help = "Examples:\n  lead permission test \"rm -r build\"\n  lead permission test --list"
    )]
    Test {
        /// The command (bash) or path (other tools)
        #[arg(value_name = "TEXT", required_unless_present = "list")]
        text: Option<String>,
        /// Print the built-in rules instead
        #[arg(long)]
        list: bool,
        /// The tool
        #[arg(long, default_value = "bash")]
        tool: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

impl PermissionVerb {
    /// Whether it changes nothing.
    pub fn only_reads(&self) -> bool {
        matches!(self, Self::List { .. } | Self::Test { .. })
    }
}

/// Runs the verb.
pub fn run(place: &Place, verb: &PermissionVerb) -> Outcome {
    let (id, status, always, reason) = match verb {
        PermissionVerb::List { json } => {
            return requests::list(place, RequestKind::Permission, *json);
        }
        PermissionVerb::Test {
            list: true, json, ..
        } => {
            print_builtin(*json);
            return Ok(Kind::Completed);
        }
        PermissionVerb::Test {
            text, tool, json, ..
        } => {
            let text = text.as_deref().unwrap_or_default();
            return test(place, tool, text, *json);
        }
        PermissionVerb::Allow { id, always, reason } => {
            (id, RequestStatus::Allowed, always, reason)
        }
        PermissionVerb::Deny { id, always, reason } => (id, RequestStatus::Denied, always, reason),
    };
    requests::decide(
        place,
        &PersonsAnswer {
            id,
            kind: RequestKind::Permission,
            status,
            comment: reason.as_deref(),
            scope: Some(if *always { "always" } else { "once" }),
        },
    )
}

fn print_builtin(as_json: bool) {
    let paths = PATH_RULES.iter().map(|(effect, what)| (*effect, *what, ""));
    let commands = COMMAND_RULES
        .iter()
        .map(|rule| (rule.effect, rule.what, rule.why));
    let rules: Vec<(&str, &str, &str)> = paths
        .chain(commands)
        .map(|(effect, what, why)| match effect {
            Effect::Deny => ("deny", what, why),
            Effect::Ask => ("ask", what, why),
        })
        .collect();
    if as_json {
        let rules = rules.iter().map(
            |(verdict, what, why)| json!({ "verdict": verdict, "what": what, "because": why }),
        );
        shell::out_json(&rules.collect());
        return;
    }
    let mut table = Table::new(&["verdict", "what", "because"]);
    for (verdict, what, why) in rules {
        table.row(&[verdict.to_owned(), what.to_owned(), why.to_owned()]);
    }
    for line in table.lines() {
        shell::out_line(&line);
    }
}

fn test(place: &Place, tool: &str, text: &str, as_json: bool) -> Outcome {
    Rule::parse(tool).map_err(Failure::usage)?;
    let settings = place.settings()?.settings;
    let policy = settings
        .policy(&AgentName::lead())
        .map_err(Failure::usage)?;
    let key = if tool == "bash" { "command" } else { "path" };
    let scope = Scope {
        dir: place.workspace.root().to_path_buf(),
        tmp: place.workspace.agent_tmp(&AgentName::lead()),
        root: place.workspace.root().to_path_buf(),
        home: place.environment.home.clone(),
    };
    let commits = tool == "bash"
        && settings.sandbox() != SandboxMode::Off
        && is_plain_git(text)
        && committing(&place.workspace).is_some();
    let judged = if commits {
        policy.judge_commits(text, &scope, &[])
    } else {
        policy.judge(tool, &json!({ key: text }), &scope, &[])
    };
    let refusal = judged.refusal();
    let (verdict, because, always) = match judged {
        Verdict::Allow => ("allow", None, None),
        Verdict::Ask { because, always } => ("ask", Some(because), always),
        Verdict::Unasked { always, .. } => ("deny", refusal, always),
        Verdict::Deny(_) => ("deny", refusal, None),
    };
    if as_json {
        shell::out_json(&json!({ "verdict": verdict, "because": because, "always": always }));
    } else {
        let because = because.map_or_else(String::new, |why| format!(": {}", safe_line(&why, 400)));
        shell::out_line(&format!("{verdict}{because}"));
    }
    Ok(Kind::Completed)
}
