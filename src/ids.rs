//! Validated names: whoever holds one may build a path or a message from it.
//!
//! Rules (SPEC §4.1, §7.1): agent names are equal but for ASCII case and keep the spelling they were made with; `main`
//! and `team-lead` are other spellings of `lead`; ids come from a secure random source. Nothing here touches a file.

use std::fmt;
use std::hash::{Hash, Hasher};

use rand::RngCore;
use serde::{Deserialize, Serialize};

/// Longest agent or worktree name, in bytes.
pub const MAX_NAME: usize = 64;

/// Why a text is not a name or an id of ours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The text does not fit the pattern for agent names; `hint` is a name that would do.
    #[error(
        "{name:?} is not an agent name; allowed are 1 to 64 of A-Z a-z 0-9 _ -, not starting with -; {hint:?} would do"
    )]
    Agent {
        /// What was given.
        name: String,
        /// A name that fits.
        hint: String,
    },
    /// The name belongs to the runtime.
    #[error("the name {0:?} is reserved; choose another, such as {0}-1")]
    Reserved(String),
    /// The text does not fit the pattern for worktree names.
    #[error(
        "{0:?} is not a worktree name; allowed are 1 to 64 of A-Z a-z 0-9 . _ -, starting with a letter or digit, without .."
    )]
    Worktree(String),
    /// The text is not `<prefix>_<hex digits>`.
    #[error("{given:?} is not an id of the form {form}")]
    Id {
        /// What was given.
        given: String,
        /// The expected form, such as `task_<8 hex>`.
        form: &'static str,
    },
}

/// The name of an agent: `lead` or a teammate. Equality, order and hash ignore ASCII case.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AgentName(String);

impl AgentName {
    /// Names that no teammate may have.
    pub const RESERVED: [&'static str; 6] = ["lead", "main", "team-lead", "agent", "user", "all"];

    /// Checks `text`; the aliases of `lead` become `lead`.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let fits = !text.is_empty()
            && text.len() <= MAX_NAME
            && !text.starts_with('-')
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
        if !fits {
            return Err(NameError::Agent {
                name: text.chars().take(80).collect(),
                hint: suggest(text),
            });
        }
        if ["lead", "main", "team-lead"]
            .iter()
            .any(|alias| text.eq_ignore_ascii_case(alias))
        {
            return Ok(Self::lead());
        }
        Ok(Self(text.to_owned()))
    }

    /// Checks `text` as the name of a teammate: the reserved names are refused.
    pub fn parse_teammate(text: &str) -> Result<Self, NameError> {
        if Self::RESERVED
            .iter()
            .any(|reserved| text.eq_ignore_ascii_case(reserved))
        {
            return Err(NameError::Reserved(text.to_owned()));
        }
        Self::parse(text)
    }

    /// The lead's name.
    pub fn lead() -> Self {
        Self("lead".to_owned())
    }

    /// The person's name as a sender; mail to it goes to the lead's mailbox.
    pub fn user() -> Self {
        Self("user".to_owned())
    }

    /// Whether this is the lead.
    pub fn is_lead(&self) -> bool {
        self.0 == "lead"
    }

    /// The name as spelled.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn suggest(text: &str) -> String {
    let kept: String = text
        .chars()
        .map(|ch| {
            if ch.is_ascii_alphanumeric() || ch == '_' || ch == '-' {
                ch
            } else {
                '-'
            }
        })
        .take(MAX_NAME)
        .collect();
    let kept = kept.trim_matches('-');
    if kept.is_empty() {
        "teammate-1".to_owned()
    } else {
        kept.to_owned()
    }
}

impl PartialEq for AgentName {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl Eq for AgentName {}

impl PartialOrd for AgentName {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for AgentName {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0
            .bytes()
            .map(|byte| byte.to_ascii_lowercase())
            .cmp(other.0.bytes().map(|byte| byte.to_ascii_lowercase()))
    }
}

impl Hash for AgentName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for byte in self.0.bytes() {
            state.write_u8(byte.to_ascii_lowercase());
        }
        state.write_u8(0xff);
    }
}

/// The name of a worktree below `.worktrees/`, on branch `wt/<name>`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WorktreeName(String);

impl WorktreeName {
    /// Checks `text` against SPEC §7.1; whether git accepts `wt/<name>` is the worktree module's question.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let fits = !text.is_empty()
            && text.len() <= MAX_NAME
            && text.as_bytes()[0].is_ascii_alphanumeric()
            && !text.contains("..")
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
        if fits {
            Ok(Self(text.to_owned()))
        } else {
            Err(NameError::Worktree(text.chars().take(80).collect()))
        }
    }

    /// The name as spelled.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The branch of this worktree.
    pub fn branch(&self) -> String {
        format!("wt/{}", self.0)
    }
}

