//! A process of ours while it runs, and what it came to.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use nix::sys::signal::Signal;

use super::facts::{send, wait_until};

/// What a process printed and how it ended.
#[derive(Debug)]
#[must_use]
pub struct Done {
    /// Exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Done {
    /// Panics with all that was printed unless the exit code is `code`.
    #[track_caller]
    pub fn expect_code(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "stdout:\n{}\nstderr:\n{}",
            self.stdout,
            self.stderr
        );
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error} in\n{}\nstderr:\n{}", self.stdout, self.stderr))
    }

    /// Panics unless this is a usage error: exit code 2, nothing on standard output, one line `error: what; why; what to do`.
    #[track_caller]
    pub fn expect_usage_error(self, part: &str) {
        let done = self.expect_code(2);
        assert_eq!(done.stdout, "");
        assert_eq!(done.stderr.lines().count(), 1, "{}", done.stderr);
        assert!(done.stderr.starts_with("error: "), "{}", done.stderr);
        assert!(done.stderr.matches("; ").count() >= 2, "{}", done.stderr);
        assert!(
            done.stderr.contains(part),
            "{part:?} not in {}",
            done.stderr
        );
    }
}

/// A process that runs; its streams are read as they come. Dropping it kills it.
#[derive(Debug)]
pub struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Stream,
    stderr: Stream,
}

impl Running {
    /// Starts `command` with all three streams piped.
    #[expect(clippy::disallowed_methods, reason = "tests own their children")]
    pub fn start(command: &mut Command) -> Self {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        Self {
            stdin: child.stdin.take(),
            stdout: Stream::read(child.stdout.take().unwrap()),
            stderr: Stream::read(child.stderr.take().unwrap()),
            child,
        }
    }

    /// Its pid.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Writes a line to its standard input.
    pub fn line(&mut self, text: &str) {
        let stdin = self.stdin.as_mut().expect("standard input was closed");
        stdin.write_all(format!("{text}\n").as_bytes()).unwrap();
    }

    /// Ends its standard input.
    pub fn end_input(&mut self) {
        self.stdin = None;
    }

    /// Standard output so far.
    pub fn stdout(&self) -> String {
        self.stdout.text()
    }

    /// Standard error so far.
    pub fn stderr(&self) -> String {
        self.stderr.text()
    }

    /// Waits until standard output contains `part`.
    #[track_caller]
    pub fn wait_for(&self, part: &str, deadline: Duration) {
        wait_until(&format!("{part:?} on standard output"), deadline, || {
            self.stdout().contains(part).then_some(())
        });
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        send(self.pid(), signal);
    }

    /// Whether it has ended.
    #[expect(clippy::disallowed_methods, reason = "tests own their children")]
    pub fn has_ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Ends its input and waits for its end; after `deadline` it is killed and the test fails with what it printed.
    #[track_caller]
    pub fn wait(mut self, deadline: Duration) -> Done {
        self.end_input();
        let until = super::facts::now() + deadline;
        let status = loop {
            if let Some(status) = self.has_ended() {
                break status;
            }
            if super::facts::now() > until {
                let (out, err) = (self.stdout(), self.stderr());
                panic!("still runs after {deadline:?}; stdout:\n{out}\nstderr:\n{err}");
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        Done {
            code: status.code(),
            stdout: self.stdout.finish(),
            stderr: self.stderr.finish(),
        }
    }
}

impl Drop for Running {
    #[expect(clippy::disallowed_methods, reason = "tests own their children")]
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// One stream, read by a thread.
#[derive(Debug)]
struct Stream {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Stream {
    fn read(mut from: impl Read + Send + 'static) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&bytes);
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 8192];
            while let Ok(count @ 1..) = from.read(&mut buffer) {
                into.lock().unwrap().extend_from_slice(&buffer[..count]);
            }
        });
        Self {
            bytes,
            reader: Some(reader),
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap()).into_owned()
    }

    /// All of it, once every writer has closed it; a process left behind that holds it open fails the test by its deadline.
    fn finish(&mut self) -> String {
        let reader = self.reader.take().unwrap();
        wait_until(
            "the stream's end (somebody still holds it open)",
            super::DEADLINE,
            || reader.is_finished().then_some(()),
        );
        self.text()
    }
}
