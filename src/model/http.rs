//! One streamed POST through ureq, cancellable.
//!
//! Each exchange runs on a thread of its own that only sends into a channel. A cancel ends the wait at once; whoever leaves
//! an answer before its end shuts the connections down, which ends the thread's blocking read too.

use std::cell::Cell;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use super::address;
use super::failure::{self, Answer, Failure};
use super::said::Said;
use crate::cancel::Cancel;

/// Most bytes of a failed answer that are read.
const ERROR_BODY: u64 = 64 * 1024;
/// Most bytes read after the end mark of a stream, so that its connection can be used again.
const REST: usize = 64 * 1024;

/// How long is waited for what.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// For a connection, TLS included.
    pub(super) connect: Duration,
    /// For the next byte, the first included.
    pub(super) idle: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            idle: Duration::from_mins(5),
        }
    }
}

/// One model's connections, kept alive between calls.
#[derive(Debug)]
pub(super) struct Http {
    config: ureq::config::Config,
    agent: ureq::Agent,
    /// Whether the agent's connections were shut down: it serves no more.
    hung_up: Arc<AtomicBool>,
    patience: Patience,
}

/// Tells a proxy's log which agent asks.
pub(super) fn user_agent(agent: &str) -> String {
    format!("pitcrew/{} ({agent})", env!("CARGO_PKG_VERSION"))
}

/// What is posted.
#[derive(Clone)]
pub(super) struct Post {
    /// The address.
    pub(super) url: String,
    /// Besides those of every request.
    pub(super) headers: Vec<(&'static str, String)>,
    /// JSON.
    pub(super) body: Vec<u8>,
}

enum Event {
    /// The answer's head is good; whether it is a stream.
    Begun {
        is_stream: bool,
    },
    Bytes(Vec<u8>),
    End,
    Failed(Failure),
    Cancelled,
}

impl Http {
    /// Connections to the server of `url`, under a `User-Agent` that names the agent.
    pub(super) fn new(url: &str, agent: &str, patience: Patience) -> Self {
        let mut config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .accept_encoding("identity")
            .accept("application/json")
            .user_agent(user_agent(agent))
            .timeout_resolve(Some(patience.connect))
            .timeout_connect(Some(patience.connect))
            .timeout_per_read(Some(patience.idle))
            .timeout_per_write(Some(patience.idle));
        if address::is_loopback(url) {
            config = config.proxy(None);
        }
        let config = config.build();
        Self {
            agent: config.new_agent(),
            config,
            hung_up: Arc::default(),
            patience,
        }
    }

    /// Starts the exchange.
    pub(super) fn post(&mut self, post: Post, cancel: &Cancel) -> Result<Incoming, Failure> {
        if self.hung_up.load(Ordering::Acquire) {
            self.agent = self.config.new_agent();
            self.hung_up = Arc::default();
        }
        let (send, events) = mpsc::channel();
        let finished = Arc::new(AtomicBool::new(false));
        cancel.on_cancel({
            let send = send.clone();
            move || drop(send.send(Event::Cancelled))
        });
        let exchange = Exchange {
            agent: self.agent.clone(),
            send,
            finished: Arc::clone(&finished),
        };
        std::thread::Builder::new()
            .name("model".to_owned())
            .spawn(move || exchange.run(&post))
            .map_err(|error| Failure::Broken(format!("no thread for the call: {error}")))?;
        Ok(Incoming {
            events,
            finished,
            agent: self.agent.clone(),
            hung_up: Arc::clone(&self.hung_up),
            ended: Cell::new(false),
            deadline: self.patience.connect * 2 + self.patience.idle * 2,
        })
    }
}

/// The answer as it comes. Dropping it before its end hangs up.
pub(super) struct Incoming {
    events: Receiver<Event>,
    finished: Arc<AtomicBool>,
    agent: ureq::Agent,
    hung_up: Arc<AtomicBool>,
    /// Whether the thread has said its last word, or is left to read the rest.
    ended: Cell<bool>,
    /// After which a thread that reports nothing counts as lost.
    deadline: Duration,
}

impl Incoming {
    /// Waits for the head: whether an event stream follows, or some other body.
    pub(super) fn begun(&self) -> Result<bool, Failure> {
        match self.wait()? {
            Event::Begun { is_stream } => Ok(is_stream),
            _ => Err(Failure::Broken("the exchange is out of order".to_owned())),
        }
    }

    /// The next bytes; `None` at the end.
    pub(super) fn next(&self) -> Result<Option<Vec<u8>>, Failure> {
        match self.wait()? {
            Event::Bytes(bytes) => Ok(Some(bytes)),
            _ => Ok(None),
        }
    }

    /// Nothing more is wanted: what is left is read away, so that the connection can be used again.
    pub(super) fn finish(self) {
        self.finished.store(true, Ordering::Release);
        self.ended.set(true);
    }

