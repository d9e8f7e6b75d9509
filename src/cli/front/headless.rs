//! `-p`: progress on standard error, only the result (or the events) on standard output.

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
}

impl Headless {
    /// In the given format.
    pub fn new(format: OutputFormat, renderer: Renderer) -> Self {
        Self { format, renderer }
    }
}

impl Ui for Headless {
    fn show(&mut self, item: Shown) {
        if self.format == OutputFormat::StreamJson
            && let Some(event) = events::event(&item)
        {
            shell::out_json_line(&event);
        }
        if matches!(item, Shown::Prompt(_)) {
            return;
        }
        for line in self.renderer.lines(&item) {
            shell::err_line(&line);
        }
    }
}
