//! Emphasis, code and links of a line.

use super::scan::{self, Found};

/// How a part of the text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "any of them may go together")]
pub(super) struct Look {
    pub(super) bold: bool,
    pub(super) italic: bool,
    pub(super) code: bool,
    /// Set back, such as a link's address.
    pub(super) quiet: bool,
}

impl Look {
    /// The codes of a colour sequence; empty for plain text.
    pub(super) fn codes(self) -> String {
        let codes = [
            (self.bold, "1"),
            (self.italic, "3"),
            (self.code, "36"),
            (self.quiet, "2"),
        ];
        let codes: Vec<&str> = codes
            .iter()
            .filter(|(is, _)| *is)
            .map(|(_, code)| *code)
            .collect();
        codes.join(";")
    }
}

/// A part of the text that is shown, and at which byte of the line it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span<'a> {
    pub(super) text: &'a str,
    pub(super) look: Look,
    pub(super) start: usize,
}

/// A line's text as it is shown.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Inline<'a> {
    pub(super) spans: Vec<Span<'a>>,
    /// How many bytes look as they do whatever follows.
    pub(super) settled: usize,
}

/// The text of a line without any marks in it.
pub(super) fn plain(text: &str) -> Inline<'_> {
    let all = Span {
        text,
        look: Look::default(),
        start: 0,
    };
    Inline {
        spans: vec![all],
        settled: text.len(),
    }
}

/// What `text` says, looking like `base` where nothing else is said. `ended` if no more of the line comes; what begins in
/// front of `from` was taken for text already.
pub(super) fn read(text: &str, base: Look, from: usize, ended: bool) -> Inline<'_> {
    let mut reader = Reader {
        text,
        base,
        from,
        ended,
        spans: Vec::new(),
        open: Vec::new(),
        settled: text.len(),
    };
    reader.read();
    let first_open = reader.open.first().map(|opener| opener.start);
    let settled = first_open.filter(|_| !ended).unwrap_or(text.len());
    Inline {
        settled: reader.settled.min(settled),
        spans: reader.spans,
    }
}

/// A mark that may begin emphasis.
struct Opener {
    /// Its span.
    span: usize,
    start: usize,
    ch: char,
    count: usize,
}

struct Reader<'a> {
    text: &'a str,
    base: Look,
    from: usize,
    ended: bool,
    spans: Vec<Span<'a>>,
    open: Vec<Opener>,
    settled: usize,
}

impl<'a> Reader<'a> {
    fn read(&mut self) {
        let text = self.text;
        let mut at = 0;
        while let Some(ch) = text[at..].chars().next() {
            at = match ch {
                '`' => self.code(at),
                '[' => self.link(at),
                '*' | '_' => self.mark(at, ch),
                '\\' => self.escape(at),
                _ => {
                    let rest = &text[at..];
                    let length = rest.find(['`', '[', '*', '_', '\\']).unwrap_or(rest.len());
                    self.literal(at, at + length)
                }
            };
        }
    }

    fn code(&mut self, at: usize) -> usize {
        let rest = &self.text[at..];
        let count = scan::run(rest);
        let found = if at < self.from {
            Found::No
        } else {
            scan::code(rest, count, self.ended)
        };
        let Found::Is(inner) = found else {
            return self.as_text(at, at + count, &found);
        };
        let end = at + inner.end + count;
        let look = Look {
            code: true,
            ..self.base
        };
        let start = at + inner.start;
        let inner = &rest[inner];
        // One blank on both sides keeps the code's own backticks apart from the marks.
        let bare = inner
            .strip_prefix(' ')
            .and_then(|inner| inner.strip_suffix(' '));
        match bare.filter(|bare| !bare.trim().is_empty()) {
            Some(bare) => self.push(bare, look, start + 1),
            None => self.push(inner, look, start),
        }
        end
    }

    fn link(&mut self, at: usize) -> usize {
        let rest = &self.text[at..];
        let found = if at < self.from {
            Found::No
        } else {
            scan::link(rest, self.ended)
        };
        let Found::Is((words, address)) = found else {
            return self.as_text(at, at + 1, &found);
        };
        let (start, end) = (at + words.start, at + address.end + 1);
        let quiet = Look {
            quiet: true,
            ..self.base
        };
        let address_start = at + address.start;
        let (words, address) = (&rest[words], &rest[address]);
        if words != address {
            for span in read(words, self.base, 0, true).spans {
                self.push(span.text, span.look, start + span.start);
            }
            self.push(" (", quiet, address_start - 2);
        }
        self.push(address, quiet, address_start);
        if words != address {
            self.push(")", quiet, end - 1);
        }
        end
    }