    fn wait(&self) -> Result<Event, Failure> {
        let event = self.events.recv_timeout(self.deadline);
        if matches!(event, Ok(Event::Failed(_) | Event::End)) {
            self.ended.set(true);
        }
        match event {
            Ok(Event::Failed(failure)) => Err(failure),
            Ok(Event::Cancelled) => Err(Failure::Cancelled),
            Ok(event) => Ok(event),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                Err(Failure::Broken("the exchange was lost".to_owned()))
            }
        }
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        if !self.ended.get() {
            self.hung_up.store(true, Ordering::Release);
            self.agent.clone().shutdown();
        }
    }
}

/// The thread's side.
struct Exchange {
    agent: ureq::Agent,
    send: Sender<Event>,
    finished: Arc<AtomicBool>,
}

impl Exchange {
    fn run(self, post: &Post) {
        let mut request = self
            .agent
            .post(&post.url)
            .header("content-type", "application/json");
        for (name, value) in &post.headers {
            request = request.header(*name, value);
        }
        let outcome = match request.send(&post.body[..]) {
            Ok(response) => self.receive(response),
            Err(error) => Err(failed(&error, &post.url)),
        };
        drop(self.send.send(match outcome {
            Ok(()) => Event::End,
            Err(failure) => Event::Failed(failure),
        }));
    }

    fn receive(&self, response: ureq::http::Response<ureq::Body>) -> Result<(), Failure> {
        let (head, body) = response.into_parts();
        if !head.status.is_success() {
            return Err(Failure::Answer(Box::new(answer(&head, body))));
        }
        let is_stream = !header(&head, "content-type").is_some_and(|kind| kind.contains("json"));
        drop(self.send.send(Event::Begun { is_stream }));
        let mut reader = body.into_reader();
        let mut buffer = vec![0; 16 * 1024];
        let mut rest = 0;
        loop {
            let length = match reader.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(length) => length,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Failure::Broken(stream_fault(&error))),
            };
            if self
                .send
                .send(Event::Bytes(buffer[..length].to_vec()))
                .is_err()
            {
                rest += length;
                if !self.finished.load(Ordering::Acquire) || rest > REST {
                    return Ok(());
                }
            }
        }
    }
}

fn header<'a>(head: &'a ureq::http::response::Parts, name: &str) -> Option<&'a str> {
    head.headers.get(name)?.to_str().ok()
}

fn answer(head: &ureq::http::response::Parts, body: ureq::Body) -> Answer {
    let mut bytes = Vec::new();
    // What can be read of a failed answer is enough; that it broke off says nothing new.
    drop(body.into_reader().take(ERROR_BODY).read_to_end(&mut bytes));
    Answer {
        status: head.status.as_u16(),
        after: failure::retry_after(header(head, "retry-after-ms"), header(head, "retry-after")),
        should_retry: match header(head, "x-should-retry") {
            Some("true") => Some(true),
            Some("false") => Some(false),
            _ => None,
        },
        request_id: header(head, "request-id")
            .or_else(|| header(head, "x-request-id"))
            .map(str::to_owned),
        location: header(head, "location").map(str::to_owned),
        said: Said::from_body(&bytes),
    }
}

fn failed(error: &ureq::Error, url: &str) -> Failure {
    let server = address::server(url);
    match error {
        ureq::Error::HostNotFound => Failure::Unreachable(format!("no host of {server} was found")),
        ureq::Error::Timeout(ureq::Timeout::PerRead | ureq::Timeout::PerWrite) => {
            Failure::Broken(format!("{server} did not answer in time"))
        }
        ureq::Error::Timeout(_) => {
            Failure::Unreachable(format!("no connection to {server} in time"))
        }
        ureq::Error::Io(error) => disconnected(error, server, url.starts_with("https")),
        ureq::Error::Protocol(error) => {
            Failure::Unreachable(format!("what {server} says is no HTTP: {error}"))
        }
        ureq::Error::ConnectionFailed | ureq::Error::ConnectProxyFailed(_) => {
            Failure::Unreachable(format!("no connection to {server}: {error}"))
        }
        _ => Failure::Impossible(format!("cannot ask {server}: {error}")),
    }
}

/// Before the answer's head has come.
fn disconnected(error: &std::io::Error, server: &str, is_secure: bool) -> Failure {
    use std::io::ErrorKind as Kind;
    match error.kind() {
        // What is no TLS, or no certificate to be trusted, is the same the next time.
        Kind::InvalidData if is_secure => {
            Failure::Impossible(format!("no secure connection to {server}: {error}"))
        }
        Kind::ConnectionReset | Kind::BrokenPipe | Kind::UnexpectedEof => {
            Failure::Unreachable(format!("{server} closed the connection: {error}"))
        }
        _ => Failure::Unreachable(format!("no connection to {server}: {error}")),
    }
}

