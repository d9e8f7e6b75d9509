//! Reading standard input one line at a time, and only when the session asks for one.
//!
//! At most one line is on its way: asking again before the session has taken it reads nothing.

use std::io::{BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};

use crate::lead::Inlet;

/// Longest line, in bytes; what is over counts as more lines.
const MAX_LINE: u64 = 1024 * 1024;

/// The reading thread, which waits to be asked.
#[derive(Debug)]
pub struct Pull {
    wanted: Sender<()>,
    on_its_way: bool,
}

impl Pull {
    /// Starts the thread; lines go to `inlet`, and with each `prompt` becomes false.
    pub fn start(inlet: Inlet, prompt: Arc<AtomicBool>) -> Self {
        let (wanted, requests) = channel();
        std::thread::spawn(move || {
            for () in requests {
                let line = next_line();
                prompt.store(false, Ordering::Release);
                if !deliver(line, &inlet) {
                    return;
                }
            }
        });
        Self {
            wanted,
            on_its_way: false,
        }
    }

    /// Has one line read, unless one is on its way.
    pub fn ask(&mut self) {
        if !std::mem::replace(&mut self.on_its_way, true) {
            // Without a reader there is nobody to ask: the input has ended.
            self.wanted.send(()).ok();
        }
    }

    /// The session has taken the line.
    pub fn taken(&mut self) {
        self.on_its_way = false;
    }
}

/// Reads lines as they come until the input ends; with each `prompt` becomes false.
pub fn read_all(inlet: &Inlet, prompt: &AtomicBool) {
    loop {
        let line = next_line();
        prompt.store(false, Ordering::Release);
        if !deliver(line, inlet) {
            return;
        }
    }
}

fn deliver(line: Option<String>, inlet: &Inlet) -> bool {
    let more = line.is_some();
    match line {
        Some(line) => inlet.line(line),
        None => inlet.end_of_input(),
    }
    more
}

/// The next line without its end; `None` at the end of input or if it cannot be read.
fn next_line() -> Option<String> {
    let mut bytes = Vec::new();
    let read = std::io::stdin()
        .lock()
        .take(MAX_LINE)
        .read_until(b'\n', &mut bytes);
    if !matches!(read, Ok(1..)) {
        return None;
    }
    let line = String::from_utf8_lossy(&bytes);
    Some(line.trim_end_matches(['\n', '\r']).to_owned())
}
