//! A process on a real pseudo-terminal.

use std::io::Write;
use std::num::NonZero;
use std::process::Command;
use std::time::Duration;

use expectrl::Session;
use expectrl::session::OsSession;

use super::DEADLINE;
use super::facts::wait_until;

/// How a line editor asks where the cursor is.
const WHERE: &[u8] = b"\x1b[6n";
/// Rows above the window that can still be read.
const SCROLLBACK: usize = 1000;

/// What a terminal sees, shows and sends. Of questions it answers only the one for the cursor's place.
pub struct Terminal {
    session: OsSession,
    bytes: Vec<u8>,
    screen: vt100::Parser,
    /// How many bytes are on the screen.
    drawn: usize,
}

impl Terminal {
    /// Starts `command` on a terminal of 120 columns and 40 rows.
    pub fn start(command: Command) -> Self {
        Self::sized(command, 120, 40)
    }

    /// Starts `command` on a terminal of that size.
    pub fn sized(command: Command, columns: u16, rows: u16) -> Self {
        Self::of_kind(command, "xterm", columns, rows)
    }

    /// Starts `command` on a terminal that `TERM` names so.
    pub fn of_kind(mut command: Command, term: &str, columns: u16, rows: u16) -> Self {
        command.env("TERM", term);
        let mut session = Session::spawn(command).unwrap();
        session
            .get_process_mut()
            .set_window_size(columns, rows)
            .unwrap();
        Self {
            session,
            bytes: Vec::new(),
            screen: vt100::Parser::new(
                NonZero::new(rows).unwrap(),
                NonZero::new(columns).unwrap(),
                SCROLLBACK,
            ),
            drawn: 0,
        }
    }

    /// Everything that was written to the terminal so far, escape sequences included.
    pub fn seen(&mut self) -> String {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = self.session.try_read(&mut buffer) {
            self.bytes.extend_from_slice(&buffer[..count]);
        }
        self.draw();
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// Draws what has come, and says where the cursor is wherever that is asked.
    fn draw(&mut self) {
        while let Some(at) = self.bytes[self.drawn..]
            .windows(WHERE.len())
            .position(|part| part == WHERE)
        {
            let end = self.drawn + at + WHERE.len();
            self.screen.process(&self.bytes[self.drawn..end]);
            self.drawn = end;
            let (row, column) = self.screen.screen().cursor_position();
            self.send(&format!("\u{1b}[{};{}R", row + 1, column + 1));
        }
        // What may be the beginning of the question waits for its rest.
        let rest = &self.bytes[self.drawn..];
        let kept = (1..WHERE.len())
            .rev()
            .find(|&count| rest.ends_with(&WHERE[..count]));
        let end = self.bytes.len() - kept.unwrap_or(0);
        self.screen.process(&self.bytes[self.drawn..end]);
        self.drawn = end;
    }

    /// The rows of the window as a person sees them now, without blanks at their ends.
    pub fn rows(&mut self) -> Vec<String> {
        self.seen();
        let screen = self.screen.screen();
        let width = screen.size().1;
        screen
            .rows(0, width.get())
            .map(|row| row.trim_end().to_owned())
            .collect()
    }

    /// Waits until the last row that is not empty is this one.
    #[track_caller]
    pub fn wait_for_last_row(&mut self, row: &str) {
        let mut last = Vec::new();
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            wait_until(row, DEADLINE, || {
                last = self.rows();
                (last.iter().rfind(|row| !row.is_empty())? == row).then_some(())
            });
        }));
        assert!(found.is_ok(), "{row:?} does not end {last:#?}");
    }

    /// The same without escape sequences and carriage returns.
    pub fn plain(&mut self) -> String {
        without_sequences(&self.seen())
    }

    /// Changes the window's size, of which the process is told by a signal.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        let process = self.session.get_process_mut();
        process.set_window_size(columns, rows).unwrap();
        self.seen();
        let (rows, columns) = (NonZero::new(rows).unwrap(), NonZero::new(columns).unwrap());
        self.screen.set_size(rows, columns);
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