fn stream_fault(error: &std::io::Error) -> String {
    let timeout = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<ureq::Error>())
        .is_some_and(|inner| matches!(inner, ureq::Error::Timeout(_)));
    if timeout {
        "the stream stalled".to_owned()
    } else {
        format!("the stream broke: {error}")
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    use super::*;

    /// Asks a server that reads the request and then does as `serve` says, with little patience.
    fn exchange(serve: impl FnOnce(TcpStream) + Send + 'static) -> Result<Vec<u8>, Failure> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/x", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut buffer = [0; 4096];
            let mut read = 0;
            while !buffer[..read].ends_with(b"\r\n\r\n{}") {
                read += stream.read(&mut buffer[read..]).unwrap();
            }
            serve(stream);
        });
        let patience = Patience {
            connect: Duration::from_secs(10),
            idle: Duration::from_millis(500),
        };
        let post = Post {
            url: url.clone(),
            headers: vec![],
            body: b"{}".to_vec(),
        };
        let mut http = Http::new(&url, "alice", patience);
        let incoming = http.post(post, &Cancel::new())?;
        incoming.begun()?;
        let mut body = Vec::new();
        while let Some(bytes) = incoming.next()? {
            body.extend(bytes);
        }
        Ok(body)
    }

    #[test]
    fn what_may_be_there_later_is_told_from_what_will_not() {
        use std::io::ErrorKind as Kind;
        let of = |error: ureq::Error| match failed(&error, "https://me:pw@h:1/v1") {
            Failure::Unreachable(why) => (true, why),
            Failure::Impossible(why) => (false, why),
            other => panic!("{other:?}"),
        };
        let io = |kind: Kind| of(ureq::Error::Io(kind.into()));
        for (later, why) in [
            of(ureq::Error::HostNotFound),
            of(ureq::Error::Timeout(ureq::Timeout::Connect)),
            of(ureq::Error::ConnectionFailed),
            io(Kind::ConnectionRefused),
            io(Kind::ConnectionReset),
            io(Kind::NetworkUnreachable),
        ] {
            assert!(later && why.contains("h:1") && !why.contains("pw"), "{why}");
        }
        for (later, why) in [io(Kind::InvalidData), of(ureq::Error::Tls("none"))] {
            assert!(!later && why.contains("h:1"), "{why}");
        }
    }

    /// Keeps the connection open until the client gives it up.
    fn hold(mut stream: TcpStream) {
        while stream.read(&mut [0; 64]).is_ok_and(|length| length > 0) {}
    }

    const HEAD: &[u8] =
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9\r\n\r\n";

    fn broken(outcome: Result<Vec<u8>, Failure>, why: &str) {
        match outcome {
            Err(Failure::Broken(text)) => assert!(text.contains(why), "{text}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn silence_breaks_the_stream_wherever_it_begins() {
        broken(exchange(hold), "did not answer in time");
        broken(
            exchange(|mut stream| {
                stream.write_all(HEAD).unwrap();
                stream.write_all(b"data").unwrap();
                hold(stream);
            }),
            "the stream stalled",
        );
    }

    #[test]
    fn who_stops_listening_hangs_up_at_once_and_may_ask_again() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/x", listener.local_addr().unwrap());
        let (asked, heard) = mpsc::channel();
        let server = std::thread::spawn(move || {
            for _ in 0..2 {
                let (stream, _) = listener.accept().unwrap();
                asked.send(()).unwrap();
                // Ends with the connection.
                hold(stream);
            }
        });
        let mut http = Http::new(&url, "alice", Patience::default());
        for _ in 0..2 {
            let post = Post {
                url: url.clone(),
                headers: vec![],
                body: b"{}".to_vec(),
            };
            let cancel = Cancel::new();
            let incoming = http.post(post, &cancel).unwrap();
            heard.recv_timeout(Duration::from_secs(30)).unwrap();
            let began = crate::clock::instant();
            cancel.cancel();
            assert!(matches!(incoming.begun(), Err(Failure::Cancelled)));
            drop(incoming);
            assert!(began.elapsed() < Duration::from_secs(1));
        }
        let left = crate::clock::instant();
        server.join().unwrap();
        assert!(left.elapsed() < Duration::from_secs(1));
    }

    #[test]
    fn an_end_before_the_announced_length_breaks_the_stream() {
        broken(
            exchange(|mut stream| {
                stream.write_all(HEAD).unwrap();
                stream.write_all(b"data").unwrap();
            }),
            "the stream broke",
        );
        match exchange(drop) {
            Err(Failure::Unreachable(why)) => {
                assert!(why.contains("closed the connection"), "{why}")
            }
            other => panic!("{other:?}"),
        }
    }
}
