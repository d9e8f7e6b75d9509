//! Judging a shell command: every simple command in it by itself; the strictest counts.

use std::path::PathBuf;

use super::builtin::{self, Effect};
use super::command::{Inner, Unit, git, inner, written};
use super::decide::{Mode, Policy, Scope};
use super::files::{Files, WRITING};
use super::meaning::{Shell, Target};
use super::pattern::{said, said_with_variables};
use super::plain_git::is_change;
use super::question::{AskedBy, Findings, always_rule, short};
use super::rule::Rule;
use super::shell::{Simple, Step, Word, parse};
use super::spot::{Precious, Spot, precious, spot};

/// How deep commands that run commands are looked into.
const DEEPEST: usize = 8;

/// What commands change nothing and are not asked about in [`Mode::Confirm`].
const HARMLESS: [&str; 14] = [
    "cd", "pwd", "true", "false", ":", "[", "test", "exit", "return", "break", "continue", "shift",
    "set", "local",
];

/// Judges the text of a `bash` call.
pub(super) fn judge(policy: &Policy, text: &str, scope: &Scope, grants: &[Rule]) -> Findings {
    let mut judge = Judge::new(policy, scope, grants);
    judge.script(text, 0);
    judge.findings
}

/// The same for one that may write the repository of the workspace.
pub(super) fn judge_commits(
    policy: &Policy,
    text: &str,
    scope: &Scope,
    grants: &[Rule],
) -> Findings {
    let mut judge = Judge::new(policy, scope, grants);
    judge.commits = true;
    judge.script(text, 0);
    judge.findings
}

struct Judge<'a> {
    policy: &'a Policy,
    grants: &'a [Rule],
    /// A rule allows every command.
    whole: bool,
    shell: Shell<'a>,
    /// The call may write the repository of the workspace.
    commits: bool,
    findings: Findings,
}

/// Who answers for one simple command.
#[derive(Debug, Clone, Copy)]
struct Answered {
    /// The person, by a rule kept for "always".
    granted: bool,
    /// An allow rule, or the person.
    allowed: bool,
}

impl<'a> Judge<'a> {
    fn new(policy: &'a Policy, scope: &'a Scope, grants: &'a [Rule]) -> Self {
        let mut rules = policy.allow.iter().chain(grants);
        Self {
            policy,
            grants,
            whole: rules.any(|rule| rule.is_all_of("bash")),
            shell: Shell::new(scope),
            commits: false,
            findings: Findings::default(),
        }
    }

    fn script(&mut self, text: &str, depth: usize) {
        let script = parse(text);
        if script.fork_bomb || looks_like_fork_bomb(text) {
            self.findings.deny(
                "a fork bomb is never run (built-in rule); start what you need by name".into(),
            );
        }
        for step in script.steps {
            match step {
                Step::Enter => self.shell.enter(),
                Step::Leave => self.shell.leave(),
                Step::Assign(name, value) => {
                    self.variables(std::iter::once(&name), None);
                    self.shell.assign(&name, &value);
                }
                Step::Loop(name, words) => self.shell.walk(&name, &words),
                Step::Write(target) => self.redirect(&target),
                Step::Run(simple) => self.simple(&simple, depth),
            }
        }
        if let Some(why) = script.unclear {
            self.ask_unless_whole(format!("the command cannot be judged: {why}"));
        }
    }

    fn ask(&mut self, because: String, always: Option<String>) {
        self.findings.ask(AskedBy::Builtin, because, always);
    }

    fn ask_unless_whole(&mut self, because: String) {
        if !self.whole {
            self.ask(because, None);
        }
    }

    fn simple(&mut self, simple: &Simple, depth: usize) {
        let Some(unit) = Unit::new(simple.words.clone(), simple.fed) else {
            return;
        };
        let line = said_with_variables(simple);
        // Without variables both lines are the same; an allow for a command is none for the same with other variables, and
        // none for what runs it: `sh -c` and the like inherit nothing.
        let fits = |rule: &Rule| depth == 0 && rule.fits_command(&line);
        let granted = self.grants.iter().any(fits);
        let answered = Answered {
            granted,
            allowed: granted || self.policy.allow.iter().any(fits),
        };
        let always = always_rule(&simple.words).filter(|_| simple.assigned.is_empty());
        self.variables(simple.assigned.iter().map(|(name, _)| name), Some(answered));
        self.unit(&unit, answered, always.as_deref(), depth);
        if self.policy.mode == Mode::Confirm
            && !answered.allowed
            && !HARMLESS.contains(&unit.name.as_str())
        {
            let because = format!(
                "every command is asked about (mode confirm): {}",
                short(&line)
            );
            self.ask(because, always);
        }
    }

