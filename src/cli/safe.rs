//! Text of models, files and messages made harmless for a terminal.
//!
//! Two steps, since neither is enough alone: escape sequences are taken out whole, so that their payload does not remain as
//! text, then every character that moves the cursor, hides, or reorders text is replaced by a visible one.

use std::fmt::Write as _;

/// What stands where an escape sequence was.
const MARK: char = '␛';

/// `text` with line feeds and tabs kept and everything else that a terminal would act on made visible.
pub fn safe(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(ch) = chars.next() {
        match ch {
            '\u{1b}' => {
                skip_sequence(&mut chars);
                out.push(MARK);
            }
            '\u{9b}' => {
                skip_control_sequence(&mut chars);
                out.push(MARK);
            }
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => {
                skip_string(&mut chars);
                out.push(MARK);
            }
            '\r' if chars.peek() == Some(&'\n') => {}
            '\n' | '\t' => out.push(ch),
            '\0'..='\u{1f}' => out.push(picture(ch)),
            '\u{7f}' => out.push('␡'),
            ch if is_hidden(ch) => {
                let _ = write!(out, "<U+{:04X}>", u32::from(ch));
            }
            ch => out.push(ch),
        }
    }
    out
}

/// The same on one line: line feeds and tabs are made visible too, and more than `limit` characters are cut with a note.
pub fn safe_line(text: &str, limit: usize) -> String {
    let text = safe(text).replace('\n', "⏎").replace('\t', " ");
    let count = text.chars().count();
    if count <= limit {
        return text;
    }
    let kept: String = text.chars().take(limit).collect();
    format!("{kept}… ({} more characters)", count - limit)
}

/// How much of `text`, in bytes, is made safe alike whatever follows it: an escape sequence may go on.
pub fn complete(text: &str) -> usize {
    let mut chars = text.chars().peekable();
    let mut last = None;
    while chars.peek().is_some() {
        let before = chars.clone();
        last = match chars.next() {
            Some('\u{1b}') => {
                skip_sequence(&mut chars);
                Some(before)
            }
            Some('\u{9b}') => {
                skip_control_sequence(&mut chars);
                Some(before)
            }
            Some('\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}') => {
                skip_string(&mut chars);
                Some(before)
            }
            Some('\r') => Some(before),
            _ => None,
        };
    }
    last.map_or(text.len(), |last| {
        text.len() - last.map(char::len_utf8).sum::<usize>()
    })
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn skip_sequence(chars: &mut Chars<'_>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            skip_control_sequence(chars);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            chars.next();
            skip_string(chars);
        }
        Some(' '..='/') => {
            while chars.next_if(|ch| matches!(ch, ' '..='/')).is_some() {}
            chars.next_if(|ch| matches!(ch, '0'..='~'));
        }
        Some('0'..='~') => {
            chars.next();
        }
        _ => {}
    }
}

/// Parameters and intermediates, then one final byte.
fn skip_control_sequence(chars: &mut Chars<'_>) {
    while chars.next_if(|ch| matches!(ch, ' '..='?')).is_some() {}
    chars.next_if(|ch| matches!(ch, '@'..='~'));
}

/// The payload of a string sequence up to its terminator (BEL, ST), a line feed, or the end of the text.
fn skip_string(chars: &mut Chars<'_>) {
    while let Some(ch) = chars.next_if(|ch| *ch != '\n') {
        match ch {
            '\u{7}' | '\u{9c}' => return,
            '\u{1b}' => {
                chars.next_if_eq(&'\\');
                return;
            }
            _ => {}
        }
    }
}

/// Whether a terminal acts on `ch`, or hides it or what is around it.
pub fn acts_on_terminal(ch: char) -> bool {
    ch.is_control() || is_hidden(ch)
}

/// The control picture of a C0 character.
fn picture(ch: char) -> char {
    char::from_u32(0x2400 + u32::from(ch)).unwrap_or('\u{fffd}')
}

/// C1, bidirectional controls, zero-width and other invisible characters, line and paragraph separators, tags, variation
/// selectors of the supplement, and private planes' noncharacters.
fn is_hidden(ch: char) -> bool {
    matches!(
        ch,
        '\u{80}'..='\u{9f}'
            | '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sequences_go_whole_and_invisible_characters_are_named() {
        for (text, wanted) in [
            ("plain ü 漢 🦀\n\ttab", "plain ü 漢 🦀\n\ttab"),
            ("\u{1b}[31mred\u{1b}[0m", "␛red␛"),
            ("\u{1b}]52;c;cm0gLXJm\u{7}after", "␛after"),
            ("\u{1b}]0;title\u{1b}\\after", "␛after"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "␛link␛"),
            ("\u{1b}]0;no end\nnext", "␛\nnext"),
            ("\u{9b}2Jx", "␛x"),
            ("\u{9d}0;t\u{9c}x", "␛x"),
            ("\u{1b}Pq#0\u{1b}\\x", "␛x"),
            ("\u{1b}(Bx\u{1b}cy", "␛x␛y"),
            ("\u{1b}", "␛"),
            ("over\rwritten", "over␍written"),
            ("crlf\r\n", "crlf\n"),
            ("a\u{8}b\u{7f}c\0", "a␈b␡c␀"),
            ("rm \u{202e}txt", "rm <U+202E>txt"),
            ("a\u{200b}b\u{feff}", "a<U+200B>b<U+FEFF>"),
            ("x\u{e0041}y", "x<U+E0041>y"),
            ("\u{85}", "<U+0085>"),
        ] {
            assert_eq!(safe(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn one_line_is_one_line_and_says_what_it_left_out() {
        assert_eq!(safe_line("a\nb", 10), "a⏎b");
        assert_eq!(safe_line("abcdef", 4), "abcd… (2 more characters)");
    }

    #[test]
    fn what_may_go_on_is_not_complete() {
        for (text, complete) in [
            ("plain ü", 8),
            ("a\u{1b}[3", 1),
            ("a\u{1b}[31mb", 7),
            ("a\u{1b}]52;c;AA", 1),
            ("a\u{1b}]52;c;AA\nb", 12),
            ("a\r", 1),
            ("a\r\n", 3),
        ] {
            assert_eq!(super::complete(text), complete, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn text_that_comes_in_two_parts_is_made_safe_as_one(text in "[a\u{1b}\u{9b}\u{7}\\[\\]m;\n\r]{0,20}", cut in 0usize..20) {
            let cut = text.floor_char_boundary(cut);
            let complete = super::complete(&text[..cut]);
            let (first, second) = text.split_at(complete);
            prop_assert_eq!(format!("{}{}", safe(first), safe(second)), safe(&text));
        }

        #[test]
        fn nothing_that_a_terminal_acts_on_is_left(text in "[\u{0}-\u{ff}\u{200b}-\u{2070}a-z\\[\\]]{0,60}") {
            let out = safe(&text);
            for ch in out.chars() {
                prop_assert!(ch == '\n' || ch == '\t' || !(ch.is_control() || is_hidden(ch)), "{ch:?}");
            }
            prop_assert_eq!(safe(&out), out);
        }
    }
}
