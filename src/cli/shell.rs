//! The only writer to standard output and standard error.
//!
//! A reader that has gone away (`lead … | head`) is no error: the process goes on quietly and what it says is dropped. What
//! else keeps standard output from being written is remembered, so that the process ends by saying so.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

use clap::ValueEnum;

use super::safe;

/// What first kept standard output from being written.
static UNWRITTEN: OnceLock<String> = OnceLock::new();

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How the terminal is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Style {
    /// Whether escape sequences for colour are written.
    pub color: bool,
}

impl Style {
    /// What `--color`, `NO_COLOR`, `TERM` and the terminal say together.
    pub fn choose(choice: ColorChoice, no_color: bool, term: Option<&str>, terminal: bool) -> Self {
        let color = match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => terminal && !no_color && term.is_some_and(|term| term != "dumb"),
        };
        Self { color }
    }

    /// `text` in bold.
    pub fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    /// `text` set back.
    pub fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    /// `text` as something that went well.
    pub fn good(self, text: &str) -> String {
        self.wrap("32", text)
    }

    /// `text` as something that needs the person.
    pub fn warn(self, text: &str) -> String {
        self.wrap("33", text)
    }

    /// `text` as something that went wrong.
    pub fn bad(self, text: &str) -> String {
        self.wrap("31", text)
    }

    /// `text` as a name.
    pub fn name(self, text: &str) -> String {
        self.wrap("36", text)
    }

    /// `text` as a colour sequence of these codes has it; plain without codes.
    pub fn look(self, codes: &str, text: &str) -> String {
        if codes.is_empty() {
            text.to_owned()
        } else {
            self.wrap(codes, text)
        }
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.color {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Writes to standard output what is safe already.
pub fn out(text: &str) {
    out_to_reader(text);
}

/// Writes to standard output as it is: for what another program reads.
pub fn out_bytes(bytes: &[u8]) {
    deliver_out(bytes);
}

/// Writes a line to standard output.
pub fn out_line(text: &str) {
    out_line_to_reader(text);
}

/// Writes to standard output where much is to come; `false` once nobody reads it any more.
pub fn out_to_reader(text: &str) -> bool {
    deliver_out(text.as_bytes())
}

/// The same with a line.
pub fn out_line_to_reader(text: &str) -> bool {
    out_to_reader(&format!("{text}\n"))
}

/// Why not all of standard output was written, a reader that has gone away aside.
pub fn unwritten() -> Option<&'static str> {
    UNWRITTEN.get().map(String::as_str)
}

/// `value` as JSON on one line, to be printed.
pub fn json_line(value: &serde_json::Value) -> String {
    harmless(&value.to_string())
}

/// Writes a line to standard error.
pub fn err_line(text: &str) {
    let line = format!("{text}\n");
    // Who cannot be told of anything cannot be told of this.
    drop(deliver(&mut io::stderr().lock(), line.as_bytes()));
}

/// Writes `value` as pretty JSON to standard output.
pub fn out_json(value: &serde_json::Value) {
    out_line(&harmless(&format!("{value:#}")));
}

/// Writes `value` as JSON on one line to standard output.
pub fn out_json_line(value: &serde_json::Value) {
    out_line(&json_line(value));
}

/// JSON text with every character that a terminal would act on as a `\u` escape: the same value.
fn harmless(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for ch in json.chars() {
        if ch != '\n' && safe::acts_on_terminal(ch) {
            for unit in ch.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(ch);
        }
    }
    out
}

/// Whether standard output is a terminal.
pub fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// How many columns standard output has, if it is a terminal.
pub fn width() -> Option<usize> {
    let (columns, _) = crossterm::terminal::size()
        .ok()
        .filter(|_| stdout_is_terminal())?;
    (columns > 0).then_some(usize::from(columns))
}

/// Whether standard output and standard error both end at a terminal.
pub fn is_one_place() -> bool {
    io::stdout().is_terminal() && io::stderr().is_terminal()
}

/// Whether a person can be asked: standard input and output are terminals.
pub fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

fn deliver_out(bytes: &[u8]) -> bool {
    match deliver(&mut io::stdout().lock(), bytes) {
        Ok(()) => true,
        Err(error) => {
            if error.kind() != io::ErrorKind::BrokenPipe {
                UNWRITTEN.get_or_init(|| error.to_string());
            }
            false
        }
    }
}

fn deliver(stream: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes).and_then(|()| stream.flush())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_printed_harmless_and_stays_the_same_value() {
        let value = serde_json::json!({ "text": "a\u{9b}2J\u{202e}\u{e0041}\u{1b}[m ü 漢" });
        let text = harmless(&format!("{value:#}"));
        assert!(
            !text
                .chars()
                .any(|ch| ch != '\n' && safe::acts_on_terminal(ch)),
            "{text:?}"
        );
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&text).unwrap(),
            value
        );
    }

    #[test]
    fn colour_needs_a_terminal_that_can_and_a_person_who_wants_it() {
        let color = |choice, no_color, term, terminal| {
            Style::choose(choice, no_color, term, terminal).color
        };
        assert!(color(ColorChoice::Auto, false, Some("xterm"), true));
        for (no_color, term, terminal) in [
            (true, Some("xterm"), true),
            (false, Some("dumb"), true),
            (false, None, true),
            (false, Some("xterm"), false),
        ] {
            assert!(!color(ColorChoice::Auto, no_color, term, terminal));
            assert!(color(ColorChoice::Always, no_color, term, terminal));
        }
        assert!(!color(ColorChoice::Never, false, Some("xterm"), true));
    }
}