macro_rules! hex_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal, $digits:literal, $form:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Draws an id from the operating system's random source.
            pub fn random() -> Self {
                Self(format!(concat!($prefix, "{}"), random_hex($digits)))
            }

            /// Checks that `text` has exactly this form, in lower case.
            pub fn parse(text: &str) -> Result<Self, NameError> {
                let fits = text.strip_prefix($prefix).is_some_and(|hex| {
                    hex.len() == $digits && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
                });
                if fits {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(NameError::Id { given: text.chars().take(80).collect(), form: $form })
                }
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        text_conversions!($name);
    };
}

macro_rules! text_conversions {
    ($name:ident) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = NameError;
            fn try_from(text: String) -> Result<Self, NameError> {
                Self::parse(&text)
            }
        }

        impl std::str::FromStr for $name {
            type Err = NameError;
            fn from_str(text: &str) -> Result<Self, NameError> {
                Self::parse(text)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0
            }
        }
    };
}

text_conversions!(AgentName);
text_conversions!(WorktreeName);

hex_id!(
    /// A task's id, `task_<8 hex>`.
    TaskId, "task_", 8, "task_<8 hex>"
);
hex_id!(
    /// A request's id, `req_<8 hex>`.
    RequestId, "req_", 8, "req_<8 hex>"
);
hex_id!(
    /// A session's id, `ses_<8 hex>`.
    SessionId, "ses_", 8, "ses_<8 hex>"
);

/// A new message id, `msg_<16 hex>`. Ids of foreign messages are free text, so this is no type of its own.
pub fn message_id() -> String {
    format!("msg_{}", random_hex(16))
}

/// `digits` lower-case hex digits that nobody can guess, of a generator that each thread seeds from the operating system.
///
/// Panics if there is no such seed: an id that is not random would overwrite somebody's work.
pub fn random_hex(digits: usize) -> String {
    let mut bytes = vec![0_u8; digits.div_ceil(2)];
    rand::rng().fill_bytes(&mut bytes);
    let nibbles = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    nibbles
        .filter_map(|nibble| char::from_digit(u32::from(nibble), 16))
        .take(digits)
        .collect()
}

/// The candidate nearest to `given` by edit distance, if one is near enough to be a slip of the fingers.
pub fn nearest<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = given.to_lowercase();
    let length = given.chars().count();
    candidates
        .into_iter()
        .map(|candidate| (distance(&given, &candidate.to_lowercase()), candidate))
        .filter(|(cost, candidate)| {
            let other = candidate.chars().count();
            *cost <= 1 + other / 3 && cost * 2 < length.max(other)
        })
        .min_by_key(|(cost, _)| *cost)
        .map(|(_, candidate)| candidate)
}

/// Optimal string alignment distance (insert, delete, replace, swap of neighbours).
fn distance(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let mut rows = vec![vec![0; right.len() + 1]; left.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    for (j, cell) in rows[0].iter_mut().enumerate() {
        *cell = j;
    }
    for i in 1..=left.len() {
        for j in 1..=right.len() {
            let swap = usize::from(left[i - 1] != right[j - 1]);
            let mut best = (rows[i - 1][j] + 1)
                .min(rows[i][j - 1] + 1)
                .min(rows[i - 1][j - 1] + swap);
            if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[left.len()][right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_build_paths_are_checked() {
        for bad in [
            "",
            "-a",
            "a/b",
            "..",
            "a.b",
            "a\0b",
            "é",
            &"x".repeat(65),
            "a b",
            "a\n",
        ] {
            assert!(AgentName::parse(bad).is_err(), "{bad:?}");
        }
        for bad in ["", ".a", "-a", "a..b", "a/b", "a b", &"x".repeat(65)] {
            assert!(WorktreeName::parse(bad).is_err(), "{bad:?}");
        }
        for bad in [
            "task_1",
            "task_1A2B3C4D",
            "task_1a2b3c4d5",
            "req_1a2b3c4d",
            "task_../../x",
        ] {
            assert!(TaskId::parse(bad).is_err(), "{bad:?}");
        }
        assert_eq!(
            TaskId::parse(TaskId::random().as_str())
                .unwrap()
                .as_str()
                .len(),
            13
        );
    }

    #[test]
    fn case_and_aliases_do_not_make_another_agent() {
        assert_eq!(
            AgentName::parse("Alice").unwrap(),
            AgentName::parse("aLICE").unwrap()
        );
        for alias in ["lead", "Lead", "MAIN", "team-lead"] {
            assert!(AgentName::parse(alias).unwrap().is_lead());
            assert!(matches!(
                AgentName::parse_teammate(alias),
                Err(NameError::Reserved(_))
            ));
        }
    }

    #[test]
    fn a_refused_name_comes_with_one_that_would_do() {
        let Err(NameError::Agent { hint, .. }) = AgentName::parse("back end/1") else {
            panic!("accepted")
        };
        assert!(AgentName::parse(&hint).is_ok());
    }

    #[test]
    fn nearest_finds_slips_and_nothing_else() {
        assert_eq!(nearest("alcie", ["bob", "alice"]), Some("alice"));
        assert_eq!(nearest("zebra", ["bob", "alice"]), None);
    }
}
