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
use crate::cli::safe::safe_line;
use crate::cli::shell;
use crate::findings::{Books, survey};

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
        let done = repair::run(books)?;
        checks.extend(done.mended);
        refused = done.refused;
    }
    checks.extend(check::of_survey(survey(books)?, repair, &refused));
    checks.extend(surroundings::look(place));
    if as_json {
        let checks: Vec<_> = checks.iter().map(Check::json).collect();
        shell::out_json(&json!({ "checks": checks }));
    } else {
        for check in &checks {
            print(place, check);
        }
    }
    let needs_repair = checks.iter().any(|check| check.needs_repair);
    Ok(if needs_repair {
        Kind::Failed
    } else {
        Kind::Completed
    })
}

fn print(place: &Place, check: &Check) {
    let sign = if check.ok {
        place.style.good("ok ")
    } else {
        place.style.bad("bad")
    };
    let detail = safe_line(&check.detail, 2000);
    shell::out_line(&format!("{sign}  {:<12}  {detail}", check.name));
    if let Some(repair) = &check.repair {
        shell::out_line(&format!("{:19}→ {}", "", safe_line(repair, 2000)));
    }
}
