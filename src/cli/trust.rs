//! The question whether a workspace's own settings and roles may count in full (SPEC §13.1); on a terminal only.

use std::io::BufRead;

use super::exit::Failure;
use super::place::Place;
use super::safe::safe;
use super::shell;
use crate::config::trust;

/// Whether they may: agreed before, nothing to agree to, or agreed now after being shown in full.
///
/// Asked before any thread exists and before signals are taken, so that Ctrl-C ends the process here.
pub fn ask(place: &Place) -> Result<bool, Failure> {
    let content = trust::content(&place.workspace).map_err(Failure::usage)?;
    let agreed = trust::is_agreed(&place.environment, &place.workspace, &content);
    if agreed.map_err(Failure::usage)? {
        return Ok(true);
    }
    let style = place.style;
    shell::out_line(&style.bold("This workspace brings settings of its own:"));
    let settings = content
        .settings
        .iter()
        .map(|text| (".team/team.json".to_owned(), text));
    let roles = content
        .roles
        .iter()
        .map(|(path, text)| (path.display().to_string(), text));
    for (name, text) in settings.chain(roles) {
        shell::out_line(&style.name(&format!("--- {}", safe(&name))));
        shell::out_line(safe(text).trim_end());
    }
    shell::out_line(&style.name("---"));
    if !agrees()? {
        return Ok(false);
    }
    trust::agree(&place.environment, &place.workspace, &content).map_err(Failure::usage)?;
    Ok(true)
}

/// Asks until it is answered; the end of input is no.
fn agrees() -> Result<bool, Failure> {
    loop {
        shell::out(
            "Do they count in full? Without that they can only make things stricter. [y/n] ",
        );
        let mut answer = String::new();
        if std::io::stdin().lock().read_line(&mut answer)? == 0 {
            return Ok(false);
        }
        match answer.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => return Ok(true),
            "n" | "no" => return Ok(false),
            _ => {}
        }
    }
}
