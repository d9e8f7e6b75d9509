//! `lead doctor --repair`: two looks, then each act.

use std::thread;

use super::check::Check;
use crate::cli::exit::Failure;
use crate::cli::shell;
use crate::findings::eye::BETWEEN_LOOKS;
use crate::findings::survey::Act;
use crate::findings::{Books, Remedy, mend, survey};
use crate::ids::AgentName;

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Repaired {
    /// What was put right, and how.
    pub(super) mended: Vec<Check>,
    /// Details of what could not be, with why.
    pub(super) refused: Vec<(String, String)>,
}

/// Does what the findings name.
pub(super) fn run(books: Books<'_>) -> Result<Repaired, Failure> {
    let mut found = survey(books)?.findings;
    let is_careful = |remedy: &Remedy| matches!(remedy, Remedy::Act(act) if takes_two_looks(act));
    if found.iter().any(|finding| is_careful(&finding.remedy)) {
        shell::err_line("looking again in 5 s at what is to be moved");
        thread::sleep(BETWEEN_LOOKS);
        let first = std::mem::take(&mut found);
        found = survey(books)?.findings;
        found.retain(|finding| !is_careful(&finding.remedy) || first.contains(finding));
    }
    let mut repaired = Repaired::default();
    for finding in found {
        let Remedy::Act(act) = &finding.remedy else {
            continue;
        };
        match mend::mend(books, &AgentName::user(), act) {
            Ok(done) => repaired.mended.push(Check {
                repair: Some(done),
                ..Check::good(finding.check, finding.detail)
            }),
            Err(error) => {
                let why: Vec<String> = error.chain().map(ToString::to_string).collect();
                repaired.refused.push((finding.detail, why.join("; ")));
            }
        }
    }
    Ok(repaired)
}

fn takes_two_looks(act: &Act) -> bool {
    match act {
        Act::SetAside(..) | Act::SetLinesAside(..) | Act::Sweep(_) => true,
        Act::Narrow(..)
        | Act::CatchUp
        | Act::Release(..)
        | Act::EndLeases(_)
        | Act::Undo(_)
        | Act::Close(..) => false,
    }
}
