//! The marks within a line: where code ends, what a link is made of, what may begin and end emphasis.

use std::ops::Range;

/// What was found at a mark.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found<T> {
    /// It is there.
    Is(T),
    /// It is not.
    No,
    /// More of the line may make one of it.
    Unsure,
}

impl<T> Found<T> {
    fn none(ended: bool) -> Self {
        if ended { Self::No } else { Self::Unsure }
    }
}

/// How many of the character that `text` begins with come in a row.
pub(super) fn run(text: &str) -> usize {
    let first = text.chars().next();
    text.chars().take_while(|ch| Some(*ch) == first).count()
}

/// What stands between the `count` backticks that `text` begins with and the next so many; bytes of `text`.
pub(super) fn code(text: &str, count: usize, ended: bool) -> Found<Range<usize>> {
    let mut at = count;
    while let Some(next) = text[at..].find('`') {
        let from = at + next;
        let length = run(&text[from..]);
        let may_grow = from + length == text.len() && !ended;
        if length == count && !may_grow {
            return Found::Is(count..from);
        }
        at = from + length;
    }
    Found::none(ended)
}

/// A link `[words](address)` that `text` begins with: its words and its address; bytes of `text`.
pub(super) fn link(text: &str, ended: bool) -> Found<(Range<usize>, Range<usize>)> {
    let Some(end) = text[1..].find(['[', ']']).map(|at| at + 1) else {
        return Found::none(ended);
    };
    let rest = &text[end..];
    match rest.as_bytes().get(..2) {
        None if rest == "]" => return Found::none(ended),
        Some(b"](") => {}
        _ => return Found::No,
    }
    let from = end + 2;
    let mut depth = 0_usize;
    for (at, ch) in text[from..].char_indices() {
        match ch {
            ')' if depth == 0 && at > 0 => return Found::Is((1..end, from..from + at)),
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            ')' => return Found::No,
            ch if ch.is_whitespace() => return Found::No,
            _ => {}
        }
    }
    Found::none(ended)
}

/// What a run of `*` or `_` may do, by what stands before and after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) opens: bool,
    pub(super) closes: bool,
}

/// Names and sums are full of such characters: within words they are none.
pub(super) fn mark(ch: char, before: Option<char>, after: Option<char>) -> Mark {
    let is_word = |side: Option<char>| {
        side.is_some_and(|side| match ch {
            '_' => side.is_alphanumeric() || side == '_',
            _ => side.is_ascii_alphanumeric(),
        })
    };
    let is_text = |side: Option<char>| side.is_some_and(|side| !side.is_whitespace());
    Mark {
        opens: is_text(after) && !is_word(before),
        closes: is_text(before) && !is_word(after),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_ends_at_as_many_backticks() {
        assert_eq!(code("`a`", 1, true), Found::Is(1..2));
        assert_eq!(code("`a`", 1, false), Found::Unsure, "a second may follow");
        assert_eq!(code("``a`b`` ", 2, false), Found::Is(2..5));
        assert_eq!(code("`a", 1, true), Found::No);
    }

    #[test]
    fn a_link_is_words_and_an_address_without_blanks() {
        assert_eq!(link("[a](b) c", false), Found::Is((1..2, 4..5)));
        assert_eq!(link("[a](b(c)d)", true), Found::Is((1..2, 4..9)));
        for text in ["[x] done", "[a](b c)", "[a]()", "[a [b](c)"] {
            assert_eq!(link(text, false), Found::No, "{text}");
        }
        for text in ["[a", "[a]", "[a](b"] {
            assert_eq!(link(text, false), Found::Unsure, "{text}");
            assert_eq!(link(text, true), Found::No, "{text}");
        }
    }

    #[test]
    fn names_and_sums_are_no_emphasis() {
        let may = |ch, before, after| {
            let mark = mark(ch, before, after);
            (mark.opens, mark.closes)
        };
        assert_eq!(may('*', Some('2'), Some('3')), (false, false));
        assert_eq!(may('*', Some(' '), Some(' ')), (false, false));
        assert_eq!(may('_', Some('e'), Some('n')), (false, false));
        assert_eq!(may('*', None, Some('a')), (true, false));
        assert_eq!(may('*', Some('字'), Some('は')), (true, true));
    }
}
