//! The question whether a workspace's own settings and roles may count in full (SPEC §13.1); on a terminal only.

use super::exit::Failure;
use super::place::Place;
use super::safe::safe;
use super::shell::{self, Style};
use super::yes_no;
use crate::config::trust::{self, Content};

/// Whether they may: agreed before, nothing to agree to, or agreed now after being shown in full.
///
/// Asked before any thread exists and before signals are taken, so that Ctrl-C ends the process here.
pub fn ask(place: &Place) -> Result<bool, Failure> {
    let content = trust::content(&place.workspace).map_err(Failure::usage)?;
    let agreed = trust::is_agreed(&place.environment, &place.workspace, &content);
    if agreed.map_err(Failure::usage)? {
        return Ok(true);
    }
    for line in lines(place.style, &content) {
        shell::out_line(&line);
    }
    let question = "Do they count in full? Without that they can only make things stricter.";
    if !yes_no::ask(question)? {
        return Ok(false);
    }
    trust::agree(&place.environment, &place.workspace, &content).map_err(Failure::usage)?;
    Ok(true)
}

/// All that a workspace brings along, safe.
pub fn lines(style: Style, content: &Content) -> Vec<String> {
    let mut lines = vec![style.bold("This workspace brings settings of its own:")];
    let settings = content
        .settings
        .iter()
        .map(|text| (".team/team.json".to_owned(), text));
    let roles = content
        .roles
        .iter()
        .map(|(path, text)| (path.display().to_string(), text));
    for (name, text) in settings.chain(roles) {
        lines.push(style.name(&format!("--- {}", safe(&name))));
        lines.extend(safe(text).trim_end().lines().map(str::to_owned));
    }
    lines.push(style.name("---"));
    lines
}
