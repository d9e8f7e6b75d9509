//! A line editor on a terminal: what happens is printed above the line being typed and leaves it as it is.
//!
//! One thread owns standard input. The session's loop never waits for it: what the editor cannot take at once is kept and
//! handed over later, the rest at the end. A question takes the prompt over and the text typed so far aside; the text comes
//! back with the question's end, so that no half-typed message becomes an answer.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reedline::{
    ColumnarMenu, EditCommand, Emacs, ExternalPrinter, KeyCode, KeyModifiers, MenuBuilder,
    Reedline, ReedlineEvent, ReedlineMenu, Signal, default_emacs_keybindings,
};

use super::complete::Known;
use super::prompt::SharedPrompt;
use super::question;
use super::render::Renderer;
use super::said::Said;
use super::typed::{Asked, Typed};
use crate::cli::place::Place;
use crate::cli::shell;
use crate::lead::{Inlet, PromptFor, Shown, Ui};

/// How many lines wait for the editor at most before the rest is kept on our side.
const CAPACITY: usize = 4096;
/// How long the editor may take to give the terminal back; one whose terminal is gone may never come back.
const FINISH: Duration = Duration::from_secs(1);
/// How often the editor looks for lines to print while nothing is typed.
const LOOK: Duration = Duration::from_millis(40);

const INTERRUPT: &str = "interrupt";
const CUT: &str = "cut";
const MENU: &str = "completions";

/// The session's side of the editor.
pub struct Editor {
    renderer: Renderer,
    printer: SyncSender<String>,
    kept: Arc<Mutex<VecDeque<String>>>,
    prompt: SharedPrompt,
    asked: Asked,
    /// Has the editor come back from a line that is being typed.
    take_over: Arc<AtomicBool>,
    repaint: Box<dyn Fn() + Send>,
}

/// The editor's thread, to be ended when the session is over.
#[derive(Debug)]
pub struct Typing {
    /// Closed when the thread ends.
    running: Receiver<()>,
    end: Arc<AtomicBool>,
    take_over: Arc<AtomicBool>,
    kept: Arc<Mutex<VecDeque<String>>>,
}

/// Starts the editor; what is typed goes to `inlet`.
pub fn start(renderer: Renderer, place: &Place, inlet: Inlet) -> (Editor, Typing) {
    let printer = ExternalPrinter::new(CAPACITY);
    let sender = printer.sender();
    let (end, take_over) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicBool::new(false)),
    );
    let prompt = SharedPrompt::default();
    prompt.set("lead> ");
    let menu = ColumnarMenu::default().with_name(MENU).with_marker("");
    let settings_dir = place.environment.settings_dir();
    let mut line_editor = Reedline::create()
        .with_edit_mode(Box::new(Emacs::new(keys())))
        .with_ansi_colors(place.style.color)
        .with_history(Box::new(Said::open(
            settings_dir.as_deref(),
            prompt.clone(),
        )))
        .with_completer(Box::new(Known::new(
            place.workspace.clone(),
            prompt.clone(),
        )))
        .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
        .with_quick_completions(true)
        .with_partial_completions(true)
        .with_external_printer(printer)
        .with_poll_interval(LOOK)
        .with_break_signal(Arc::clone(&take_over))
        .use_bracketed_paste(true);
    let repaint = line_editor.repaint_signal();
    let kept = Arc::new(Mutex::new(VecDeque::new()));
    let asked = Asked::default();
    let keyboard = Keyboard {
        editor: line_editor,
        prompt: prompt.clone(),
        typed: Typed::new(asked.clone()),
        end: Arc::clone(&end),
        inlet,
    };
    let (alive, running) = channel::<()>();
    std::thread::spawn(move || {
        keyboard.type_lines();
        drop(alive);
    });
    let editor = Editor {
        renderer,
        printer: sender,
        kept: Arc::clone(&kept),
        prompt,
        asked,
        take_over: Arc::clone(&take_over),
        repaint: Box::new(move || repaint.request_repaint()),
    };
    let typing = Typing {
        running,
        end,
        take_over,
        kept,
    };
    (editor, typing)
}

