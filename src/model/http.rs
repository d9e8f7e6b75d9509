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

use super::failure::Failure;
use super::{address, faults};
use crate::cancel::Cancel;

/// Most bytes read after the end mark of a stream, so that its connection can be used again.
const REST: usize = 64 * 1024;

/// How long is waited for what.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// For a connection, TLS included.
    pub(super) connect: Duration,
    /// For the next byte, the first included.
    pub(super) idle: Duration,
    /// For more of a reply that may end: some servers never say that it has ended.
    pub(super) last: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            idle: Duration::from_mins(5),
            last: Duration::from_secs(10),
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
    /// Whether a connection may have been kept that the server has closed since.
    kept: Arc<AtomicBool>,
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
            kept: Arc::default(),
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
            kept: Arc::clone(&self.kept),
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
            last: self.patience.last,
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
    /// See [`Patience::last`].
    last: Duration,
}

impl Incoming {
    /// Waits for the head: whether an event stream follows, or some other body.
    pub(super) fn begun(&self) -> Result<bool, Failure> {
        match self.wait(self.deadline)? {
            Event::Begun { is_stream } => Ok(is_stream),
            _ => Err(Failure::Broken("the exchange is out of order".to_owned())),
        }
    }

    /// The next bytes; `None` at the end. `last`: what came so far may have been all.
    pub(super) fn next(&self, last: bool) -> Result<Option<Vec<u8>>, Failure> {
        let most = if last { self.last } else { self.deadline };
        match self.wait(most)? {
            Event::Bytes(bytes) => Ok(Some(bytes)),
            _ => Ok(None),
        }
    }

    /// Nothing more is wanted: what is left is read away, so that the connection can be used again.
    pub(super) fn finish(self) {
        self.finished.store(true, Ordering::Release);
        self.ended.set(true);
    }

    fn wait(&self, most: Duration) -> Result<Event, Failure> {
        let event = self.events.recv_timeout(most);
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
    kept: Arc<AtomicBool>,
}

impl Exchange {
    fn run(self, post: &Post) {
        let mut answer = self.ask(post);
        // A kept connection that the server closed says nothing of the server: the other one is new.
        if self.kept.swap(false, Ordering::AcqRel)
            && answer.as_ref().is_err_and(faults::is_hanging_up)
        {
            answer = self.ask(post);
        }
        let outcome = match answer {
            Ok(response) => self.receive(response, &post.url),
            Err(error) => Err(faults::failed(&error, &post.url)),
        };
        self.kept.store(outcome.is_ok(), Ordering::Release);
        drop(self.send.send(match outcome {
            Ok(()) => Event::End,
            Err(failure) => Event::Failed(failure),
        }));
    }

    fn ask(&self, post: &Post) -> Result<ureq::http::Response<ureq::Body>, ureq::Error> {
        let mut request = self
            .agent
            .post(&post.url)
            .header("content-type", "application/json");
        for (name, value) in &post.headers {
            request = request.header(*name, value);
        }
        request.send(&post.body[..])
    }

    fn receive(
        &self,
        response: ureq::http::Response<ureq::Body>,
        url: &str,
    ) -> Result<(), Failure> {
        let (head, body) = response.into_parts();
        if !head.status.is_success() {
            return Err(Failure::Answer(Box::new(faults::answer(&head, body))));
        }
        let is_stream = faults::is_stream(&head, address::server(url))?;
        drop(self.send.send(Event::Begun { is_stream }));
        let mut reader = body.into_reader();
        let mut buffer = vec![0; 16 * 1024];
        let mut rest = 0;
        loop {
            let length = match reader.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(length) => length,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Failure::Broken(faults::of_stream(&error))),
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
            last: Duration::from_millis(500),
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
        while let Some(bytes) = incoming.next(false)? {
            body.extend(bytes);
        }
        Ok(body)
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
    fn for_more_of_what_may_be_all_little_is_waited() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/x", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(HEAD).unwrap();
            stream.write_all(b"data").unwrap();
            hold(stream);
        });
        let patience = Patience {
            last: Duration::from_millis(50),
            ..Patience::default()
        };
        let post = Post {
            url: url.clone(),
            headers: vec![],
            body: b"{}".to_vec(),
        };
        let incoming = Http::new(&url, "alice", patience)
            .post(post, &Cancel::new())
            .unwrap();
        incoming.begun().unwrap();
        while incoming.next(false).unwrap().is_none() {}
        let began = crate::clock::instant();
        assert!(matches!(incoming.next(true), Err(Failure::Broken(_))));
        assert!(began.elapsed() < Patience::default().idle / 2);
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
                assert!(why.contains("closed the connection"), "{why}");
            }
            other => panic!("{other:?}"),
        }
    }
}
