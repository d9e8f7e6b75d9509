//! What stands in the parentheses of a rule, and how it is compared.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use super::decide::Scope;
use super::shell::{self, Simple, Step, Word};

/// What separates characters of one word that are blanks, so that one word never looks like two.
const INNER_BLANK: char = '\u{1}';

/// A command in one line: its words as they say, one blank between them.
pub(super) fn said(words: &[Word]) -> String {
    let words: Vec<String> = words
        .iter()
        .map(|word| {
            word.shown()
                .replace([' ', '\t', '\n'], &INNER_BLANK.to_string())
        })
        .collect();
    words.join(" ")
}

/// The same with the variables that are set for it.
pub(super) fn said_with_variables(simple: &Simple) -> String {
    let mut all: Vec<Word> = simple
        .assigned
        .iter()
        .map(|(name, value)| Word::exact(&format!("{name}={}", value.shown())))
        .collect();
    all.extend_from_slice(&simple.words);
    said(&all)
}

/// The texts that fit when the pattern `inner` does: `*` at the end also stands for nothing more.
pub(super) fn command_patterns(inner: &str) -> Result<Vec<String>, String> {
    if let Some(before) = inner.strip_suffix(":*") {
        // Known from elsewhere for "begins with these words"; it may as well be meant as written.
        let mut both = command_patterns(&format!("{before} *"))?;
        both.push(single_command(inner)?);
        return Ok(both);
    }
    let pattern = single_command(inner)?;
    let without_end = pattern.strip_suffix(" *").map(str::to_owned);
    Ok([Some(pattern), without_end].into_iter().flatten().collect())
}

fn single_command(text: &str) -> Result<String, String> {
    let script = shell::parse(text);
    if let Some(why) = script.unclear {
        return Err(format!("it can fit no command: {why}"));
    }
    let mut found = None;
    for step in script.steps {
        match step {
            Step::Run(simple) if found.is_none() => found = Some(simple),
            Step::Run(_) | Step::Write(_) | Step::Loop(..) => {
                return Err(
                    "it can fit no command, since every command of a line is judged by itself; write one rule for each, without redirects"
                        .into(),
                );
            }
            Step::Assign(..) | Step::Enter | Step::Leave => {}
        }
    }
    found
        .map(|simple| said_with_variables(&simple))
        .ok_or_else(|| "it names no command".into())
}

/// Whether `text` is `pattern`, in which `*` is any text.
pub(super) fn wildcard(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let Some(last) = pieces.next_back() else {
        return rest.is_empty();
    };
    for piece in pieces {
        let Some(at) = rest.find(piece) else {
            return false;
        };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

/// A path pattern and what it is relative to.
#[derive(Debug, Clone)]
pub(super) struct PathPattern {
    base: Base,
    /// As written, and everything beneath it.
    globs: [GlobMatcher; 2],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    Root,
    Home,
    /// The directory so many levels above the assignment's.
    Dir(usize),
}

impl PathPattern {
    /// Parses `text` as people write it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (base, rest) = if let Some(rest) = text.strip_prefix('/') {
            (Base::Root, rest)
        } else if let Some(rest) = text.strip_prefix("~/") {
            (Base::Home, rest)
        } else if text.starts_with('~') {
            return Err("only one's own home can be named, as `~/…`".into());
        } else {
            let mut rest = text.trim_start_matches("./");
            let mut up = 0;
            while let Some(above) = rest.strip_prefix("../") {
                (up, rest) = (up + 1, above.trim_start_matches("./"));
            }
            (Base::Dir(up), rest)
        };
        let rest = rest.trim_end_matches('/');
        if rest.split('/').any(|part| matches!(part, "." | "..")) || rest.contains("//") {
            return Err("it can fit no path; write it without `.`, `..` and `//` inside".into());
        }
        let glob = |pattern: &str| {
            GlobBuilder::new(pattern)
                .literal_separator(true)
                .case_insensitive(cfg!(target_os = "macos"))
                .build()
                .map(|glob| glob.compile_matcher())
                .map_err(|error| format!("it is no path pattern: {}", error.kind()))
        };
        let beneath = if rest.is_empty() {
            "**".into()
        } else {
            format!("{rest}/**")
        };
        Ok(Self {
            base,
            globs: [glob(rest)?, glob(&beneath)?],
        })
    }

    /// Whether it fits `path`, absolute and without `.` and `..`.
    pub(super) fn fits(&self, path: &Path, scope: &Scope) -> bool {
        let base: Option<PathBuf> = match self.base {
            Base::Root => Some("/".into()),
            Base::Home => scope.home.clone(),
            Base::Dir(up) => scope.dir.ancestors().nth(up).map(Path::to_path_buf),
        };
        base.and_then(|base| path.strip_prefix(base).ok())
            .is_some_and(|rest| self.globs.iter().any(|glob| glob.is_match(rest)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards() {
        for (pattern, text, expected) in [
            ("a*c", "abc", true),
            ("a*c", "ac", true),
            ("a*c", "abcd", false),
            ("*", "", true),
            ("a*b*c", "a b b c", true),
            ("a*b*c", "acb", false),
            ("aa*aa", "aaa", false),
            ("a", "a", true),
            ("a", "ab", false),
        ] {
            assert_eq!(wildcard(pattern, text), expected, "{pattern} {text}");
        }
    }
}
