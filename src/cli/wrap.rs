//! Text broken into rows at its spaces, by the columns that a terminal gives its characters. Pure.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Rows of at most `width` columns; a word that is wider is broken where it must be. Never empty.
///
/// A character wider than `width` gets a row of its own.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut rows = Vec::new();
    let mut row = String::new();
    let mut taken = 0;
    for word in text.split_inclusive(' ') {
        let columns = word.trim_end_matches(' ').width();
        if taken > 0 && taken + columns > width {
            rows.push(row.trim_end().to_owned());
            row.clear();
            taken = 0;
        }
        for ch in word.chars() {
            let columns = ch.width().unwrap_or(0);
            if ch != ' ' && taken > 0 && taken + columns > width {
                rows.push(std::mem::take(&mut row));
                taken = 0;
            }
            row.push(ch);
            taken += columns;
        }
    }
    rows.push(row.trim_end().to_owned());
    rows
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rows_break_at_spaces_and_long_words_where_they_must() {
        for (text, width, rows) in [
            ("", 10, &[""][..]),
            ("one two three", 7, &["one two", "three"]),
            ("one two", 3, &["one", "two"]),
            ("abcdefgh ij", 3, &["abc", "def", "gh", "ij"]),
            ("漢字かな交じり", 5, &["漢字", "かな", "交じ", "り"]),
            ("a 漢字", 4, &["a", "漢字"]),
        ] {
            assert_eq!(wrap(text, width), rows, "{text:?} in {width}");
        }
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
