//! A line of what the doctor says, and how findings become such lines. Pure.

use serde_json::{Value, json};

use crate::findings::survey::{Act, Survey};
use crate::findings::{Finding, Remedy};

/// One entry of the answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Check {
    /// What was looked at.
    pub(super) name: &'static str,
    /// Whether it is in order.
    pub(super) ok: bool,
    /// What was found.
    pub(super) detail: String,
    /// What would put it right, or did.
    pub(super) repair: Option<String>,
    /// Whether files of the workspace need repair: exit code 1.
    pub(super) needs_repair: bool,
}

impl Check {
    /// Something that is in order.
    pub(super) fn good(name: &'static str, detail: impl Into<String>) -> Self {
        Self {
            name,
            ok: true,
            detail: detail.into(),
            repair: None,
            needs_repair: false,
        }
    }

    /// Something of the surroundings that is not.
    pub(super) fn bad(
        name: &'static str,
        detail: impl Into<String>,
        repair: impl Into<String>,
    ) -> Self {
        Self {
            ok: false,
            repair: Some(repair.into()),
            ..Self::good(name, detail)
        }
    }

    /// The object of SPEC §14.
    pub(super) fn json(&self) -> Value {
        json!({ "name": self.name, "ok": self.ok, "detail": self.detail, "repair": self.repair })
    }
}

/// Each finding, and each check that found nothing, in the order of looking. `refused` are details of what `--repair` could
/// not do, with why.
pub(super) fn of_survey(
    survey: Survey,
    repairing: bool,
    refused: &[(String, String)],
) -> Vec<Check> {
    let mut checks = Vec::new();
    for (name, count) in survey.looked {
        let of_it = survey.findings.iter().filter(|found| found.check == name);
        let of_it: Vec<Check> = of_it
            .map(|found| of_finding(found, repairing, refused))
            .collect();
        if of_it.is_empty() {
            checks.push(Check::good(name, counted(count)));
        }
        checks.extend(of_it);
    }
    checks
}

fn of_finding(found: &Finding, repairing: bool, refused: &[(String, String)]) -> Check {
    let not_done = refused.iter().find(|(detail, _)| *detail == found.detail);
    let repair = match (&found.remedy, not_done) {
        (Remedy::None, _) => return Check::good(found.check, &found.detail),
        (_, Some((_, why))) => format!("not repaired: {why}"),
        (Remedy::Person(what), None) => format!("by you: {what}"),
        (Remedy::Others(what), None) => format!("left {what}"),
        (Remedy::Act(_), None) if repairing => "new since the repair began; try again".to_owned(),
        (Remedy::Act(act), None) => format!("lead doctor --repair {}", would(act)),
    };
    Check {
        needs_repair: true,
        ..Check::bad(found.check, &found.detail, repair)
    }
}

fn would(act: &Act) -> String {
    match act {
        Act::SetAside(..) => "moves it to quarantine".to_owned(),
        Act::SetLinesAside(_, bad) if bad.len() == 1 => "moves that line to quarantine".to_owned(),
        Act::SetLinesAside(..) => "moves those lines to quarantine".to_owned(),
        Act::Sweep(_) => "deletes it".to_owned(),
        Act::SetMode(_, mode) => format!("sets mode {mode:03o}"),
        Act::CatchUp => "tells the other processes what has changed".to_owned(),
        Act::Release(..) => "makes it pending again".to_owned(),
        Act::EndLeases(_) => "notes them as free".to_owned(),
        Act::Undo(_) => "moves its record to quarantine".to_owned(),
        Act::Close(_, _, status) => format!("makes it {status}"),
    }
}

/// What all of it comes to, in one line.
pub(super) fn summary(checks: &[Check]) -> String {
    let bad: Vec<&Check> = checks.iter().filter(|check| check.needs_repair).collect();
    let notes = checks.iter().filter(|check| !check.ok).count() - bad.len();
    let notes = match notes {
        0 => String::new(),
        1 => "; 1 note".to_owned(),
        more => format!("; {more} notes"),
    };
    let by_verb = |check: &&&Check| {
        let repair = check.repair.as_deref();
        repair.is_some_and(|repair| repair.starts_with("lead doctor --repair"))
    };
    let how = match (bad.len(), bad.iter().filter(by_verb).count()) {
        (0, _) => return format!("nothing needs repair{notes}"),
        (_, 0) => "see above how",
        (all, some) if all == some => "`lead doctor --repair` does it",
        _ => "`lead doctor --repair` does a part of it, the rest is told above",
    };
    match bad.len() {
        1 => format!("1 entry needs repair: {how}{notes}"),
        more => format!("{more} entries need repair: {how}{notes}"),
    }
}

fn counted(count: usize) -> String {
    match count {
        0 => "nothing there".to_owned(),
        1 => "1 looked at".to_owned(),
        more => format!("{more} looked at"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_tells_repairs_from_notes() {
        let good = Check::good("a", "x");
        let note = Check::bad("b", "x", "set a key");
        let bad = |repair: &str| Check {
            needs_repair: true,
            ..Check::bad("c", "x", repair)
        };
        let (ours, yours) = (bad("lead doctor --repair deletes it"), bad("by you: look"));
        for (checks, wanted) in [
            (vec![good.clone()], "nothing needs repair"),
            (vec![good, note.clone()], "nothing needs repair; 1 note"),
            (
                vec![note, ours.clone()],
                "1 entry needs repair: `lead doctor --repair` does it; 1 note",
            ),
            (
                vec![ours, yours.clone()],
                "2 entries need repair: `lead doctor --repair` does a part of it, the rest is told above",
            ),
            (vec![yours], "1 entry needs repair: see above how"),
        ] {
            assert_eq!(summary(&checks), wanted);
        }
    }
}
