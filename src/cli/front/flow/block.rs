//! What a line of markdown is, told from its beginning.

use crate::cli::wrap::columns::width;

/// A kind of line, with what of the line is its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) kind: Kind,
    /// Where the text begins, in bytes.
    pub(super) body: usize,
    /// What stands before the first row instead of what the line begins with.
    pub(super) first: String,
    /// What stands before each other row.
    pub(super) rest: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Prose,
    Heading,
    Quote,
    /// A line across: shown as it is.
    Rule,
    /// A row of a table: columns that fit together only as they are.
    Table,
    /// The line that begins or ends a block of code.
    Fence(Fence),
}

/// A fence's character and how many of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fence {
    mark: char,
    count: usize,
}

impl Fence {
    /// Whether `line` ends the block that this began.
    pub(super) fn is_ended_by(self, line: &str) -> bool {
        let line = line.trim();
        line.chars().all(|ch| ch == self.mark) && line.len() >= self.count
    }

    fn at(line: &str) -> Option<Self> {
        let line = line.trim_start();
        let mark = line.chars().next().filter(|ch| matches!(ch, '`' | '~'))?;
        let count = line.chars().take_while(|ch| *ch == mark).count();
        let is_code_in_line = mark == '`' && line[count..].contains('`');
        (count >= 3 && !is_code_in_line).then_some(Self { mark, count })
    }
}

impl Block {
    /// What `line` is outside of code. It may change while the line grows.
    pub(super) fn of(line: &str) -> Self {
        let text = line.trim_start_matches(' ');
        let blanks = line.len() - text.len();
        let as_is = |kind| Self {
            kind,
            body: 0,
            first: String::new(),
            rest: " ".repeat(blanks),
        };
        if let Some(fence) = Fence::at(line) {
            return as_is(Kind::Fence(fence));
        }
        if is_rule(text) {
            return as_is(Kind::Rule);
        }
        if text.starts_with('|') {
            return as_is(Kind::Table);
        }
        if let Some(length) = heading(text) {
            return Self {
                kind: Kind::Heading,
                body: blanks + length,
                first: String::new(),
                rest: String::new(),
            };
        }
        if text.starts_with('>') {
            return quote(line);
        }
        match item(text) {
            Some((length, sign)) => {
                let first = format!("{}{sign} ", " ".repeat(blanks));
                Self {
                    kind: Kind::Prose,
                    body: blanks + length,
                    rest: " ".repeat(width(&first)),
                    first,
                }
            }
            None => as_is(Kind::Prose),
        }
    }

    /// The same where nothing of markdown is to be taken away: rows only hang beneath the text.
    pub(super) fn untouched(line: &str) -> Self {
        let block = Self::of(line);
        match block.kind {
            Kind::Fence(_) | Kind::Table | Kind::Rule => block,
            Kind::Prose | Kind::Heading | Kind::Quote => Self {
                kind: Kind::Prose,
                body: 0,
                first: String::new(),
                rest: " ".repeat(width(&block.rest)),
            },
        }
    }
}

fn is_rule(text: &str) -> bool {
    let marks = || text.chars().filter(|ch| *ch != ' ');
    let first = marks().next().filter(|ch| matches!(ch, '-' | '*' | '_'));
    first.is_some_and(|first| marks().all(|ch| ch == first)) && marks().count() >= 3
}

/// The length of a heading's marks.
fn heading(text: &str) -> Option<usize> {
    let level = text.bytes().take_while(|byte| *byte == b'#').count();
    let blanks = text[level..]
        .bytes()
        .take_while(|byte| *byte == b' ')
        .count();
    ((1..=6).contains(&level) && blanks > 0).then_some(level + blanks)
}

/// The length of an item's mark with the blanks after it, and the sign shown for it.
fn item(text: &str) -> Option<(usize, String)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (mark, sign) = match text[digits..].chars().next()? {
        '-' | '*' | '+' if digits == 0 => (1, "•".to_owned()),
        '.' | ')' if (1..=9).contains(&digits) => (digits + 1, text[..=digits].to_owned()),
        _ => return None,
    };
    let blanks = text[mark..]
        .bytes()
        .take_while(|byte| *byte == b' ')
        .count();
    (blanks > 0).then_some((mark + blanks, sign))
}

fn quote(line: &str) -> Block {
    let mut body = 0;
    let mut depth = 0;
    for (at, ch) in line.char_indices() {
        match ch {
            '>' => depth += 1,
            ' ' => {}
            _ => break,
        }
        body = at + 1;
    }
    let bars = "│ ".repeat(depth);
    Block {
        kind: Kind::Quote,
        body,
        first: bars.clone(),
        rest: bars,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_line_tells_what_it_is() {
        for (line, kind, body, first, rest) in [
            ("plain", Kind::Prose, 0, "", ""),
            ("  deep", Kind::Prose, 0, "", "  "),
            ("## Head", Kind::Heading, 3, "", ""),
            ("#hash", Kind::Prose, 0, "", ""),
            ("####### seven", Kind::Prose, 0, "", ""),
            ("- item", Kind::Prose, 2, "• ", "  "),
            ("  * item", Kind::Prose, 4, "  • ", "    "),
            ("12. item", Kind::Prose, 4, "12. ", "    "),
            ("1234567890. no", Kind::Prose, 0, "", ""),
            ("-no", Kind::Prose, 0, "", ""),
            ("**bold**", Kind::Prose, 0, "", ""),
            ("> said", Kind::Quote, 2, "│ ", "│ "),
            (">> twice", Kind::Quote, 3, "│ │ ", "│ │ "),
            ("---", Kind::Rule, 0, "", ""),
            ("* * *", Kind::Rule, 0, "", ""),
            ("| a | b |", Kind::Table, 0, "", ""),
        ] {
            let block = Block::of(line);
            assert_eq!(
                (
                    block.kind,
                    block.body,
                    block.first.as_str(),
                    block.rest.as_str()
                ),
                (kind, body, first, rest),
                "{line:?}"
            );
        }
    }

    #[test]
    fn only_a_fence_of_its_kind_and_length_ends_code() {
        let Kind::Fence(fence) = Block::of("````rust").kind else {
            panic!("a fence");
        };
        assert!(fence.is_ended_by("````"));
        assert!(fence.is_ended_by(" ````` "));
        assert!(!fence.is_ended_by("```"));
        assert!(!fence.is_ended_by("~~~~"));
        assert!(!fence.is_ended_by("````x"));
        assert_eq!(Block::of("```code``` in line").kind, Kind::Prose);
    }
}
