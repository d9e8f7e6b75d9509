//! Judging what is read and written, by its path: for the file tools and for what commands are known to write.

use std::path::Path;

use super::decide::{Mode, Policy, Scope};
use super::question::{AskedBy, Findings, path_rule};
use super::rule::Rule;
use super::spot::{Spot, spot};

/// The tools that write; what a command writes is judged by the rules for both.
pub(super) const WRITING: [&str; 2] = ["write_file", "edit_file"];

/// One policy in one place, for one agent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Files<'a> {
    policy: &'a Policy,
    scope: &'a Scope,
    grants: &'a [Rule],
}

impl<'a> Files<'a> {
    pub(super) fn new(policy: &'a Policy, scope: &'a Scope, grants: &'a [Rule]) -> Self {
        Self {
            policy,
            scope,
            grants,
        }
    }

    /// A call of `tool` on `path`, absolute and without `.` and `..`.
    pub(super) fn judge(&self, tool: &str, path: &Path) -> Findings {
        if !WRITING.contains(&tool) {
            // What may not be read may not be searched either.
            let mut findings = self.read(&[tool, "read_file"], path, tool);
            let known = |rules: &[Rule]| self.find(rules, &[tool, "read_file"], path).is_some();
            if findings.is_empty()
                && !known(self.grants)
                && !known(&self.policy.allow)
                && self.is_elsewhere(path)
            {
                findings.ask(
                    AskedBy::Builtin,
                    format!(
                        "{} is outside the working directory (built-in rule)",
                        path.display()
                    ),
                    path_rule(tool, path),
                );
            }
            return findings;
        }
        let mut findings = self.written(&[tool], path, tool);
        self.member(tool, path, &mut findings);
        let answered = self.answered(&[tool], path);
        if findings.is_empty() && self.policy.mode == Mode::Confirm && !answered {
            findings.ask(
                AskedBy::Builtin,
                "every edit is asked about (mode confirm)".into(),
                path_rule(tool, path),
            );
        }
        findings
    }

    /// What the person's rules for any of `tools` say to reading `path`.
    pub(super) fn read(&self, tools: &[&str], path: &Path, who: &str) -> Findings {
        let mut findings = Findings::default();
        if let Some(rule) = self.find(&self.policy.deny, tools, path) {
            findings.deny(format!(
                "{who} reads {}, which is denied by the rule {}",
                path.display(),
                rule.text()
            ));
        } else if let Some(rule) = self.find(&self.policy.ask, tools, path)
            && self.find(self.grants, tools, path).is_none()
        {
            findings.ask(
                AskedBy::Person,
                format!("rule {}", rule.text()),
                path_rule(tools[0], path),
            );
        }
        findings
    }

    /// What is to be said to `who` writing `path`, where the rules for any of `tools` hold.
    pub(super) fn written(&self, tools: &[&str], path: &Path, who: &str) -> Findings {
        let mut findings = Findings::default();
        let shown = path.display();
        let lies = spot(path, self.scope);
        if let Some(rule) = self.find(&self.policy.deny, tools, path) {
            findings.deny(format!(
                "{who} writes {shown}, which is denied by the rule {}",
                rule.text()
            ));
        } else if let Some(why) = never_written(lies) {
            findings.deny(format!("{who} writes {shown}: {why} (built-in rule)"));
        } else if self.find(self.grants, tools, path).is_some() {
        } else if let Some(rule) = self.find(&self.policy.ask, tools, path) {
            findings.ask(
                AskedBy::Person,
                format!("rule {}", rule.text()),
                path_rule(tools[0], path),
            );
        } else if lies == Spot::Outside && self.find(&self.policy.allow, tools, path).is_none() {
            findings.ask(
                AskedBy::Builtin,
                format!("{who} writes outside the working directory: {shown} (built-in rule)"),
                path_rule(tools[0], path),
            );
        }
        findings
    }

    /// What binds this member only.
    fn member(&self, tool: &str, path: &Path, findings: &mut Findings) {
        if self.find(self.grants, &[tool], path).is_some() {
            return;
        }
        let bound = |rules: &[Rule]| self.find(rules, &["edit_file"], path).is_some();
        let shown = path.display();
        if bound(&self.policy.cannot_edit) {
            findings.ask(
                AskedBy::Bound,
                format!("{shown} is among what this member cannot edit"),
                path_rule(tool, path),
            );
        } else if !self.policy.may_edit.is_empty()
            && !bound(&self.policy.may_edit)
            && !self.answered(&[tool], path)
        {
            findings.ask(
                AskedBy::Builtin,
                format!("{shown} is outside the paths that this member is allowed"),
                path_rule(tool, path),
            );
        }
    }

    fn answered(&self, tools: &[&str], path: &Path) -> bool {
        [self.grants, &self.policy.allow]
            .iter()
            .any(|rules| self.find(rules, tools, path).is_some())
    }

    fn find<'r>(&self, rules: &'r [Rule], tools: &[&str], path: &Path) -> Option<&'r Rule> {
        rules.iter().find(|rule| {
            tools
                .iter()
                .any(|tool| rule.fits_path(tool, path, self.scope))
        })
    }

    fn is_elsewhere(&self, path: &Path) -> bool {
        !path.starts_with(&self.scope.dir) && !path.starts_with(&self.scope.tmp)
    }
}

fn never_written(lies: Spot) -> Option<String> {
    match lies {
        Spot::Kept(".git") => Some("what is in .git is git's alone; use git".into()),
        Spot::Kept(name) => Some(format!(
            "{name} belongs to the runtime; use the tools for tasks and messages"
        )),
        Spot::Disk => Some("it is a disk or raw memory".into()),
        Spot::Inside | Spot::Device | Spot::Outside => None,
    }
}
