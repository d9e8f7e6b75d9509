//! Lines from a file, a pipe or a plain terminal; plain lines out.
//!
//! Without a terminal a line is read only when the session asks for one, so that a question is answered by a line that was
//! read after it was shown. On a terminal lines come when the person likes; one that was only begun when a question comes
//! must not answer it.

use rustix::termios::{QueueSelector, tcflush};

use super::prompt::before_message;
use super::prompt_line::PromptLine;
use super::pull::{self, Pull};
use super::question;
use super::render::Renderer;
use crate::ids::RequestId;
use crate::lead::{Inlet, PromptFor, Shown, Ui};
use crate::policy::Mode;

/// Shows lines on standard output and has lines read.
#[derive(Debug)]
pub struct Piped {
    renderer: Renderer,
    prompt: PromptLine,
    mode: Mode,
    /// Without a terminal.
    pull: Option<Pull>,
    /// The question that was asked last.
    asked: Option<RequestId>,
}

impl Piped {
    /// Reads standard input one line for each prompt.
    pub fn pulling(renderer: Renderer, inlet: Inlet) -> Self {
        let prompt = PromptLine::default();
        let pull = Some(Pull::start(inlet, prompt.open()));
        Self {
            renderer,
            prompt,
            mode: Mode::default(),
            pull,
            asked: None,
        }
    }

    /// Reads a terminal's lines as they are typed.
    pub fn typed(renderer: Renderer, inlet: Inlet) -> Self {
        let prompt = PromptLine::default();
        let open = prompt.open();
        std::thread::spawn(move || pull::read_all(&inlet, &open));
        Self {
            renderer,
            prompt,
            mode: Mode::default(),
            pull: None,
            asked: None,
        }
    }
}

impl Ui for Piped {
    fn show(&mut self, item: Shown) {
        self.prompt.print(&self.renderer.lines(&item));
        if let (Shown::LineTaken, Some(pull)) = (&item, &mut self.pull) {
            pull.taken();
        }
        if let Shown::Mode(mode) = item {
            self.mode = mode;
        }
        let Shown::Prompt(prompt) = item else { return };
        match (&mut self.pull, prompt) {
            (_, PromptFor::Nothing) => {}
            (Some(pull), PromptFor::Message | PromptFor::Question(_)) => pull.ask(),
            (None, PromptFor::Message) => self.prompt.ask(&[], &before_message(self.mode, false)),
            (None, PromptFor::Question(open)) => {
                let id = Some(open.record.request_id.clone());
                if self.asked != id {
                    // Not a terminal that can do so: then nothing was begun on it.
                    tcflush(std::io::stdin(), QueueSelector::IFlush).ok();
                    self.asked = id;
                }
                self.prompt.ask(&[], &question::prompt(&open.record));
            }
        }
    }
}
