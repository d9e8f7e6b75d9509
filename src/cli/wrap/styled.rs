//! Lines broken into rows; they may hold the colour sequences of [`crate::cli::shell::Style`] and no others.
//!
//! A sequence takes no column. What is in force where a row ends is ended there and begun again in the next.

use super::columns::{LongWord, Place, graphemes, rows};

const ESCAPE: char = '\u{1b}';
const RESET: &str = "\u{1b}[0m";

/// Rows of at most `width` columns; a word that is wider is broken where it must be. Never empty.
///
/// A character wider than `width` gets a row of its own.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    broken(text, width, "", LongWord::Break)
}

/// The same with `indent` before each row but the first.
pub fn hang(text: &str, width: usize, indent: &str) -> Vec<String> {
    broken(text, width, indent, LongWord::Break)
}

/// A line for the screen: rows hang beneath its first word, and a word that is wider than a row is left to the terminal.
pub fn leave(text: &str, width: usize) -> Vec<String> {
    broken(text, width, &" ".repeat(begin(text)), LongWord::Leave)
}

/// How many columns `text` takes.
pub fn width(text: &str) -> usize {
    let (cells, _) = cells(text);
    cells.iter().map(|cell| cell.place.columns).sum()
}

/// The same with all of `lines`; without a width they stay as they are.
pub fn lines(lines: Vec<String>, width: Option<usize>) -> Vec<String> {
    let Some(width) = width else { return lines };
    lines.iter().flat_map(|line| leave(line, width)).collect()
}

/// How many columns stand before the first word of a line: blanks, and a sign such as a bullet.
fn begin(text: &str) -> usize {
    let (cells, _) = cells(text);
    let mut parts = cells.iter().map(|cell| cell.text).peekable();
    let mut columns = 0;
    while parts.next_if_eq(&" ").is_some() {
        columns += 1;
    }
    let sign = parts.next().filter(|part| is_sign(part));
    match (sign, parts.next()) {
        (Some(sign), Some(" ")) => columns + Place::of(sign).columns + 1,
        _ => columns,
    }
}

fn is_sign(part: &str) -> bool {
    matches!(part, "●" | "▪" | "✓" | "✗" | "→" | "│" | "•" | "-")
}

/// One character with the sequences in force there, as an index.
struct Cell<'a> {
    text: &'a str,
    place: Place,
    look: usize,
}

fn broken(text: &str, width: usize, indent: &str, long: LongWord) -> Vec<String> {
    let (cells, looks) = cells(text);
    let places: Vec<Place> = cells.iter().map(|cell| cell.place).collect();
    let hang = super::columns::width(indent);
    let (indent, hang) = if hang * 2 > width {
        ("", 0)
    } else {
        (indent, hang)
    };
    let ranges = rows(&places, width, width.saturating_sub(hang), long);
    let mut out = Vec::with_capacity(ranges.len());
    for range in ranges {
        let mut row = if out.is_empty() { "" } else { indent }.to_owned();
        row.push_str(&written(&cells[range], &looks));
        out.push(row);
    }
    out
}

/// The characters without the blanks at their end, and the sequences between them.
fn written(cells: &[Cell<'_>], looks: &[String]) -> String {
    let count = cells.iter().rposition(|cell| cell.text != " ");
    let mut row = String::new();
    let mut look = 0;
    for cell in &cells[..count.map_or(0, |last| last + 1)] {
        if cell.look != look {
            if look != 0 {
                row.push_str(RESET);
            }
            row.push_str(&looks[cell.look]);
            look = cell.look;
        }
        row.push_str(cell.text);
    }
    if look != 0 {
        row.push_str(RESET);
    }
    row
}

fn cells(text: &str) -> (Vec<Cell<'_>>, Vec<String>) {
    let mut cells = Vec::new();
    let mut looks = vec![String::new()];
    let mut look = 0;
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(length) = sequence(rest) {
            let (sequence, after) = rest.split_at(length);
            look = if sequence == RESET {
                0
            } else {
                looks.push(format!("{}{sequence}", looks[look]));
                looks.len() - 1
            };
            rest = after;
        } else {
            let from = usize::from(rest.starts_with(ESCAPE));
            let end = rest[from..].find(ESCAPE).map_or(rest.len(), |at| from + at);
            let (plain, after) = rest.split_at(end);
            cells.extend(graphemes(plain).map(|(_, text)| Cell {
                text,
                place: Place::of(text),
                look,
            }));
            rest = after;
        }
    }
    (cells, looks)
}

/// The length of the colour sequence that `text` begins with.
fn sequence(text: &str) -> Option<usize> {
    let codes = text.strip_prefix("\u{1b}[")?;
    let end = codes.find(|ch: char| !matches!(ch, '0'..='9' | ';'))?;
    codes[end..].starts_with('m').then_some(end + 3)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_width::UnicodeWidthStr;

    use super::*;

    #[test]
    fn rows_break_at_spaces_and_long_words_where_they_must() {
        for (text, width, rows) in [
            ("", 10, &[""][..]),
            ("one two three", 7, &["one two", "three"]),
            ("one two", 3, &["one", "two"]),
            ("abcdefgh ij", 3, &["abc", "def", "gh", "ij"]),
            ("漢字かな交じり", 5, &["漢字", "かな", "交じ", "り"]),
            ("a 漢字", 4, &["a 漢", "字"]),
            ("漢字、かな", 4, &["漢", "字、", "かな"]),
        ] {
            assert_eq!(wrap(text, width), rows, "{text:?} in {width}");
        }
    }

    #[test]
    fn rows_hang_and_links_stay_whole() {
        assert_eq!(
            hang("one two three", 7, "  "),
            ["one two", "  three"],
            "beneath the first"
        );
        assert_eq!(
            leave("▪ at https://example.org/a now", 12),
            ["▪ at", "  https://example.org/a", "  now"]
        );
        assert_eq!(leave("  deep words here", 12), ["  deep words", "  here"]);
    }

    #[test]
    fn colours_take_no_column_and_go_on_in_the_next_row() {
        let text = "a \u{1b}[1mbold word\u{1b}[0m end";
        assert_eq!(
            wrap(text, 6),
            ["a \u{1b}[1mbold\u{1b}[0m", "\u{1b}[1mword\u{1b}[0m", "end"]
        );
    }

    proptest! {
        #[test]
        fn no_row_is_too_wide_and_no_character_is_lost(text in "[a-c漢 ]{0,60}", width in 2usize..20) {
            let rows = wrap(&text, width);
            for row in &rows {
                prop_assert!(row.width() <= width, "{row:?}");
            }
            prop_assert_eq!(rows.concat().replace(' ', ""), text.replace(' ', ""));
        }
    }
}
