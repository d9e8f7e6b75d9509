//! Server-sent events from bytes cut anywhere.
//!
//! Lines end with `\n`, `\r\n` or `\r`; `data:` lines of one event are joined by a newline; a blank line ends it.
//! Comments, event names and unknown fields are passed over: both protocols repeat the name inside the data. Bytes are
//! not decoded here, so a character cut between two reads is whole again when its event is.

/// Longest line and longest event, in bytes.
const LONGEST: usize = 16 * 1024 * 1024;

/// A line or event over the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is longer than 16 MiB")]
pub(super) struct TooLong;

/// The parser. Feed it with [`Parser::push`], then [`Parser::finish`].
#[derive(Debug, Default)]
pub(super) struct Parser {
    line: Vec<u8>,
    data: Option<Vec<u8>>,
    after_cr: bool,
}

impl Parser {
    /// Takes the next bytes; the data of each event that they end.
    pub(super) fn push(&mut self, mut bytes: &[u8]) -> Result<Vec<Vec<u8>>, TooLong> {
        let mut events = Vec::new();
        while let Some(first) = bytes.first() {
            if std::mem::take(&mut self.after_cr) && *first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let piece = end.unwrap_or(bytes.len());
            if self.line.len() + piece > LONGEST {
                return Err(TooLong);
            }
            self.line.extend_from_slice(&bytes[..piece]);
            let Some(end) = end else { break };
            self.after_cr = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            events.extend(self.end_line()?);
        }
        Ok(events)
    }

    /// The stream has ended: the event that lacks only its blank line.
    pub(super) fn finish(mut self) -> Result<Option<Vec<u8>>, TooLong> {
        let last = self.end_line()?;
        Ok(last.or(self.data))
    }

    fn end_line(&mut self) -> Result<Option<Vec<u8>>, TooLong> {
        let line = std::mem::take(&mut self.line);
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line);
        if line.is_empty() {
            return Ok(self.data.take());
        }
        let Some(value) = line.strip_prefix(b"data") else {
            return Ok(None);
        };
        let value = match value {
            [] => value,
            [b':', b' ', rest @ ..] | [b':', rest @ ..] => rest,
            _ => return Ok(None),
        };
        match &mut self.data {
            Some(data) if data.len() + value.len() >= LONGEST => return Err(TooLong),
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
            None => self.data = Some(value.to_vec()),
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(pieces: &[&[u8]]) -> Vec<String> {
        let mut parser = Parser::default();
        let mut events: Vec<Vec<u8>> = pieces
            .iter()
            .flat_map(|piece| parser.push(piece).unwrap())
            .collect();
        events.extend(parser.finish().unwrap());
        events
            .into_iter()
            .map(|event| String::from_utf8(event).unwrap())
            .collect()
    }

    const STREAM: &[u8] = "\u{feff}event: a\r\ndata: {\"x\":\"é🦀\"}\r\n\r\n: comment\n\ndata:one\ndata: two\ndata\n\nid: 3\nretry: 9\ndatum: no\ndata:  spaced\r\rdata: é"
        .as_bytes();

    #[test]
    fn a_stream_is_the_same_wherever_it_is_cut() {
        let whole = events(&[STREAM]);
        assert_eq!(whole, ["{\"x\":\"é🦀\"}", "one\ntwo\n", " spaced", "é"]);
        for first in 0..STREAM.len() {
            assert_eq!(events(&[&STREAM[..first], &STREAM[first..]]), whole);
            let second = first + (STREAM.len() - first) / 2;
            let pieces = [&STREAM[..first], &STREAM[first..second], &STREAM[second..]];
            assert_eq!(events(&pieces), whole, "{first} {second}");
        }
        let bytes: Vec<&[u8]> = STREAM.chunks(1).collect();
        assert_eq!(events(&bytes), whole);
    }

    #[test]
    fn an_endless_line_or_event_is_refused() {
        let mut parser = Parser::default();
        let piece = vec![b'x'; 1 << 20];
        let mut refused = false;
        for _ in 0..17 {
            refused |= parser.push(&piece).is_err();
        }
        assert!(refused);
        let mut parser = Parser::default();
        let line = [b"data:".as_slice(), &piece, b"\n"].concat();
        assert!((0..17).any(|_| parser.push(&line).is_err()));
    }
}
