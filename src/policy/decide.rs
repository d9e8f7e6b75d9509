//! One tool call, one verdict: deny before ask before allow.
//!
//! | order | what | who may answer it |
//! | --- | --- | --- |
//! | 1 | deny, the person's and the built-in | nobody |
//! | 2 | the person's ask rules | a rule kept for "always" |
//! | 3 | the person's allow rules | |
//! | 4 | the built-in ask rules | an allow rule, or one kept for "always" |
//! | 5 | whatever is left is allowed | |

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::bash;
use super::files::Files;
use super::question::{AskedBy, Findings, together};
use super::rule::Rule;
use super::spot::normal;
use super::{RuleError, RuleLists};

/// The permission mode.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// What a rule says to ask is asked.
    #[default]
    Ask,
    /// Every edit and every command is asked about unless an allow rule fits.
    Confirm,
    /// What would be asked is denied.
    Deny,
    /// What would be asked is allowed; deny still holds.
    Bypass,
}

/// Where a call happens.
#[derive(Debug, Clone)]
pub struct Scope {
    /// The assignment's directory (the workspace for the lead), absolute and resolved.
    pub dir: PathBuf,
    /// The agent's own temporary directory.
    pub tmp: PathBuf,
    /// The workspace's root: its runtime directories are never written.
    pub root: PathBuf,
    /// The person's home, for `~/…` patterns.
    pub home: Option<PathBuf>,
}

/// What is to be done with a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Run it.
    Allow,
    /// Ask first.
    Ask {
        /// Which rule or reason, in words.
        because: String,
        /// The rule that "always" would keep, such as `bash(rm *)`; `None` where always is not offered.
        always: Option<String>,
    },
    /// It would have to be asked about, and the mode is that nobody is: do not run it.
    Unasked {
        /// Which rule or reason asks, in words.
        because: String,
        /// The rule that would allow it.
        always: Option<String>,
    },
    /// Do not run it; final. The text names the rule and goes to the model.
    Deny(String),
}

impl Verdict {
    /// Why the call may not run, if nobody can say that it may.
    pub fn refusal(&self) -> Option<String> {
        match self {
            Self::Allow | Self::Ask { .. } => None,
            Self::Unasked { because, .. } => Some(format!(
                "it would have to be asked about, and nobody is asked here: {because}"
            )),
            Self::Deny(why) => Some(why.clone()),
        }
    }
}

/// All rules in force: the built-in ones and those of the settings.
#[derive(Debug, Clone)]
pub struct Policy {
    pub(super) deny: Vec<Rule>,
    pub(super) ask: Vec<Rule>,
    pub(super) allow: Vec<Rule>,
    pub(super) mode: Mode,
    /// Edits elsewhere are asked about; none: edits anywhere are not, for this reason.
    pub(super) may_edit: Vec<Rule>,
    /// Edits there are asked about, and no rule or mode answers for the person.
    pub(super) cannot_edit: Vec<Rule>,
}

impl Policy {
    /// Parses the lists; the first bad rule is an error.
    pub fn new(lists: &RuleLists, mode: Mode) -> Result<Self, RuleError> {
        let parsed = |texts: &[String]| -> Result<Vec<Rule>, RuleError> {
            texts.iter().map(|text| Rule::parse(text)).collect()
        };
        Ok(Self {
            deny: parsed(&lists.deny)?,
            ask: parsed(&lists.ask)?,
            allow: parsed(&lists.allow)?,
            mode,
            may_edit: Vec::new(),
            cannot_edit: Vec::new(),
        })
    }

    /// Binds the file tools of one member to its `allowedPaths` (edits outside them are asked about; none: everywhere) and
    /// `cannotEdit` (edits inside them are asked about, whatever allow rules and mode say).
    pub fn bound_to(
        mut self,
        allowed_paths: &[String],
        cannot_edit: &[String],
    ) -> Result<Self, RuleError> {
        let edits = |paths: &[String]| -> Result<Vec<Rule>, RuleError> {
            let rules = paths
                .iter()
                .map(|path| Rule::parse(&format!("edit_file({path})")));
            rules.collect()
        };
        self.may_edit = edits(allowed_paths)?;
        self.cannot_edit = edits(cannot_edit)?;
        Ok(self)
    }

    /// `path` seen from `dir`, without `.` and `..`.
    pub fn normal(dir: &Path, path: &Path) -> PathBuf {
        normal(dir, path)
    }

    /// Whether `path`, absolute and without `.` and `..`, is among a member's `allowed_paths`, seen from `scope`.
    pub fn are_allowed(allowed_paths: &[String], path: &Path, scope: &Scope) -> bool {
        let fits = |allowed: &String| {
            let rule = Rule::parse(&format!("edit_file({allowed})"));
            rule.is_ok_and(|rule| rule.fits_path("edit_file", path, scope))
        };
        allowed_paths.iter().any(fits)
    }

    /// Judges one call. `grants` are rules that the person has allowed "always" for this agent.
    pub fn judge(&self, tool: &str, input: &Value, scope: &Scope, grants: &[String]) -> Verdict {
        let grants = parsed(grants);
        let text = |key: &str| input.get(key).and_then(Value::as_str);
        let findings = match tool {
            "bash" => bash::judge(self, text("command").unwrap_or_default(), scope, &grants),
            "write_file" | "edit_file" | "read_file" | "glob" | "grep" => {
                let path = normal(&scope.dir, Path::new(text("path").unwrap_or(".")));
                Files::new(self, scope, &grants).judge(tool, &path)
            }
            _ => self.judge_other(tool, &grants),
        };
        self.verdict(findings)
    }

    /// Judges a `bash` call of plain git that is to have the repository of the workspace writable: each command that changes
    /// it is asked about, unless a rule allows that.
    pub fn judge_commits(&self, command: &str, scope: &Scope, grants: &[String]) -> Verdict {
        self.verdict(bash::judge_commits(self, command, scope, &parsed(grants)))
    }

    fn verdict(&self, findings: Findings) -> Verdict {
        if let Some(why) = findings.deny {
            return Verdict::Deny(why);
        }
        let mut questions = findings.questions;
        if self.mode == Mode::Bypass {
            questions.retain(|question| question.asked_by == AskedBy::Bound);
        }
        let Some((because, always)) = together(questions) else {
            return Verdict::Allow;
        };
        match self.mode {
            Mode::Ask | Mode::Confirm | Mode::Bypass => Verdict::Ask { because, always },
            Mode::Deny => Verdict::Unasked { because, always },
        }
    }

    fn judge_other(&self, tool: &str, grants: &[Rule]) -> Findings {
        let mut findings = Findings::default();
        let about = |rule: &&Rule| rule.is_all_of(tool);
        if let Some(rule) = self.deny.iter().find(about) {
            findings.deny(format!("denied by the rule {}", rule.text()));
        } else if let Some(rule) = self.ask.iter().find(about)
            && !grants.iter().any(|rule| about(&rule))
        {
            findings.ask(
                AskedBy::Person,
                format!("rule {}", rule.text()),
                Some(tool.into()),
            );
        }
        findings
    }
}

/// One that is no rule (any more) allows nothing.
fn parsed(grants: &[String]) -> Vec<Rule> {
    grants
        .iter()
        .filter_map(|text| Rule::parse(text).ok())
        .collect()
}
