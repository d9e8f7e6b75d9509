//! `lead status --watch`: the overview again whenever a file changes, from the files alone.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;

use super::layout;
use super::once;
use super::overview::Overview;
use super::picture::picture;
use super::screen::Screen;
use crate::cli::exit::{Kind, Outcome};
use crate::cli::place::Place;
use crate::cli::shell;
use crate::cli::verbs::follow::{self, Wake};
use crate::clock::{self, Timestamp};
use crate::team::lead_presence;
use crate::timeline::{Event, History};
use crate::workspace::Workspace;

/// More events fit on no screen.
const MAX_EVENTS: usize = 300;
/// Between two readings; longer where reading takes longer, so that a large board takes half a core at most.
const SHORTEST_PAUSE: Duration = Duration::from_millis(30);

/// Shows the overview until the person leaves or a signal comes: on a terminal as a screen; elsewhere the text again, or
/// one JSON object a line, each time that it differs from the last.
pub fn run(place: &Place, as_json: bool) -> Outcome {
    let (wake, woken) = mpsc::channel();
    follow::signals_to(wake.clone());
    let _watcher = follow::files_to(&place.workspace, wake.clone());
    let mut face = if as_json || !can_be_screen(place) {
        Face::Lines(Lines {
            as_json,
            last: String::new(),
        })
    } else {
        let window = Window::open(place, wake.clone());
        let window = window.context("this terminal cannot be used as a screen")?;
        Face::Screen(Box::new(window))
    };
    let vigil = Vigil::default();
    loop {
        let began = clock::instant();
        let overview = Overview::read(place);
        if overview.has_lead() {
            vigil.keep(&place.workspace, &wake);
        }
        if !face.show(place, &overview) {
            return Ok(Kind::Completed);
        }
        let pause = began.elapsed().max(SHORTEST_PAUSE);
        if let Wake::End(kind) = follow::next_after(&woken, pause) {
            return Ok(kind);
        }
    }
}

fn can_be_screen(place: &Place) -> bool {
    let term = place.environment.term.as_deref();
    shell::is_interactive() && term.is_some_and(|term| term != "dumb")
}

/// How it is shown.
enum Face {
    Screen(Box<Window>),
    Lines(Lines),
}

impl Face {
    /// `false` once nobody can see it any more.
    fn show(&mut self, place: &Place, overview: &Overview) -> bool {
        match self {
            Self::Screen(window) => window.show(place, overview),
            Self::Lines(lines) => lines.show(place, overview),
        }
    }
}

/// A screen with the last events.
struct Window {
    screen: Screen,
    history: History,
    events: VecDeque<Event>,
}

impl Window {
    fn open(place: &Place, wake: Sender<Wake>) -> std::io::Result<Self> {
        Ok(Self {
            screen: Screen::open(place.style, wake)?,
            history: History::new(&place.workspace, place.roster(), place.requests()),
            events: VecDeque::new(),
        })
    }

    /// A long history takes a moment to be read: what is known is shown before.
    fn show(&mut self, place: &Place, overview: &Overview) -> bool {
        if !self.draw(place, overview) {
            return false;
        }
        let mut is_new = false;
        let events = &mut self.events;
        let read = self.history.read_on(|event| {
            if event.what.is_routine() {
                return true;
            }
            is_new = true;
            events.push_back(event.clone());
            if events.len() > MAX_EVENTS {
                events.pop_front();
            }
            true
        });
        // What cannot be read stands among what is damaged.
        drop(read);
        !is_new || self.draw(place, overview)
    }

    fn draw(&self, place: &Place, overview: &Overview) -> bool {
        let root = place.workspace.root().display().to_string();
        let (width, height) = Screen::size();
        let picture = picture(&root, overview, &self.events);
        self.screen.draw(&layout::fit(&picture, width, height))
    }
}

/// Text or JSON, one after another.
struct Lines {
    as_json: bool,
    last: String,
}

impl Lines {
    fn show(&mut self, place: &Place, overview: &Overview) -> bool {
        let now = if self.as_json {
            shell::json_line(&overview.json()) + "\n"
        } else {
            once::text(place, overview)
        };
        if now == self.last {
            return true;
        }
        let told = if self.as_json {
            now.clone()
        } else {
            format!(
                "{}\n{now}",
                place.style.dim(&format!("--- {}", Timestamp::now()))
            )
        };
        self.last = now;
        shell::out_to_reader(&told)
    }
}

/// Waits for the lead's death, which changes no file if the lead was killed.
#[derive(Default)]
struct Vigil {
    waiting: Arc<AtomicBool>,
}

impl Vigil {
    /// From a thread of its own, which ends with the lead; at most one.
    fn keep(&self, workspace: &Workspace, wake: &Sender<Wake>) {
        if self.waiting.swap(true, Ordering::SeqCst) {
            return;
        }
        let (waiting, workspace, wake) =
            (Arc::clone(&self.waiting), workspace.clone(), wake.clone());
        let started = thread::Builder::new()
            .name("vigil".to_owned())
            .spawn(move || {
                if let Err(error) = lead_presence::wait_for_death(&workspace) {
                    tracing::warn!(%error, "the lead's death may be seen late");
                }
                waiting.store(false, Ordering::SeqCst);
                wake.send(Wake::Changed).ok();
            });
        if started.is_err() {
            self.waiting.store(false, Ordering::SeqCst);
        }
    }
}
