//! Where rows break: at spaces and between wide characters, never within what is seen as one character.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// What may not begin a row, of what is written without spaces.
const CLOSING: &str =
    "、。，．・：；！？」』）】〉》〕］｝ー々ゝゞぁぃぅぇぉっゃゅょァィゥェォッャュョ…";

/// What counts of one character as a person sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// How many columns it takes.
    pub columns: usize,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Space,
    Narrow,
    /// Rows may break on both sides of it.
    Wide,
    /// Rows may break after it.
    Closing,
}

/// What becomes of a word that is wider than a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LongWord {
    /// It is broken where it must be.
    Break,
    /// It is left to the terminal, which keeps it in one piece for whoever copies it.
    Leave,
}

impl Place {
    /// Of one grapheme.
    pub fn of(grapheme: &str) -> Self {
        let columns = grapheme.width();
        let kind = match grapheme {
            " " | "\t" => Kind::Space,
            _ if CLOSING.contains(grapheme) => Kind::Closing,
            _ if columns > 1 => Kind::Wide,
            _ => Kind::Narrow,
        };
        Self { columns, kind }
    }

    fn may_break_before(self, next: Self) -> bool {
        match (self.kind, next.kind) {
            (_, Kind::Space | Kind::Closing) | (Kind::Narrow, Kind::Narrow) => false,
            (Kind::Space | Kind::Wide | Kind::Closing, _) | (_, Kind::Wide) => true,
        }
    }
}

/// The characters of `text` as a person sees them.
pub fn graphemes(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.grapheme_indices(true)
}

/// How many columns `text` takes.
pub fn width(text: &str) -> usize {
    graphemes(text)
        .map(|(_, grapheme)| Place::of(grapheme).columns)
        .sum()
}

/// The rows: the first has `first` columns, each other `rest`. Spaces at a row's end may stand over. Never empty.
pub fn rows(places: &[Place], first: usize, rest: usize, long: LongWord) -> Vec<Range<usize>> {
    let mut rows = Vec::new();
    let (mut start, mut taken, mut may_break) = (0, 0, 0);
    for (at, place) in places.iter().enumerate() {
        if at > start && places[at - 1].may_break_before(*place) {
            may_break = at;
        }
        let width = if rows.is_empty() { first } else { rest }.max(1);
        if place.kind != Kind::Space && taken > 0 && taken + place.columns > width {
            let end = match long {
                _ if may_break > start => may_break,
                LongWord::Break => at,
                LongWord::Leave => start,
            };
            // A word that is left alone fills its row: what follows begins another.
            if end > start {
                rows.push(start..end);
                start = end;
                taken = places[start..at].iter().map(|place| place.columns).sum();
            }
        }
        taken += place.columns;
    }
    rows.push(start..places.len());
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_stay_with_what_they_mark() {
        let text = "e\u{301}e\u{301}e\u{301}";
        let places: Vec<Place> = graphemes(text).map(|(_, part)| Place::of(part)).collect();
        assert_eq!(places.len(), 3);
        assert_eq!(rows(&places, 2, 2, LongWord::Break), [0..2, 2..3]);
        assert_eq!(width(text), 3);
    }
}