    fn variables<'s>(
        &mut self,
        names: impl Iterator<Item = &'s String>,
        answered: Option<Answered>,
    ) {
        if answered.map_or(self.whole, |answered| answered.allowed) {
            return;
        }
        for name in names.filter(|name| builtin::is_telling(name)) {
            self.ask(
                format!(
                    "{name} is set, which changes what a command works on or runs (built-in rule)"
                ),
                None,
            );
        }
    }

    /// One command, and those that it runs: they are judged by the same rules, but an allow for them is none for this one.
    fn unit(&mut self, unit: &Unit, answered: Answered, always: Option<&str>, depth: usize) {
        self.persons_rules(unit, answered, always);
        self.builtin_rules(unit, answered, always);
        self.writes(unit, answered);
        self.reads(unit, answered);
        self.git_place(unit, answered);
        self.commit(unit, answered, always);
        self.change_shell(unit);
        if unit.name.is_empty() && !answered.allowed {
            let first = unit.words[0].shown();
            self.ask(
                format!(
                    "{} is a command that is only known when it runs",
                    short(&first)
                ),
                None,
            );
        }
        if depth >= DEEPEST {
            return self.ask_unless_whole("commands run commands too deeply to be judged".into());
        }
        for inner in inner(unit) {
            match inner {
                Inner::Command(inner) => self.unit(&inner, answered, None, depth + 1),
                Inner::Script(text) => self.within(&text, answered, depth + 1),
                Inner::Unknown(why) if !answered.allowed => {
                    self.ask(format!("{why} ({})", short(&said(&unit.words))), None);
                }
                Inner::Unknown(_) => {}
            }
        }
    }

    /// A script that a command runs: what it asks about is answered by a rule for that command.
    fn within(&mut self, text: &str, answered: Answered, depth: usize) {
        let before = self.findings.questions.len();
        self.shell.enter();
        self.script(text, depth);
        self.shell.leave();
        if answered.allowed {
            self.findings.questions.truncate(before);
        }
        for question in &mut self.findings.questions[before..] {
            question.always = None;
        }
    }

    fn persons_rules(&mut self, unit: &Unit, answered: Answered, always: Option<&str>) {
        let mut lines = vec![said(&unit.words)];
        if !unit.name.is_empty() && unit.words[0].known() != Some(&unit.name) {
            let mut words = unit.words.clone();
            words[0] = Word::exact(&unit.name);
            lines.push(said(&words));
        }
        let fits = |rule: &&Rule| lines.iter().any(|line| rule.fits_command(line));
        if let Some(rule) = self.policy.deny.iter().find(fits) {
            self.findings.deny(format!(
                "`{}` is denied by the rule {}",
                short(&lines[0]),
                rule.text()
            ));
        }
        if let Some(rule) = self.policy.ask.iter().find(fits)
            && !answered.granted
        {
            self.findings.ask(
                AskedBy::Person,
                format!("rule {}", rule.text()),
                always.map(Into::into),
            );
        }
    }

    fn builtin_rules(&mut self, unit: &Unit, answered: Answered, always: Option<&str>) {
        for rule in builtin::fitting(unit) {
            match rule.effect {
                Effect::Deny => self.findings.deny(format!(
                    "`{}` is never run: {} (built-in rule {})",
                    short(&said(&unit.words)),
                    rule.why,
                    rule.what
                )),
                Effect::Ask if answered.allowed => {}
                Effect::Ask => self.ask(
                    format!("{} (built-in rule {})", rule.why, rule.what),
                    always.map(Into::into),
                ),
            }
        }
    }

    fn writes(&mut self, unit: &Unit, answered: Answered) {
        for written in written(unit) {
            let target = self.shell.target(&written.path);
            if let Target::Path(path) = &target
                && written.destroys
                && let Some(lost) = precious(path, self.shell.scope)
                && (lost != Precious::Workspace || !unit.name.starts_with("ch"))
            {
                self.findings.deny(format!(
                    "`{}` would destroy {} (built-in rule)",
                    short(&said(&unit.words)),
                    lost.in_words()
                ));
            }
            self.write(&target, &written.path, &unit.name, answered.allowed);
        }
    }

    fn redirect(&mut self, target: &Word) {
        let meant = self.shell.target(target);
        self.write(&meant, target, "a redirect", self.whole);
    }

    /// `answered`: a rule for the command answers for where it writes.
    fn write(&mut self, target: &Target, word: &Word, who: &str, answered: bool) {
        let path = match target {
            Target::Listed => return,
            Target::Unknown if answered => return,
            Target::Unknown => {
                return self.ask(
                    format!(
                        "{who} writes to {}, which is only known when it runs",
                        short(&word.shown())
                    ),
                    None,
                );
            }
            Target::Path(path) => path,
        };
        let found = self.files().written(&WRITING, path, who);
        self.findings
            .add(found, |asked_by| !answered || asked_by != AskedBy::Builtin);
    }

    fn files(&self) -> Files<'_> {
        Files::new(self.policy, self.shell.scope, self.grants)
    }

    /// The rules for `read_file` hold for files that a command names.
    fn reads(&mut self, unit: &Unit, answered: Answered) {
        let about_reading = |rule: &Rule| rule.is_about("read_file");
        let rules = self.policy.deny.iter().chain(&self.policy.ask);
        if !rules.into_iter().any(about_reading) {
            return;
        }
        for word in unit.args() {
            if let Some(path) = self.named_path(word) {
                let found = self.files().read(&["read_file"], &path, &unit.name);
                self.findings.add(found, |_| !answered.granted);
            }
        }
    }

    /// A path that an argument names, also as `--option=path`.
    fn named_path(&self, word: &Word) -> Option<PathBuf> {
        let text = word.beginning();
        let word = match text.split_once('=') {
            Some((option, _)) if option.starts_with('-') => word.behind(&format!("{option}="))?,
            _ if text.starts_with('-') => return None,
            _ => word.clone(),
        };
        match self.shell.target(&word) {
            Target::Path(path) => Some(path),
            Target::Listed | Target::Unknown => None,
        }
    }

    /// A git command that changes something changes the repository of the place where it runs.
    fn git_place(&mut self, unit: &Unit, answered: Answered) {
        if answered.allowed || !git::changes(unit) {
            return;
        }
        let mut places = unit.values(&["-C", "--git-dir", "--work-tree"]);
        if places.is_empty() {
            places.push(Word::exact("."));
        }
        for place in places {
            let because = match self.shell.target(&place) {
                Target::Path(path) if spot(&path, self.shell.scope) == Spot::Inside => continue,
                Target::Path(path) => format!("git changes the repository of {}", path.display()),
                Target::Listed => continue,
                Target::Unknown => {
                    "git changes a repository that is only known when it runs".into()
                }
            };
            self.ask(because, None);
        }
    }

    fn commit(&mut self, unit: &Unit, answered: Answered, always: Option<&str>) {
        if self.commits && is_change(unit) && !answered.allowed {
            let because = "it writes the repository of the workspace, without running its hooks";
            self.ask(because.into(), always.map(Into::into));
        }
    }

    fn change_shell(&mut self, unit: &Unit) {
        match unit.name.as_str() {
            "cd" | "pushd" => self.shell.change_dir(cd_operand(unit)),
            "popd" => self.shell.lose_dir(),
            "read" | "mapfile" | "readarray" => {
                self.shell.read_into(
                    &unit.operands(&["-d", "-n", "-N", "-p", "-t", "-u", "-i", "-O", "-s"]),
                );
            }
            _ => {}
        }
    }
}

fn cd_operand(unit: &Unit) -> Option<&Word> {
    unit.args()
        .iter()
        .find(|arg| !matches!(arg.known(), Some("-P" | "-L" | "-e" | "-@" | "--" | "-n")))
}

/// The text of a bomb however it is spaced, also where the parser gives up.
fn looks_like_fork_bomb(text: &str) -> bool {
    if !text.contains('|') || !text.contains('&') {
        return false;
    }
    let dense: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    dense.match_indices("(){").any(|(at, _)| {
        let name: String = dense[..at]
            .chars()
            .rev()
            .take_while(|c| !matches!(c, ';' | '&' | '|' | '(' | ')' | '{' | '}'))
            .collect();
        let name: String = name.chars().rev().collect();
        !name.is_empty() && dense[at..].starts_with(&format!("(){{{name}|{name}&"))
    })
}
