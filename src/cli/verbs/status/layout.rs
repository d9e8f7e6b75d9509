//! What is to be shown, fitted into a window of so many columns and rows. Pure; widths are those that a terminal gives.

use unicode_width::UnicodeWidthStr;

/// How a piece of text is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Title,
    Aside,
    Name,
    Good,
    Warn,
    Bad,
}

/// Text of one tone, without anything that a terminal acts on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) tone: Tone,
    pub(super) text: String,
}

/// One line of the window.
pub(super) type Line = Vec<Span>;

/// Which rows of a part stay when not all fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    First,
    Last,
}

/// Rows under a title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) title: String,
    pub(super) rows: Vec<Line>,
    pub(super) keep: Keep,
}

/// All that is to be shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Picture {
    /// Each is a few pieces that go on in the next line where they do not fit.
    pub(super) head: Vec<Line>,
    /// What comes first stays longest.
    pub(super) parts: Vec<Part>,
    /// The last line of the window.
    pub(super) foot: Line,
}

/// Stands where text was cut.
const CUT: char = '…';
/// Between two pieces of the head.
const BETWEEN: &str = "  ";
/// A title and one row: fewer lines say nothing.
const LEAST: usize = 2;

/// At most `height` lines of at most `width` columns each.
pub(super) fn fit(picture: &Picture, width: usize, height: usize) -> Vec<Line> {
    let room = height.saturating_sub(1);
    let mut lines: Vec<Line> = picture
        .head
        .iter()
        .flat_map(|pieces| flow(pieces, width))
        .take(room)
        .collect();
    let wanted: Vec<usize> = picture
        .parts
        .iter()
        .map(|part| part.rows.len() + 1)
        .collect();
    let shares = shares(&wanted, room - lines.len());
    for (part, share) in picture.parts.iter().zip(shares) {
        lines.extend(cut_part(part, share));
    }
    let empty = room - lines.len();
    lines.extend(std::iter::repeat_n(Line::new(), empty));
    if height > 0 {
        lines.push(picture.foot.clone());
    }
    lines.iter().map(|line| cut(line, width)).collect()
}

/// How many of `room` lines each part gets: the least it needs in the order of the parts, then one after another in turn.
fn shares(wanted: &[usize], room: usize) -> Vec<usize> {
    let mut left = room;
    let mut shares: Vec<usize> = wanted
        .iter()
        .map(|wanted| {
            let share = LEAST.min(*wanted);
            if share > left {
                return 0;
            }
            left -= share;
            share
        })
        .collect();
    while left > 0 {
        let before = left;
        for (share, wanted) in shares.iter_mut().zip(wanted) {
            if left > 0 && *share > 0 && share < &mut wanted.clone() {
                *share += 1;
                left -= 1;
            }
        }
        if left == before {
            break;
        }
    }
    shares
}

fn cut_part(part: &Part, share: usize) -> Vec<Line> {
    let Some(rows) = share.checked_sub(1) else {
        return Vec::new();
    };
    let all = part.rows.len();
    let mut title = part.title.clone();
    if rows < all && part.keep == Keep::First {
        title = format!("{title}, {rows} of {all}");
    }
    let first = match part.keep {
        Keep::First => 0,
        Keep::Last => all.saturating_sub(rows),
    };
    let rows = part.rows.iter().skip(first).take(rows).cloned();
    std::iter::once(vec![Span::new(Tone::Title, title)])
        .chain(rows)
        .collect()
}

/// The pieces one after another, in as many lines as they need.
fn flow(pieces: &[Span], width: usize) -> Vec<Line> {
    let mut lines = vec![Line::new()];
    let mut used = 0;
    for piece in pieces {
        let wide = piece.text.width();
        let line = lines.len() - 1;
        if used == 0 {
            used = wide;
        } else if used + BETWEEN.len() + wide <= width {
            lines[line].push(Span::new(Tone::Plain, BETWEEN));
            used += BETWEEN.len() + wide;
        } else {
            lines.push(vec![Span::new(Tone::Plain, BETWEEN)]);
            used = BETWEEN.len() + wide;
        }
        if let Some(line) = lines.last_mut() {
            line.push(piece.clone());
        }
    }
    lines
}

