//! The lines of a file that one call of `read_file` shows.

use std::fmt::Write as _;
use std::io::{self, BufRead};

use super::call::Said;
use crate::cancel::Cancel;

/// Most lines of one call.
pub(crate) const MAX_LINES: u64 = 2_000;
/// Most bytes of one call, line numbers included.
const MAX_BYTES: usize = 256 * 1024;
/// What of them is kept for what is said of the lines.
const NOTES: usize = 256;
/// Most bytes that are gone through in one call: a sparse file may claim any size.
const MAX_SCAN: u64 = 256 * 1024 * 1024;

/// Numbered lines, and what is to be said of them.
#[derive(Debug, Default)]
pub(crate) struct Window {
    text: String,
    /// The last line shown, or, if none is, the last line of the file.
    last: u64,
    /// How many lines are shown.
    shown: u64,
    /// Whether there is more after them.
    more: bool,
    cut: Option<Cut>,
}

/// A line that is not shown to its end.
#[derive(Debug)]
struct Cut {
    /// How many bytes of it were gone through.
    bytes: u64,
    /// Whether these are all.
    whole: bool,
}

impl Window {
    /// From line `offset`, counted from 1, at most `limit` lines.
    pub(crate) fn read<R: BufRead>(
        lines: &mut Lines<'_, R>,
        offset: u64,
        limit: u64,
    ) -> io::Result<Self> {
        let mut window = Self::default();
        while window.last + 1 < offset {
            if !lines.is_more()? {
                return Ok(window);
            }
            let (_, ended) = lines.skip()?;
            if !ended {
                return Err(io::Error::other(format!(
                    "line {offset} comes after more than {MAX_SCAN} bytes; use bash, such as sed or tail"
                )));
            }
            window.last += 1;
        }
        loop {
            if window.shown == limit {
                window.more = lines.is_more()?;
                return Ok(window);
            }
            let number = window.last + 1;
            let prefix = format!("{number:>6}\t");
            let taken = window.text.len() + prefix.len() + 1;
            let room = (MAX_BYTES - NOTES).saturating_sub(taken);
            let Some(line) = lines.next(room)? else {
                return Ok(window);
            };
            let text = line.text(number);
            let shown = &text[..text.floor_char_boundary(room)];
            let is_cut = !line.ended || shown.len() < text.len();
            if is_cut && window.shown > 0 {
                window.more = true;
                return Ok(window);
            }
            window.text.extend([&prefix, shown, "\n"]);
            window.last = number;
            window.shown += 1;
            if is_cut {
                window.cut(lines, &line)?;
                return Ok(window);
            }
        }
    }

    /// Notes that `line`, the only one shown, is cut.
    fn cut<R: BufRead>(&mut self, lines: &mut Lines<'_, R>, line: &Line) -> io::Result<()> {
        let (rest, whole) = if line.ended { (0, true) } else { lines.skip()? };
        self.cut = Some(Cut {
            bytes: line.bytes.len() as u64 + rest,
            whole,
        });
        self.more = whole && lines.is_more()?;
        Ok(())
    }

    /// For the model, which knows the file as `shown`.
    pub(crate) fn told(self, shown: &str, offset: u64) -> Result<Said, String> {
        if self.shown == 0 {
            return if self.last == 0 && offset == 1 {
                Ok(format!("{shown} is empty").into())
            } else {
                Err(format!(
                    "`offset` {offset} is beyond the end: {shown} has {} lines",
                    self.last
                ))
            };
        }
        let mut text = self.text;
        if let Some(cut) = self.cut {
            let _ = writeln!(
                text,
                "(line {} has {}{} bytes and is cut; bash can show the rest)",
                self.last,
                if cut.whole { "" } else { "more than " },
                cut.bytes
            );
        }
        if self.more {
            let _ = writeln!(
                text,
                "(there is more; read on with offset {})",
                self.last + 1
            );
        }
        Ok(text.into())
    }
}

/// A file's lines, one after another, with a bound on how much is gone through.
pub(crate) struct Lines<'a, R> {
    reader: R,
    cancel: &'a Cancel,
    scanned: u64,
}

/// A line, or its beginning.
struct Line {
    /// With its line end.
    bytes: Vec<u8>,
    /// Whether these are all.
    ended: bool,
}

impl Line {
    /// Without its line end, and without a byte-order mark if it is the first.
    fn text(&self, number: u64) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        let text = if number == 1 {
            text.strip_prefix('\u{feff}').unwrap_or(text)
        } else {
            text
        };
        text.to_owned()
    }
}

impl<'a, R: BufRead> Lines<'a, R> {
    /// Of what `reader` gives; the call that `cancel` belongs to ends the reading.
    pub(crate) fn of(reader: R, cancel: &'a Cancel) -> Self {
        Self {
            reader,
            cancel,
            scanned: 0,
        }
    }

    fn is_more(&mut self) -> io::Result<bool> {
        Ok(!self.reader.fill_buf()?.is_empty())
    }

    /// The next line, as much of it as `room` holds; `None` at the end.
    fn next(&mut self, room: usize) -> io::Result<Option<Line>> {
        let mut bytes = Vec::new();
        loop {
            let (ended, at_end) = self.part(|part| {
                let kept = part.len().min(room - bytes.len());
                bytes.extend_from_slice(&part[..kept]);
                kept
            })?;
            if at_end && bytes.is_empty() {
                return Ok(None);
            }
            let ended = ended || at_end;
            if ended || bytes.len() >= room {
                return Ok(Some(Line { bytes, ended }));
            }
        }
    }

    /// Goes to the end of the line; how many bytes that were, and whether it was reached.
    fn skip(&mut self) -> io::Result<(u64, bool)> {
        let before = self.scanned;
        loop {
            let (ended, at_end) = self.part(<[u8]>::len)?;
            if ended || at_end {
                return Ok((self.scanned - before, true));
            }
            if self.scanned >= MAX_SCAN {
                return Ok((self.scanned - before, false));
            }
        }
    }

    /// Hands what is read next, up to the end of the line, to `take`, which says how much of it is gone through. Whether the
    /// line's end was among that, and whether there was nothing left.
    fn part(&mut self, take: impl FnOnce(&[u8]) -> usize) -> io::Result<(bool, bool)> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("interrupted"));
        }
        let buffer = self.reader.fill_buf()?;
        // Much faster than to look for its place, where there is none.
        let part = if buffer.contains(&b'\n') {
            buffer.split_inclusive(|byte| *byte == b'\n').next()
        } else {
            Some(buffer)
        };
        let part = part.unwrap_or_default();
        let (length, at_end) = (part.len(), part.is_empty());
        let taken = take(part);
        let ended = taken == length && part.ends_with(b"\n");
        self.reader.consume(taken);
        self.scanned += taken as u64;
        Ok((ended, at_end))
    }
}
