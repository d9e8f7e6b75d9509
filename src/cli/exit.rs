//! How a process ends: one table from kind to exit code, one printer of errors.

use std::fmt;
use std::process::ExitCode;

use super::safe::safe_line;
use super::shell;

/// Longest error line, in characters.
const MAX_LINE: usize = 4000;

/// Why a process ends; each kind has one code (SPEC §14).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// All was done.
    Completed,
    /// Tasks are open, a server refused, or a file could not be read or written.
    Failed,
    /// A mistake in the call or in the settings; nothing was changed.
    Usage,
    /// A limit was reached.
    Limit,
    /// A teammate that could not mend an error; the lead starts it again.
    Crashed,
    /// SIGHUP.
    HungUp,
    /// SIGINT, or Ctrl-C.
    Interrupted,
    /// SIGTERM.
    Terminated,
}

impl Kind {
    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Completed => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Limit => 3,
            Self::Crashed => crate::teammate::CRASHED,
            Self::HungUp => 129,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }
}

/// An error for the person: its kind, and `what; why; what to do`.
#[derive(Debug)]
pub struct Failure {
    kind: Kind,
    text: String,
}

/// What every front end and verb comes to.
pub type Outcome = Result<Kind, Failure>;

impl Failure {
    /// A mistake in the call or in the settings: exit code 2. Texts from below that say less than what, why and what to do
    /// are completed.
    pub fn usage(text: impl fmt::Display) -> Self {
        let text = text.to_string();
        let rest = match text.matches("; ").count() {
            0 => "; nothing was changed; correct that and try again",
            1 => "; nothing was changed",
            _ => "",
        };
        Self {
            kind: Kind::Usage,
            text: text + rest,
        }
    }

    /// An error that a teammate could not mend.
    pub fn crashed(error: &anyhow::Error) -> Self {
        Self {
            kind: Kind::Crashed,
            text: with_causes(error),
        }
    }

    /// What is told to the person.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Something that went wrong: exit code 1.
    pub fn failed(text: impl fmt::Display) -> Self {
        Self {
            kind: Kind::Failed,
            text: text.to_string(),
        }
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::failed(with_advice(with_causes(&error.into())))
    }
}

fn with_causes(error: &anyhow::Error) -> String {
    let chain = error.chain().map(ToString::to_string).collect();
    without_repetition(chain).join("; ")
}

/// A text that names no command says what to do all the same.
fn with_advice(text: String) -> String {
    if text.contains('`') {
        text
    } else {
        text + "; `lead doctor` says what is not in order here"
    }
}

/// Causes that the text above them says already are left out.
fn without_repetition(chain: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for text in chain {
        if !kept.iter().any(|above| above.contains(&text)) {
            kept.push(text);
        }
    }
    kept
}

/// Prints the error, if it is one, and gives the process its code. The only place that does either.
pub fn finish(outcome: Outcome) -> ExitCode {
    let kind = match outcome {
        Ok(kind) => match shell::unwritten() {
            Some(why) => tell(&unprinted(kind, why)),
            None => kind,
        },
        Err(failure) => tell(&failure),
    };
    ExitCode::from(kind.code())
}

fn tell(failure: &Failure) -> Kind {
    shell::err_line(&error_line(&failure.text));
    failure.kind
}

/// What was done and could not be told of: success is one that somebody has read.
fn unprinted(kind: Kind, why: &str) -> Failure {
    Failure {
        kind: match kind {
            Kind::Completed => Kind::Failed,
            other => other,
        },
        text: format!(
            "standard output could not be written; {why}; what was to be changed is changed, only the answer is lost: send it \
             elsewhere or make room"
        ),
    }
}

fn error_line(text: &str) -> String {
    format!("error: {}", safe_line(text.trim(), MAX_LINE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_the_code_of_the_contract() {
        for (kind, code) in [
            (Kind::Completed, 0),
            (Kind::Failed, 1),
            (Kind::Usage, 2),
            (Kind::Limit, 3),
            (Kind::Interrupted, 130),
            (Kind::Terminated, 143),
        ] {
            assert_eq!(kind.code(), code);
        }
    }

    #[test]
    fn an_error_is_one_harmless_line_with_its_causes() {
        let error = anyhow::anyhow!("no such file").context("cannot read /x/\u{1b}[2J\nboard");
        let failure = Failure::from(error);
        assert_eq!(failure.kind, Kind::Failed);
        assert_eq!(
            error_line(&failure.text),
            "error: cannot read /x/␛⏎board; no such file; `lead doctor` says what is not in order here"
        );
    }

    #[test]
    fn a_cause_that_is_said_already_is_not_repeated() {
        let error = anyhow::anyhow!("disk full").context("cannot write: disk full");
        let text = Failure::from(error).text;
        assert!(
            text.starts_with("cannot write: disk full; `lead doctor`"),
            "{text}"
        );
    }
}
