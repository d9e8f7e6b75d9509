//! What the team has left, for a call that has waited since its owner looked.

use super::limits;
use crate::config::Settings;
use crate::team::Session;
use crate::team::usage::{Meter, Spent};
use crate::workspace::Workspace;

/// Whether the session in force has reached a limit, read afresh from its files. What cannot be read counts
/// as reached; whoever owns the agent looks again then, and says what is wrong.
pub(super) fn reached(workspace: &Workspace) -> bool {
    let Some(session) = Session::load(workspace) else {
        return false;
    };
    let Ok(settings) = serde_json::from_value::<Settings>(session.settings) else {
        return true;
    };
    let id = session.id.to_string();
    let mut meter = Meter::new(workspace, Some(&id));
    let limits = settings.limits;
    let none = Spent::default();
    let spent = match limits::counts(&limits).then(|| meter.look()).transpose() {
        Ok(spent) => spent.unwrap_or(&none),
        Err(_) => return true,
    };
    limits::reached(
        &limits,
        &settings.prices,
        spent,
        session.started_at.elapsed(),
    )
    .is_some()
}
