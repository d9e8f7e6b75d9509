//! The editor's thread: it alone reads the terminal, and writes to it while the editor is open.
//!
//! To print above the line the editor is ended for a moment. It accepts an empty line beneath an empty prompt, which wipes
//! what it had painted wherever that was and however it was wrapped; then come the lines, then the editor with its text.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor;
use reedline::{EditCommand, Reedline, ReedlineEvent, ReedlineMenu, Signal};

use super::above::Above;
use super::behind::Behind;
use super::continued::joined;
use super::keys::{CUT, INTERRUPT, MODE, VISUAL, handed_over};
use super::menu::{Completions, Openness};
use super::prompt::SharedPrompt;
use super::raw::Found;
use super::typed::{Taken, Typed};
use super::visual::Visual;
use crate::cli::safe::safe_line;
use crate::cli::shell;
use crate::lead::Inlet;

/// What the thread holds.
pub struct Keyboard {
    /// Absent only while a method builds it anew.
    pub editor: Option<Reedline>,
    /// What stands before the line.
    pub prompt: SharedPrompt,
    /// Whether the menu is open.
    pub menu: Openness,
    /// What waits to be printed.
    pub above: Above,
    /// Whose the text is.
    pub typed: Typed,
    /// Keys that came behind one that ended the reading.
    pub behind: Behind,
    /// The person's own editor.
    pub visual: Visual,
    /// The terminal as programs find it.
    pub terminal: Found,
    /// Has the editor come back.
    pub give_way: Arc<AtomicBool>,
    /// It was to come back while it was being wiped.
    pub wanted: bool,
    /// Ends the thread.
    pub end: Arc<AtomicBool>,
    /// Where lines go.
    pub inlet: Inlet,
}

impl Keyboard {
    /// Reads lines until the session ends, or the terminal does.
    pub fn type_lines(mut self) {
        while !self.end.load(Ordering::Acquire) {
            let Some(editor) = &mut self.editor else {
                break;
            };
            let Ok(signal) = editor.read_line(&self.prompt) else {
                self.inlet.end_of_input();
                break;
            };
            self.on_signal(signal);
            self.type_what_came_behind();
            self.print_above();
            if std::mem::take(&mut self.wanted) {
                self.give_way.store(true, Ordering::Release);
            }
        }
        self.close_menu();
        self.set_text(String::new(), None);
        self.wipe();
    }

    fn on_signal(&mut self, signal: Signal) {
        match signal {
            // An Enter of habit behind a key that has answered.
            Signal::Success(line) if line.trim().is_empty() && self.typed.prompt().is_some() => {}
            Signal::Success(line) => match self.typed.entered() {
                Some(question) => self.inlet.reply(question, joined(line)),
                None => self.inlet.words(joined(line)),
            },
            Signal::HostCommand(command) => self.on_command(&command),
            Signal::CtrlC => self.inlet.interrupt(),
            Signal::CtrlD => self.inlet.end_of_input(),
            Signal::ExternalBreak(text) => {
                if let Some(Taken { text, dropped }) = self.typed.taken_over(&text) {
                    self.tell_dropped(dropped);
                    self.close_menu();
                    self.prompt.set_question(self.typed.prompt());
                    self.set_text(text, None);
                } else if self.prompt.takes_answer() {
                    self.enter();
                }
            }
            _ => {}
        }
    }

    fn on_command(&mut self, command: &str) {
        match command {
            CUT => self.inlet.cut(),
            MODE => self.inlet.next_mode(),
            INTERRUPT if self.text().is_empty() => self.inlet.interrupt(),
            INTERRUPT => self.set_text(String::new(), None),
            VISUAL => self.edit_outside(),
            _ => {}
        }
    }

    /// Text, Enter, and what hands over; other keys would move in a line that was not seen yet.
    fn type_what_came_behind(&mut self) {
        for event in self.behind.take() {
            match (&event, &mut self.editor) {
                (ReedlineEvent::Edit(edits), Some(editor)) => editor.run_edit_commands(edits),
                (ReedlineEvent::Enter, Some(editor))
                    if editor.current_buffer_contents().ends_with('\\') =>
                {
                    editor.run_edit_commands(&[EditCommand::InsertNewline]);
                }
                (ReedlineEvent::Enter | ReedlineEvent::Submit, _) => self.enter(),
                _ => {
                    if let Some(command) = handed_over(&event) {
                        self.on_command(command);
                    }
                }
            }
        }
    }

    /// The line as it stands is sent, and kept among what was said.
    fn enter(&mut self) {
        let Some(editor) = self.editor.take() else {
            return;
        };
        let mut editor = editor.with_immediately_accept(true);
        let signal = loop {
            match editor.read_line(&self.prompt) {
                Ok(Signal::ExternalBreak(_)) => self.wanted = true,
                other => break other,
            }
        };
        self.editor = Some(editor.with_immediately_accept(false));
        if let Ok(signal) = signal {
            self.on_signal(signal);
        }
    }

    /// Gives the terminal to the person's own editor with the text; what comes in meanwhile waits.
    fn edit_outside(&mut self) {
        let text = self.text();
        self.set_text(String::new(), None);
        self.wipe();
        self.terminal.give_back();
        let edited = self.visual.edit(&text, &self.end);
        self.terminal.take();
        let text = edited.unwrap_or_else(|why| {
            self.above.say(safe_line(&why, 400));
            text
        });
        self.set_text(text, None);
    }

    fn tell_dropped(&self, answer: Option<String>) {
        if let Some(answer) = answer {
            self.above.say(format!(
                "what you had typed as its answer was dropped: {}",
                safe_line(&answer, 200)
            ));
        }
    }

    /// Prints what waits; the text being typed and the cursor in it stay as they are.
    fn print_above(&mut self) {
        if self.above.is_empty() || self.above.must_wait() {
            return;
        }
        let (text, place) = match &self.editor {
            Some(editor) => (self.text(), editor.current_insertion_point()),
            None => return,
        };
        self.set_text(String::new(), None);
        self.wipe();
        for line in self.above.take() {
            shell::out(&format!("{}\r\n", line.replace('\n', "\r\n")));
        }
        self.set_text(text, Some(place));
    }

    /// Takes the editor's rows off the screen; the cursor stands where they began.
    fn wipe(&mut self) {
        let nothing = SharedPrompt::default();
        let Some(editor) = self.editor.take() else {
            return;
        };
        let mut editor = editor.with_immediately_accept(true);
        // The session may want the prompt just now: that comes first again with the next read.
        while let Ok(Signal::ExternalBreak(_)) = editor.read_line(&nothing) {
            self.wanted = true;
        }
        self.editor = Some(editor.with_immediately_accept(false));
        shell::out(&format!("{}\r", cursor::MoveUp(1)));
    }

    fn close_menu(&mut self) {
        let closed = Completions::new(self.menu.clone());
        let menu = ReedlineMenu::EngineCompleter(Box::new(closed));
        let editor = self.editor.take();
        self.editor = editor.map(|editor| editor.clear_menus().with_menu(menu));
    }

    fn text(&self) -> String {
        let editor = self.editor.as_ref();
        editor.map_or_else(String::new, |editor| {
            editor.current_buffer_contents().to_owned()
        })
    }

    fn set_text(&mut self, text: String, place: Option<usize>) {
        let Some(editor) = &mut self.editor else {
            return;
        };
        editor.run_edit_commands(&[EditCommand::Clear, EditCommand::InsertString(text)]);
        if let Some(position) = place {
            editor.run_edit_commands(&[EditCommand::MoveToPosition {
                position,
                select: false,
            }]);
        }
    }
}
