//! Rules as people write them: `tool` or `tool(pattern)`.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::decide::Scope;
use super::pattern::{PathPattern, command_patterns, wildcard};

/// What a tool's pattern is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    Command,
    Path,
    Nothing,
}

/// Every tool that a rule may name.
const TOOLS: [(&str, Takes); 25] = [
    ("bash", Takes::Command),
    ("read_file", Takes::Path),
    ("write_file", Takes::Path),
    ("edit_file", Takes::Path),
    ("glob", Takes::Path),
    ("grep", Takes::Path),
    ("todo_write", Takes::Nothing),
    ("list_tasks", Takes::Nothing),
    ("get_task", Takes::Nothing),
    ("claim_task", Takes::Nothing),
    ("complete_task", Takes::Nothing),
    ("send_message", Takes::Nothing),
    ("submit_plan", Takes::Nothing),
    ("create_task", Takes::Nothing),
    ("update_task", Takes::Nothing),
    ("release_task", Takes::Nothing),
    ("cancel_task", Takes::Nothing),
    ("propose_team", Takes::Nothing),
    ("spawn_teammate", Takes::Nothing),
    ("list_teammates", Takes::Nothing),
    ("request_shutdown", Takes::Nothing),
    ("request_plan", Takes::Nothing),
    ("review_plan", Takes::Nothing),
    ("create_worktree", Takes::Nothing),
    ("merge_worktree", Takes::Nothing),
];

/// Names that people know from elsewhere.
const OTHER_NAMES: [(&str, &str); 6] = [
    ("Bash", "bash"),
    ("Edit", "edit_file"),
    ("Write", "write_file"),
    ("Read", "read_file"),
    ("Glob", "glob"),
    ("Grep", "grep"),
];

/// A parsed rule.
#[derive(Debug, Clone)]
pub struct Rule {
    text: String,
    tool: &'static str,
    pattern: Pattern,
}

#[derive(Debug, Clone)]
enum Pattern {
    Everything,
    /// Any of these fits a command as [`super::pattern::said`] says it; `*` is any text.
    Command(Vec<String>),
    Path(PathPattern),
}

/// A rule is its text.
impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Rule {}

/// Why a text is no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("rule {rule:?}: {why}")]
pub struct RuleError {
    /// The rule as written.
    pub rule: String,
    /// What is wrong and what would do.
    pub why: String,
}

impl Rule {
    /// Parses `text`; a rule that names no tool or cannot match is an error.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        let text = text.trim();
        parse(text)
            .map(|(tool, pattern)| Self {
                text: text.into(),
                tool,
                pattern,
            })
            .map_err(|why| RuleError {
                rule: text.into(),
                why,
            })
    }

    /// As written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is about every call of `tool`.
    pub(super) fn is_all_of(&self, tool: &str) -> bool {
        self.tool == tool && matches!(self.pattern, Pattern::Everything)
    }

    /// Whether it is about calls of `tool`.
    pub(super) fn is_about(&self, tool: &str) -> bool {
        self.tool == tool
    }

    /// Whether it fits the command `said` (see [`super::pattern::said`]).
    pub(super) fn fits_command(&self, said: &str) -> bool {
        self.tool == "bash"
            && match &self.pattern {
                Pattern::Everything => true,
                Pattern::Command(patterns) => {
                    patterns.iter().any(|pattern| wildcard(pattern, said))
                }
                Pattern::Path(_) => false,
            }
    }

    /// Whether it is about `tool` and fits `path`, absolute and without `.` and `..`.
    pub(super) fn fits_path(&self, tool: &str, path: &Path, scope: &Scope) -> bool {
        self.tool == tool
            && match &self.pattern {
                Pattern::Everything => true,
                Pattern::Path(pattern) => pattern.fits(path, scope),
                Pattern::Command(_) => false,
            }
    }
}

fn parse(text: &str) -> Result<(&'static str, Pattern), String> {
    let (name, inner) = match text.split_once('(') {
        None => (text, None),
        Some((name, rest)) => {
            let inner = rest
                .strip_suffix(')')
                .ok_or("the closing parenthesis is missing; write `tool(pattern)`")?;
            (name.trim_end(), Some(inner.trim()))
        }
    };
    let (tool, takes) = find_tool(name)?;
    let pattern = match (inner, takes) {
        (None, _) | (Some("*" | "**"), Takes::Command | Takes::Path) => Pattern::Everything,
        (Some(_), Takes::Nothing) => {
            return Err(format!("{tool} takes no pattern; write only `{tool}`"));
        }
        (Some(""), _) => {
            return Err(format!(
                "an empty pattern fits nothing; write only `{tool}` for every call of it"
            ));
        }
        (Some(inner), Takes::Command) => Pattern::Command(command_patterns(inner)?),
        (Some(inner), Takes::Path) => Pattern::Path(PathPattern::parse(inner)?),
    };
    Ok((tool, pattern))
}

