//! `-p`: progress on standard error, only the result (or the events) on standard output.
//!
//! Where both are the same terminal the lead's last text would stand there twice: each text waits for the next one there.

use super::events;
use super::render::Renderer;
use crate::cli::args::OutputFormat;
use crate::cli::shell;
use crate::lead::{Shown, Ui};

/// Shows progress; asks nothing.
#[derive(Debug)]
pub struct Headless {
    format: OutputFormat,
    renderer: Renderer,
    /// Both streams end where a person sees them.
    one_place: bool,
    /// The lead's last text, not shown yet.
    last: Vec<String>,
}

impl Headless {
    /// In the given format.
    pub fn new(format: OutputFormat, renderer: Renderer) -> Self {
        Self {
            format,
            renderer,
            one_place: format == OutputFormat::Text && shell::is_one_place(),
            last: Vec::new(),
        }
    }

    /// The lead has gone on, so that what it said before was not its result.
    fn show_last(&mut self) {
        for line in std::mem::take(&mut self.last) {
            shell::err_line(&line);
        }
    }
}

impl Ui for Headless {
    fn show(&mut self, item: Shown) {
        if self.format == OutputFormat::StreamJson
            && let Some(event) = events::event(&item)
        {
            shell::out_json_line(&event);
        }
        match item {
            Shown::Prompt(_) => {}
            Shown::Delta(_) if self.one_place => {}
            Shown::Text(text) if self.one_place => {
                self.show_last();
                self.last = self.renderer.lines(&Shown::Text(text));
            }
            item => {
                if matches!(item, Shown::ToolUse(_)) {
                    self.show_last();
                }
                for line in self.renderer.lines(&item) {
                    shell::err_line(&line);
                }
            }
        }
    }
}