    fn mark(&mut self, at: usize, ch: char) -> usize {
        let count = scan::run(&self.text[at..]);
        let end = at + count;
        if end == self.text.len() && !self.ended {
            return self.as_text(at, end, &Found::Unsure::<()>);
        }
        let before = self.text[..at].chars().next_back();
        let mark = scan::mark(ch, before, self.text[end..].chars().next());
        let fits = |opener: &Opener| opener.ch == ch && opener.count == count;
        let opener = self.open.iter().rposition(fits).filter(|_| mark.closes);
        if let Some(opener) = opener {
            let span = self.open[opener].span;
            self.open.truncate(opener);
            self.spans[span].text = "";
            for inner in &mut self.spans[span..] {
                inner.look.bold |= count >= 2;
                inner.look.italic |= count != 2;
            }
            return end;
        }
        // Two `_` are a name's more often than emphasis.
        let is_mark = count == 1 || (ch == '*' && count <= 3);
        if mark.opens && is_mark && at >= self.from {
            self.open.push(Opener {
                span: self.spans.len(),
                start: at,
                ch,
                count,
            });
        }
        self.push(&self.text[at..end], self.base, at);
        end
    }

    /// A backslash before a mark makes text of it.
    fn escape(&mut self, at: usize) -> usize {
        match self.text[at + 1..].chars().next() {
            Some('`' | '[' | ']' | '*' | '_' | '#') => {
                self.push(&self.text[at + 1..at + 2], self.base, at + 1);
                at + 2
            }
            None if !self.ended => self.as_text(at, at + 1, &Found::Unsure::<()>),
            _ => self.literal(at, at + 1),
        }
    }

    fn as_text<T>(&mut self, at: usize, end: usize, found: &Found<T>) -> usize {
        if matches!(found, Found::Unsure) {
            self.settled = self.settled.min(at);
        }
        self.literal(at, end)
    }

    fn literal(&mut self, at: usize, end: usize) -> usize {
        self.push(&self.text[at..end], self.base, at);
        end
    }

    fn push(&mut self, text: &'a str, look: Look, start: usize) {
        self.spans.push(Span { text, look, start });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each part with the codes of its look, parts of one look joined.
    fn shown(text: &str, ended: bool) -> String {
        let mut out = String::new();
        let mut last = String::new();
        for span in read(text, Look::default(), 0, ended).spans {
            let codes = span.look.codes();
            if !span.text.is_empty() && codes != last {
                out.extend(["<", &codes, ">"]);
                last = codes;
            }
            out.push_str(span.text);
        }
        out
    }

    #[test]
    fn marks_become_looks() {
        for (text, wanted) in [
            ("plain", "plain"),
            ("a **b** c", "a <1>b<> c"),
            ("*i* and _j_", "<3>i<> and <3>j"),
            ("**b *bi* b**", "<1>b <1;3>bi<1> b"),
            ("***both***", "<1;3>both"),
            ("`x * y` *i*", "<36>x * y<> <3>i"),
            ("`` a`b ``", "<36>a`b"),
            ("[words](http://x) go", "words<2> (http://x)<> go"),
            ("[http://x](http://x)", "<2>http://x"),
            ("[**b**](u)", "<1>b<2> (u)"),
            ("**漢字**は", "<1>漢字<>は"),
            (r"\*as it is\*", "*as it is*"),
        ] {
            assert_eq!(shown(text, true), wanted, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_mark_stays_as_it_was_written() {
        for text in [
            "2 * 3 * 4",
            "2*3*4",
            "*args, **kwargs",
            "snake_case_name __init__.py",
            "a `b",
            "**open",
            "[x] done",
            "a[0](b c)",
            r"C:\new\_dir".trim_end_matches("_dir"),
            "****",
        ] {
            assert_eq!(shown(text, true), text, "{text:?}");
        }
    }

    #[test]
    fn what_more_text_may_change_is_not_settled() {
        for (text, settled) in [
            ("plain words", 11),
            ("a **bold", 2),
            ("a **bold**", 2),
            ("a **bold** ", 11),
            ("a `co", 2),
            ("see [the", 4),
            ("see [the](htt", 4),
            ("2 * 3", 5),
            ("end \\", 4),
        ] {
            let inline = read(text, Look::default(), 0, false);
            assert_eq!(inline.settled, settled, "{text:?}");
        }
    }

    #[test]
    fn what_was_shown_as_text_begins_nothing_any_more() {
        let inline = read("**a b** c", Look::default(), 3, false);
        assert_eq!(inline.settled, 9);
        assert_eq!(inline.spans[0].text, "**");
    }
}
