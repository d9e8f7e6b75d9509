//! What a line means as the answer to a question: pure.

use crate::request::RequestKind;

/// An answer of the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reply {
    /// Yes, approved, allowed.
    pub(super) yes: bool,
    /// Permission: for every later call that the shown rule covers.
    pub(super) always: bool,
    /// What was said besides.
    pub(super) comment: Option<String>,
}

impl Reply {
    /// No, because `why`.
    pub(super) fn no(why: impl Into<String>) -> Self {
        Self {
            yes: false,
            always: false,
            comment: Some(why.into()),
        }
    }

    /// Yes, without a word.
    pub(super) fn yes() -> Self {
        Self {
            yes: true,
            always: false,
            comment: None,
        }
    }
}

/// Reads `line` as an answer to a question of `kind`: one of the words it takes, then a comment. Anything else is `None`.
pub(super) fn parse(kind: RequestKind, line: &str) -> Option<Reply> {
    let line = line.trim();
    let (word, comment) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let word = word.trim_end_matches([',', '.', ':', ';', '!']);
    let (yes, always) = match (kind, word) {
        (RequestKind::Permission, "a") => (true, false),
        (RequestKind::Permission, "A") => (true, true),
        (RequestKind::Permission, "d") => (false, false),
        (RequestKind::Permission, "D") => (false, true),
        _ => (yes_or_no(kind, &word.to_ascii_lowercase())?, false),
    };
    let comment = comment.trim();
    Some(Reply {
        yes,
        always,
        comment: (!comment.is_empty()).then(|| comment.to_owned()),
    })
}

fn yes_or_no(kind: RequestKind, word: &str) -> Option<bool> {
    match word {
        "y" | "yes" | "approve" => Some(true),
        "n" | "no" | "reject" => Some(false),
        "allow" if kind == RequestKind::Permission => Some(true),
        "deny" if kind == RequestKind::Permission => Some(false),
        _ => None,
    }
}

/// The words that a question of `kind` takes, for asking again.
pub(super) fn expected(kind: RequestKind) -> &'static str {
    match kind {
        RequestKind::Permission => {
            "a (allow once), A (allow always), d (deny) or D (deny always), then a comment if you like"
        }
        RequestKind::Team
        | RequestKind::PlanApproval
        | RequestKind::Shutdown
        | RequestKind::PlanWish => "y or n, then a comment if you like",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_words_of_a_question_answer_it() {
        let (team, ask) = (RequestKind::Team, RequestKind::Permission);
        for (kind, line, wanted) in [
            (team, "y", Some((true, false, None))),
            (team, "  YES  ", Some((true, false, None))),
            (team, "approve go on", Some((true, false, Some("go on")))),
            (
                team,
                "no, two are enough",
                Some((false, false, Some("two are enough"))),
            ),
            (team, "Reject", Some((false, false, None))),
            (team, "a", None),
            (team, "yesterday", None),
            (team, "", None),
            (team, "allow", None),
            (team, "do it", None),
            (ask, "a", Some((true, false, None))),
            (ask, "A", Some((true, true, None))),
            (ask, "d not here", Some((false, false, Some("not here")))),
            (ask, "D", Some((false, true, None))),
            (ask, "y", Some((true, false, None))),
            (ask, "deny", Some((false, false, None))),
            (ask, "always", None),
        ] {
            let read = parse(kind, line);
            let read = read
                .as_ref()
                .map(|reply| (reply.yes, reply.always, reply.comment.as_deref()));
            assert_eq!(read, wanted, "{line:?}");
        }
    }
}
