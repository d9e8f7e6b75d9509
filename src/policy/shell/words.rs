//! The words that a piece of the parser's tree makes.
//!
//! Quotes and backslashes are resolved and braces expanded, so that `r\m`, `'rm'`, `$'\x72m'` and `{rm,x}` say what they run.

use std::iter::Peekable;
use std::str::Chars;

use tree_sitter::Node;

use super::word::{Part, Word};

/// The most words that braces may make of one; beyond it the word is unknown.
const MOST_WORDS: usize = 256;

/// The words that the tree's `node` makes: one, or several if it holds braces.
pub(super) fn words(node: Node<'_>, source: &str) -> Vec<Word> {
    let mut atoms = Vec::new();
    read(node, source, &mut atoms);
    expand(&atoms).map_or_else(
        || vec![Word::unknown(text_of(node, source))],
        |all| all.iter().map(|atoms| assemble(atoms)).collect(),
    )
}

/// A single word: braces are unknown (as in a redirect, where more than one word is an error).
pub(super) fn single(node: Node<'_>, source: &str) -> Word {
    let mut all = words(node, source);
    match (all.pop(), all.is_empty()) {
        (Some(word), true) => word,
        _ => Word::unknown(text_of(node, source)),
    }
}

pub(super) fn text_of<'a>(node: Node<'_>, source: &'a str) -> &'a str {
    source.get(node.byte_range()).unwrap_or_default()
}

/// The smallest piece: what braces are looked for in.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Atom {
    Plain(char),
    Quoted(char),
    /// An empty pair of quotes: it makes a word of nothing, and keeps `~` from meaning home.
    Empty,
    Opaque(Part),
}

fn read(node: Node<'_>, source: &str, atoms: &mut Vec<Atom>) {
    let text = text_of(node, source);
    match node.kind() {
        "command_name" | "concatenation" => {
            let mut cursor = node.walk();
            for child in node.children(&mut cursor) {
                read(child, source, atoms);
            }
        }
        "raw_string" => quoted(text.trim_matches('\''), atoms),
        "ansi_c_string" => {
            let inner = text
                .strip_prefix("$'")
                .and_then(|rest| rest.strip_suffix('\''));
            quoted(&ansi_c(inner.unwrap_or_default()), atoms);
        }
        "string" | "translated_string" => read_string(node, source, atoms),
        "simple_expansion" | "expansion" => {
            let name = text
                .trim_start_matches('$')
                .trim_start_matches('{')
                .trim_end_matches('}');
            // `${NAME:?text}` is the value of NAME, or nothing at all.
            let name = name
                .split_once('?')
                .map_or(name, |(name, _)| name.trim_end_matches(':'));
            let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            atoms.push(Atom::Opaque(if plain && !name.is_empty() {
                Part::Variable(name.into())
            } else {
                Part::Unknown(text.into())
            }));
        }
        "command_substitution" => {
            let inner = text
                .strip_prefix("$(")
                .and_then(|rest| rest.strip_suffix(')'))
                .or_else(|| text.strip_prefix('`')?.strip_suffix('`'));
            atoms.push(Atom::Opaque(Part::Printed(
                inner.unwrap_or(text).trim().into(),
            )));
        }
        "process_substitution" | "arithmetic_expansion" | "array" | "subshell" => {
            atoms.push(Atom::Opaque(Part::Unknown(text.into())));
        }
        _ => unquoted(text, atoms),
    }
}

fn unquoted(text: &str, atoms: &mut Vec<Atom>) {
    let mut rest = text.chars();
    while let Some(next) = rest.next() {
        if next != '\\' {
            atoms.push(Atom::Plain(next));
            continue;
        }
        match rest.next() {
            Some('\n') => {}
            Some(escaped) => atoms.push(Atom::Quoted(escaped)),
            None => atoms.push(Atom::Quoted('\\')),
        }
    }
}

fn quoted(text: &str, atoms: &mut Vec<Atom>) {
    if text.is_empty() {
        atoms.push(Atom::Empty);
    }
    atoms.extend(text.chars().map(Atom::Quoted));
}

/// Text between the expansions is taken from the source: the tree leaves out some of its blanks.
fn read_string(node: Node<'_>, source: &str, atoms: &mut Vec<Atom>) {
    let before = atoms.len();
    let opening = if text_of(node, source).starts_with('$') {
        2
    } else {
        1
    };
    let mut from = node.start_byte() + opening;
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        if matches!(child.kind(), "string_content" | "string") {
            continue;
        }
        double_quoted(source.get(from..child.start_byte()), atoms);
        read(child, source, atoms);
        from = child.end_byte();
    }
    double_quoted(source.get(from..node.end_byte().saturating_sub(1)), atoms);
    if atoms.len() == before {
        atoms.push(Atom::Empty);
    }
}

fn double_quoted(text: Option<&str>, atoms: &mut Vec<Atom>) {
    let mut rest = text.unwrap_or_default().chars().peekable();
    while let Some(next) = rest.next() {
        if next == '\\' {
            match rest.next_if(|c| matches!(c, '$' | '`' | '"' | '\\' | '\n')) {
                Some('\n') => continue,
                Some(escaped) => atoms.push(Atom::Quoted(escaped)),
                None => atoms.push(Atom::Quoted('\\')),
            }
            continue;
        }
        atoms.push(Atom::Quoted(next));
    }
}

