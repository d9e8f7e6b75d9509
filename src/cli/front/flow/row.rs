//! A line's text as rows of a window.

use super::inline::Span;
use crate::cli::shell::Style;
use crate::cli::wrap::columns::{LongWord, Place, graphemes, rows, width};

/// One row.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// As it is printed.
    pub(super) text: String,
    /// Up to which byte of the line's text the rows go so far.
    pub(super) end: usize,
}

/// What stands before rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Before<'a> {
    pub(super) first: &'a str,
    pub(super) rest: &'a str,
}

struct Cell<'a> {
    text: &'a str,
    codes: &'a str,
    end: usize,
}

/// The rows of `spans` from byte `from` on, each of at most `columns` columns unless a word is wider. Never empty.
pub(super) fn laid_out(
    style: Style,
    spans: &[Span<'_>],
    from: usize,
    before: Before<'_>,
    columns: usize,
) -> Vec<Row> {
    let codes: Vec<String> = spans.iter().map(|span| span.look.codes()).collect();
    let cells: Vec<Cell<'_>> = spans
        .iter()
        .zip(&codes)
        .flat_map(|(span, codes)| cells(span, codes))
        .filter(|cell| cell.end > from)
        .collect();
    let places: Vec<Place> = cells.iter().map(|cell| Place::of(cell.text)).collect();
    let room = |before: &str| columns.saturating_sub(width(before));
    let (first, rest) = (room(before.first), room(before.rest));
    let mut before = [before.first]
        .into_iter()
        .chain(std::iter::repeat(before.rest));
    rows(&places, first, rest, LongWord::Leave)
        .into_iter()
        .map(|range| Row {
            text: written(
                style,
                before.next().unwrap_or_default(),
                &cells[range.clone()],
            ),
            end: cells[range].last().map_or(from, |cell| cell.end),
        })
        .collect()
}

fn cells<'a>(span: &Span<'a>, codes: &'a str) -> impl Iterator<Item = Cell<'a>> {
    let start = span.start;
    graphemes(span.text).map(move |(at, text)| Cell {
        text: if text == "\t" { " " } else { text },
        codes,
        end: start + at + text.len(),
    })
}

fn written(style: Style, before: &str, cells: &[Cell<'_>]) -> String {
    let shown = cells.iter().rposition(|cell| cell.text != " ");
    let cells = &cells[..shown.map_or(0, |last| last + 1)];
    let is_blank = before.trim().is_empty();
    let mut row = match (is_blank, cells.is_empty()) {
        (true, true) => String::new(),
        (true, false) => before.to_owned(),
        (false, _) => style.dim(before),
    };
    for part in cells.chunk_by(|one, next| one.codes == next.codes) {
        let text: String = part.iter().map(|cell| cell.text).collect();
        row.push_str(&style.look(part[0].codes, &text));
    }
    row
}
