//! The text that is being streamed.

use super::block::{Block, Fence, Kind};
use super::inline::{self, Inline, Look};
use super::row::{Before, Row, laid_out};
use crate::cli::safe;
use crate::cli::shell::Style;
use crate::cli::wrap::columns::{self, LongWord, Place, graphemes, rows};

/// How many rows wait for the end of what may be emphasis, code, or a link.
pub(super) const HELD: usize = 3;
/// Longer lines are forgotten as far as they are printed, in bytes.
const LONG: usize = 4096;
/// How much is taken in at once, in bytes.
const BITE: usize = 1024;

/// Text of which some is printed and some may still change. What comes in is made safe here.
///
/// Markdown is understood only where there is a width and colour; else text stays as it was written.
#[derive(Debug, Default)]
pub struct Flow {
    style: Style,
    /// What may be the beginning of an escape sequence.
    raw: String,
    /// The line that has not ended, safe.
    line: String,
    /// How many bytes of the line's text are printed.
    printed: usize,
    /// How many of those were printed though what they are had not been settled.
    forced: usize,
    /// What the line is, if its beginning is forgotten.
    carried: Option<Block>,
    /// The block of code that the line is in.
    code: Option<Fence>,
}

impl Flow {
    /// Nothing yet.
    pub fn new(style: Style) -> Self {
        Self {
            style,
            ..Self::default()
        }
    }

    /// Takes more text; gives the rows that are done with. Without a width those are whole lines.
    pub fn push(&mut self, text: &str, width: Option<usize>) -> Vec<String> {
        self.raw.push_str(text);
        let rest = self.raw.split_off(safe::complete(&self.raw));
        let text = safe::safe(&std::mem::replace(&mut self.raw, rest));
        let mut out = Vec::new();
        self.take_in(&text, width, &mut out);
        out
    }

    /// The text is over: what had not been printed.
    pub fn end(&mut self, width: Option<usize>) -> Vec<String> {
        let text = safe::safe(&std::mem::take(&mut self.raw));
        let mut out = Vec::new();
        self.take_in(&text, width, &mut out);
        if !self.line.is_empty() {
            self.end_line(width, &mut out);
        }
        *self = Self::new(self.style);
        out
    }

    /// The rows of what has come and is not printed: at most `most`, the last ones.
    pub fn open(&self, width: usize, most: usize) -> Vec<String> {
        if self.line.is_empty() {
            return Vec::new();
        }
        let mut rows = if self.is_as_it_is() {
            self.tail(width, most)
        } else {
            let (rows, _) = self.rows(width, false);
            rows.into_iter().map(|row| row.text).collect()
        };
        rows.drain(..rows.len().saturating_sub(most));
        rows
    }

    fn take_in(&mut self, text: &str, width: Option<usize>, out: &mut Vec<String>) {
        for line in text.split_inclusive('\n') {
            let (line, ended) = line
                .strip_suffix('\n')
                .map_or((line, false), |line| (line, true));
            for part in bites(line) {
                self.line.push_str(part);
                if let Some(width) = width {
                    self.print_full_rows(width, out);
                }
            }
            if ended {
                self.end_line(width, out);
            }
        }
    }

    fn print_full_rows(&mut self, width: usize, out: &mut Vec<String>) {
        if self.is_as_it_is() {
            return;
        }
        let (mut rows, settled) = self.rows(width, false);
        let full = rows.len() - 1;
        let mut done = rows[..full]
            .iter()
            .take_while(|row| row.end <= settled)
            .count();
        if full - done > HELD {
            done = full - HELD;
            self.forced = rows[done - 1].end;
        }
        rows.truncate(done);
        self.print(rows, out);
        if self.line.len() > LONG && self.printed > 0 {
            self.forget_printed();
        }
    }

    fn end_line(&mut self, width: Option<usize>, out: &mut Vec<String>) {
        let fence = match self.block().kind {
            Kind::Fence(fence) => Some(fence),
            _ => None,
        };
        match (width, self.code) {
            (None, _) => out.push(self.line.clone()),
            (Some(_), Some(fence)) => {
                if fence.is_ended_by(&self.line) {
                    self.code = None;
                    out.push(self.style.dim(&self.line));
                } else {
                    out.push(self.line.clone());
                }
            }
            (Some(_), None) if fence.is_some() => {
                self.code = fence;
                out.push(self.style.dim(&self.line));
            }
            (Some(_), None) if self.is_as_it_is() => out.push(self.line.clone()),
            (Some(width), None) => {
                let (rows, _) = self.rows(width, true);
                self.print(rows, out);
            }
        }
        self.line.clear();
        (self.printed, self.forced) = (0, 0);
        self.carried = None;
    }

    fn print(&mut self, rows: Vec<Row>, out: &mut Vec<String>) {
        self.printed = rows.last().map_or(self.printed, |row| row.end);
        out.extend(rows.into_iter().map(|row| row.text));
    }

    /// Emphasis that goes on over this place ends here.
    fn forget_printed(&mut self) {
        let block = self.block();
        self.line.drain(..block.body + self.printed);
        (self.printed, self.forced) = (0, 0);
        self.carried = Some(Block {
            body: 0,
            first: block.rest.clone(),
            ..block
        });
    }

    /// Whether the line is printed as it is, when it has ended.
    fn is_as_it_is(&self) -> bool {
        let kind = self.block().kind;
        self.code.is_some() || matches!(kind, Kind::Fence(_) | Kind::Table | Kind::Rule)
    }

    fn block(&self) -> Block {
        match &self.carried {
            Some(block) => block.clone(),
            None if self.style.color => Block::of(&self.line),
            None => Block::untouched(&self.line),
        }
    }

    /// The rows that are not printed, and how many bytes of the line's text are settled.
    fn rows(&self, width: usize, ended: bool) -> (Vec<Row>, usize) {
        let block = self.block();
        let text = &self.line[block.body..];
        let base = Look {
            bold: block.kind == Kind::Heading,
            ..Look::default()
        };
        let Inline { spans, settled } = if self.style.color {
            inline::read(text, base, self.forced, ended)
        } else {
            inline::plain(text)
        };
        let is_deep = columns::width(&block.rest) * 2 > width;
        let rest = if is_deep { "" } else { &block.rest };
        let first = if self.printed > 0 { rest } else { &block.first };
        let before = Before { first, rest };
        let rows = laid_out(self.style, &spans, self.printed, before, width);
        (rows, settled)
    }

    /// The end of a line that is not to be touched.
    fn tail(&self, width: usize, most: usize) -> Vec<String> {
        let shown = self.line.replace('\t', "    ");
        let from = shown
            .char_indices()
            .rev()
            .nth(width * most)
            .map_or(0, |(at, _)| at);
        let parts: Vec<&str> = graphemes(&shown[from..]).map(|(_, part)| part).collect();
        let places: Vec<Place> = parts.iter().map(|part| Place::of(part)).collect();
        let ranges = rows(&places, width, width, LongWord::Break).into_iter();
        ranges.map(|range| parts[range].concat()).collect()
    }
}

/// `text` in parts that are not too long.
fn bites(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (part, after) = rest.split_at(rest.floor_char_boundary(BITE));
        rest = after;
        Some(part)
    })
}