/// The escapes of `$'…'`.
fn ansi_c(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text.chars().peekable();
    while let Some(next) = rest.next() {
        if next != '\\' {
            result.push(next);
            continue;
        }
        match rest.next() {
            Some('n') => result.push('\n'),
            Some('t') => result.push('\t'),
            Some('r') => result.push('\r'),
            Some('a') => result.push('\u{7}'),
            Some('b') => result.push('\u{8}'),
            Some('e' | 'E') => result.push('\u{1b}'),
            Some('f') => result.push('\u{c}'),
            Some('v') => result.push('\u{b}'),
            Some('x') => result.extend(number(&mut rest, 16, 2, 0)),
            Some('u') => result.extend(number(&mut rest, 16, 4, 0)),
            Some('U') => result.extend(number(&mut rest, 16, 8, 0)),
            Some(digit @ '0'..='7') => {
                result.extend(number(&mut rest, 8, 2, digit.to_digit(8).unwrap_or(0)));
            }
            Some('c') => {
                rest.next();
                result.push('\u{1}');
            }
            Some(other) => result.push(other),
            None => {}
        }
    }
    result
}

fn number(rest: &mut Peekable<Chars<'_>>, radix: u32, most: usize, start: u32) -> Option<char> {
    let mut value = start;
    for _ in 0..most {
        let Some(digit) = rest.peek().and_then(|c| c.to_digit(radix)) else {
            break;
        };
        rest.next();
        value = value.wrapping_mul(radix).wrapping_add(digit);
    }
    char::from_u32(value)
}

/// Braces as bash expands them; a range stands for its first member, since all are alike here. `None` if there are too many.
fn expand(atoms: &[Atom]) -> Option<Vec<Vec<Atom>>> {
    let mut done = Vec::new();
    let mut open = vec![atoms.to_vec()];
    while let Some(word) = open.pop() {
        match first_braces(&word) {
            None => done.push(word),
            Some((start, end, choices)) => {
                // The last choice is looked at first, so push in order and reverse at the end.
                for choice in choices {
                    let mut next = word[..start].to_vec();
                    next.extend(choice);
                    next.extend_from_slice(&word[end..]);
                    open.push(next);
                }
            }
        }
        if open.len() + done.len() > MOST_WORDS {
            return None;
        }
    }
    done.reverse();
    Some(done)
}

type Braces = (usize, usize, Vec<Vec<Atom>>);

/// The braces closed first that hold a comma or `..` of their own: where they start, the place behind them, what they offer.
/// Bash takes the outermost first, which gives the same words, some of them more often.
fn first_braces(word: &[Atom]) -> Option<Braces> {
    let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
    for (at, atom) in word.iter().enumerate() {
        match atom {
            Atom::Plain('{') => open.push((at, Vec::new())),
            Atom::Plain(',') => {
                if let Some((_, commas)) = open.last_mut() {
                    commas.push(at);
                }
            }
            Atom::Plain('}') => {
                if let Some((start, commas)) = open.pop()
                    && let Some(choices) = choices(word, start, &commas, at)
                {
                    return Some((start, at + 1, choices));
                }
            }
            _ => {}
        }
    }
    None
}

fn choices(word: &[Atom], start: usize, commas: &[usize], end: usize) -> Option<Vec<Vec<Atom>>> {
    if commas.is_empty() {
        return range_start(&word[start + 1..end]).map(|first| vec![first]);
    }
    let mut from = start + 1;
    let mut all = Vec::new();
    for at in commas.iter().copied().chain([end]) {
        all.push(word[from..at].to_vec());
        from = at + 1;
    }
    Some(all)
}

fn range_start(inner: &[Atom]) -> Option<Vec<Atom>> {
    let dots = inner
        .windows(2)
        .position(|pair| pair == [Atom::Plain('.'), Atom::Plain('.')])?;
    let start = &inner[..dots];
    let simple =
        |atom: &Atom| matches!(atom, Atom::Plain(c) if c.is_ascii_alphanumeric() || *c == '-');
    (!start.is_empty() && start.iter().all(simple)).then(|| start.to_vec())
}

fn assemble(atoms: &[Atom]) -> Word {
    let mut word = Word {
        tilde: atoms.first() == Some(&Atom::Plain('~')),
        ..Word::default()
    };
    for atom in atoms {
        let next = match atom {
            Atom::Plain(c) => {
                word.glob |= matches!(c, '*' | '?' | '[');
                *c
            }
            Atom::Quoted(c) => *c,
            Atom::Empty => continue,
            Atom::Opaque(part) => {
                word.parts.push(part.clone());
                continue;
            }
        };
        if let Some(Part::Text(text)) = word.parts.last_mut() {
            text.push(next);
        } else {
            word.parts.push(Part::Text(next.into()));
        }
    }
    word
}
