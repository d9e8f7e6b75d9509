//! HTTP/1.1 as far as a model server needs it: keep-alive, content-length in, chunks out.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use pitcrew::clock;

/// A request.
pub(crate) struct Request {
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// When the last of it was read.
    pub(crate) came: Instant,
}

impl Request {
    /// A header's value.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }
}

/// The server's side of a connection.
pub(crate) struct Connection {
    reader: BufReader<TcpStream>,
    writer: TcpStream,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self {
            writer: stream.try_clone()?,
            reader: BufReader::new(stream),
        })
    }

    /// The next request; `None` when the client has hung up.
    pub(crate) fn read_request(&mut self) -> Option<Request> {
        let mut line = String::new();
        self.reader.read_line(&mut line).ok()?;
        let path = line.split(' ').nth(1)?.to_owned();
        let mut headers = Vec::new();
        loop {
            line.clear();
            self.reader.read_line(&mut line).ok()?;
            let Some((name, value)) = line.split_once(':') else {
                break;
            };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut request = Request {
            path,
            headers,
            body: Vec::new(),
            came: clock::instant(),
        };
        let length = request
            .header("content-length")
            .and_then(|length| length.parse().ok());
        request.body.resize(length.unwrap_or(0), 0);
        self.reader.read_exact(&mut request.body).ok()?;
        request.came = clock::instant();
        Some(request)
    }

    /// A whole answer in one write.
    pub(crate) fn reply(&mut self, status: u16, headers: &[(String, String)], body: &[u8]) {
        let mut bytes = head(status, "application/json", headers);
        bytes.extend(format!("content-length: {}\r\n\r\n", body.len()).bytes());
        bytes.extend(body);
        self.write(&bytes);
    }

    /// A stream in one write, with a trailer, as some proxies send one.
    pub(crate) fn stream(&mut self, body: &[u8]) {
        let mut bytes = stream_head();
        bytes.extend(chunk(body));
        bytes.extend(b"0\r\nx-checksum: 0\r\n\r\n");
        self.write(&bytes);
    }

    /// Begins a stream that [`Self::piece`] goes on with.
    pub(crate) fn begin_stream(&mut self) {
        self.write(&stream_head());
    }

    /// A piece of the stream, in a chunk and a write of its own; none ends it.
    pub(crate) fn piece(&mut self, bytes: &[u8]) {
        self.write(&chunk(bytes));
    }

    /// The same, but nothing for no bytes.
    pub(crate) fn piece_if_any(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.piece(bytes);
        }
    }

    /// Waits until the client hangs up; whether it has.
    pub(crate) fn hung_up(&mut self, wait: std::time::Duration) -> bool {
        if self.writer.set_read_timeout(Some(wait)).is_err() {
            return true;
        }
        let mut byte = [0];
        match self.reader.read_exact(&mut byte) {
            Ok(()) => true,
            Err(error) => !matches!(
                error.kind(),
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
            ),
        }
    }

    /// Who no longer listens is told nothing.
    fn write(&mut self, bytes: &[u8]) {
        drop(self.writer.write_all(bytes));
    }
}

fn stream_head() -> Vec<u8> {
    let mut head = head(200, "text/event-stream; charset=utf-8", &[]);
    head.extend(b"transfer-encoding: chunked\r\n\r\n");
    head
}

fn head(status: u16, kind: &str, headers: &[(String, String)]) -> Vec<u8> {
    let mut lines = vec![
        format!("HTTP/1.1 {status} So"),
        "request-id: req_test".to_owned(),
    ];
    if !headers.iter().any(|(name, _)| name == "content-type") {
        lines.push(format!("content-type: {kind}"));
    }
    lines.extend(
        headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}")),
    );
    lines.push(String::new());
    lines.join("\r\n").into_bytes()
}

fn chunk(bytes: &[u8]) -> Vec<u8> {
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend(bytes);
    chunk.extend(b"\r\n");
    chunk
}
