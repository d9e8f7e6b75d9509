//! A process on a real pseudo-terminal.

use std::io::Write;
use std::process::Command;
use std::time::Duration;

use expectrl::Session;
use expectrl::session::OsSession;

use super::facts::wait_until;

/// How a line editor asks where the cursor is, and an answer.
const WHERE: &str = "\u{1b}[6n";
const THERE: &str = "\u{1b}[1;1R";

/// What a terminal sees and sends. It answers only the question for the cursor's place.
#[derive(Debug)]
pub struct Terminal {
    session: OsSession,
    bytes: Vec<u8>,
    answered: usize,
}

impl Terminal {
    /// Starts `command` on a terminal of 120 columns and 40 rows.
    pub fn start(mut command: Command) -> Self {
        command.env("TERM", "xterm");
        let mut session = Session::spawn(command).unwrap();
        session.get_process_mut().set_window_size(120, 40).unwrap();
        Self {
            session,
            bytes: Vec::new(),
            answered: 0,
        }
    }

    /// Everything that was written to the terminal so far, escape sequences included.
    pub fn seen(&mut self) -> String {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = self.session.try_read(&mut buffer) {
            self.bytes.extend_from_slice(&buffer[..count]);
        }
        let text = String::from_utf8_lossy(&self.bytes).into_owned();
        let asked = text.matches(WHERE).count();
        while self.answered < asked {
            self.answered += 1;
            self.send(THERE);
        }
        text
    }

    /// The same without escape sequences and carriage returns.
    pub fn plain(&mut self) -> String {
        without_sequences(&self.seen())
    }

    /// Changes the window's size, of which the process is told by a signal.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        let process = self.session.get_process_mut();
        process.set_window_size(columns, rows).unwrap();
    }

    /// The last whole picture of a process that draws pictures; empty before the first.
    pub fn frame(&mut self) -> String {
        let seen = self.seen();
        let frames = seen.split("\u{1b}[?2026h").skip(1);
        let whole = frames.filter_map(|frame| Some(frame.split_once("\u{1b}[?2026l")?.0));
        without_sequences(whole.last().unwrap_or_default())
    }

    /// Waits until the picture has `part`.
    #[track_caller]
    pub fn wait_for_frame(&mut self, part: &str, deadline: Duration) {
        let mut last = String::new();
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            wait_until(part, deadline, || {
                last = self.frame();
                last.contains(part).then_some(())
            });
        }));
        assert!(found.is_ok(), "{part:?} not in\n{last}");
    }

    /// Waits until `part` was seen; gives what was seen after the last call's find.
    #[track_caller]
    pub fn wait_for(&mut self, part: &str, deadline: Duration) {
        let mut last = String::new();
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            wait_until(part, deadline, || {
                last = self.plain();
                last.contains(part).then_some(())
            });
        }));
        assert!(found.is_ok(), "{part:?} not in {last:?}");
    }

    /// Sends keys as they are.
    pub fn send(&mut self, keys: &str) {
        self.session.write_all(keys.as_bytes()).unwrap();
        self.session.flush().unwrap();
    }

    /// Types a line and presses Enter.
    pub fn line(&mut self, text: &str) {
        self.send(text);
        self.send("\r");
    }

    /// Waits for the process's end and gives its exit code.
    #[track_caller]
    pub fn wait(&mut self, deadline: Duration) -> Option<i32> {
        use expectrl::process::unix::WaitStatus;
        let status = wait_until("the process's end", deadline, || {
            self.seen();
            match self.session.get_process().status() {
                Ok(WaitStatus::StillAlive) => None,
                other => Some(other),
            }
        });
        match status {
            Ok(WaitStatus::Exited(_, code)) => Some(code),
            _ => None,
        }
    }
}

fn without_sequences(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(ch) = chars.next() {
        match ch {
            '\u{1b}' => {
                if chars.next_if_eq(&'[').is_some() {
                    while chars.next_if(|ch| matches!(ch, ' '..='?')).is_some() {}
                }
                chars.next();
            }
            '\r' => {}
            ch => out.push(ch),
        }
    }
    out
}
