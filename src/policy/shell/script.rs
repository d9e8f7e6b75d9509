//! A script as a flat list of steps in the order in which they would run.

use std::time::Duration;

use tree_sitter::{ParseOptions, Parser, Tree};

use super::reading;
use super::word::Word;
use crate::clock;

/// Longer texts are not parsed, in bytes; no shell call takes them.
const LONGEST: usize = 128 * 1024;

/// A parse that takes longer is given up.
const PATIENCE: Duration = Duration::from_millis(500);

/// A command with its words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::policy) struct Simple {
    /// `NAME=value` before it.
    pub(in crate::policy) assigned: Vec<(String, Word)>,
    /// The command and its arguments; never empty.
    pub(in crate::policy) words: Vec<Word>,
    /// Something is put into its standard input: a pipe, a file, a text.
    pub(in crate::policy) fed: bool,
}

/// What a script does, one thing at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::policy) enum Step {
    /// Runs a command.
    Run(Simple),
    /// Sets a variable of the shell.
    Assign(String, Word),
    /// Sets a loop's variable to each of the words in turn.
    Loop(String, Vec<Word>),
    /// Opens a file for writing.
    Write(Word),
    /// What changes the shell (directory, variables) until the matching [`Step::Leave`] ends there.
    Enter,
    /// See [`Step::Enter`].
    Leave,
}

/// A script as far as it is understood.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::policy) struct Script {
    pub(in crate::policy) steps: Vec<Step>,
    /// Why it is not understood as a whole.
    pub(in crate::policy) unclear: Option<String>,
    /// A function that starts itself in a pipe or in the background.
    pub(in crate::policy) fork_bomb: bool,
}

/// Reads `text` as bash would.
pub(in crate::policy) fn parse(text: &str) -> Script {
    let mut script = match tree(text) {
        Ok(tree) => reading::read(&tree, text),
        Err(why) => Script {
            unclear: Some(why.into()),
            ..Script::default()
        },
    };
    if let Some(why) = oddity(text) {
        script.unclear.get_or_insert_with(|| why.into());
    }
    script
}

fn tree(text: &str) -> Result<Tree, &'static str> {
    if text.len() > LONGEST {
        return Err("it is too long to be judged");
    }
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .map_err(|_| "the shell's grammar cannot be loaded")?;
    let begin = clock::instant();
    let mut give_up = |_: &tree_sitter::ParseState| begin.elapsed() > PATIENCE;
    let options = ParseOptions::new().progress_callback(&mut give_up);
    let bytes = stand_in(text);
    let mut input = |at: usize, _| bytes.get(at..).unwrap_or_default();
    parser
        .parse_with_options(&mut input, None, Some(options))
        .ok_or("it cannot be parsed in time")
}

/// The text as the parser gets it: a letter for every byte that is not ASCII, so that all places stay what they are.
///
/// The grammar's scanner asks the C library whether a character is a digit, which reads outside of a table, and crashes, for
/// one above 255. To the shell such characters are letters of words like any other.
fn stand_in(text: &str) -> Vec<u8> {
    text.bytes()
        .map(|byte| if byte.is_ascii() { byte } else { b'x' })
        .collect()
}

/// What bash and the parser read differently.
fn oddity(text: &str) -> Option<&'static str> {
    let bytes = text.as_bytes();
    let inside = |at: Option<&u8>| at.is_some_and(|byte| !byte.is_ascii_whitespace());
    let joins = |at: usize| at > 0 && inside(bytes.get(at - 1)) && inside(bytes.get(at + 2));
    let mut escaped = false;
    for (at, byte) in bytes.iter().enumerate() {
        let starts_escape = *byte == b'\\' && !escaped;
        if starts_escape && bytes.get(at + 1) == Some(&b'\n') && joins(at) {
            return Some("a line is continued in the middle of a word");
        }
        escaped = starts_escape;
    }
    let odd = |c: char| {
        c.is_control() && !matches!(c, '\n' | '\t') || (!c.is_ascii() && c.is_whitespace())
    };
    text.chars()
        .any(odd)
        .then_some("it holds control characters or blanks that are none to the shell")
}
