//! The one line that a guard writes when all is over.
//!
//! `exited CODE left N`, `signalled NUMBER left N`, or `failed WHY` if the command could not be started.

use std::fmt;

use super::call::End;

/// What a guard has to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Report {
    /// The command ended; `leftovers` processes that it had left were ended.
    Ended { end: End, leftovers: usize },
    /// It could not be started.
    Failed(String),
}

impl Report {
    /// `None` if `text` is no report: the guard died, or is no guard.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let line = text.strip_suffix('\n')?;
        if let Some(why) = line.strip_prefix("failed ") {
            return Some(Self::Failed(why.into()));
        }
        let mut words = line.split(' ');
        let how = words.next()?;
        let number = words.next()?.parse().ok()?;
        let end = match how {
            "exited" => End::Exited(number),
            "signalled" => End::Signalled(number),
            _ => return None,
        };
        (words.next()? == "left").then_some(())?;
        let leftovers = words.next()?.parse().ok()?;
        words
            .next()
            .is_none()
            .then_some(Self::Ended { end, leftovers })
    }

    /// The guard's own exit code, as a shell would give it.
    pub(super) fn exit_code(&self) -> i32 {
        match self {
            Self::Ended {
                end: End::Exited(code),
                ..
            } => *code,
            Self::Ended {
                end: End::Signalled(number),
                ..
            } => 128 + number,
            Self::Ended {
                end: End::TimedOut | End::Cancelled,
                ..
            }
            | Self::Failed(_) => 125,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended { end, leftovers } => {
                match end {
                    End::Exited(code) => write!(f, "exited {code}")?,
                    End::Signalled(number) => write!(f, "signalled {number}")?,
                    End::TimedOut | End::Cancelled => write!(f, "signalled 9")?,
                }
                writeln!(f, " left {leftovers}")
            }
            Self::Failed(why) => writeln!(f, "failed {}", why.replace('\n', " ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read_back() {
        let ended = |end, leftovers| Report::Ended { end, leftovers };
        for report in [
            ended(End::Exited(0), 0),
            ended(End::Exited(255), 3),
            ended(End::Signalled(64), 1),
            Report::Failed("cannot start /bin/sh: no memory".into()),
        ] {
            assert_eq!(Report::parse(&report.to_string()), Some(report));
        }
    }

    #[test]
    fn anything_else_is_no_report() {
        for text in [
            "",
            "exited 0 left 0",
            "exited 0\n",
            "exited 0 left\n",
            "exited x left 0\n",
            "exited 0 left -1\n",
            "exited 0 left 0 more\n",
            "ended 0 left 0\n",
            "exited 0 left 0\nexited 0 left 0\n",
            "thread main panicked\n",
        ] {
            assert_eq!(Report::parse(text), None, "{text:?}");
        }
    }
}
