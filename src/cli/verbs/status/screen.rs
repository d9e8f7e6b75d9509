//! The terminal as a screen: the alternate one, keys one by one. It is as it was before when this is dropped, and also
//! before a panic says what it has to say.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::terminal::{self, Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen};
use crossterm::terminal::{
    BeginSynchronizedUpdate, DisableLineWrap, EnableLineWrap, EndSynchronizedUpdate,
};
use crossterm::{Command, cursor};

use super::layout::{Line, Tone};
use crate::cli::closed;
use crate::cli::exit::Kind;
use crate::cli::shell::{self, Style};
use crate::cli::verbs::follow::Wake;

/// Of a terminal that does not know its size, in columns and rows.
const USUAL: (usize, usize) = (80, 24);

/// Whether the terminal is changed just now.
static OPEN: AtomicBool = AtomicBool::new(false);

/// The terminal while it is a screen. One at a time.
#[derive(Debug)]
pub(super) struct Screen {
    style: Style,
}

impl Screen {
    /// Takes the terminal. Keys and new sizes are sent to `wake` from now on.
    pub(super) fn open(style: Style, wake: Sender<Wake>) -> io::Result<Self> {
        terminal::enable_raw_mode()?;
        OPEN.store(true, Ordering::SeqCst);
        let screen = Self { style };
        let tell = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            close();
            tell(panic);
        }));
        let mut text = String::new();
        write(&mut text, EnterAlternateScreen);
        write(&mut text, DisableLineWrap);
        write(&mut text, cursor::Hide);
        shell::out(&text);
        // From the first look for keys on, new sizes are told of: before the first picture is drawn.
        event::poll(Duration::ZERO)?;
        let gone = wake.clone();
        closed::watch(move || {
            gone.send(Wake::End(Kind::HungUp)).ok();
        })?;
        std::thread::Builder::new()
            .name("keys".to_owned())
            .spawn(move || read_keys(&wake))?;
        Ok(screen)
    }

    /// Columns and rows.
    pub(super) fn size() -> (usize, usize) {
        match terminal::size() {
            Ok((width @ 1.., height @ 1..)) => (width.into(), height.into()),
            Ok(_) | Err(_) => USUAL,
        }
    }

    /// Shows `lines` and nothing else; `false` once there is no terminal any more.
    pub(super) fn draw(&self, lines: &[Line]) -> bool {
        let mut text = String::new();
        write(&mut text, BeginSynchronizedUpdate);
        write(&mut text, cursor::MoveTo(0, 0));
        for (nr, line) in lines.iter().enumerate() {
            if nr > 0 {
                text.push_str("\r\n");
            }
            for span in line {
                text.push_str(&self.toned(span.tone, &span.text));
            }
            write(&mut text, Clear(ClearType::UntilNewLine));
        }
        write(&mut text, Clear(ClearType::FromCursorDown));
        write(&mut text, EndSynchronizedUpdate);
        shell::out_to_reader(&text)
    }

    fn toned(&self, tone: Tone, text: &str) -> String {
        match tone {
            Tone::Plain => text.to_owned(),
            Tone::Title => self.style.bold(text),
            Tone::Aside => self.style.dim(text),
            Tone::Name => self.style.name(text),
            Tone::Good => self.style.good(text),
            Tone::Warn => self.style.warn(text),
            Tone::Bad => self.style.bad(text),
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        close();
    }
}

/// Gives the terminal back, once.
fn close() {
    if !OPEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut text = String::new();
    write(&mut text, EnableLineWrap);
    write(&mut text, cursor::Show);
    write(&mut text, LeaveAlternateScreen);
    shell::out(&text);
    drop(terminal::disable_raw_mode());
}

/// Writing to a string cannot fail.
fn write(text: &mut String, command: impl Command) {
    command.write_ansi(text).ok();
}

/// For a thread of its own.
fn read_keys(wake: &Sender<Wake>) {
    loop {
        let woken = match event::read() {
            Ok(Event::Key(key)) => match end(key) {
                Some(kind) => wake.send(Wake::End(kind)),
                None => continue,
            },
            Ok(Event::Resize(..)) => wake.send(Wake::Changed),
            Ok(_) => continue,
            Err(_) => {
                wake.send(Wake::End(Kind::HungUp)).ok();
                return;
            }
        };
        if woken.is_err() {
            return;
        }
    }
}

/// What a key ends it with.
fn end(key: KeyEvent) -> Option<Kind> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c') if control => Some(Kind::Interrupted),
        KeyCode::Char('q' | 'Q') | KeyCode::Esc => Some(Kind::Completed),
        KeyCode::Char('d') if control => Some(Kind::Completed),
        _ => None,
    }
}