/// The line, cut with a mark where it is wider than `width`.
fn cut(line: &[Span], width: usize) -> Line {
    let whole: usize = line.iter().map(|span| span.text.width()).sum();
    if whole <= width {
        return line.to_vec();
    }
    let mut room = width.saturating_sub(1);
    let mut kept = Line::new();
    for span in line {
        let wide = span.text.width();
        if wide <= room {
            room -= wide;
            kept.push(span.clone());
            continue;
        }
        let mut text = longest(&span.text, room).to_owned();
        if width > 0 {
            text.push(CUT);
        }
        kept.push(Span::new(span.tone, text));
        break;
    }
    kept
}

/// The longest beginning that is not wider than `room`.
fn longest(text: &str, room: usize) -> &str {
    let ends = text.char_indices().map(|(at, ch)| at + ch.len_utf8());
    let fitting = ends.take_while(|end| text[..*end].width() <= room);
    &text[..fitting.last().unwrap_or(0)]
}

impl Span {
    pub(super) fn new(tone: Tone, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { tone, text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Line {
        vec![Span::new(Tone::Plain, text)]
    }

    fn part(title: &str, keep: Keep, rows: &[&str]) -> Part {
        Part {
            title: title.to_owned(),
            rows: rows.iter().map(|row| plain(row)).collect(),
            keep,
        }
    }

    fn shown(picture: &Picture, width: usize, height: usize) -> Vec<String> {
        let text = |line: &Line| line.iter().map(|span| span.text.as_str()).collect();
        fit(picture, width, height).iter().map(text).collect()
    }

    fn picture() -> Picture {
        Picture {
            head: vec![vec![
                Span::new(Tone::Title, "tasks"),
                Span::new(Tone::Plain, "3 pending"),
                Span::new(Tone::Plain, "2 in progress"),
            ]],
            parts: vec![
                part("team", Keep::First, &["alice", "bob", "carol"]),
                part("events", Keep::Last, &["one", "two", "three"]),
            ],
            foot: plain("q leaves"),
        }
    }

    #[test]
    fn a_window_that_is_large_enough_shows_everything() {
        assert_eq!(
            shown(&picture(), 80, 11),
            [
                "tasks  3 pending  2 in progress",
                "team",
                "alice",
                "bob",
                "carol",
                "events",
                "one",
                "two",
                "three",
                "",
                "q leaves"
            ]
        );
    }

    #[test]
    fn a_low_window_shows_the_first_teammates_and_the_last_events() {
        assert_eq!(
            shown(&picture(), 80, 7),
            [
                "tasks  3 pending  2 in progress",
                "team, 2 of 3",
                "alice",
                "bob",
                "events",
                "three",
                "q leaves"
            ]
        );
        assert_eq!(
            shown(&picture(), 80, 4),
            [
                "tasks  3 pending  2 in progress",
                "team, 1 of 3",
                "alice",
                "q leaves"
            ]
        );
    }

    #[test]
    fn a_narrow_window_goes_on_in_the_next_line_of_the_head() {
        assert_eq!(
            shown(&picture(), 16, 4),
            ["tasks  3 pending", "  2 in progress", "", "q leaves"]
        );
    }

    #[test]
    fn wide_characters_are_cut_by_their_columns() {
        for (text, width, wanted) in [
            ("漢字漢字", 8, "漢字漢字"),
            ("漢字漢字", 7, "漢字漢…"),
            ("漢字漢字", 6, "漢字…"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
            ("abc", 1, "…"),
            ("abc", 0, ""),
        ] {
            let cut = cut(&plain(text), width);
            let cut: String = cut.iter().map(|span| span.text.as_str()).collect();
            assert_eq!(cut, wanted, "{text} in {width}");
        }
    }

    #[test]
    fn no_window_is_too_small_and_none_is_overrun() {
        let mut picture = picture();
        picture.parts[0]
            .rows
            .push(plain("🦀 漢字 a long line about much"));
        for width in 0..40 {
            for height in 0..14 {
                let lines = shown(&picture, width, height);
                assert_eq!(lines.len(), height, "{width} x {height}");
                for line in lines {
                    assert!(line.width() <= width, "{width} x {height}: {line:?}");
                }
            }
        }
    }
}
