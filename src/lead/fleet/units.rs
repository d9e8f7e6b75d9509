//! All units together, by name: pure.

use std::collections::BTreeMap;
use std::time::Instant;

use super::{Effect, Happened, Unit};
use crate::ids::AgentName;

/// All teammates that this lead has seen alive.
#[derive(Debug, Default)]
pub(in crate::lead) struct Fleet {
    units: BTreeMap<AgentName, Unit>,
}

impl Fleet {
    /// Takes a unit in, in place of an ended one of that name.
    pub(in crate::lead) fn insert(&mut self, name: AgentName, unit: Unit) {
        self.units.insert(name, unit);
    }

    /// Forgets a unit: the undo of a start.
    pub(in crate::lead) fn remove(&mut self, name: &AgentName) {
        self.units.remove(name);
    }

    /// The unit of `name`.
    pub(in crate::lead) fn get(&self, name: &AgentName) -> Option<&Unit> {
        self.units.get(name)
    }

    /// All units in order of their names.
    pub(in crate::lead) fn iter(&self) -> impl Iterator<Item = (&AgentName, &Unit)> {
        self.units.iter()
    }

    /// What follows from `what` happening to `name`; nothing for a name that is not there.
    pub(in crate::lead) fn on(
        &mut self,
        name: &AgentName,
        what: Happened,
        now: Instant,
    ) -> Vec<Effect> {
        let Some(unit) = self.units.get_mut(name) else {
            return Vec::new();
        };
        let (after, effects) = unit.clone().step(what, now);
        *unit = after;
        effects
    }

    /// Names to which [`Self::tick`] would do something now.
    pub(in crate::lead) fn due(&self, now: Instant) -> Vec<AgentName> {
        self.units
            .iter()
            .filter(|(_, unit)| unit.deadline().is_some_and(|at| at <= now))
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// What follows from the passing of time.
    pub(in crate::lead) fn tick(&mut self, now: Instant) -> Vec<(AgentName, Effect)> {
        self.due(now)
            .into_iter()
            .flat_map(|name| {
                let effects = self.on(&name, Happened::Tick, now);
                effects
                    .into_iter()
                    .map(move |effect| (name.clone(), effect))
            })
            .collect()
    }

    /// When [`Self::tick`] will do something.
    pub(in crate::lead) fn deadline(&self) -> Option<Instant> {
        self.units.values().filter_map(Unit::deadline).min()
    }

    /// Names whose process lives or is coming.
    pub(in crate::lead) fn there(&self) -> Vec<AgentName> {
        self.units
            .iter()
            .filter(|(_, unit)| unit.is_there())
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// Whether some unit may still change something without anybody's doing.
    pub(in crate::lead) fn is_moving(&self) -> bool {
        self.units.values().any(Unit::is_moving)
    }
}
