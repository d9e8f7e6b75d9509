//! Reasons to ask, and the rules that answer them from then on.

use std::path::Path;

use super::command::{Unit, inner};
use super::shell::Word;

/// Programs whose second word says what they do.
const WITH_VERB: [&str; 24] = [
    "git",
    "cargo",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "deno",
    "go",
    "pip",
    "pip3",
    "uv",
    "poetry",
    "docker",
    "podman",
    "kubectl",
    "make",
    "just",
    "apt",
    "apt-get",
    "brew",
    "systemctl",
    "gh",
    "rustup",
    "terraform",
];

/// Who wants a question asked, and so who may answer it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AskedBy {
    /// The built-in rules: a rule of the person answers.
    Builtin,
    /// A rule of the person: one kept for "always" answers.
    Person,
    /// What a member is bound to: one kept for "always" answers; no mode does.
    Bound,
}

/// A reason to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) asked_by: AskedBy,
    pub(super) because: String,
    /// The rule that answers it from now on.
    pub(super) always: Option<String>,
}

/// What was found in a call.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) deny: Option<String>,
    pub(super) questions: Vec<Question>,
}

impl Findings {
    pub(super) fn deny(&mut self, why: String) {
        self.deny.get_or_insert(why);
    }

    pub(super) fn ask(&mut self, asked_by: AskedBy, because: String, always: Option<String>) {
        self.questions.push(Question {
            asked_by,
            because,
            always,
        });
    }

    /// Takes over what else was `found`; of its questions those that `stand`, by who asks them.
    pub(super) fn add(&mut self, found: Self, stand: impl Fn(AskedBy) -> bool) {
        if let Some(why) = found.deny {
            self.deny(why);
        }
        let questions = found.questions.into_iter();
        self.questions
            .extend(questions.filter(|question| stand(question.asked_by)));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.deny.is_none() && self.questions.is_empty()
    }
}

/// The rule for all commands that begin like this one: one word, or two where the second is a verb.
pub(super) fn always_rule(words: &[Word]) -> Option<String> {
    let plain = |word: &Word| {
        let text = word.known()?.to_owned();
        let simple =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+');
        (!text.is_empty() && text.chars().all(simple) && !word.glob).then_some(text)
    };
    let first = plain(words.first()?)?;
    let name = Path::new(&first).file_name()?.to_str()?;
    let unit = Unit::new(words.to_vec(), false)?;
    if !inner(&unit).is_empty() {
        return None;
    }
    if !WITH_VERB.contains(&name) {
        return Some(format!("bash({first} *)"));
    }
    match words.get(1).map(|word| (plain(word), word)) {
        None => Some(format!("bash({first})")),
        Some((Some(verb), _)) if !verb.starts_with('-') => Some(format!("bash({first} {verb} *)")),
        Some(_) => None,
    }
}

/// The rule that allows `tool` on exactly `path`; `None` if a rule cannot say it.
pub(super) fn path_rule(tool: &str, path: &Path) -> Option<String> {
    let text = path.to_str()?;
    let plain = !text.contains(['*', '?', '[', ']', '{', '}', '(', ')', '\\'])
        && text.chars().all(|c| !c.is_control());
    plain.then(|| format!("{tool}({text})"))
}

/// At most so much of a text as a person wants to see in one line.
pub(super) fn short(text: &str) -> String {
    const MOST: usize = 120;
    let clean: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(MOST + 1)
        .collect();
    if clean.chars().count() > MOST {
        let cut: String = clean.chars().take(MOST).collect();
        return format!("{cut}…");
    }
    clean
}

/// All questions as one; a rule for "always" only if it answers every one of them.
pub(super) fn together(questions: Vec<Question>) -> Option<(String, Option<String>)> {
    const MOST: usize = 4;
    let always = questions.first()?.always.clone();
    let same = questions.iter().all(|question| question.always == always);
    let mut reasons: Vec<String> = Vec::new();
    for question in questions {
        if !reasons.contains(&question.because) {
            reasons.push(question.because);
        }
    }
    let more = reasons.len().saturating_sub(MOST);
    reasons.truncate(MOST);
    let mut because = reasons.join("; ");
    if more > 0 {
        because.extend(["; and ", &more.to_string(), " more"]);
    }
    Some((because, always.filter(|_| same)))
}
