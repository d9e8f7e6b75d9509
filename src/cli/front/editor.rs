//! A line editor on a terminal: what happens is printed above the line being typed and leaves it as it is.
//!
//! One thread owns the terminal ([`super::keyboard`]). The session's loop never waits for it: lines are left for it
//! ([`super::above`]). A question takes the prompt over and the text typed so far aside; the text comes back with the
//! question's end, so that no half-typed message becomes an answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use reedline::{Reedline, ReedlineMenu};

use super::above::Above;
use super::behind::{Behind, Keys};
use super::complete::Known;
use super::continued::Continued;
use super::keyboard::Keyboard;
use super::menu::{Completions, Openness};
use super::prompt::{SharedPrompt, before_message};
use super::raw::{Found, Raw};
use super::render::Renderer;
use super::said::Said;
use super::typed::{Asked, Typed};
use super::visual::Visual;
use super::{question, status};
use crate::cli::place::Place;
use crate::cli::{closed, shell};
use crate::lead::{Inlet, PromptFor, Shown, Ui};
use crate::policy::Mode;

/// How long the editor may take to give the terminal back; one whose terminal is gone may never come back.
const FINISH: Duration = Duration::from_secs(1);
/// Most rows of streamed text that are seen while they still change.
const OPEN: usize = 4;
/// Rings where the person has typed nothing for a while.
const BELL: char = '\u{7}';
/// How often the editor looks whether it is to give way while nothing is typed.
const LOOK: Duration = Duration::from_millis(40);

/// The session's side of the editor.
pub struct Editor {
    renderer: Renderer,
    above: Above,
    prompt: SharedPrompt,
    mode: Mode,
    /// Whether the lead works, so that a message waits.
    works: bool,
    asked: Asked,
    /// Has the editor come back from a line that is being typed.
    give_way: Arc<AtomicBool>,
    repaint: Box<dyn Fn() + Send>,
    /// Told when the status row may begin or end to change with time.
    ticker: Sender<()>,
}

/// The editor's thread, to be ended when the session is over.
#[derive(Debug)]
pub struct Typing {
    /// Closed when the thread ends.
    running: Receiver<()>,
    end: Arc<AtomicBool>,
    give_way: Arc<AtomicBool>,
    above: Above,
    raw: Raw,
}

/// Starts the editor; what is typed goes to `inlet`.
pub fn start(renderer: Renderer, place: &Place, inlet: Inlet) -> (Editor, Typing) {
    let found = Found::look();
    let raw = Raw::enter(found.clone());
    let (end, give_way): (Arc<AtomicBool>, Arc<AtomicBool>) = Default::default();
    let prompt = SharedPrompt::new(place.style, Arc::clone(&give_way));
    prompt.set(before_message(Mode::default(), false));
    let menu = Openness::new(Arc::clone(&give_way));
    let behind = Behind::default();
    let mut line_editor = line_editor(place, &prompt, &menu, &behind, &give_way);
    let repaint = {
        let (signal, menu) = (line_editor.repaint_signal(), menu.clone());
        // With the menu open each repaint asks where the cursor is, and an answer runs into the person's Esc.
        move || {
            if !menu.is_open() {
                signal.request_repaint();
            }
        }
    };
    let ticker = ticker(prompt.clone(), repaint.clone());
    let above = Above::new(prompt.clone(), menu.clone(), Arc::clone(&give_way));
    let asked = Asked::default();
    end_with_terminal(&end, &give_way, inlet.clone());
    let keyboard = Keyboard {
        editor: Some(line_editor),
        prompt: prompt.clone(),
        menu,
        above: above.clone(),
        typed: Typed::new(asked.clone()),
        behind,
        visual: Visual::new(place.environment.all.clone()),
        terminal: found,
        give_way: Arc::clone(&give_way),
        wanted: false,
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
        above: above.clone(),
        prompt,
        mode: Mode::default(),
        works: false,
        asked,
        give_way: Arc::clone(&give_way),
        repaint: Box::new(repaint),
        ticker,
    };
    let typing = Typing {
        running,
        end,
        give_way,
        above,
        raw,
    };
    (editor, typing)
}

