//! A model server of our own on 127.0.0.1: speaks the Anthropic and the OpenAI protocol as streams, asks a handler for each
//! reply, and checks every request.
//!
//! ```ignore
//! let server = ModelServer::start(|ask| match (ask.agent.as_str(), ask.step()) {
//!     ("lead", 0) => Answer::call("create_task", json!({"subject": "a"})),
//!     _ => Answer::say("done"),
//! });
//! // ANTHROPIC_BASE_URL=server.anthropic_base(), any key; OPENAI_BASE_URL=server.openai_base()
//! server.assert_valid();
//! ```

mod answer;
mod ask;
mod check;
mod wire;

use std::collections::HashMap;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub(crate) use answer::Answer;
pub(crate) use ask::{Ask, Part, Protocol};

type Handler = dyn Fn(&Ask) -> Answer + Send + Sync;

/// What all connections share.
struct Shared {
    handler: Box<Handler>,
    log: Mutex<Log>,
    changed: Condvar,
    ids: AtomicU64,
    stopped: AtomicBool,
}

#[derive(Default)]
struct Log {
    violations: Vec<String>,
    asks: Vec<Ask>,
    counts: HashMap<String, usize>,
    connections: usize,
    /// Answers to requests for anything but a model's reply, by path.
    told: HashMap<&'static str, String>,
}

impl Shared {
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The server; dropping it ends it, open connections included.
pub(crate) struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl ModelServer {
    /// Starts a server that answers as `handler` says. It is called from many threads at once.
    pub(crate) fn start(handler: impl Fn(&Ask) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            handler: Box::new(handler),
            log: Mutex::default(),
            changed: Condvar::new(),
            ids: AtomicU64::new(1),
            stopped: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if accepting.stopped.load(Ordering::Acquire) {
                    break;
                }
                accepting.log().connections += 1;
                let shared = Arc::clone(&accepting);
                std::thread::spawn(move || serve(&shared, stream));
            }
        });
        Self { address, shared }
    }

    /// `ANTHROPIC_BASE_URL`.
    pub(crate) fn anthropic_base(&self) -> String {
        format!("http://{}", self.address)
    }

    /// `OPENAI_BASE_URL`.
    pub(crate) fn openai_base(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// `OLLAMA_HOST`.
    pub(crate) fn ollama_host(&self) -> String {
        self.address.to_string()
    }

    /// Answers requests for `path` so.
    pub(crate) fn tell(&self, path: &'static str, body: &serde_json::Value) {
        self.shared.log().told.insert(path, body.to_string());
    }

    /// All requests so far, in the order in which they came.
    pub(crate) fn asks(&self) -> Vec<Ask> {
        self.shared.log().asks.clone()
    }

    /// How many connections were made.
    pub(crate) fn connections(&self) -> usize {
        self.shared.log().connections
    }

    /// What was wrong with requests so far: one text each.
    pub(crate) fn violations(&self) -> Vec<String> {
        self.shared.log().violations.clone()
    }

    /// Fails the test if any request was not valid.
    pub(crate) fn assert_valid(&self) {
        let violations = self.violations();
        assert!(violations.is_empty(), "{}", violations.join("\n"));
    }

    /// Waits until there were `count` requests.
    pub(crate) fn wait_for_asks(&self, count: usize) {
        let log = self.shared.log();
        let (log, waited) = self
            .shared
            .changed
            .wait_timeout_while(log, Duration::from_secs(30), |log| log.asks.len() < count)
            .unwrap_or_else(PoisonError::into_inner);
        assert!(
            !waited.timed_out(),
            "{} of {count} requests came",
            log.asks.len()
        );
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Release);
        // Wakes the accepting thread; a connection that cannot be made finds it gone already.
        drop(TcpStream::connect(self.address));
    }
}

/// One connection, until its client hangs up or a fault ends it.
fn serve(shared: &Shared, stream: TcpStream) {
    let Ok(mut connection) = wire::Connection::new(stream) else {
        return;
    };
    while let Some(request) = connection.read_request() {
        let told = shared.log().told.get(request.path.as_str()).cloned();
        if let Some(body) = told {
            connection.reply(200, &[], body.as_bytes());
            continue;
        }
        if request.path.ends_with("/api/version") {
            connection.reply(200, &[], br#"{"version":"0.0.0"}"#);
            continue;
        }
        if request.path.ends_with("/api/tags") {
            let models = br#"{"models":[{"name":"nomic-embed-text"},{"name":"listed:8b"}]}"#;
            connection.reply(200, &[], models);
            continue;
        }
        let Some(ask) = noted(shared, &request) else {
            connection.reply(404, &[], b"{\"error\":\"no such path\"}");
            continue;
        };
        let answer = (shared.handler)(&ask);
        if !answer.send(&ask, &shared.ids, &mut connection, &shared.stopped) {
            return;
        }
    }
}

/// Parses, checks and records a request.
fn noted(shared: &Shared, request: &wire::Request) -> Option<Ask> {
    let mut ask = Ask::read(request)?;
    let violations = check::request(request, &ask);
    let mut log = shared.log();
    let place = log.asks.len();
    log.violations.extend(violations.into_iter().map(|what| {
        format!(
            "request {place} ({:?}, {}): {what}",
            ask.protocol, ask.agent
        )
    }));
    let count = log.counts.entry(ask.agent.clone()).or_default();
    ask.turn = *count;
    *count += 1;
    log.asks.push(ask.clone());
    shared.changed.notify_all();
    Some(ask)
}
