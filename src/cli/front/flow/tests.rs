//! Text in pieces, as a model gives it.

use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

use super::text::{Flow, HELD};
use crate::cli::shell::Style;

const COLOUR: Style = Style { color: true };

/// All rows of `text`, which comes in pieces of so many characters.
fn streamed(style: Style, text: &str, piece: usize, width: Option<usize>) -> Vec<String> {
    let mut flow = Flow::new(style);
    let mut rows = Vec::new();
    let chars: Vec<char> = text.chars().collect();
    for part in chars.chunks(piece) {
        rows.extend(flow.push(&part.iter().collect::<String>(), width));
    }
    rows.extend(flow.end(width));
    rows
}

fn bare(row: &str) -> String {
    let mut out = String::new();
    let mut rest = row;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        out.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    out + rest
}

#[test]
fn rows_are_given_as_soon_as_they_are_full_and_words_are_seen_before() {
    let mut flow = Flow::new(COLOUR);
    assert!(flow.push("one two", Some(9)).is_empty());
    assert_eq!(flow.open(9, 3), ["one two"]);
    assert_eq!(flow.push(" three", Some(9)), ["one two"]);
    assert_eq!(flow.open(9, 3), ["three"]);
    assert_eq!(flow.push("\nfour", Some(9)), ["three"]);
    assert_eq!(flow.open(9, 3), ["four"]);
    assert_eq!(flow.end(Some(9)), ["four"]);
    assert!(flow.open(9, 3).is_empty());
}

#[test]
fn a_width_that_changes_holds_from_the_next_row_on() {
    let mut flow = Flow::new(COLOUR);
    assert_eq!(flow.push("one two three", Some(8)), ["one two"]);
    assert_eq!(flow.open(20, 3), ["three"]);
    assert!(flow.push(" four five", Some(20)).is_empty());
    assert_eq!(flow.end(Some(20)), ["three four five"]);
}

#[test]
fn emphasis_goes_over_rows_and_waits_for_its_end() {
    let mut flow = Flow::new(COLOUR);
    assert!(flow.push("now **bold words", Some(10)).is_empty());
    assert_eq!(flow.open(10, 3), ["now **bold", "words"]);
    assert_eq!(
        flow.push("** end", Some(10)),
        ["now \u{1b}[1mbold\u{1b}[0m"]
    );
    assert_eq!(flow.end(Some(10)), ["\u{1b}[1mwords\u{1b}[0m end"]);
}

#[test]
fn emphasis_that_never_ends_holds_only_so_much_back() {
    let mut flow = Flow::new(COLOUR);
    let text = format!("**{}", "word ".repeat(40));
    let rows = flow.push(&text, Some(10));
    assert_eq!(rows[0], "**word");
    assert_eq!(rows.len(), 20 - HELD);
    assert!(
        flow.push("x** y", Some(10))
            .iter()
            .all(|row| !row.contains('\u{1b}'))
    );
}

#[test]
fn each_kind_of_line_has_its_rows() {
    let text = "# A *head*\n- one two three\n  1. deep down\n> said by some\n```sh\nls -l | wc -l  # all of it\n```\n| a | b | c |\n\nend";
    assert_eq!(
        streamed(COLOUR, text, 3, Some(11)),
        [
            "\u{1b}[1mA \u{1b}[0m\u{1b}[1;3mhead\u{1b}[0m",
            "\u{1b}[2m• \u{1b}[0mone two",
            "  three",
            "\u{1b}[2m  1. \u{1b}[0mdeep",
            "     down",
            "\u{1b}[2m│ \u{1b}[0msaid by",
            "\u{1b}[2m│ \u{1b}[0msome",
            "\u{1b}[2m```sh\u{1b}[0m",
            "ls -l | wc -l  # all of it",
            "\u{1b}[2m```\u{1b}[0m",
            "| a | b | c |",
            "",
            "end",
        ]
    );
}

#[test]
fn without_colour_only_rows_are_broken_and_without_a_width_nothing_is() {
    let text = "# A *head*\n- one two three\n```\n**x** `y` and more\n```\nend";
    assert_eq!(
        streamed(Style::default(), text, 4, Some(11)),
        [
            "# A *head*",
            "- one two",
            "  three",
            "```",
            "**x** `y` and more",
            "```",
            "end"
        ]
    );
    let lines: Vec<&str> = text.lines().collect();
    for style in [COLOUR, Style::default()] {
        assert_eq!(streamed(style, text, 4, None), lines);
    }
}

#[test]
fn links_and_wide_characters_keep_together() {
    assert_eq!(
        streamed(COLOUR, "see https://example.org/long/path now", 5, Some(12)),
        ["see", "https://example.org/long/path", "now"]
    );
    assert_eq!(
        streamed(COLOUR, "e\u{301}漢字かな、交じり", 1, Some(5)),
        ["e\u{301}漢字", "か", "な、", "交じ", "り"]
    );
}

#[test]
fn a_line_of_code_shows_its_end_while_it_grows() {
    let mut flow = Flow::new(COLOUR);
    flow.push("```\nlet a = \"0123456789\";", Some(8));
    assert_eq!(flow.open(8, 2), ["\"0123456", "789\";"]);
    assert_eq!(flow.push("\n", Some(8)), ["let a = \"0123456789\";"]);
}

#[test]
fn a_sequence_that_comes_in_parts_is_taken_out_whole() {
    let mut flow = Flow::new(COLOUR);
    flow.push("a\u{1b}", Some(40));
    flow.push("]52;c;AAAA", Some(40));
    assert_eq!(flow.open(40, 3), ["a"]);
    flow.push("\u{7}b", Some(40));
    assert_eq!(flow.end(Some(40)), ["a␛b"]);
}

#[test]
fn a_very_long_line_costs_no_more_than_it_must() {
    let text = format!("- {}", "*a `b [c **d_ ".repeat(2_000));
    let rows = streamed(COLOUR, &text, 50, Some(60));
    assert!(rows.len() > 200);
    assert!(rows.iter().all(|row| bare(row).width() <= 60));
}

/// What was printed stays printed, whatever marks turn up behind it.
#[test]
fn no_character_comes_twice_when_a_mark_is_found_late() {
    let text = "**`_ __#漢#]*[>]-*`  [ 漢漢漢漢";
    for piece in 1..8 {
        for width in 4..9 {
            let rows: String = streamed(COLOUR, text, piece, Some(width)).concat();
            assert_eq!(rows.matches('漢').count(), 5, "{piece} {width}: {rows:?}");
        }
    }
}

proptest! {
    #[test]
    fn nothing_is_lost_however_it_comes(text in "[ab *_`\\[\\]漢>#\\-\n]{0,80}", piece in 1usize..9, width in 4usize..30) {
        let rows = streamed(COLOUR, &text, piece, Some(width));
        let letters = |text: &str| text.chars().filter(|ch| matches!(ch, 'a' | 'b' | '漢')).collect::<String>();
        prop_assert_eq!(letters(&rows.iter().map(|row| bare(row)).collect::<String>()), letters(&text));
        let plain = streamed(Style::default(), &text, piece, None);
        prop_assert_eq!(plain, text.lines().map(str::to_owned).collect::<Vec<_>>());
    }
}
