//! What a team needs besides its files. None of it makes the exit code 1 but a settings file of the workspace.

use std::iter;

use super::check::Check;
use super::sandbox;
use crate::cli::choice;
use crate::cli::place::Place;
use crate::config::{Loaded, Settings};
use crate::model;
use crate::model::reach::{Obstacle, reach};
use crate::store::{disk, lock};
use crate::worktree::{self, GitFound};

/// Less free space than this is told, in bytes: a transcript of a day's work may need it.
const LITTLE_SPACE: u64 = 256 * 1024 * 1024;

/// Looks at all of it.
pub(super) fn look(place: &Place) -> Vec<Check> {
    let mut checks: Vec<Check> = links(place).into_iter().collect();
    checks.extend([
        locking(place),
        space(place),
        git(place),
        sandbox::hard_links(place),
    ]);
    checks.extend(home(place));
    match place.settings() {
        Ok(loaded) => {
            checks.push(settings(&loaded));
            checks.push(sandbox::walls(place, &loaded.settings));
            checks.push(lead_model(place, &loaded.settings));
        }
        Err(failure) => checks.push(Check {
            needs_repair: failure.text().contains(&shown_settings(place)),
            ..Check::bad("settings", failure.text(), "by you: correct it as it says")
        }),
    }
    checks
}

/// Nothing else of the runtime works before it is put right.
fn links(place: &Place) -> Option<Check> {
    let what = place.link_in_words()?;
    Some(Check {
        needs_repair: true,
        ..Check::bad("links", what, "by you: put a plain directory there")
    })
}

fn home(place: &Place) -> Option<Check> {
    let what = place.environment.homeless()?;
    Some(Check::bad("home", what, "by you: make it, or set HOME"))
}

fn shown_settings(place: &Place) -> String {
    place.workspace.team_settings().display().to_string()
}

fn locking(place: &Place) -> Check {
    let root = place.workspace.root();
    match lock::try_in(root) {
        Ok(()) => Check::good("locking", "flock works here"),
        Err(error) => Check::bad(
            "locking",
            format!("{}: {error}", root.display()),
            "use a directory on a local file system that you may write to",
        ),
    }
}

fn space(place: &Place) -> Check {
    let free = match disk::free_bytes(place.workspace.root()) {
        Ok(free) => free,
        Err(error) => {
            return Check::bad(
                "space",
                format!("{error}; {}", error.source),
                "look at it yourself",
            );
        }
    };
    let text = format!("{} MiB free", free >> 20);
    if free < LITTLE_SPACE {
        Check::bad(
            "space",
            text,
            "make room: work stops when nothing can be written",
        )
    } else {
        Check::good("space", text)
    }
}

fn git(place: &Place) -> Check {
    match worktree::find_git(&place.workspace) {
        Ok(GitFound::Checkout(version)) => Check::good("git", version),
        Ok(GitFound::NoCheckout(version)) => Check::good(
            "git",
            format!("{version}; the workspace is in no checkout, so that there are no worktrees"),
        ),
        Err(why) => Check::bad(
            "git",
            why,
            "without it there are no worktrees; install git, or see what it says",
        ),
    }
}

fn settings(loaded: &Loaded) -> Check {
    match loaded.warnings.as_slice() {
        [] => Check::good("settings", format!("{} sources", loaded.layers.len())),
        warnings => Check::good("settings", warnings.join("; ")),
    }
}

fn lead_model(place: &Place, settings: &Settings) -> Check {
    let credentials = &place.environment.credentials;
    let chosen = choice::lead_model(settings, credentials)
        .and_then(|spec| choice::teammate_model(settings, &spec).map(|other| [spec, other]));
    let specs = match chosen {
        Ok(specs) => specs,
        Err(failure) => {
            return Check::bad(
                "model",
                failure.text(),
                "name a model that you have a key for",
            );
        }
    };
    for spec in &specs {
        if let Err(error) = model::open(spec, credentials, &place.workspace, "lead") {
            return Check::bad(
                "model",
                error.to_string(),
                "name another with --model, or set its key",
            );
        }
    }
    let [lead, teammates] = &specs;
    let detail = format!("lead {lead}, teammates {teammates}");
    let others = (teammates != lead).then_some(teammates);
    let mut answers = Vec::new();
    for spec in iter::once(lead).chain(others) {
        match reach(spec, credentials) {
            Ok(None) => {}
            Ok(Some(server)) if answers.contains(&server) => {}
            Ok(Some(server)) => answers.push(server),
            Err(Obstacle { what, remedy }) => {
                return Check::bad("model", format!("{detail}; {what}"), remedy);
            }
        }
    }
    let answers = answers.iter().map(|server| format!("; {server} answers"));
    Check::good("model", detail + &answers.collect::<String>())
}