fn find_tool(name: &str) -> Result<(&'static str, Takes), String> {
    let meant = OTHER_NAMES
        .iter()
        .find(|(other, _)| *other == name)
        .map_or(name, |(_, ours)| ours);
    if let Some((tool, takes)) = TOOLS.iter().find(|(tool, _)| *tool == meant) {
        return Ok((tool, *takes));
    }
    let plain = |text: &str| text.to_ascii_lowercase().replace(['_', '-'], "");
    let near = TOOLS
        .iter()
        .find(|(tool, _)| plain(tool).starts_with(&plain(name)) && !name.is_empty());
    Err(match near {
        Some((tool, _)) => format!("there is no tool {name:?}; did you mean `{tool}`?"),
        None => format!(
            "there is no tool {name:?}; the tools are {}",
            TOOLS.map(|(tool, _)| tool).join(", ")
        ),
    })
}

/// Rule texts of one settings layer or of all together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct RuleLists {
    /// Final.
    pub deny: Vec<String>,
    /// Asked about.
    pub ask: Vec<String>,
    /// Not asked about.
    pub allow: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::pattern::said_with_variables;
    use crate::policy::shell::{self, Step};

    fn fits(rule: &str, command: &str) -> bool {
        let rule = Rule::parse(rule).unwrap();
        let script = shell::parse(command);
        let Some(Step::Run(simple)) = script.steps.first() else {
            panic!("{command}");
        };
        rule.fits_command(&said_with_variables(simple))
    }

    #[test]
    fn command_patterns_fit_whole_words() {
        for (rule, command, expected) in [
            ("bash(cargo test *)", "cargo test", true),
            ("bash(cargo test *)", "cargo  test --lib 'a b'", true),
            ("bash(cargo test *)", "cargo tester", false),
            ("bash(cargo test *)", "'cargo test' x", false),
            ("bash(cargo test *)", "X=1 cargo test", false),
            ("bash(X=1 cargo test *)", "X=1 cargo test", true),
            ("bash(cargo test)", "cargo test x", false),
            ("Bash(npm run *)", "npm run build", true),
            ("bash(* --version)", "rustc --version", true),
            ("bash(* --version)", "rustc --version x", false),
            ("bash(git * main)", "git push origin main", true),
            ("bash(npm run test:*)", "npm run test", true),
            ("bash(npm run test:*)", "npm run test --x", true),
            ("bash(npm run test:*)", "npm run test:unit", true),
            ("bash(npm run test:*)", "npm run tests", false),
            ("bash(git commit -m 'a b')", "git commit -m \"a b\"", true),
            ("bash(git commit -m 'a b')", "git commit -m a b", false),
            ("bash", "anything at all", true),
            ("bash(*)", "anything at all", true),
            ("read_file", "anything", false),
        ] {
            assert_eq!(fits(rule, command), expected, "{rule} {command}");
        }
    }

    #[test]
    fn path_patterns_are_relative_absolute_or_of_home() {
        let scope = Scope {
            dir: "/w/dir".into(),
            tmp: "/w/tmp".into(),
            root: "/w".into(),
            home: Some("/home/p".into()),
        };
        for (rule, path, expected) in [
            ("edit_file(src/**)", "/w/dir/src/a/b.rs", true),
            ("edit_file(src/*)", "/w/dir/src/b.rs", true),
            ("edit_file(*.rs)", "/w/dir/src/b.rs", false),
            ("edit_file(**/*.rs)", "/w/dir/src/a/b.rs", true),
            ("edit_file(**/.env)", "/w/dir/.env", true),
            ("edit_file(src)", "/w/dir/src/a", true),
            ("edit_file(src/)", "/w/dir/src/a", true),
            ("edit_file(./src/a)", "/w/dir/src/a", true),
            ("edit_file(../x/*)", "/w/x/y", true),
            ("edit_file(/etc/**)", "/etc/passwd", true),
            ("edit_file(~/.ssh/**)", "/home/p/.ssh/id", true),
            ("edit_file(src/**)", "/other/src/a", false),
            ("Edit(src/**)", "/w/dir/src/a", true),
            ("Write(src/**)", "/w/dir/src/a", false),
            ("edit_file", "/anywhere", true),
            ("edit_file(**)", "/anywhere", true),
            ("edit_file(/)", "/anywhere", true),
        ] {
            let rule = Rule::parse(rule).unwrap();
            let path = Path::new(path);
            assert_eq!(
                rule.fits_path("edit_file", path, &scope),
                expected,
                "{rule:?} {path:?}"
            );
        }
    }

    #[test]
    fn rules_that_cannot_match_are_refused_with_what_would_do() {
        for (rule, why) in [
            ("", "there is no tool"),
            (
                "shell(ls)",
                "there is no tool \"shell\"; the tools are bash",
            ),
            ("read(x)", "did you mean `read_file`?"),
            ("BASH", "did you mean `bash`?"),
            ("bash(ls", "closing parenthesis"),
            ("bash()", "write only `bash`"),
            ("list_tasks(x)", "takes no pattern"),
            ("bash(a && b)", "one rule for each"),
            ("bash(a | b)", "one rule for each"),
            ("bash(a > b)", "without redirects"),
            ("bash(a 'b)", "it can fit no command"),
            ("bash(X=1)", "it names no command"),
            ("edit_file(a/../b)", "without `.`, `..`"),
            ("edit_file([a)", "no path pattern"),
            ("edit_file(~bob/x)", "one's own home"),
            ("edit_file( )", "an empty pattern"),
        ] {
            let error = Rule::parse(rule).unwrap_err().to_string();
            assert!(error.contains(why), "{rule}: {error}");
        }
    }
}
