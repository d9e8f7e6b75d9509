//! `lead doctor`: what is not in order, and what would put it right (SPEC §14, §15).
//!
//! It looks as a starting lead does ([`crate::findings`]), at the surroundings besides, and changes nothing without `--repair`.
//! With it, files and lines move to quarantine only after they looked the same twice, 5 s apart.

mod check;
mod repair;
mod sandbox;
mod surroundings;

use check::Check;
use serde_json::json;

use crate::cli::exit::{Kind, Outcome};
use crate::cli::place::Place;
use crate::cli::safe::safe;
use crate::cli::shell;
use crate::cli::wrap::wrap;
use crate::findings::{self, Books, survey};

/// Columns of sign and name.
const INDENT: usize = 20;

/// Runs the verb.
pub fn run(place: &Place, repair: bool, as_json: bool) -> Outcome {
    let board = if repair {
        place.board_to_repair()?
    } else {
        place.board()?
    };
    let (roster, requests) = (place.roster(), place.requests());
    let books = Books {
        workspace: &place.workspace,
        board: &board,
        roster: &roster,
        requests: &requests,
    };
    let mut checks = Vec::new();
    let mut refused = Vec::new();
    if repair {
        let done = repair::run(books);
        checks.extend(done.mended);
        refused = done.refused;
    }
    checks.extend(check::of_survey(survey(books), repair, &refused));
    checks.push(sandbox::leftovers(findings::leftovers(books)));
    checks.extend(surroundings::look(place));
    if as_json {
        let checks: Vec<_> = checks.iter().map(Check::json).collect();
        shell::out_json(&json!({ "checks": checks }));
    } else {
        for check in &checks {
            print(place, check);
        }
        shell::out_line(&place.style.bold(&check::summary(&checks)));
    }
    let needs_repair = checks.iter().any(|check| check.needs_repair);
    Ok(if needs_repair {
        Kind::Failed
    } else {
        Kind::Completed
    })
}

/// `bad` needs repair, `note` is worth knowing and may be as it is meant.
fn print(place: &Place, check: &Check) {
    let style = place.style;
    let sign = match (check.ok, check.needs_repair) {
        (true, _) => style.good("ok  "),
        (false, false) => style.warn("note"),
        (false, true) => style.bad("bad "),
    };
    let mut details = rows(&check.detail).into_iter();
    let first = details.next().unwrap_or_default();
    shell::out_line(&format!("{sign}  {:<12}  {first}", check.name));
    for row in details {
        shell::out_line(&format!("{:INDENT$}{row}", ""));
    }
    for (nr, row) in check.repair.iter().flat_map(|text| rows(text)).enumerate() {
        let arrow = if nr == 0 { "→" } else { " " };
        shell::out_line(&format!("{:INDENT$}{arrow} {row}", ""));
    }
}

/// The lines of a text, on a terminal broken to fit beside the name.
fn rows(text: &str) -> Vec<String> {
    let text = safe(text);
    let room = shell::width().map(|width| width.saturating_sub(INDENT + 2).max(20));
    text.trim_end()
        .lines()
        .flat_map(|line| match room {
            Some(room) => wrap(line, room),
            None => vec![line.to_owned()],
        })
        .collect()
}