fn line_editor(
    place: &Place,
    prompt: &SharedPrompt,
    menu: &Openness,
    behind: &Behind,
    give_way: &Arc<AtomicBool>,
) -> Reedline {
    let settings_dir = place.environment.settings_dir();
    let said = Said::open(settings_dir.as_deref(), prompt.clone());
    let credentials = place.environment.credentials.clone();
    let known = Known::new(
        place.workspace.clone(),
        credentials,
        prompt.clone(),
        behind.clone(),
        Arc::clone(give_way),
    );
    let keys = Keys::new(
        behind.clone(),
        menu.clone(),
        prompt.clone(),
        Arc::clone(give_way),
    );
    let menu = Completions::new(menu.clone());
    Reedline::create()
        .with_edit_mode(Box::new(keys))
        .with_validator(Box::new(Continued))
        .with_highlighter(Box::new(prompt.painted().clone()))
        .with_ansi_colors(place.style.color)
        .with_history(Box::new(said))
        .with_completer(Box::new(known))
        .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
        .with_quick_completions(true)
        .with_partial_completions(true)
        .with_poll_interval(LOOK)
        .with_break_signal(Arc::clone(give_way))
}

/// A terminal that is gone ends the editor, the person's own too, and the session.
fn end_with_terminal(end: &Arc<AtomicBool>, give_way: &Arc<AtomicBool>, inlet: Inlet) {
    let (end, give_way) = (Arc::clone(end), Arc::clone(give_way));
    let watched = closed::watch(move || {
        end.store(true, Ordering::Release);
        give_way.store(true, Ordering::Release);
        inlet.end_of_input();
    });
    if let Err(error) = watched {
        tracing::error!(%error, "a terminal that is closed will not be noticed");
    }
}

/// Has the status row painted again while it ticks; rests otherwise.
fn ticker(prompt: SharedPrompt, repaint: impl Fn() + Send + 'static) -> Sender<()> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        loop {
            let news = if prompt.ticks() {
                receive.recv_timeout(status::TICK)
            } else {
                receive.recv().map_err(RecvTimeoutError::from)
            };
            match news {
                Ok(()) => {}
                Err(RecvTimeoutError::Timeout) => repaint(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    });
    send
}

impl Typing {
    /// Ends the editor, gives the terminal back, and prints what it had not printed yet.
    pub fn finish(self) {
        self.end.store(true, Ordering::Release);
        self.give_way.store(true, Ordering::Release);
        self.running.recv_timeout(FINISH).ok();
        drop(self.raw);
        for line in self.above.take() {
            shell::out_line(&line);
        }
    }
}

impl Ui for Editor {
    fn show(&mut self, item: Shown) {
        self.prompt.note(&item);
        let mut lines = self.renderer.lines(&item);
        if matches!(&item, Shown::Prompt(PromptFor::Question(_)))
            && self.prompt.is_quiet()
            && let Some(last) = lines.last_mut()
        {
            last.push(BELL);
        }
        self.above.add(lines, self.renderer.open(OPEN));
        if matches!(
            item,
            Shown::Delta(_)
                | Shown::Text(_)
                | Shown::ToolUse(_)
                | Shown::ToolResult { .. }
                | Shown::Working(_)
                | Shown::Used(_)
                | Shown::Teammate(_)
                | Shown::Task(_)
                | Shown::Retrying { .. }
                | Shown::Held(_)
        ) {
            self.ticker.send(()).ok();
            (self.repaint)();
        }
        if let Shown::Prompt(prompt) = &item {
            let question = match prompt {
                PromptFor::Message => {
                    self.works = false;
                    None
                }
                PromptFor::Nothing => {
                    self.works = true;
                    None
                }
                PromptFor::Question(open) => {
                    let id = open.record.request_id.clone();
                    Some((id, question::prompt(&open.record)))
                }
            };
            self.prompt.set(before_message(self.mode, self.works));
            let again = matches!(prompt, PromptFor::Question(open) if open.again.is_some());
            if self.asked.set(question, again) {
                self.give_way.store(true, Ordering::Release);
            }
            (self.repaint)();
        }
        if let Shown::Mode(mode) = item {
            self.mode = mode;
            self.prompt.set(before_message(mode, self.works));
            (self.repaint)();
        }
    }
}
