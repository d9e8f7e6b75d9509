//! The front end of each kind, from its start to the result it prints.

use std::time::Duration;

use super::editor::{self, Typing};
use super::headless::Headless;
use super::piped::Piped;
use super::render::Renderer;
use super::{events, result};
use crate::cli::args::OutputFormat;
use crate::cli::place::Place;
use crate::cli::safe::safe;
use crate::cli::session::FrontKind;
use crate::cli::shell::{self, Style};
use crate::lead::{Inlet, SessionResult, Ui};

/// A front end that is open.
pub struct Front {
    ui: Option<Box<dyn Ui>>,
    typing: Option<Typing>,
}

/// Opens the front end of `kind`; from now on lines go to `inlet`.
pub fn open(kind: FrontKind, place: &Place, verbose: bool, inlet: Inlet) -> Front {
    let style = match kind {
        FrontKind::Headless(_) | FrontKind::PlainTerminal => Style::default(),
        FrontKind::Editor | FrontKind::Piped => place.style,
    };
    let renderer = Renderer::new(style, verbose);
    let (ui, typing): (Box<dyn Ui>, _) = match kind {
        FrontKind::Headless(format) => (Box::new(Headless::new(format, renderer)), None),
        FrontKind::Piped => (Box::new(Piped::pulling(renderer, inlet)), None),
        FrontKind::PlainTerminal => (Box::new(Piped::typed(renderer, inlet)), None),
        FrontKind::Editor => {
            let (editor, typing) =
                editor::start(renderer.on_screen().with_frames(true), place, inlet);
            (Box::new(editor), Some(typing))
        }
    };
    Front {
        ui: Some(ui),
        typing,
    }
}

impl Front {
    /// The session's side, once.
    pub fn ui(&mut self) -> Box<dyn Ui> {
        self.ui.take().unwrap_or_else(|| Box::new(Silent))
    }

    /// Gives the terminal back.
    pub fn close(self) {
        if let Some(typing) = self.typing {
            typing.finish();
        }
    }
}

struct Silent;

impl Ui for Silent {
    fn show(&mut self, _: crate::lead::Shown) {}
}

/// What a headless run prints at its end; the others have shown all already.
pub fn print_result(kind: FrontKind, place: &Place, ended: &SessionResult) {
    match kind {
        FrontKind::Headless(OutputFormat::Text) if !ended.result.trim().is_empty() => {
            shell::out_line(safe(&ended.result).trim_end());
        }
        FrontKind::Headless(OutputFormat::Json) => {
            shell::out_json(&result::object(place, ended));
        }
        FrontKind::Headless(OutputFormat::StreamJson) => {
            shell::out_json_line(&events::result(result::object(place, ended)));
        }
        FrontKind::Headless(OutputFormat::Text)
        | FrontKind::Editor
        | FrontKind::PlainTerminal
        | FrontKind::Piped => {}
    }
}

/// What a headless run prints that broke with `why`, where an object was asked for.
pub fn print_broken(kind: FrontKind, place: &Place, why: &str, duration: Duration) {
    match kind {
        FrontKind::Headless(OutputFormat::Json) => {
            shell::out_json(&result::of_broken(place, why, duration));
        }
        FrontKind::Headless(OutputFormat::StreamJson) => {
            let object = result::of_broken(place, why, duration);
            shell::out_json_line(&events::result(object));
        }
        FrontKind::Headless(OutputFormat::Text)
        | FrontKind::Editor
        | FrontKind::PlainTerminal
        | FrontKind::Piped => {}
    }
}
