//! `lead doctor --repair`: two looks, then each act.

use std::thread;

use super::check::Check;
use crate::cli::shell;
use crate::findings::eye::BETWEEN_LOOKS;
use crate::findings::survey::Act;
use crate::findings::{Books, Finding, Remedy, mend, survey};
use crate::ids::AgentName;

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Repaired {
    /// What was put right, and how.
    pub(super) mended: Vec<Check>,
    /// Details of what could not be, with why.
    pub(super) refused: Vec<(String, String)>,
}

/// Does what the findings name, and once more what is found only then: what stood in a directory that could not be read.
pub(super) fn run(books: Books<'_>) -> Repaired {
    let mut repaired = Repaired::default();
    let mut known: Vec<String> = Vec::new();
    for _ in 0..2 {
        let found: Vec<Finding> = acts(books)
            .into_iter()
            .filter(|finding| !known.contains(&finding.detail))
            .collect();
        if found.is_empty() {
            break;
        }
        known.extend(found.iter().map(|finding| finding.detail.clone()));
        repaired.mend(books, found);
    }
    repaired
}

/// What there is to be done; what is to be moved or deleted looked the same twice.
fn acts(books: Books<'_>) -> Vec<Finding> {
    let mut found = survey(books).findings;
    found.retain(|finding| matches!(finding.remedy, Remedy::Act(_)));
    let is_careful = |remedy: &Remedy| matches!(remedy, Remedy::Act(act) if takes_two_looks(act));
    if found.iter().any(|finding| is_careful(&finding.remedy)) {
        shell::err_line("looking again in 5 s at what is to be moved");
        thread::sleep(BETWEEN_LOOKS);
        let first = std::mem::take(&mut found);
        found = survey(books).findings;
        found.retain(|finding| !is_careful(&finding.remedy) || first.contains(finding));
    }
    found
}

impl Repaired {
    fn mend(&mut self, books: Books<'_>, found: Vec<Finding>) {
        for finding in found {
            let Remedy::Act(act) = &finding.remedy else {
                continue;
            };
            match mend::mend(books, &AgentName::user(), act) {
                Ok(done) => self.mended.push(Check {
                    repair: Some(done),
                    ..Check::good(finding.check, finding.detail)
                }),
                Err(error) => {
                    let why: Vec<String> = error.chain().map(ToString::to_string).collect();
                    self.refused.push((finding.detail, why.join("; ")));
                }
            }
        }
    }
}

fn takes_two_looks(act: &Act) -> bool {
    match act {
        Act::SetAside(..) | Act::SetLinesAside(..) | Act::Sweep(_) => true,
        Act::SetMode(..)
        | Act::CatchUp
        | Act::Release(..)
        | Act::EndLeases(_)
        | Act::Undo(_)
        | Act::Close(..) => false,
    }
}