impl Typing {
    /// Ends the editor, gives the terminal back, and prints what it had not printed yet.
    pub fn finish(self) {
        self.end.store(true, Ordering::Release);
        self.take_over.store(true, Ordering::Release);
        self.running.recv_timeout(FINISH).ok();
        let kept = std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner));
        for line in kept {
            shell::out_line(&line);
        }
    }
}

impl Editor {
    fn print(&self, lines: Vec<String>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(lines);
        while let Some(line) = kept.pop_front() {
            // An empty text would print nothing at all.
            let line = if line.is_empty() {
                " ".to_owned()
            } else {
                line
            };
            if let Err(refused) = self.printer.try_send(line) {
                let (std::sync::mpsc::TrySendError::Full(line)
                | std::sync::mpsc::TrySendError::Disconnected(line)) = refused;
                kept.push_front(line);
                return;
            }
        }
    }
}

impl Ui for Editor {
    fn show(&mut self, item: Shown) {
        let lines = self.renderer.lines(&item);
        self.print(lines);
        if let Shown::Prompt(prompt) = &item {
            let question = match prompt {
                PromptFor::Message => {
                    self.prompt.set("lead> ");
                    None
                }
                PromptFor::Nothing => {
                    self.prompt.set("lead (working)> ");
                    None
                }
                PromptFor::Question(open) => {
                    let id = open.record.request_id.clone();
                    Some((id, question::prompt(&open.record)))
                }
            };
            if self.asked.set(question) {
                self.take_over.store(true, Ordering::Release);
            }
            (self.repaint)();
        }
    }
}

fn keys() -> reedline::Keybindings {
    let mut keys = default_emacs_keybindings();
    let command = |text: &str| ReedlineEvent::ExecuteHostCommand(text.to_owned());
    keys.add_binding(
        KeyModifiers::CONTROL,
        KeyCode::Char('c'),
        command(INTERRUPT),
    );
    keys.add_binding(KeyModifiers::NONE, KeyCode::Esc, command(CUT));
    keys.add_binding(
        KeyModifiers::CONTROL,
        KeyCode::Char('j'),
        ReedlineEvent::Edit(vec![EditCommand::InsertNewline]),
    );
    keys.add_binding(
        KeyModifiers::NONE,
        KeyCode::Tab,
        ReedlineEvent::UntilFound(vec![
            ReedlineEvent::Menu(MENU.to_owned()),
            ReedlineEvent::MenuNext,
        ]),
    );
    keys
}

/// What the editor's thread holds.
struct Keyboard {
    editor: Reedline,
    prompt: SharedPrompt,
    typed: Typed,
    end: Arc<AtomicBool>,
    inlet: Inlet,
}

impl Keyboard {
    fn type_lines(mut self) {
        loop {
            match self.editor.read_line(&self.prompt) {
                Ok(Signal::Success(line)) => match self.typed.entered() {
                    Some(question) => self.inlet.reply(question, line),
                    None => self.inlet.words(line),
                },
                Ok(Signal::HostCommand(command)) if command == CUT => self.inlet.cut(),
                Ok(Signal::HostCommand(_)) if self.editor.current_buffer_contents().is_empty() => {
                    self.inlet.interrupt();
                }
                Ok(Signal::HostCommand(_)) => self.replace_text(String::new()),
                Ok(Signal::CtrlC) => self.inlet.interrupt(),
                Ok(Signal::CtrlD) => self.inlet.end_of_input(),
                Ok(Signal::ExternalBreak(_)) if self.end.load(Ordering::Acquire) => break,
                Ok(Signal::ExternalBreak(text)) => {
                    let text = self.typed.taken_over(text);
                    self.prompt.set_question(self.typed.prompt());
                    self.replace_text(text);
                }
                Ok(_) => {}
                Err(_) => {
                    self.inlet.end_of_input();
                    return;
                }
            }
        }
        // A read that accepts at once prints what others handed over since the last look.
        self.prompt.set("");
        self.prompt.set_question(None);
        let mut editor = self.editor.with_immediately_accept(true);
        drop(editor.read_line(&self.prompt));
    }

    fn replace_text(&mut self, text: String) {
        self.editor
            .run_edit_commands(&[EditCommand::Clear, EditCommand::InsertString(text)]);
    }
}
